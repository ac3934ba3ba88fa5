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

func (f *fakeHouse) ForgetRecords(_ context.Context, l RecordLimits) (int, error) {
	f.limits = append(f.limits, l)
	return 0, f.recordErr
}

// Each round forgets prompts and records by their age of that moment, and what was spent before yesterday; what fails is tried again.
func TestHouseForgetsPromptsRecordsAndSpending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which begins at midnight, UTC
		f := newHouse(LocalGuild)
		began := time.Now()
		for _, age := range []time.Duration{0, time.Minute, time.Hour, aDay, aDay + time.Minute, 300 * aDay} {
			f.spent, f.prompts = append(f.spent, began.Add(-age)), append(f.prompts, began.Add(-age))
		}
		f.spendingErr, f.recordErr = errors.New("the disk is full"), errors.New("no disk")
		k := keepAll(t, House{Store: f, Prompts: time.Hour, Records: RecordRetention{Age: 30 * time.Minute, Count: 5, Tokens: 6}})
		if len(k.failed) != 1 || !errors.Is(k.failed[0].error, f.spendingErr) || !errors.Is(k.failed[0].error, f.recordErr) || len(f.prompts) != 3 {
			t.Errorf("failed with %v, %d prompts are left", k.failed, len(f.prompts))
		}
		if want := (RecordLimits{Before: began.Add(-30 * time.Minute), Count: 5, Tokens: 6}); f.limits[0] != want {
			t.Errorf("at first the limits are %+v", f.limits)
		}
		f.spendingErr, f.recordErr = nil, nil
		pass(10 * time.Minute) // less than an hour, for what is kept for so short
		if n := len(f.limits); n < 5 || !f.limits[n-1].Before.After(f.limits[0].Before) || len(f.prompts) != 2 || len(f.spent) != 4 {
			t.Errorf("after ten minutes %d prompts and %d amounts are left, the limits are %+v", len(f.prompts), len(f.spent), f.limits)
		}
		pass(aDay)
		if len(f.spent) != 1 || len(f.prompts) != 0 {
			t.Errorf("a day later %d amounts and %d prompts are left", len(f.spent), len(f.prompts))
		}
	})
}
