package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestRetentionsThatCanBeSet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90": 90 * day, "90d": 90 * day, " 7D ": 7 * day, "1d": MinRetention, "forever": 0, "36500": MaxRetention,
	} {
		got, err := ParseRetention(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if again, err := ParseRetention(FormatRetention(got)); err != nil || again != want {
			t.Errorf("%q comes back as %q: %v, %v", text, FormatRetention(got), again, err)
		}
	}
	for _, text := range []string{"", "0", "-3d", "36501d", "99999999999999h", "soon", "1m", "12h", "6m",
		"0d", "d", "1.5d"} {
		_, err := ParseRetention(text)
		wantRefusal(t, err)
	}
	if since := KeptSince(time.Now(), 0); !since.IsZero() {
		t.Errorf("reports forever since %v", since)
	}
	for keep, want := range map[time.Duration]string{-1: "forever", 36*time.Hour - time.Minute: "36h",
		48 * time.Hour: "2d"} {
		if got := FormatRetention(keep); got != want {
			t.Errorf("%v: %q", keep, got)
		}
	}
}

// keeping sets a retention.
func keeping(value string) map[Setting]string { return map[Setting]string{SettingRetention: value} }

func TestRetentionOfChannelsThreadsAndTheGuild(t *testing.T) {
	t.Parallel()
	g := Guild{ID: 2, Settings: keeping("30d"), Channels: []Channel{
		{ID: 21, Settings: keeping("90d")}, {ID: 22, Parent: 21, Kind: PublicThread, Settings: keeping("1d")}, {ID: 23},
		{ID: 24, Parent: 99, Kind: PublicThread, Settings: keeping("5d")},
		{ID: 25, Settings: keeping("whenever")}, {ID: 26, Settings: keeping("forever")},
	}}
	type setting struct {
		keep time.Duration
		at   ChannelID
		set  bool
	}
	for _, tt := range []struct {
		id   ChannelID
		most time.Duration
		want setting
	}{
		{21, 0, setting{90 * day, 21, true}}, {22, 0, setting{90 * day, 21, true}}, {23, 0, setting{30 * day, 0, true}},
		{24, 0, setting{5 * day, 24, true}}, {25, 0, setting{30 * day, 0, true}}, {26, 0, setting{0, 26, true}},
		{77, 0, setting{30 * day, 0, true}}, {0, 0, setting{30 * day, 0, true}},
		{21, 60 * day, setting{60 * day, 21, true}}, {26, 60 * day, setting{60 * day, 26, true}},
		{23, 60 * day, setting{30 * day, 0, true}},
	} {
		keep, at, set := g.Retention(tt.id, tt.most)
		if got := (setting{keep, at, set}); got != tt.want {
			t.Errorf("of %d, at most %v: %+v, want %+v", tt.id, tt.most, got, tt.want)
		}
	}
	g.Settings = nil
	if keep, at, set := g.Retention(23, day); keep != day || at != 0 || set {
		t.Errorf("as configured: %v, %d, %t", keep, at, set)
	}
}

