package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/llm"
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
	late := s.ask("and who?") // taken in, but not logged when Hark is told to stop
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

// troubled is a model's error that says what is wrong.
type troubled struct{ loading, crowded bool }

func (troubled) Error() string   { return "503" }
func (t troubled) Loading() bool { return t.loading }
func (t troubled) Crowded() bool { return t.crowded }

// The reason of an interruption doesn't say that there is no answer: some of it is there.
func TestWhyAnAnswerIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"crowded":     troubled{crowded: true},
		"loading":     troubled{loading: true},
		"not gone on": &llm.Error{Kind: llm.BadAnswer},
		"nothing":     answer.ErrEmpty,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = gives(answer.Answer{Text: "The **dead"}, err)
			s.replied(t, s.ask("when?"))
		})
	}
}

// An answer that reached its longest length says so, to members and in the log.
func TestAnswersThatAreCutOff(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.answer = gives(answer.Answer{Text: "The **deadline [2] is", Cut: true, Model: "parrot-1",
		Sources: []answer.Source{{Number: 2, Guild: s.guildID, Channel: s.channelID, Message: 77, Author: "Jane"}}}, nil)
	s.replied(t, s.ask("when?"))
	s.logs(t, "llm.max_tokens")
	s.oracle.answer = gives(answer.Answer{Text: "The deadline is Friday"}, nil)
	s.replied(t, s.ask("and then?"))
	if n := strings.Count(s.out.String(), "llm.max_tokens"); n != 1 {
		t.Errorf("logged %d times", n)
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
		"loading":        fmt.Errorf("write: %w", troubled{loading: true}),
		"crowded":        fmt.Errorf("write: %w", troubled{crowded: true}),
		"late":           fmt.Errorf("write: %w", context.DeadlineExceeded),
		"memory":         fmt.Errorf("%w: %w", answer.ErrRecall, errDown),
		"something else": errDown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = gives(answer.Answer{}, err)
			first := s.replied(t, s.ask("when?"))
			again := s.replied(t, s.ask("when then?"))
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
	s.replied(t, s.ask("when?"))
	s.says(t, s.use(t, s.bo, "limits"))
	if len(s.oracle.questions()) > 0 {
		t.Error("it was answered all the same")
	}
}

// Where Hark may not write, that is logged once, and isn't counted as answered.
func TestWhereHarkMayNotWriteIsLoggedOnce(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.answer = gives(answer.Answer{Text: "Friday"}, nil)
	refused := s.discord.Inject("POST /channels/*/messages", 3, discordtest.Forbidden())
	for range 3 {
		s.ask("when?")
	}
	refused.WaitHits(3)
	s.ask("and now?")
	s.answered(t, s.channel, "Friday")
	s.logs(t, fmt.Sprintf(`"channel":%d`, s.channel))
	if n, answered := strings.Count(s.out.String(), fmt.Sprintf(`"channel":%d`, s.channel)),
		s.counted(t)["hark_questions_total answered"]; n != 1 || answered != 1 {
		t.Errorf("logged %d times, answered %d times", n, answered)
	}
}

// Text that Discord refuses is replaced by a sentence, also in mid-answer.
func TestWhatDiscordDoesntTakeIsToldInOtherWords(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		s := set(t).run(t).ready(t)
		s.discord.Inject("POST /channels/*/messages", 1, discordtest.Unfit())
		s.oracle.answer = gives(answer.Answer{Text: "Friday"}, nil)
		if streamed {
			s.slowly("naughty", " word")
		}
		q := s.ask("when?")
		s.replied(t, q)
		s.logs(t, fmt.Sprintf(`"question":%d`, q.ID))
		if n, answered := len(s.discord.Sent(s.channel)), s.counted(t)["hark_questions_total answered"]; n != 1 ||
			answered != 0 {
			t.Errorf("%d messages, answered %d times", n, answered)
		}
	}
}
