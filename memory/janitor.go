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
	Store interface {
		Writer
		GuildReader
		MessageReader
		DerivedReader
		Forgetter
	}
	// Retention is the longest that messages and lore are remembered; 0: no limit. A guild's admins may set
	// less with SettingRetention. It doesn't apply to LocalGuild.
	Retention time.Duration
	// Prompts is how long prompts are kept, also LocalGuild's. 0: they aren't kept.
	Prompts time.Duration
	Records RecordRetention
	// Done, if not nil, is called after each deletion.
	Done func(DeletionReport)
	// Waits, if not nil, is called for each guild whose expired data waits, at first and once a day.
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

// RecordRetention is how long records of calls are kept, and how many of a channel. The newest stay.
type RecordRetention struct {
	Age    time.Duration // 0: none are kept
	Count  int           // 0: no limit
	Tokens int           // 0: no limit
}

func (r RecordRetention) At(now time.Time) RecordLimits {
	return RecordLimits{
		Before: now.Add(-r.Age),
		Count:  r.Count,
		Tokens: r.Tokens,
	}
}

const (
	lookEvery   = 5 * time.Second // for Forgettings begun by others
	deleteEvery = time.Hour       // through the guilds
)

// Run works until ctx is done. Then it returns nil.
func (j *Janitor) Run(ctx context.Context) error {
	var due time.Time // next call of deleteExpired
	for failures := 0; ctx.Err() == nil; {
		err := errors.Join(j.resume(ctx), j.Store.Erase(ctx, false))
		if now := time.Now(); !now.Before(due) {
			j.interval = min(deleteEvery, step(j.Retention), step(j.Prompts), step(j.Records.Age))
			failed := j.deleteExpired(ctx, now)
			if failed == nil {
				due = now.Add(j.interval)
			}
			err = errors.Join(err, failed)
		} else {
			err = errors.Join(err, j.visitAll(ctx, now, true))
			if next := now.Add(j.interval); next.Before(due) {
				due = next
			}
		}
		wait := lookEvery
		if err != nil && ctx.Err() == nil {
			wait = min(lookEvery<<min(failures, 10), longWait)
			failures++
			if j.Failed != nil {
				j.Failed(err, wait)
			}
		} else {
			failures = 0
		}
		if j.Progress != nil {
			j.Progress()
		}
		sleep(ctx, wait)
	}
	return nil
}

func (j *Janitor) resume(ctx context.Context) error {
	begun, err := j.Store.Forgettings(ctx, Everywhere, 0)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range begun {
		receipt, err := j.Store.Forget(ctx, r.Forgetting, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, ErrNotFound) { // else another did it, and began one that covers it
			errs = append(errs, j.done(receipt, err))
		}
	}
	return errors.Join(errs...)
}

func (j *Janitor) deleteExpired(ctx context.Context, now time.Time) error {
	// Yesterday's spending stays, because a question from before midnight may come late.
	today, _ := Day(now)
	err := j.Store.Expire(ctx, Expiry{
		Prompts:  now.Add(-j.Prompts),
		Records:  j.Records.At(now),
		Spending: today.Add(-day),
	})
	if err != nil {
		err = fmt.Errorf("delete expired data: %w", err)
	}
	return errors.Join(err, j.visitAll(ctx, now, false))
}

// visitAll visits the guilds; if changed, only those whose retention was set since.
func (j *Janitor) visitAll(ctx context.Context, now time.Time, changed bool) error {
	guilds, err := j.Store.Guilds(ctx)
	if err != nil {
		return fmt.Errorf("delete expired data: %w", err)
	}
	var errs []error
	for _, id := range guilds {
		if id == LocalGuild {
			continue
		}
		if err := j.visit(ctx, id, now, changed); err != nil {
			errs = append(errs, fmt.Errorf("delete expired data of server %d: %w", id, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// visit forgets a guild that was left long ago, or the expired data of another; if changed, only if its
// retention was set.
func (j *Janitor) visit(ctx context.Context, id GuildID, now time.Time, changed bool) error {
	g, err := j.Store.Guild(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	set := g.retentions()
	if changed && j.seen[id] == set {
		return nil
	}
	if !g.Left.IsZero() && now.Sub(g.Left) >= LeftFor {
		return j.done(j.Store.Forget(ctx, Forgetting{
			Guild: id,
			Why:   WhyLeft,
			At:    now,
		}, nil))
	}
	if err := j.forgetExpired(ctx, g, now); err != nil {
		return err
	}
	if j.seen == nil {
		j.seen = map[GuildID]string{}
	}
	j.seen[id] = set
	return nil
}

func (j *Janitor) forgetExpired(ctx context.Context, g *Guild, now time.Time) error {
	var outdated []Forgetting
	for _, f := range g.Expired(now, j.Retention) {
		j.interval = min(j.interval, step(now.Sub(f.Before)))
		some, err := j.hasBefore(ctx, g, f)
		if err != nil {
			return err
		}
		if some {
			outdated = append(outdated, f)
		}
	}
	if wait, err := j.waits(ctx, g, outdated, now); wait || err != nil {
		return err
	}
	for _, f := range outdated {
		if err := j.done(j.Store.Forget(ctx, f, nil)); err != nil {
			return err
		}
	}
	if err := j.forgetLore(ctx, g, now); err != nil || g.Settings[SettingExpiring] == "" {
		return err
	}
	return j.Store.Apply(ctx, SettingChosen{
		Guild: g.ID,
		Key:   SettingExpiring,
		At:    now,
	})
}

// forgetLore forgets expired lore of the whole guild: if a channel has a longer retention, no Forgetting
// covers it. Lore from messages goes with them.
func (j *Janitor) forgetLore(ctx context.Context, g *Guild, now time.Time) error {
	keep, _, _ := g.Retention(0, j.Retention)
	if keep <= 0 {
		return nil
	}
	j.interval = min(j.interval, step(keep))
	f := Forgetting{
		Guild:  g.ID,
		Before: KeptSince(now, keep),
		Why:    WhyAge,
		At:     now,
	}
	lore, err := j.Store.Lore(ctx, g.ID)
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
	return j.done(DeletionReport{Forgetting: f, Lore: len(gone)}, j.Store.Apply(ctx, gone...))
}

// retentions returns, as one string to compare, the retentions that admins set and whether they agreed to
// what waits.
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

func (j *Janitor) hasBefore(ctx context.Context, g *Guild, f Forgetting) (bool, error) {
	end := FirstMessageID(f.Before)
	where := g.Channels
	if f.Channel != 0 {
		where = g.WithThreads(f.Channel)
	}
	lore, err := j.Store.Lore(ctx, g.ID)
	if err != nil || slices.ContainsFunc(lore, func(l Lore) bool {
		return FirstMessageID(l.At) < end && (f.Channel == 0 ||
			slices.ContainsFunc(where, func(c Channel) bool { return c.ID == l.Channel }))
	}) {
		return err == nil, err
	}
	for _, c := range where {
		oldest, err := j.Store.Log(ctx, c.ID, math.MinInt64, end-1, 1)
		if err != nil || len(oldest) > 0 {
			return len(oldest) > 0, err
		}
	}
	return false, nil
}

func (j *Janitor) done(r DeletionReport, err error) error {
	if err == nil && j.Done != nil {
		j.Done(r)
	}
	return err
}
