package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/golden"
)

// fakeStore is a store of messages in memory, of which a channel's id is its guild's times ten.
type fakeStore struct {
	Store
	guilds     map[GuildID]*Guild
	messages   map[ChannelID][]Message
	lore       []Lore
	unfinished []Forgetting
	forgotten  []Forgetting
	thread     ChannelID // of the first channel of its guild; 0: there is none

	expired []Expiry // of each round
	asked   int      // how often for lore since it was for a guild

	expireErr, applyErr, loreLaterErr, extentErr                           error
	listErr, guildErr, logErr, loreErr, forgetErr, unfinishedErr, carryErr error

	erased   int // how often
	eraseErr error
}

func newFakeStore(guilds ...GuildID) *fakeStore {
	f := &fakeStore{guilds: map[GuildID]*Guild{}, messages: map[ChannelID][]Message{}}
	for _, id := range guilds {
		f.guilds[id] = &Guild{ID: id, Channels: []Channel{{ID: ChannelID(id*10 + 1)}, {ID: ChannelID(id * 10)}}}
	}
	return f
}

// say logs a message of that age.
func (f *fakeStore) say(guild GuildID, age time.Duration) {
	c := ChannelID(guild * 10)
	f.messages[c] = append(f.messages[c], Message{ID: FirstMessageID(time.Now().Add(-age)), Channel: c})
}

func (f *fakeStore) Guilds(context.Context) ([]GuildID, error) {
	return slices.Sorted(maps.Keys(f.guilds)), f.listErr
}

func (f *fakeStore) Guild(_ context.Context, id GuildID) (*Guild, error) {
	f.asked = 0
	return f.guilds[id], f.guildErr
}

func (f *fakeStore) Erase(context.Context, bool) error {
	f.erased++
	return f.eraseErr
}

func (f *fakeStore) Expire(_ context.Context, e Expiry) error {
	f.expired = append(f.expired, e)
	return f.expireErr
}

func (f *fakeStore) Log(_ context.Context, channel ChannelID, after, until MessageID, limit int) ([]Message, error) {
	var found []Message
	for _, m := range f.messages[channel] {
		if m.ID > after && m.ID <= until && len(found) < limit {
			found = append(found, m)
		}
	}
	return found, f.logErr
}

func (f *fakeStore) Lore(_ context.Context, guild GuildID) ([]Lore, error) {
	err := f.loreErr
	if f.asked++; f.asked > 1 {
		err = errors.Join(err, f.loreLaterErr)
	}
	return slices.DeleteFunc(slices.Clone(f.lore), func(l Lore) bool { return l.Guild != guild }), err
}

func (f *fakeStore) Apply(_ context.Context, events ...Event) error {
	for _, e := range events {
		if set, is := e.(SettingChosen); is {
			g := *f.guilds[set.Guild]
			g.Settings = maps.Clone(g.Settings)
			if g.Settings == nil {
				g.Settings = map[Setting]string{}
			}
			g.Settings[set.Key] = set.Value
			f.guilds[set.Guild] = &g
			continue
		}
		gone := e.(LoreGone)
		f.lore = slices.DeleteFunc(f.lore, func(l Lore) bool { return l.Guild == gone.Guild && l.ID == gone.ID })
	}
	return f.applyErr
}

func (f *fakeStore) DryRun(_ context.Context, q DryRunQuery) (e DryRun, err error) {
	for c, all := range f.messages {
		if !f.covers(q.Forgetting, c) {
			continue
		}
		for _, m := range all {
			if q.Before.IsZero() || m.Time().Before(q.Before) {
				e.Messages++
			}
		}
	}
	return e, f.extentErr
}

func (f *fakeStore) covers(g Forgetting, c ChannelID) bool {
	return c/10 == ChannelID(g.Guild) && (g.Channel == 0 || c == g.Channel) || c == f.thread &&
		g.Channel == ChannelID(g.Guild*10)
}

