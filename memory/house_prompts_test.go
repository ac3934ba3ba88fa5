package memory

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func (f *fakeHouse) ForgetPrompts(_ context.Context, before time.Time) (int, error) {
	handOver()
	if f.promptErr != nil {
		return 0, f.promptErr
	}
	n := len(f.prompts)
	f.prompts = slices.DeleteFunc(f.prompts, func(built time.Time) bool { return built.Before(before) })
	return n - len(f.prompts), nil
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
