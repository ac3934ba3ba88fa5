package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/llm"
	"hark/memory"
)

func TestStopTellsWhoWaits(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	begun := make(chan struct{})
	s.oracle.answer = func(ctx context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream("It is Fri")
		close(begun)
		<-ctx.Done()
		return answer.Answer{}, ctx.Err()
	}
	s.ask("when?")
	<-begun
	waits := s.ask("and where?")
	s.log.waitSaid(t, "them: "+waits.Content)
	release := s.log.hold()
	s.holdsUp(t)
	late := s.ask("and who?") // taken in, and not in the log when Hark is told to stop
	s.discord.WaitTakenIn()
	s.cancel()
	release()
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	told := map[discordtest.ID]string{}
	for _, m := range s.discord.Sent(s.channel) {
		told[m.Reference.MessageID] = m.Content
	}
	if len(told) != 3 || told[waits.ID] != restarting || told[late.ID] != restarting {
		t.Errorf("told %q", told)
	}
}

// What the answers to one question took is counted each by itself, when it is asked anew.
func TestAskingAnewIsCountedByItself(t *testing.T) {
	t.Parallel()
	first := &ask{id: memory.FirstMessageID(time.UnixMilli(1_790_000_000_000)) + 7}
	anew := first.saying(&ask{text: "where?", at: first.when().Add(1500 * time.Millisecond)})
	if first.account() != first.id || anew.account() == first.id || !anew.account().Time().Equal(anew.when()) {
		t.Errorf("counted under %d and %d, of %v", first.account(), anew.account(), anew.account().Time())
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"away":           {&llm.Error{Kind: llm.Unreachable}, "The language model can't be reached right now. Please ask again in a few minutes."},
		"a failing one":  {fmt.Errorf("write: %w", &llm.Error{Kind: llm.Server}), "The language model can't be reached"},
		"a slow one":     {&llm.Error{Kind: llm.TimedOut}, "The language model didn't begin to answer in time."},
		"the key":        {&llm.Error{Kind: llm.Refused}, "The language model refuses to work for me."},
		"no such model":  {&llm.Error{Kind: llm.NotFound}, "The language model refuses to work for me."},
		"a limit":        {&llm.Error{Kind: llm.RateLimited}, "The language model is asked too much right now."},
		"too long":       {&llm.Error{Kind: llm.TooLong}, "That is more than the language model can read at once."},
		"cut off":        {&llm.Error{Kind: llm.CutOff}, "The language model broke off. Please ask again."},
		"no answer":      {&llm.Error{Kind: llm.BadAnswer}, "The language model gave no answer."},
		"empty":          {answer.ErrEmpty, "The language model gave no answer."},
		"late":           {fmt.Errorf("write: %w", context.DeadlineExceeded), "That took longer than I may take"},
		"memory":         {fmt.Errorf("%w: %w", answer.ErrRecall, errDown), "I can't get at what I remember right now."},
		"something else": {errDown, "Something went wrong on my side."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
				return answer.Answer{}, test.err
			}
			s.ask("when?")
			m := s.told(t, s.channel, func(text string) bool { return strings.HasPrefix(text, test.want) })
			words := strings.FieldsFunc(m.Content, func(r rune) bool { return strings.ContainsRune(" :()", r) })
			if code := words[len(words)-1]; len(code) != 8 || !strings.Contains(s.out.String(), `"code":"`+code+`"`) {
				t.Errorf("told %q, and the log doesn't have its code", m.Content)
			}
			s.ask("when then?")
			again := s.told(t, s.channel, func(text string) bool { return strings.HasPrefix(text, "That failed again") })
			if _, code, _ := strings.Cut(again.Content, "(Code "); !strings.Contains(s.out.String(), `"code":"`+strings.TrimSuffix(code, ")")+`"`) {
				t.Errorf("told %q", again.Content)
			}
			s.discord.Advance(time.Minute)
			s.ask("and now?")
			s.discord.WaitFor("all of it again", func() bool {
				sent := s.discord.Sent(s.channel)
				return len(sent) == 3 && strings.HasPrefix(sent[2].Content, test.want)
			})
			if s.bot.Tally().Failed != 3 {
				t.Errorf("counted %+v", s.bot.Tally())
			}
		})
	}
}