func (f *fakeStore) Forget(_ context.Context, g Forgetting, _ func(done, total int)) (DeletionReport, error) {
	if g.ID != 0 {
		return f.resume(g.ID)
	}
	if f.forgetErr != nil {
		return DeletionReport{}, f.forgetErr
	}
	f.forgotten = append(f.forgotten, g)
	if g.Before.IsZero() {
		delete(f.guilds, g.Guild)
	}
	r := DeletionReport{Forgetting: g}
	f.lore = slices.DeleteFunc(f.lore, func(l Lore) bool {
		return l.Guild == g.Guild && (g.Channel == 0 || f.covers(g, l.Channel)) &&
			(g.Before.IsZero() || l.At.Before(g.Before))
	})
	for c, all := range f.messages {
		if f.covers(g, c) {
			f.messages[c] = slices.DeleteFunc(all, func(m Message) bool {
				return g.Before.IsZero() || m.Time().Before(g.Before)
			})
			r.Messages += len(all) - len(f.messages[c])
		}
	}
	return r, nil
}

func (f *fakeStore) Forgettings(context.Context, GuildID, UserID) ([]DeletionReport, error) {
	all := make([]DeletionReport, len(f.unfinished))
	for i, g := range f.unfinished {
		all[i].Forgetting = g
	}
	return all, f.unfinishedErr
}

func (f *fakeStore) resume(id int64) (DeletionReport, error) {
	if f.carryErr != nil && id%2 == 0 {
		return DeletionReport{}, f.carryErr
	}
	f.unfinished = slices.DeleteFunc(f.unfinished, func(g Forgetting) bool { return g.ID == id })
	return DeletionReport{Forgetting: Forgetting{ID: id}, Messages: int(id)}, nil
}

// reports are what a running Janitor reported.
type reports struct {
	done   []DeletionReport
	failed []failed
}

// failed is a failure and how long the Janitor waits after it.
type failed struct {
	error
	wait time.Duration
}

// runJanitor runs a Janitor until the test's bubble ends.
func runJanitor(t *testing.T, f Store, retention time.Duration) *reports {
	return runJanitorWith(t, Janitor{Store: f, Retention: retention})
}

func runJanitorWith(t *testing.T, h Janitor) *reports {
	k := &reports{}
	h.Done, h.Failed = func(r DeletionReport) { k.done = append(k.done, r) }, func(err error, wait time.Duration) {
		k.failed = append(k.failed, failed{err, wait})
	}
	running(t, &h)
	synctest.Wait()
	return k
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestJanitorCarriesOutWhatWasBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		f.unfinished = []Forgetting{{ID: 1}, {ID: 3}}
		k := runJanitor(t, f, 0)
		if len(f.unfinished) > 0 || len(k.done) != 2 || k.done[1].Messages != 3 {
			t.Fatalf("at the start %v was done, %v left", k.done, f.unfinished)
		}
		f.unfinished = []Forgetting{{ID: 5, Why: WhyDeleted}} // as when a channel is deleted
		pass(lookEvery)
		if len(f.unfinished) > 0 || len(k.done) != 3 {
			t.Errorf("later %v was done, %v left", k.done, f.unfinished)
		}
		if len(k.failed) > 0 {
			t.Errorf("failed: %v", k.failed)
		}
	})
}

