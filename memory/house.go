package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// House keeps a store's promises about time: what is to be forgotten is taken out, also when whoever began
// that is no more, what was removed leaves nothing in the file, what has grown too old goes, and so do guilds
// that removed Hark long ago.
type House struct {
	Store Store
	// Retention is how long messages and lore are remembered at the most; 0 means without end. A guild's
	// admins may set less with SettingRetention. What isn't Discord's stays.
	Retention time.Duration
	// Prompts is how long prompts are kept; 0 means that none are. Those of the command line's go as well.
	Prompts time.Duration
	// Records is how much is kept of the records of calls.
	Records RecordRetention
	// Done, if not nil, is told what was taken away.
	Done func(Receipt)
	// Waits, if not nil, is told of each guild in which so much is too old that it waits, at first and once a
	// day. See Expiring.
	Waits func(*Guild, Expiring)
	// Progress, if not nil, is called after each look.
	Progress func()
	// Failed, if not nil, is told of each failure and of how long the next try waits.
	Failed func(err error, wait time.Duration)

	// seen is, by guild, what its admins had set of retentions when it was visited last; soon is how far
	// apart visits are.
	seen   map[GuildID]string
	soon   time.Duration
	warned map[GuildID]time.Time // when Waits was last told
}

// RecordRetention is how long records of calls are kept, and how many of a channel: the newest. See RecordLimits.
type RecordRetention struct {
	Age    time.Duration // 0: none are kept
	Count  int           // 0: without a bound
	Tokens int           // 0: without a bound
}

// At are the limits at a moment.
func (r RecordRetention) At(now time.Time) RecordLimits {
	return RecordLimits{Before: now.Add(-r.Age), Count: r.Count, Tokens: r.Tokens}
}

const (
	lookEvery  = 5 * time.Second // for what others have begun to forget
	roundEvery = time.Hour       // through the guilds
)

// Run keeps house until ctx is done; then it returns nil.
func (h *House) Run(ctx context.Context) error {
	var round time.Time // when the next is due
	for failures := 0; ctx.Err() == nil; {
		err := errors.Join(h.resume(ctx), h.Store.Erase(ctx, false))
		if now := time.Now(); !now.Before(round) {
			h.soon = min(roundEvery, step(h.Retention), step(h.Prompts), step(h.Records.Age))
			failed := h.round(ctx, now)
			if failed == nil {
				round = now.Add(h.soon)
			}
			err = errors.Join(err, failed)
		} else {
			err = errors.Join(err, h.visitAll(ctx, now, true))
			if next := now.Add(h.soon); next.Before(round) {
				round = next
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

// resume goes on with what was begun to be forgotten: by the deletion of a channel, or by somebody who didn't come to
// the end of it.
func (h *House) resume(ctx context.Context) error {
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
		if !errors.Is(err, ErrNotFound) { // else another has done it, and begun one that covers it
			errs = append(errs, h.done(receipt, err))
		}
	}
	return errors.Join(errs...)
}

// round forgets old prompts and records, and what was spent before yesterday, and begins what else is to be
// forgotten because time has passed, guild by guild.
func (h *House) round(ctx context.Context, now time.Time) error {
	// Yesterday's spending stays: a question from before midnight may come late.
	today, _ := Day(now)
	err := h.Store.Expire(ctx, Expiry{Prompts: now.Add(-h.Prompts), Records: h.Records.At(now),
		Spending: today.Add(-24 * time.Hour)})
	if err != nil {
		err = fmt.Errorf("keep house: %w", err)
	}
	return errors.Join(err, h.visitAll(ctx, now, false))
}

// visitAll visits the guilds, or only those of which another retention was set since they were visited.
func (h *House) visitAll(ctx context.Context, now time.Time, changed bool) error {
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

// visit forgets a guild that is long gone, or of another what is too old; if changed, only where another
// retention was set.
func (h *House) visit(ctx context.Context, id GuildID, now time.Time, changed bool) error {
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
	if err := h.forgetOutdated(ctx, g, now); err != nil {
		return err
	}
	if h.seen == nil {
		h.seen = map[GuildID]string{}
	}
	h.seen[id] = set
	return nil
}

// forgetOutdated forgets what is too old in g, unless it waits.
func (h *House) forgetOutdated(ctx context.Context, g *Guild, now time.Time) error {
	var outdated []Forgetting
	for _, f := range g.Outdated(now, h.Retention) {
		h.soon = min(h.soon, step(now.Sub(f.Before)))
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

// forgetLore forgets the lore that was told for the whole guild before what the guild keeps: where a channel
// keeps what was said for longer, no forgetting covers that. Lore from messages goes with them.
func (h *House) forgetLore(ctx context.Context, g *Guild, now time.Time) error {
	keep, _, _ := g.Retention(0, h.Retention)
	if keep <= 0 {
		return nil
	}
	h.soon = min(h.soon, step(keep))
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
	return h.done(Receipt{Forgetting: f, Lore: len(gone)}, h.Store.Apply(ctx, gone...))
}

// retentions are what admins have set of how long messages are remembered, and whether they agreed to what
// waits, in one text.
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

// hasBefore reports whether anything is remembered of g that f would forget.
func (h *House) hasBefore(ctx context.Context, g *Guild, f Forgetting) (bool, error) {
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

func (h *House) done(r Receipt, err error) error {
	if err == nil && h.Done != nil {
		h.Done(r)
	}
	return err
}
