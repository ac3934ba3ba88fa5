package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Janitor does what is due by time: it finishes interrupted Forgettings, erases deleted data from the file,
// and deletes expired data and guilds that removed Hark long ago.
type Janitor struct {
	Store Store
	// Retention is the longest that messages and lore are remembered; 0 means no limit. A guild's admins
	// may set less with SettingRetention. It doesn't apply to LocalGuild.
	Retention time.Duration
	// Prompts is how long prompts are kept, also LocalGuild's. 0: they aren't kept.
	Prompts time.Duration
	Records RecordRetention
	// Done, if not nil, is called after each deletion.
	Done func(DeletionReport)
	// Waits, if not nil, is called for each guild whose expired data waits, at first and once a day. See
	// Expiring.
	Waits func(*Guild, Expiring)
	// Progress, if not nil, is called after each check.
	Progress func()
	// Failed, if not nil, is called for each failure, with the time until the next try.
	Failed func(err error, wait time.Duration)

	// seen holds each guild's retentions at its last visit; interval is the time between visits.
	seen     map[GuildID]string
	interval time.Duration
	warned   map[GuildID]time.Time // when Waits was last called
}

// RecordRetention is how long records of calls are kept, and how many of a channel. The newest stay. See
// RecordLimits.
type RecordRetention struct {
	Age    time.Duration // 0: none are kept
	Count  int           // 0: no limit
	Tokens int           // 0: no limit
}

func (r RecordRetention) At(now time.Time) RecordLimits {
	return RecordLimits{Before: now.Add(-r.Age), Count: r.Count, Tokens: r.Tokens}
}

const (
	lookEvery   = 5 * time.Second // for Forgettings begun by others
	deleteEvery = time.Hour       // through the guilds
)

// Run works until ctx is done. Then it returns nil.
func (h *Janitor) Run(ctx context.Context) error {
	var due time.Time // next call of deleteExpired
	for failures := 0; ctx.Err() == nil; {
		err := errors.Join(h.resume(ctx), h.Store.Erase(ctx, false))
		if now := time.Now(); !now.Before(due) {
			h.interval = min(deleteEvery, step(h.Retention), step(h.Prompts), step(h.Records.Age))
			failed := h.deleteExpired(ctx, now)
			if failed == nil {
				due = now.Add(h.interval)
			}
			err = errors.Join(err, failed)
		} else {
			err = errors.Join(err, h.visitAll(ctx, now, true))
			if next := now.Add(h.interval); next.Before(due) {
				due = next
			}
		}
		wait := lookEvery
		if err != nil && ctx.Err() == nil {
			wait = min(lookEvery<<min(failures, 10), longWait)
			failures++
			if h.Failed != nil {
				h.Failed(err, wait)
			}
		} else {
			failures = 0
		}
		if h.Progress != nil {
			h.Progress()
		}
		sleep(ctx, wait)
	}
	return nil
}

// resume continues Forgettings that an event began or that were interrupted.
func (h *Janitor) resume(ctx context.Context) error {
	begun, err := h.Store.Forgettings(ctx, Everywhere, 0)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range begun {
		receipt, err := h.Store.Resume(ctx, r.Forgetting.ID, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, ErrNotFound) { // else another did it, and began one that covers it
			errs = append(errs, h.done(receipt, err))
		}
	}
	return errors.Join(errs...)
}

// deleteExpired deletes old prompts, records and spending, then visits every guild.
func (h *Janitor) deleteExpired(ctx context.Context, now time.Time) error {
	// Yesterday's spending stays, because a question from before midnight may come late.
	today, _ := Day(now)
	err := h.Store.Expire(ctx, Expiry{Prompts: now.Add(-h.Prompts), Records: h.Records.At(now),
		Spending: today.Add(-24 * time.Hour)})
	if err != nil {
		err = fmt.Errorf("keep house: %w", err)
	}
	return errors.Join(err, h.visitAll(ctx, now, false))
}