func TestJanitorForgetsWhatIsTooOld(t *testing.T) {
	t.Parallel()
	tests := []struct {
		retention, step time.Duration
	}{
		{365 * day, day}, {24 * day, day}, {2 * day, 2 * time.Hour},
		{time.Hour, 150 * time.Second}, {time.Minute, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.retention.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore(DirectGuild, LocalGuild, 2, 3)
				old := test.retention + test.step
				f.say(DirectGuild, old)
				f.say(LocalGuild, 10*old)
				f.say(2, old)
				f.say(2, test.retention-time.Second)
				f.say(3, test.retention-time.Second)
				k := runJanitor(t, f, test.retention)
				end := time.Now().Add(-test.retention).Truncate(test.step).UTC()
				want := []Forgetting{
					{Guild: DirectGuild, Before: end, Why: WhyAge, At: time.Now()},
					{Guild: 2, Before: end, Why: WhyAge, At: time.Now()},
				}
				same := func(a, b Forgetting) bool {
					return a.Guild == b.Guild && a.Why == b.Why && a.Before.Equal(b.Before) && a.At.Equal(b.At)
				}
				if !slices.EqualFunc(f.forgotten, want, same) || len(k.done) != 2 || k.done[0].Messages != 1 {
					t.Fatalf("forgot %+v, and not %+v", f.forgotten, want)
				}
				// The youngest stays until it is too old too, and nothing is begun twice.
				pass(time.Second)
				if len(f.messages[20]) != 1 {
					t.Error("forgot what isn't old yet")
				}
				pass(2*test.step + lookEvery)
				if len(f.messages[20])+len(f.messages[30]) != 0 || len(f.messages[10]) != 1 || len(f.forgotten) != 4 {
					t.Errorf("forgot %+v, left %v", f.forgotten, f.messages)
				}
			})
		})
	}
}

// Where nothing was said that is too old, lore may be.
func TestJanitorForgetsOldLore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore(2, 3)
		f.say(2, time.Hour)
		for i, age := range []time.Duration{12 * day, 8 * day, time.Hour} {
			f.lore = append(f.lore, Lore{ID: int64(i), Guild: 2, At: time.Now().Add(-age)},
				Lore{ID: int64(i), Guild: 3, At: time.Now().Add(-time.Hour)})
		}
		runJanitor(t, f, 10*day)
		if len(f.forgotten) != 1 || f.forgotten[0].Guild != 2 || f.forgotten[0].Why != WhyAge || len(f.lore) != 5 {
			t.Fatalf("forgot %+v, left %+v", f.forgotten, f.lore)
		}
		pass(4 * day)
		if len(f.forgotten) != 2 || len(f.lore) != 4 {
			t.Errorf("later it forgot %+v, and left %+v", f.forgotten, f.lore)
		}
	})
}

func TestJanitorForgetsGuildsThatAreLongGone(t *testing.T) {
	t.Parallel()
	for _, retention := range []time.Duration{0, 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeStore(LocalGuild, 2, 3, 4)
			f.guilds[LocalGuild].Left = time.Now().Add(-2 * LeftFor) // can't be
			f.guilds[2].Left = time.Now().Add(-LeftFor)
			f.guilds[3].Left = time.Now().Add(-LeftFor + time.Minute)
			f.say(2, time.Minute)
			f.say(4, 100*24*time.Hour) // there, available or not
			k := runJanitor(t, f, retention)
			if len(f.forgotten) != 1 || len(k.done) != 1 || k.done[0].Messages != 1 {
				t.Fatalf("forgot %+v", f.forgotten)
			}
			if g := f.forgotten[0]; g.Guild != 2 || g.Why != WhyLeft || !g.Before.IsZero() ||
				g.Channel != 0 || g.User != 0 {
				t.Errorf("forgot %+v", g)
			}
			pass(deleteEvery + lookEvery)
			if len(f.forgotten) != 2 || f.forgotten[1].Guild != 3 {
				t.Errorf("later it forgot %+v", f.forgotten)
			}
			pass(100 * time.Hour)
			if len(f.forgotten) != 2 || len(f.messages[40]) != 1 {
				t.Errorf("in the end it forgot %+v", f.forgotten)
			}
		})
	}
}

