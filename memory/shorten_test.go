package memory

import (
	"context"
	"errors"
	"testing"
	"time"
)

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
		{ID: 21, Settings: keeping("90d")}, {ID: 22, Parent: 21, Kind: PublicThread}, {ID: 23}, {ID: 24,
			Settings: keeping("huh")},
	}}
	store := extents{of: map[ChannelID]int{0: 100, 21: 40, 23: 7}, fail: -1}
	for _, tt := range []struct {
		id    ChannelID
		value string
		most  time.Duration
		keep  time.Duration // 0: nothing is shortened
		goes  int
	}{
		{21, "91d", 0, 0, 0}, {21, "90d", 0, 0, 0}, {21, "forever", 0, 0, 0}, {21, "5d", 0, 5 * aDay,
			40}, {21, "", 0, 30 * aDay, 40}, {21, "50d", 20 * aDay, 0, 0},
		{23, "", 0, 0, 0}, {23, "forever", 0, 0, 0}, {23, "29d", 0, 29 * aDay, 7}, {0, "29d", 0, 29 * aDay,
			60}, {0, "", 0, 0, 0}, {0, "", 20 * aDay, 0, 0},
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