// By the forgettings nothing stays that is older than its channel's retention and a step, and nothing goes
// that is younger.
func TestWhatIsOutdatedIsForgottenAndNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SampledFrom([]string{"", "", "1d", "3d", "30d", "365d", "forever", "nonsense"})
		g := Guild{ID: 2, Settings: keeping(values.Draw(r, "guild"))}
		for id := range ChannelID(6) {
			c := Channel{ID: id + 1, Settings: keeping(values.Draw(r, "channel"))}
			if parent := ChannelID(rapid.IntRange(0, 8).Draw(r, "parent")); parent > 0 && parent <= id {
				if p := g.Channel(parent); !p.Kind.IsThread() {
					c.Parent, c.Kind = parent, PublicThread
				}
			}
			g.Channels = append(g.Channels, c)
		}
		most := rapid.SampledFrom([]time.Duration{0, 2 * time.Hour, 10 * day, 400 * day}).Draw(r, "most")
		now := time.Date(2025, 6, 1, 13, 14, 15, 0, time.UTC)
		orders := g.Expired(now, most)
		for range 20 {
			id := ChannelID(rapid.IntRange(1, 7).Draw(r, "where")) // the last isn't known
			at := now.Add(-time.Duration(rapid.Int64Range(0, int64(500*day)).Draw(r, "age")))
			gone := slices.ContainsFunc(orders, func(f Forgetting) bool {
				c := g.Channel(id)
				in := f.Channel == 0 || f.Channel == id || c != nil && c.Kind.IsThread() && c.Parent == f.Channel
				return in && at.Before(f.Before)
			})
			keep, _, _ := g.Retention(id, most)
			if young := keep == 0 || now.Sub(at) <= keep; young && gone {
				r.Fatalf("%v old goes of channel %d, which keeps %v: %+v", now.Sub(at), id, keep, orders)
			}
			if old := keep > 0 && now.Sub(at) > keep+step(keep); old && !gone && id <= 6 {
				r.Fatalf("%v old stays of channel %d, which keeps %v: %+v", now.Sub(at), id, keep, orders)
			}
		}
		for _, f := range orders {
			if f.Guild != 2 || f.Why != WhyAge || f.Before.IsZero() || !f.At.Equal(now) || f.User != 0 {
				r.Fatalf("%+v", f)
			}
		}
	})
}

// What is set anew holds at the next look, and what is too old by it goes again and again.
func TestJanitorKeepsWhatAdminsSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore(2, 3)
		f.guilds[2].Channels = append(f.guilds[2].Channels, Channel{ID: 29, Parent: 20, Kind: PublicThread})
		f.thread = 29
		for _, age := range []time.Duration{100 * day, 10 * day, time.Hour} {
			f.say(2, age)
			f.say(3, age)
			f.messages[29] = append(f.messages[29], Message{ID: FirstMessageID(time.Now().Add(-age)), Channel: 29})
			f.messages[21] = append(f.messages[21], Message{ID: FirstMessageID(time.Now().Add(-age)), Channel: 21})
		}
		f.lore = []Lore{{ID: 1, Guild: 2, Channel: 20, At: time.Now().Add(-10 * day)},
			{ID: 2, Guild: 2, At: time.Now().Add(-10 * day)}}
		k := runJanitor(t, f, 50*day)
		left := func() string {
			return fmt.Sprint(len(f.messages[20]), len(f.messages[29]), len(f.messages[21]),
				len(f.messages[30]), len(f.lore))
		}
		if got := left(); got != "2 2 2 2 2" || len(f.forgotten) != 2 {
			t.Fatalf("left %s, forgot %+v", got, f.forgotten)
		}
		change := func(id ChannelID, value string) {
			g := *f.guilds[2]
			g.Channels = slices.Clone(g.Channels)
			if id == 0 {
				g.Settings = keeping(value)
			}
			for i := range g.Channels {
				if g.Channels[i].ID == id {
					g.Channels[i].Settings = keeping(value)
				}
			}
			f.guilds[2] = &g
		}
		change(20, "5d")
		pass(lookEvery)
		if got := left(); got != "1 1 2 2 1" || len(f.forgotten) != 3 || f.forgotten[2].Channel != 20 {
			t.Fatalf("after the channel's was set, left %s, forgot %+v", got, f.forgotten)
		}
		change(0, "5d")
		pass(lookEvery)
		if got := left(); got != "1 1 1 2 0" {
			t.Fatalf("after the guild's was set, left %s, forgot %+v", got, f.forgotten)
		}
		change(21, "1d")
		f.messages[21][0].ID = FirstMessageID(time.Now().Add(-23 * time.Hour))
		pass(2 * time.Hour)
		if got := left(); got != "1 1 0 2 0" {
			t.Errorf("where a day is reports, left %s two hours later: %+v", got, f.forgotten)
		}
		n := len(f.forgotten)
		change(21, "forever")
		pass(time.Hour)
		if len(f.forgotten) != n || len(k.failed) > 0 {
			t.Errorf("afterwards forgot %+v, failed %q", f.forgotten[n:], k.failed)
		}
	})
}

