package memory

import (
	"context"
	"fmt"
	"time"
)

// Expiring says that a guild holds more that is too old than goes by itself: a retention may be mistyped, or
// a clock wrong. It is forgotten once somebody agrees, or ExpiringFor after it was noticed.
type Expiring struct {
	Since time.Time // when it was noticed
	Goes  int       // messages that were too old then
	Kept  int       // messages that were remembered then, those included
}

// ExpiringFor is how long what is Expiring waits.
const ExpiringFor = 72 * time.Hour

const (
	expiringShare = 10   // more than one in so many waits
	expiringLeast = 1000 // fewer messages never wait: a quiet guild reaches a tenth of what it keeps in a day
)

// expiringAgreed is the value of SettingExpiring when somebody has agreed, until the House has been there.
const expiringAgreed = "agreed"

// Expiring is what waits to be forgotten of g because of its age, if anything does.
func (g *Guild) Expiring() (e Expiring, waits bool) {
	var since int64
	_, err := fmt.Sscanf(g.Settings[SettingExpiring], "%d %d %d", &since, &e.Goes, &e.Kept)
	e.Since = time.UnixMilli(since)
	return e, err == nil
}

// setting is the event that keeps e.
func (e Expiring) setting(guild GuildID, now time.Time) SettingChosen {
	return SettingChosen{Guild: guild, Key: SettingExpiring,
		Value: fmt.Sprintf("%d %d %d", e.Since.UnixMilli(), e.Goes, e.Kept), At: now}
}

// AgreeToExpiring has a House forget what is too old in a guild, however much it is.
func AgreeToExpiring(guild GuildID, at time.Time) SettingChosen {
	return SettingChosen{Guild: guild, Key: SettingExpiring, Value: expiringAgreed, At: at}
}

// CountOutdated counts the messages that forgettings of one guild take, as Outdated gives them.
func CountOutdated(ctx context.Context, store Store, outdated []Forgetting) (n int, err error) {
	var whole time.Time // what is before that goes in all channels
	for _, f := range outdated {
		goes, err := store.Extent(ctx, ExtentQuery{Forgetting: f})
		if err != nil {
			return 0, err
		}
		n += goes.Messages
		if f.Channel == 0 {
			whole = f.Before
		} else if !whole.IsZero() {
			f.Before = whole
			if goes, err = store.Extent(ctx, ExtentQuery{Forgetting: f}); err != nil {
				return 0, err
			}
			n -= goes.Messages
		}
	}
	return n, nil
}

// waits reports whether what is outdated in g is so much that it waits, and keeps since when it does.
func (h *House) waits(ctx context.Context, g *Guild, outdated []Forgetting, now time.Time) (bool, error) {
	if len(outdated) == 0 || g.Settings[SettingExpiring] == expiringAgreed {
		return false, nil
	}
	goes, err := CountOutdated(ctx, h.Store, outdated)
	if err != nil || goes < expiringLeast {
		return false, err
	}
	all, err := h.Store.Extent(ctx, ExtentQuery{Forgetting: Forgetting{Guild: g.ID, At: now}})
	if err != nil || goes*expiringShare <= all.Messages {
		return false, err
	}
	e, waiting := g.Expiring()
	if !waiting || (goes-e.Goes)*expiringShare > all.Messages { // much more than was told of waits anew
		e = Expiring{Since: now, Goes: goes, Kept: all.Messages}
		if err := h.Store.Apply(ctx, e.setting(g.ID, now)); err != nil {
			return false, err
		}
		delete(h.warned, g.ID)
	}
	if now.Sub(e.Since) >= ExpiringFor {
		return false, nil
	}
	if last, warned := h.warned[g.ID]; h.Waits != nil && (!warned || now.Sub(last) >= 24*time.Hour) {
		h.Waits(g, e)
		if h.warned == nil {
			h.warned = map[GuildID]time.Time{}
		}
		h.warned[g.ID] = now
	}
	return true, nil
}
