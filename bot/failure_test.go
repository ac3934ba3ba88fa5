package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/llm"
	"hark/internal/ttl"
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
	s.stops(t)
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
	first := &ingest.Question{ID: memory.FirstMessageID(time.UnixMilli(1_790_000_000_000)) + 7}
	anew := first.Saying(&ingest.Question{Text: "where?", At: first.When().Add(1500 * time.Millisecond)})
	if first.Account() != first.ID || anew.Account() == first.ID || !anew.Account().Time().Equal(anew.When()) {
		t.Errorf("counted under %d and %d, of %v", first.Account(), anew.Account(), anew.Account().Time())
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"away":           &llm.Error{Kind: llm.Unreachable},
		"a failing one":  fmt.Errorf("write: %w", &llm.Error{Kind: llm.Server}),
		"a slow one":     &llm.Error{Kind: llm.TimedOut},
		"the key":        &llm.Error{Kind: llm.Refused},
		"no such model":  &llm.Error{Kind: llm.NotFound},
		"a limit":        &llm.Error{Kind: llm.RateLimited},
		"too long":       &llm.Error{Kind: llm.TooLong},
		"cut off":        &llm.Error{Kind: llm.CutOff},
		"no answer":      &llm.Error{Kind: llm.BadAnswer},
		"empty":          answer.ErrEmpty,
		"late":           fmt.Errorf("write: %w", context.DeadlineExceeded),
		"memory":         fmt.Errorf("%w: %w", answer.ErrRecall, errDown),
		"something else": errDown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
				return answer.Answer{}, err
			}
			first := s.replied(t, s.ask("when?"))
			again := s.reply(t, s.ask("when then?"))
			if got := s.reads(again.Content); got != (locale.Locale{}).Phrase(failedAgain, "CODE") {
				t.Errorf("told %q then", got)
			}
			for _, m := range []discordtest.Sent{first, again} {
				if s.reads(m.Content) == m.Content {
					t.Errorf("told %q, and the log doesn't have its code", m.Content)
				}
			}
			s.discord.Advance(time.Minute)
			if later := s.reply(t, s.ask("and now?")); s.reads(later.Content) != s.reads(first.Content) {
				t.Errorf("told %q in the end", later.Content)
			}
			if n := s.counted(t)["hark_questions_total failed"]; n != 3 {
				t.Errorf("failed %d times", n)
			}
		})
	}
}

func TestMemoryThatCantTellWhatWasSpent(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.log.spendingFails = errDown
	s.run(t).ready(t)
	s.waitRegistered()
	s.replied(t, s.ask("when?"))
	s.says(t, s.use(t, s.bo, "limits"))
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
	s.stops(t)
	if n := strings.Count(s.out.String(), fmt.Sprintf(`"channel":%d`, s.channel)); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

func TestWhatWasSaidIsntSaidAgainForATime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &Bot{now: func() time.Time { return now }, repeats: ttl.New[repeatTo, locale.Phrase](mostRepeats)}
	for i, step := range []struct {
		later          time.Duration
		channel        memory.ChannelID
		words          string
		repeated, mute bool
	}{
		{0, 1, "a", false, false}, {time.Second, 1, "a", true, true}, {0, 2, "a", false, false}, {0, 1, "b",
			false, true}, {0, 1, "a", false, true},
		{time.Minute, 1, "a", false, true}, {59 * time.Minute, 1, "a", false, false}, {-time.Second, 1, "a",
			false, false},
	} {
		now = now.Add(step.later)
		if repeated, mute := b.isRepeated(step.channel, locale.Phrase(step.words)),
			b.isMute(step.channel); repeated != step.repeated || mute != step.mute {
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
	q := s.ask("when?")
	s.replied(t, q)
	s.logs(t, fmt.Sprintf(`"question":%d`, q.ID))
}

func TestWhatIsGivenUpCountsAsReserved(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, Limits{Reserve: 500})
	for name, test := range map[string]struct {
		got      outcome
		reserved bool
		want     int
	}{
		"as it says": {outcome{answer: answer.Answer{Usage: answer.Usage{Prompt: 5, Completion: 2}}}, true, 7},
		"as the prompt says": {outcome{answer: answer.Answer{Model: "m", Text: "12345",
			Trace: memory.Trace{Tokens: 10}}}, true, 12},
		"without a model": {outcome{answer: answer.Answer{Text: "12345",
			Trace: memory.Trace{Tokens: 10}}}, true, 0},
		"given up": {outcome{err: context.Canceled}, true, 500},
		"too late": {outcome{err: context.DeadlineExceeded}, true, 500},
		"given up, and says": {outcome{answer: answer.Answer{Usage: answer.Usage{Prompt: 5}},
			err: errHalted}, true, 5},
		"given up before":     {outcome{err: errAnew}, false, 0},
		"failed at something": {outcome{err: errors.New("no")}, true, 0},
	} {
		a := &ingest.Question{ID: 1}
		delete(s.bot.questions.quota.reserved, 1)
		if test.reserved {
			s.bot.questions.quota.reserved[1] = reservation{}
		}
		if got := s.bot.questions.tookOf(a, test.got); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
