package memory

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// much is a fake of one guild with this many old and young messages.
func much(old, young int) *fakeStore {
	f := newFakeStore(2)
	for range old {
		f.say(2, 100*day)
	}
	for range young {
		f.say(2, time.Hour)
	}
	return f
}

// waiting runs a Janitor and collects what it says waits.
func waiting(t *testing.T, f Store, retention time.Duration) (k *reports, told *[]Expiring) {
	told = new([]Expiring)
	return runJanitorWith(t, Janitor{Store: f, Retention: retention, Waits: func(_ *Guild, e Expiring) {
		*told = append(*told, e)
	}}), told
}

// What is more than a tenth waits for 72 hours, across starts, and says so once a day.
func TestMuchThatIsTooOldWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := much(expiringLeast, expiringLeast)
		began := time.Now()
		_, told := waiting(t, f, 50*day)
		pass(25 * time.Hour)
		if e := (*told)[0]; len(f.forgotten) > 0 || len(*told) != 2 || e.Goes != expiringLeast ||
			e.Kept != 2*expiringLeast || !e.Since.Equal(began) {
			t.Fatalf("forgot %+v, told %+v", f.forgotten, *told)
		}
		_, again := waiting(t, f, 50*day) // as after a start
		pass(ExpiringFor - 25*time.Hour - time.Minute)
		if len(f.forgotten) > 0 || len(*again) != 2 || !(*again)[1].Since.Equal(began.Truncate(time.Millisecond)) {
			t.Fatalf("after a start forgot %+v, told %+v", f.forgotten, *again)
		}
		pass(deleteEvery + time.Minute)
		if _, waits := f.guilds[2].Expiring(); len(f.messages[20]) != expiringLeast || waits {
			t.Errorf("in the end left %d, settings %v", len(f.messages[20]), f.guilds[2].Settings)
		}
	})
}

func TestWhatDoesntWait(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fakeStore{"few": much(expiringLeast-1, 1),
		"a tenth": much(expiringLeast, 9*expiringLeast)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for i, m := range f.messages[20] { // which were said by another clock
					age := time.Hour
					if name == "few" && i < expiringLeast-1 || name == "a tenth" && i < expiringLeast {
						age = 100 * day
					}
					m.ID = FirstMessageID(time.Now().Add(-age))
					f.messages[20][i] = m
				}
				if _, told := waiting(t, f, 50*day); len(f.forgotten) != 1 || len(*told) > 0 {
					t.Errorf("forgot %+v, told %+v", f.forgotten, *told)
				}
			})
		})
	}
}

func TestAgreementEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := much(expiringLeast, 0)
		f.guilds[2].Channels[0].Settings = keeping("1d") // of the other channel: what is counted twice isn't more
		f.messages[21] = []Message{{ID: FirstMessageID(time.Now().Add(-100 * day)), Channel: 21}}
		_, told := waiting(t, f, 50*day)
		if len(*told) != 1 || (*told)[0].Goes != expiringLeast+1 {
			t.Fatalf("told %+v", *told)
		}
		if err := f.Apply(t.Context(), AgreeToExpiring(2, time.Now())); err != nil {
			t.Fatal(err)
		}
		pass(lookEvery)
		if len(f.messages[20])+len(f.messages[21]) > 0 || f.guilds[2].Settings[SettingExpiring] != "" {
			t.Errorf("left %d, settings %v", len(f.messages[20]), f.guilds[2].Settings)
		}
		for range expiringLeast { // to which nobody has agreed
			f.say(2, 100*day)
		}
		pass(2 * time.Hour)
		if len(f.messages[20]) != expiringLeast || len(*told) != 2 {
			t.Errorf("left %d, told %+v", len(f.messages[20]), *told)
		}
	})
}

// A retention that is set back takes nothing, and one that takes much more than was told of waits anew.
func TestTheWaitFollowsWhatIsSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := much(expiringLeast, expiringLeast)
		h := Janitor{Store: f, Retention: 50 * day}
		visit := func() {
			t.Helper()
			if err := h.visit(t.Context(), 2, time.Now(), false); err != nil {
				t.Fatal(err)
			}
		}
		visit()
		pass(ExpiringFor - time.Minute)
		h.Retention = day
		visit()
		pass(time.Hour)
		visit()
		if e, waits := f.guilds[2].Expiring(); !waits || e.Goes != 2*expiringLeast || len(f.forgotten) > 0 {
			t.Fatalf("forgot %+v, waits for %+v", f.forgotten, e)
		}
		h.Retention = 200 * day
		visit()
		if e, waits := f.guilds[2].Expiring(); waits || len(f.forgotten) > 0 {
			t.Errorf("forgot %+v, waits for %+v", f.forgotten, e)
		}
		h.Retention, f.applyErr = 50*day, errors.New("full")
		if err := h.visit(t.Context(), 2, time.Now(), false); !errors.Is(err, f.applyErr) || len(f.forgotten) > 0 {
			t.Errorf("forgot %+v, failed with %v", f.forgotten, err)
		}
		f.applyErr, f.extentErr = nil, fmt.Errorf("slow")
		if err := h.visit(t.Context(), 2, time.Now(), false); !errors.Is(err, f.extentErr) || len(f.forgotten) > 0 {
			t.Errorf("forgot %+v, failed with %v", f.forgotten, err)
		}
	})
}