func TestJanitorGoesOnAfterFailures(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	tests := []struct {
		name string
		set  func(f *fakeStore, err error)
	}{
		{"unfinished", func(f *fakeStore, err error) { f.unfinishedErr = err }},
		{"carry out", func(f *fakeStore, err error) { f.carryErr = err }},
		{"guild", func(f *fakeStore, err error) { f.guildErr = err }},
		{"forget", func(f *fakeStore, err error) { f.forgetErr = err }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore(2, 3)
				f.say(2, 100*time.Hour)
				f.say(3, 100*time.Hour)
				f.unfinished = []Forgetting{{ID: 1}, {ID: 2}, {ID: 3}}
				test.set(f, down)
				k := runJanitor(t, f, 24*time.Hour)
				pass(5 * time.Second)
				pass(10 * time.Second)
				if len(k.failed) != 3 {
					t.Fatalf("failed: %v", k.failed)
				}
				golden.Seen(t, fmt.Sprint(k.failed[0].error))
				for i, wait := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
					if f := k.failed[i]; f.wait != wait || !errors.Is(f.error, down) {
						t.Errorf("try %d: %v", i, f)
					}
				}
				if f.erased != 3 {
					t.Errorf("erased %d times", f.erased)
				}
				if test.name == "carry out" && len(f.messages[20])+len(f.messages[30]) != 0 ||
					test.name != "carry out" && test.name != "unfinished" && len(f.unfinished) != 0 {
					t.Errorf("what doesn't fail isn't done: left %v, %v", f.unfinished, f.messages)
				}
				pass(time.Hour)
				if last := k.failed[len(k.failed)-1]; last.wait != longWait {
					t.Errorf("the longest wait is of %v", last)
				}
				test.set(f, nil)
				pass(longWait)
				if len(f.unfinished)+len(f.messages[20])+len(f.messages[30]) != 0 {
					t.Errorf("afterwards left %v, %v", f.unfinished, f.messages)
				}
				n := len(k.failed)
				test.set(f, down)
				if test.name == "unfinished" { // the next failure waits as long as the first
					pass(lookEvery)
					if len(k.failed) != n+1 || k.failed[n].wait != 5*time.Second {
						t.Errorf("failed: %v", k.failed[n:])
					}
				}
			})
		})
	}
}

func TestJanitorPassesOverWhatIsNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore(2)
		f.unfinished = []Forgetting{{ID: 2}}
		f.carryErr, f.guildErr = fmt.Errorf("gone: %w", ErrNotFound), fmt.Errorf("gone: %w", ErrNotFound)
		k := runJanitor(t, f, time.Hour)
		pass(time.Minute)
		if len(k.failed)+len(k.done) > 0 {
			t.Errorf("told %v, %v", k.failed, k.done)
		}
	})
}

// Each round has expire what is too old at that moment, and what was spent before yesterday; what fails is tried again.
func TestJanitorExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which begins at midnight, UTC
		f := newFakeStore(LocalGuild)
		began := time.Now()
		f.expireErr = errors.New("the disk is full")
		k := runJanitorWith(t, Janitor{Store: f, Prompts: time.Hour, Records: RecordRetention{Age: 30 * time.Minute,
			Count: 5, Tokens: 6}})
		want := Expiry{Prompts: began.Add(-time.Hour), Spending: began.Add(-day).UTC(),
			Records: RecordLimits{Before: began.Add(-30 * time.Minute), Count: 5, Tokens: 6}}
		if len(k.failed) != 1 || !errors.Is(k.failed[0].error, f.expireErr) || len(f.expired) != 1 ||
			f.expired[0] != want {
			t.Errorf("failed with %v, expired %+v", k.failed, f.expired)
		}
		f.expireErr = nil
		pass(10 * time.Minute) // less than an hour, for what is reports for so short
		if n := len(f.expired); n < 5 || !f.expired[n-1].Records.Before.After(want.Records.Before) ||
			!f.expired[n-1].Prompts.After(want.Prompts) {
			t.Errorf("after ten minutes %+v", f.expired)
		}
		pass(day)
		if got := f.expired[len(f.expired)-1].Spending; !got.Equal(began) {
			t.Errorf("a day later what was spent before %v expires", got)
		}
	})
}
