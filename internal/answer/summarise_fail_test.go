package answer

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/memory"
)

// failingLog fails at the n-th call.
type failingLog struct {
	SummaryLog
	n int
}

func (f *failingLog) fails() error {
	if f.n--; f.n == 0 {
		return errDisk
	}
	return nil
}

func (f *failingLog) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.SummaryLog.Guild(ctx, id)
}

func (f *failingLog) People(ctx context.Context, id memory.GuildID) ([]memory.Person, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.SummaryLog.People(ctx, id)
}

func (f *failingLog) Log(ctx context.Context, c memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.SummaryLog.Log(ctx, c, after, until, limit)
}

func (f *failingLog) OptedOut(ctx context.Context, g memory.GuildID, user memory.UserID) (bool, error) {
	if err := f.fails(); err != nil {
		return false, err
	}
	return f.SummaryLog.OptedOut(ctx, g, user)
}

func (f *failingLog) Summaries(ctx context.Context, c memory.ChannelID) ([]memory.Summary, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.SummaryLog.Summaries(ctx, c)
}

func (f *failingLog) Unsummarised(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.SummaryLog.Unsummarised(ctx, since)
}

func (f *failingLog) Apply(ctx context.Context, events ...memory.Event) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.SummaryLog.Apply(ctx, events...)
}

// unguilded is a log of a guild that was forgotten.
type unguilded struct{ SummaryLog }

func (unguilded) Guild(context.Context, memory.GuildID) (*memory.Guild, error) {
	return nil, memory.ErrNotFound
}

func TestForgottenGuildsAreNotSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	s := w.summariser(nil)
	s.Log = unguilded{w.store}
	if err := s.Round(t.Context()); err != nil || len(w.summaries(lobby)) > 0 || w.unsummed() != 1 {
		t.Errorf("%v, and there is %s", err, texts(w.summaries(lobby)))
	}
}

// Whatever call fails, the round says so and keeps nothing, and the next makes up for it.
func TestFailuresOfSummingUpAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	model := &scripted{pieces: []string{`{"summary":"The ferry leaves at 9.","kind":"fact"}`}}
	count := &failingLog{SummaryLog: w.store, n: 1 << 20}
	fill := func(channel memory.ChannelID) {
		w.says(5*time.Hour, channel, ben, "remember that the ferry leaves at 9")
		w.says(5*time.Hour, channel, oracle, "I see")
	}
	fill(harbor)
	s := w.summariser(model)
	s.Log = count
	if err := s.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(lobby)
	for n := 1; n <= 1<<20-count.n; n++ {
		s.Log = &failingLog{SummaryLog: w.store, n: n}
		if err := s.Round(t.Context()); !errors.Is(err, errDisk) || len(w.summaries(lobby)) > 0 {
			t.Errorf("call %d failed: %v, and there is %s", n, err, texts(w.summaries(lobby)))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	model.before = cancel
	s.Log = w.store
	if err := s.Round(ended); !errors.Is(err, context.Canceled) || len(w.summaries(lobby)) > 0 {
		t.Errorf("ended: %v, and there is %s", err, texts(w.summaries(lobby)))
	}
	model.before = nil
	if err := s.Round(t.Context()); err != nil || len(w.summaries(lobby)) != 1 {
		t.Errorf("in the end: %v, and there is %s", err, texts(w.summaries(lobby)))
	}
}