func TestContextCountsAsAQuestion(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, Limits{Member: memory.Limit{Messages: 1}}).run(t).ready(t)
	s.waitRegistered()
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) { return answer.Recalled{}, nil }
	s.use(t, s.bo, "context", opt("question", "when?"))
	s.says(t, s.use(t, s.bo, "context", opt("question", "when?")), "You've asked me once within a minute.")
	if n := len(s.oracle.questions()); n != 1 {
		t.Errorf("recalled %d times", n)
	}
}

func TestMemoryThatCantTellWhatWasSpent(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.log.spendingFails = errDown
	s.run(t).ready(t)
	s.waitRegistered()
	s.ask("when?")
	s.told(t, s.channel, func(text string) bool { return strings.HasPrefix(text, "I can't get at what I remember") })
	if m := s.use(t, s.bo, "limits"); !strings.HasPrefix(m.Content, "Something went wrong") {
		t.Errorf("shown %q", m.Content)
	}
	if len(s.oracle.questions()) > 0 {
		t.Error("it was answered all the same")
	}
}

func TestWhereHarkMayNotWriteIsLoggedOnce(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	refused := s.discord.Inject("POST /channels/*/messages", 100, discordtest.Forbidden())
	for range 3 {
		s.ask("when?")
	}
	refused.WaitHits(3)
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	if n := strings.Count(s.out.String(), "may not write where it was asked"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

func TestFailuresAreTheSameForATime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := newFailures(func() time.Time { return now })
	for i, step := range []struct {
		later          time.Duration
		channel        memory.ChannelID
		words          string
		repeated, mute bool
	}{
		{0, 1, "a", false, false}, {time.Second, 1, "a", true, true}, {0, 2, "a", false, false}, {0, 1, "b", false, true}, {0, 1, "a", false, true},
		{time.Minute, 1, "a", false, true}, {59 * time.Minute, 1, "a", false, false}, {-time.Second, 1, "a", false, false},
	} {
		now = now.Add(step.later)
		if repeated, mute := f.isRepeated(step.channel, phrase(step.words)), f.isMute(step.channel); repeated != step.repeated || mute != step.mute {
			t.Errorf("%d: repeated %v, mute %v", i, repeated, mute)
		}
	}
}

func TestWhatDiscordDoesntTakeIsToldInOtherWords(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.Inject("POST /channels/*/messages", 1, discordtest.Unfit())
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "Friday"}, nil
	}
	s.ask("when?")
	s.told(t, s.channel, is(cantShow))
	s.out.wait(t, "couldn't show an answer")
}

func TestWhatIsGivenUpCountsAsReserved(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, Limits{Reserve: 500})
	for name, test := range map[string]struct {
		got      outcome
		reserved bool
		want     int
	}{
		"as it says":          {outcome{answer: answer.Answer{Usage: answer.Usage{Prompt: 5, Completion: 2}}}, true, 7},
		"as the prompt says":  {outcome{answer: answer.Answer{Model: "m", Text: "12345", Trace: memory.Trace{Tokens: 10}}}, true, 12},
		"without a model":     {outcome{answer: answer.Answer{Text: "12345", Trace: memory.Trace{Tokens: 10}}}, true, 0},
		"given up":            {outcome{err: context.Canceled}, true, 500},
		"too late":            {outcome{err: context.DeadlineExceeded}, true, 500},
		"given up, and says":  {outcome{answer: answer.Answer{Usage: answer.Usage{Prompt: 5}}, err: errHalted}, true, 5},
		"given up before":     {outcome{err: errAnew}, false, 0},
		"failed at something": {outcome{err: errors.New("no")}, true, 0},
	} {
		a := &ask{id: 1}
		delete(s.bot.purse.reserved, 1)
		if test.reserved {
			s.bot.purse.reserved[1] = reservation{}
		}
		if got := s.bot.tookOf(a, test.got); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
