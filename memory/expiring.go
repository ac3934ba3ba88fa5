package memory

import (
	"context"
	"fmt"
	"time"
)

// Expiring means that more of a guild's messages have expired than are deleted without asking: a retention
// may be mistyped, or a clock wrong. They are forgotten once an admin agrees, or after ExpiringFor.
type Expiring struct {
	Since time.Time // when it was noticed
	Goes  int       // messages that had expired then
	Kept  int       // messages remembered then, those included
}

// ExpiringFor is how long Expiring messages wait.
const ExpiringFor = 72 * time.Hour

const (
	expiringShare = 10   // more than one in so many messages waits
	expiringLeast = 1000 // fewer never wait: a quiet guild gets a tenth of its messages in a day
)

// expiringAgreed is SettingExpiring's value from an admin's agreement until a Janitor acts on it.
const expiringAgreed = "agreed"

func (g *Guild) Expiring() (e Expiring, waits bool) {
	var since int64
	_, err := fmt.Sscanf(g.Settings[SettingExpiring], "%d %d %d", &since, &e.Goes, &e.Kept)
	e.Since = time.UnixMilli(since)
	return e, err == nil
}

// AgreeToExpiring lets a Janitor forget all expired messages of a guild.
func AgreeToExpiring(guild GuildID, at time.Time) SettingChosen {
	return SettingChosen{
		Guild: guild,
		Key:   SettingExpiring,
		Value: expiringAgreed,
		At:    at,
	}
}

// CountExpired counts the messages that forgettings of one guild, from Guild.Expired, delete.
func CountExpired(ctx context.Context, store Forgetter, outdated []Forgetting) (n int, err error) {
	var whole time.Time // expired in all channels before this
	for _, f := range outdated {
		goes, err := store.DryRun(ctx, DryRunQuery{Forgetting: f})
		if err != nil {
			return 0, err
		}
		n += goes.Messages
		if f.Channel == 0 {
			whole = f.Before
		} else if !whole.IsZero() {
			f.Before = whole
			goes, err = store.DryRun(ctx, DryRunQuery{Forgetting: f})
			if err != nil {
				return 0, err
			}
			n -= goes.Messages
		}
	}
	return n, nil
}

// waits reports whether g's expired data waits, and stores since when.
func (j *Janitor) waits(ctx context.Context, g *Guild, outdated []Forgetting, now time.Time) (bool, error) {
	if len(outdated) == 0 || g.Settings[SettingExpiring] == expiringAgreed {
		return false, nil
	}
	goes, err := CountExpired(ctx, j.Store, outdated)
	if err != nil || goes < expiringLeast {
		return false, err
	}
	all, err := j.Store.DryRun(ctx, DryRunQuery{Forgetting: Forgetting{Guild: g.ID, At: now}})
	if err != nil || goes*expiringShare <= all.Messages {
		return false, err
	}
	e, waiting := g.Expiring()
	if !waiting || (goes-e.Goes)*expiringShare > all.Messages { // much more than announced waits again
		e = Expiring{
			Since: now,
			Goes:  goes,
			Kept:  all.Messages,
		}
		if err := j.Store.Apply(ctx, SettingChosen{
			Guild: g.ID,
			Key:   SettingExpiring,
			At:    now,
			Value: fmt.Sprintf("%d %d %d", e.Since.UnixMilli(), e.Goes, e.Kept),
		}); err != nil {
			return false, err
		}
		delete(j.warned, g.ID)
	}
	if now.Sub(e.Since) >= ExpiringFor {
		return false, nil
	}
	if last, warned := j.warned[g.ID]; j.Waits != nil && (!warned || now.Sub(last) >= day) {
		j.Waits(g, e)
		if j.warned == nil {
			j.warned = map[GuildID]time.Time{}
		}
		j.warned[g.ID] = now
	}
	return true, nil
}