// visitAll visits the guilds; if changed, only those whose retention was set since their last visit.
func (h *Janitor) visitAll(ctx context.Context, now time.Time, changed bool) error {
	guilds, err := h.Store.Guilds(ctx)
	if err != nil {
		return fmt.Errorf("keep house: %w", err)
	}
	var errs []error
	for _, id := range guilds {
		if id == LocalGuild {
			continue
		}
		if err := h.visit(ctx, id, now, changed); err != nil {
			errs = append(errs, fmt.Errorf("keep house in guild %d: %w", id, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// visit forgets a guild that was left long ago, or the expired data of another; if changed, only if its
// retention was set.
func (h *Janitor) visit(ctx context.Context, id GuildID, now time.Time, changed bool) error {
	g, err := h.Store.Guild(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	set := g.retentions()
	if changed && h.seen[id] == set {
		return nil
	}
	if !g.Left.IsZero() && now.Sub(g.Left) >= LeftFor {
		return h.done(h.Store.Forget(ctx, Forgetting{Guild: id, Why: WhyLeft, At: now}, nil))
	}
	if err := h.forgetExpired(ctx, g, now); err != nil {
		return err
	}
	if h.seen == nil {
		h.seen = map[GuildID]string{}
	}
	h.seen[id] = set
	return nil
}

func (h *Janitor) forgetExpired(ctx context.Context, g *Guild, now time.Time) error {
	var outdated []Forgetting
	for _, f := range g.Expired(now, h.Retention) {
		h.interval = min(h.interval, step(now.Sub(f.Before)))
		some, err := h.hasBefore(ctx, g, f)
		if err != nil {
			return err
		}
		if some {
			outdated = append(outdated, f)
		}
	}
	if wait, err := h.waits(ctx, g, outdated, now); wait || err != nil {
		return err
	}
	for _, f := range outdated {
		if err := h.done(h.Store.Forget(ctx, f, nil)); err != nil {
			return err
		}
	}
	if err := h.forgetLore(ctx, g, now); err != nil || g.Settings[SettingExpiring] == "" {
		return err
	}
	return h.Store.Apply(ctx, SettingChosen{Guild: g.ID, Key: SettingExpiring, At: now})
}

// forgetLore forgets expired lore of the whole guild. If a channel has a longer retention, no Forgetting
// covers that lore. Lore from messages goes with them.
func (h *Janitor) forgetLore(ctx context.Context, g *Guild, now time.Time) error {
	keep, _, _ := g.Retention(0, h.Retention)
	if keep <= 0 {
		return nil
	}
	h.interval = min(h.interval, step(keep))
	f := Forgetting{Guild: g.ID, Before: KeptSince(now, keep), Why: WhyAge, At: now}
	lore, err := h.Store.Lore(ctx, g.ID)
	if err != nil {
		return err
	}
	var gone []Event
	for _, l := range lore {
		if l.Channel == 0 && len(l.Sources) == 0 && FirstMessageID(l.At) < FirstMessageID(f.Before) {
			gone = append(gone, LoreGone{Guild: g.ID, ID: l.ID})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return h.done(DeletionReport{Forgetting: f, Lore: len(gone)}, h.Store.Apply(ctx, gone...))
}

// retentions returns the retentions that admins set, and whether they agreed to what waits, as one string
// to compare.
func (g *Guild) retentions() string {
	set := g.Settings[SettingRetention]
	for i := range g.Channels {
		if own := g.Channels[i].Settings[SettingRetention]; own != "" {
			set += fmt.Sprintf(" %d:%s", g.Channels[i].ID, own)
		}
	}
	if g.Settings[SettingExpiring] == expiringAgreed {
		set += " " + expiringAgreed
	}
	return set
}

func (h *Janitor) hasBefore(ctx context.Context, g *Guild, f Forgetting) (bool, error) {
	end, where := FirstMessageID(f.Before), g.Channels
	if f.Channel != 0 {
		where = g.WithThreads(f.Channel)
	}
	lore, err := h.Store.Lore(ctx, g.ID)
	if err != nil || slices.ContainsFunc(lore, func(l Lore) bool {
		return FirstMessageID(l.At) < end && (f.Channel == 0 ||
			slices.ContainsFunc(where, func(c Channel) bool { return c.ID == l.Channel }))
	}) {
		return err == nil, err
	}
	for _, c := range where {
		oldest, err := h.Store.Log(ctx, c.ID, math.MinInt64, end-1, 1)
		if err != nil || len(oldest) > 0 {
			return len(oldest) > 0, err
		}
	}
	return false, nil
}

func (h *Janitor) done(r DeletionReport, err error) error {
	if err == nil && h.Done != nil {
		h.Done(r)
	}
	return err
}
