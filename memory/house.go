package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// House keeps a store's promises about time: what is to be forgotten is taken out, also when whoever began that is no
// more, what has grown too old goes, and so do guilds that removed Hark long ago.
type House struct {
	Store HouseStore
	// Retention is how long messages and lore are remembered; 0 means without end. What isn't Discord's stays.
	Retention time.Duration
	// Prompts is how long prompts are kept; 0 means that none are. Those of the command line's go as well.
	Prompts time.Duration
	// Done, if not nil, is told what was taken away.
	Done func(Receipt)
	// Failed, if not nil, is told of each failure and of how long the next try waits.
	Failed func(err error, wait time.Duration)
}

// HouseStore is what a House asks of the store. See Store.
type HouseStore interface {
	Guilds(ctx context.Context) ([]GuildID, error)
	Guild(ctx context.Context, id GuildID) (*Guild, error)
	Log(ctx context.Context, channel ChannelID, after, until MessageID, limit int) ([]Message, error)
	Lore(ctx context.Context, guild GuildID) ([]Lore, error)
	Forget(ctx context.Context, f Forgetting, progress func(done, total int)) (Receipt, error)
	Unfinished(ctx context.Context) ([]Forgetting, error)
	CarryOut(ctx context.Context, id int64, progress func(done, total int)) (Receipt, error)
	ForgetPrompts(ctx context.Context, before time.Time) (int, error)
}

const (
	lookEvery  = 5 * time.Second // for what others have begun to forget
	roundEvery = time.Hour       // through the guilds
)

// Run keeps house until ctx is done; then it returns nil.
func (h *House) Run(ctx context.Context) error {
	var round time.Time // when the next is due
	for failures := 0; ctx.Err() == nil; {
		err := h.carryOut(ctx)
		if now := time.Now(); !now.Before(round) {
			failed := h.round(ctx, now)
			if failed == nil {
				round = now.Add(min(roundEvery, step(h.Retention), step(h.Prompts)))
			}
			err = errors.Join(err, failed)
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
		sleep(ctx, wait)
	}
	return nil
}

// carryOut goes on with what was begun to be forgotten: by the deletion of a channel, or by somebody who didn't come to
// the end of it.
func (h *House) carryOut(ctx context.Context) error {
	begun, err := h.Store.Unfinished(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range begun {
		receipt, err := h.Store.CarryOut(ctx, f.ID, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, ErrNotFound) { // else another has done it, and begun one that covers it
			errs = append(errs, h.done(receipt, err))
		}
	}
	return errors.Join(errs...)
}

// round forgets old prompts, and begins what else is to be forgotten because time has passed, guild by guild.
func (h *House) round(ctx context.Context, now time.Time) error {
	var errs []error
	if _, err := h.Store.ForgetPrompts(ctx, now.Add(-h.Prompts)); err != nil {
		errs = append(errs, fmt.Errorf("keep house: %w", err))
	}
	guilds, err := h.Store.Guilds(ctx)
	if err != nil {
		return errors.Join(append(errs, fmt.Errorf("keep house: %w", err))...)
	}
	for _, id := range guilds {
		if id == LocalGuild {
			continue
		}
		if err := h.visit(ctx, id, now); err != nil {
			errs = append(errs, fmt.Errorf("keep house in guild %d: %w", id, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// visit forgets a guild that is long gone, or of another what is too old.
func (h *House) visit(ctx context.Context, id GuildID, now time.Time) error {
	g, err := h.Store.Guild(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case !g.Left.IsZero() && now.Sub(g.Left) >= LeftFor:
		return h.done(h.Store.Forget(ctx, Forgetting{Guild: id, Why: WhyLeft, At: now}, nil))
	case h.Retention <= 0:
		return nil
	}
	before := now.Add(-h.Retention).Truncate(step(h.Retention))
	some, err := h.hasBefore(ctx, g, before)
	if err != nil || !some {
		return err
	}
	return h.done(h.Store.Forget(ctx, Forgetting{Guild: id, Before: before, Why: WhyAge, At: now}, nil))
}

// step is how far apart the ends of what is too old lie: a day, so that an active guild isn't gone through every hour,
// but less where something is kept for so short that a day matters.
func step(retention time.Duration) time.Duration {
	const day = 24 * time.Hour
	if retention <= 0 {
		return day
	}
	return min(max(retention/24, time.Minute), day)
}

// hasBefore reports whether anything is remembered of g that was said before t.
func (h *House) hasBefore(ctx context.Context, g *Guild, t time.Time) (bool, error) {
	lore, err := h.Store.Lore(ctx, g.ID)
	if err != nil || slices.ContainsFunc(lore, func(l Lore) bool { return FirstMessageID(l.At) < FirstMessageID(t) }) {
		return err == nil, err
	}
	for i := range g.Channels {
		oldest, err := h.Store.Log(ctx, g.Channels[i].ID, math.MinInt64, FirstMessageID(t)-1, 1)
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
