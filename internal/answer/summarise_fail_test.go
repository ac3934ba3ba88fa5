package answer

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hark/internal/golden"
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

func (f *failingLog) Gaps(ctx context.Context) ([]memory.Gap, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.SummaryLog.Gaps(ctx)
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

// A channel that can't be summed up holds up no other.
func TestOneChannelHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(6*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.says(5*time.Hour, harbor, ann, "the boat leaves at ten")
	w.says(4*time.Hour, annsDM, ann, "the bus leaves at ten")
	s := w.summariser(nil)
	s.Failed = func(channel memory.ChannelID, err error) { t.Errorf("the model is blamed for %v in %d", err, channel) }
	for _, bad := range []map[memory.ChannelID]bool{{lobby: true}, {lobby: true, harbor: true}} {
		s.Log = unreadable{w.store, bad}
		err := s.Round(t.Context())
		if !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		golden.Seen(t, err.Error())
		w.says(3*time.Hour, harbor, ann, "the train leaves at ten")
	}
	if len(w.summaries(annsDM)) != 1 || len(w.summaries(harbor)) == 0 || len(w.summaries(lobby)) != 0 {
		t.Errorf("there is %s", texts(slices.Concat(w.summaries(lobby), w.summaries(harbor), w.summaries(annsDM))))
	}
}

// unreadable is a log of which some channels can't be read.
type unreadable struct {
	SummaryLog
	bad map[memory.ChannelID]bool
}

func (u unreadable) Log(ctx context.Context, c memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error) {
	if u.bad[c] {
		return nil, errDisk
	}
	return u.SummaryLog.Log(ctx, c, after, until, limit)
}

// A model that fails isn't asked again for a while, and one that merely writes badly not about the same channel.
func TestAModelThatFailsIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model *scripted
		calls int
	}{
		"it fails":         {&scripted{err: errDisk}, 1},
		"it writes badly":  {&scripted{pieces: []string{"I can't."}}, 2},
		"it fails halfway": {&scripted{pieces: []string{"{"}, err: errDisk}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			for i, channel := range []memory.ChannelID{lobby, harbor, lobby} {
				w.says(time.Duration(9-2*i)*time.Hour, channel, ben, "remember that the ferry leaves at 9")
				w.says(time.Duration(9-2*i)*time.Hour, channel, oracle, "I see")
			}
			calls := 0
			c.model.before = func() { calls++ }
			s, now := w.summariser(c.model), noon
			s.Now = func() time.Time { return now }
			for _, more := range []int{0, 1} {
				if err := s.Round(t.Context()); err != nil {
					t.Fatal(err)
				}
				if all := len(w.summaries(lobby)) + len(w.summaries(harbor)); all != 3+more || calls != c.calls+more {
					t.Errorf("%d summaries after %d calls", all, calls)
				}
				w.says(time.Hour, lobby, ben, "remember that the ferry leaves at 9")
				w.says(time.Hour, lobby, oracle, "I see")
				now = now.Add(backoffFirst)
			}
		})
	}
}
