package memory

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func (f *fakeHouse) ForgetPrompts(_ context.Context, before time.Time) (int, error) {
	if f.promptErr != nil {
		return 0, f.promptErr
	}
	n := len(f.prompts)
	f.prompts = slices.DeleteFunc(f.prompts, func(built time.Time) bool { return built.Before(before) })
	return n - len(f.prompts), nil
}

func (f *fakeHouse) ForgetSpending(_ context.Context, before time.Time) (int, error) {
	if f.spendingErr != nil {
		return 0, f.spendingErr
	}
	n := len(f.spent)
	f.spent = slices.DeleteFunc(f.spent, func(asked time.Time) bool { return asked.Before(before) })
	return n - len(f.spent), nil
}

// What was spent is kept for yesterday and today.
func TestHouseForgetsWhatWasSpentLongAgo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which begins at midnight, UTC
		f := newHouse(LocalGuild)
		const day = 24 * time.Hour
		for _, age := range []time.Duration{0, time.Minute, day, day + time.Minute, 300 * day} {
			f.spent = append(f.spent, time.Now().Add(-age))
		}
		f.spendingErr = errors.New("the disk is full")
		k := keepAll(t, House{Store: f})
		if len(k.failed) == 0 || !errors.Is(k.failed[0].error, f.spendingErr) {
			t.Errorf("failed with %v", k.failed)
		}
		f.spendingErr = nil
		pass(time.Hour)
		if len(f.spent) != 3 {
			t.Errorf("%d are left", len(f.spent))
		}
		pass(day)
		if len(f.spent) != 1 {
			t.Errorf("a day later %d are", len(f.spent))
		}
	})
}

func (f *fakeHouse) ForgetRecords(_ context.Context, l RecordLimits) (int, error) {
	f.limits = append(f.limits, l)
	return 0, f.recordErr
}

// Each round forgets records by their limits of that moment; one that fails is tried again.
func TestHouseForgetsOldRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newHouse(LocalGuild)
		began := time.Now()
		keep := RecordRetention{Age: 30 * time.Minute, Count: 5, Tokens: 6}
		k := keepAll(t, House{Store: f, Prompts: time.Hour, Records: keep})
		if want := (RecordLimits{Before: began.Add(-30 * time.Minute), Count: 5, Tokens: 6}); len(f.limits) != 1 || f.limits[0] != want {
			t.Errorf("at first the limits are %+v", f.limits)
		}
		pass(10 * time.Minute) // less than an hour, for what is kept for so short
		n := len(f.limits)
		if n < 5 || !f.limits[n-1].Before.After(f.limits[0].Before) {
			t.Errorf("after ten minutes they are %+v", f.limits)
		}
		f.recordErr = errors.New("no disk")
		pass(2 * time.Minute)
		if len(k.failed) == 0 || !errors.Is(k.failed[0].error, f.recordErr) {
			t.Errorf("failed: %v", k.failed)
		}
	})
}

// Prompts are kept as long as they may be.
func TestHouseForgetsOldPrompts(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, test := range []struct {
		name                   string
		prompts, retention     time.Duration
		after, afterwards, end int // how many are left of those built now, 30 minutes, 1 hour, 2, 6 and 400 days ago
	}{
		{"a week", 7 * day, 0, 5, 5, 4},
		{"none", 0, 0, 1, 1, 0},
		{"an hour", time.Hour, 0, 3, 2, 0},
		{"shorter than messages", 3 * day, 5 * day, 4, 4, 3},
		{"longer than messages", 3 * day, time.Hour, 4, 4, 3}, // with messages go the prompts that they are in
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newHouse(LocalGuild)
				for _, age := range []time.Duration{0, 30 * time.Minute, time.Hour, 2 * day, 6 * day, 400 * day} {
					f.prompts = append(f.prompts, time.Now().Add(-age))
				}
				k := keepAll(t, House{Store: f, Retention: test.retention, Prompts: test.prompts})
				if len(f.prompts) != test.after {
					t.Errorf("at first %d are left", len(f.prompts))
				}
				pass(10 * time.Minute)
				if len(f.prompts) != test.afterwards {
					t.Errorf("after ten minutes %d are", len(f.prompts))
				}
				pass(2 * day)
				if len(f.prompts) != test.end {
					t.Errorf("after two days %d are", len(f.prompts))
				}
				if len(k.failed) > 0 {
					t.Errorf("failed: %v", k.failed)
				}
			})
		})
	}
}
