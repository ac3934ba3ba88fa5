package reply

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/memory"
)

func TestWhatWasSaidIsntSaidAgainForATime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := New(Options{Options: &ingest.Options{Now: func() time.Time { return now }}})
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
		if repeated, mute := b.isRepeated(step.channel, locale.MessageKey(step.words)),
			b.isMute(step.channel); repeated != step.repeated || mute != step.mute {
			t.Errorf("%d: repeated %v, mute %v", i, repeated, mute)
		}
	}
}

func TestWhatIsGivenUpCountsAsReserved(t *testing.T) {
	t.Parallel()
	r := New(Options{Options: &ingest.Options{}, Limits: Limits{Reserve: 500}})
	for name, test := range map[string]struct {
		got      Outcome
		reserved bool
		want     int
	}{
		"as it says": {Outcome{Answer: answer.Answer{Usage: answer.Usage{Prompt: 5, Completion: 2}}}, true, 7},
		"as the prompt says": {Outcome{Answer: answer.Answer{Model: "m", Text: "12345",
			Trace: memory.Trace{Tokens: 10}}}, true, 12},
		"without a model": {Outcome{Answer: answer.Answer{Text: "12345",
			Trace: memory.Trace{Tokens: 10}}}, true, 0},
		"given up": {Outcome{err: context.Canceled}, true, 500},
		"too late": {Outcome{err: context.DeadlineExceeded}, true, 500},
		"given up, and says": {Outcome{Answer: answer.Answer{Usage: answer.Usage{Prompt: 5}},
			err: errHalted}, true, 5},
		"given up before":     {Outcome{err: errChanged}, false, 0},
		"failed at something": {Outcome{err: errors.New("no")}, true, 0},
	} {
		a := &ingest.Question{ID: 1}
		delete(r.questions.quota.reserved, 1)
		if test.reserved {
			r.questions.quota.reserved[1] = reservation{}
		}
		if got := r.questions.charge(a, test.got); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