// Lore that was told for the whole guild is reports as the guild says, also where a channel keeps what was said
// for longer.
func TestJanitorForgetsLoreOfTheWholeGuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore(2)
		f.guilds[2].Settings = keeping("30d")
		f.guilds[2].Channels[0].Settings = keeping("forever")
		old, young := time.Now().Add(-200*day), time.Now().Add(-10*day)
		f.lore = []Lore{
			{ID: 1, Guild: 2, At: old}, {ID: 2, Guild: 2, At: young},
			{ID: 3, Guild: 2, Channel: 21, At: old}, {ID: 4, Guild: 3, At: old},
			{ID: 5, Guild: 2, At: old, Sources: []MessageRef{{Channel: 21, Message: 1}}},
		}
		left := func() (ids []int64) {
			for _, l := range f.lore {
				ids = append(ids, l.ID)
			}
			return ids
		}
		k := runJanitor(t, f, 0)
		if got := left(); !slices.Equal(got, []int64{2, 3, 4, 5}) || len(k.done) != 1 ||
			k.done[0].Lore != 1 || len(k.failed) > 0 {
			t.Fatalf("left %v, done %+v, failed %v", got, k.done, k.failed)
		}
		f.lore[0].At, f.applyErr = old, errors.New("full")
		pass(day)
		if len(k.failed) == 0 || !errors.Is(k.failed[0].error, f.applyErr) {
			t.Errorf("failed with %v", k.failed)
		}
	})
}

// extents are how much is in channels, under 0 in all, whatever the time is.
type extents struct {
	Store
	of   map[ChannelID]int
	fail ChannelID
}

func (e extents) DryRun(_ context.Context, f DryRunQuery) (DryRun, error) {
	if f.Channel == e.fail {
		return DryRun{}, errors.New("down")
	}
	n := e.of[f.Channel]
	return DryRun{Messages: n, Channels: min(n, 1), Lore: n, Summaries: n}, nil
}

func TestWhatASetRetentionTakes(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	g := &Guild{ID: 2, Settings: keeping("30d"), Channels: []Channel{
		{ID: 21, Settings: keeping("90d")}, {ID: 22, Parent: 21, Kind: PublicThread}, {ID: 23},
		{ID: 24, Settings: keeping("huh")},
	}}
	store := extents{of: map[ChannelID]int{0: 100, 21: 40, 23: 7}, fail: -1}
	for _, tt := range []struct {
		id    ChannelID
		value string
		most  time.Duration
		keep  time.Duration // 0: nothing is shortened
		goes  int
	}{
		{21, "91d", 0, 0, 0}, {21, "90d", 0, 0, 0}, {21, "forever", 0, 0, 0}, {21, "5d", 0, 5 * day, 40},
		{21, "", 0, 30 * day, 40}, {21, "50d", 20 * day, 0, 0},
		{23, "", 0, 0, 0}, {23, "forever", 0, 0, 0}, {23, "29d", 0, 29 * day, 7},
		{0, "29d", 0, 29 * day, 60}, {0, "", 0, 0, 0}, {0, "", 20 * day, 0, 0},
	} {
		less, err := g.Shortens(t.Context(), store, nil, tt.id, tt.value, tt.most, now)
		switch {
		case err != nil || (less == nil) != (tt.keep == 0):
			t.Errorf("%+v: %+v, %v", tt, less, err)
		case less != nil && (less.Keep != tt.keep || less.Goes.Messages != tt.goes ||
			less.Goes.Lore != tt.goes || less.Goes.Summaries != tt.goes || !less.Since.Equal(KeptSince(now, tt.keep))):
			t.Errorf("%+v: %+v", tt, less)
		}
	}
	if g.Settings[SettingRetention] != "30d" || g.Channels[0].Settings[SettingRetention] != "90d" {
		t.Errorf("it was set: %+v", g)
	}
	for _, fail := range []ChannelID{0, 21} {
		store.fail = fail
		if _, err := g.Shortens(t.Context(), store, nil, 0, "1d", 0, now); err == nil {
			t.Errorf("nothing failed with channel %d's", fail)
		}
	}
}
