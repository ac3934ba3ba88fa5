package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/internal/pace"
	"hark/internal/ttl"
	"hark/memory"
)

// step does what is next and reports whether there was anything: a page of missed messages, else a task, else a
// page to compare and one of the past that was asked for. If there is only something to compare, it waits until
// that is due or other work arrives.
func (f *Filler) step(ctx context.Context) bool {
	open, err := f.Memory.Gaps(ctx, memory.Everywhere, false)
	if err != nil {
		f.failed(ctx, err, "couldn't find what is missing")
		return false
	}
	open = slices.DeleteFunc(open, f.isPostponed)
	slices.SortFunc(open, compareGaps)
	missed := len(open) > 0 && !open[0].Past
	if t, ok := f.nextTask(missed); ok {
		f.runTask(ctx, t)
		return true
	}
	if missed {
		f.handlePage(ctx, open[0], len(open))
		return true
	}
	g, sweeps, err := f.nextSweep(ctx)
	if err != nil {
		f.failed(ctx, err, "couldn't find what is to be compared")
		return false
	}
	if wait := time.Until(f.sweepAt); sweeps && wait <= 0 {
		f.handlePage(ctx, g, 0)
	} else if sweeps && len(open) == 0 {
		select {
		case <-time.After(wait):
		case <-f.wake:
		case <-ctx.Done():
		}
	}
	if len(open) > 0 {
		f.handlePage(ctx, open[0], len(open))
	}
	return sweeps || len(open) > 0
}

// handlePage fetches or compares the next page of a gap and logs it. A gap that fails is postponed.
func (f *Filler) handlePage(ctx context.Context, g memory.Gap, left int) {
	read := f.fetchPage
	if g.Sweep {
		read = f.comparePage
	}
	got, err := read(ctx, g)
	if err == nil {
		f.count(g, got.messages) // before the log says that nothing is left; a retry counts the same
		err = f.commit(ctx, got)
	}
	if err != nil {
		if g.Sweep {
			f.failed(ctx, err, "couldn't compare a channel with Discord's yet")
		} else {
			f.failed(ctx, err, "couldn't fetch what is missing yet")
		}
		rest := f.Timing.Aside
		if errors.Is(err, errLag) {
			rest = min(rest, lag/6)
		}
		f.retryAt[gapKey(g)] = f.Now().Add(rest)
		return
	}
	delete(f.retryAt, gapKey(g))
	f.tally.add(got.tally)
	if now := f.Now(); f.lastReport.IsZero() {
		f.lastReport = now
	} else if left > 0 && now.Sub(f.lastReport) >= reportEvery {
		f.lastReport = now
		f.report("fetching what is missing", left)
	}
}

// put adds a plan's tasks. They replace earlier tasks for the same channels.
func (f *Filler) put(v catchUpPlan) {
	var tasks []task
	add := func(id memory.ChannelID, do func(context.Context, *catchUpPlan, memory.ChannelID) error) {
		tasks = append(tasks, task{
			guild:   v.guild,
			channel: id,
			do: func(ctx context.Context) error {
				return do(ctx, &v, id)
			},
		})
	}
	for _, id := range v.missing {
		add(id, f.checkDeleted)
	}
	if f.CatchUp > 0 {
		for _, id := range v.parents {
			add(id, f.searchArchive)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.whole {
		f.plans[v.guild] = &v
		f.verified.Store(ttl.New[memory.MessageRef, bool](maxVerified))
	}
	f.tasks = append(slices.DeleteFunc(f.tasks, func(t task) bool {
		return !t.urgent && slices.ContainsFunc(tasks, func(now task) bool {
			return now.guild == t.guild && now.channel == t.channel
		})
	}), tasks...)
	f.Nudge()
}

// fetchIncomplete fetches a channel or guild that Discord described incompletely.
func (f *Filler) fetchIncomplete(ctx context.Context, u incomplete) error {
	var err error
	got := fetched{incomplete: u, asChannel: &discord.Channel{}}
	if u.channel != 0 {
		err = f.Client.Channel(ctx, u.channel, got.asChannel)
	} else {
		got.asGuild, err = f.fetchGuild(ctx, u.guild)
	}
	if err != nil {
		return fmt.Errorf("fetch what Discord told too little of: %w", err)
	}
	f.Queue.Put(Item{Raw: &rawEvent{kind: "fetched", fetched: &got}})
	return nil
}

// putIncomplete adds what must be fetched because Discord described it incompletely.
func (f *Filler) putIncomplete(all []incomplete) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range all {
		do := func(ctx context.Context) error { return f.fetchIncomplete(ctx, u) }
		f.tasks = append([]task{{guild: u.guild, channel: u.channel, urgent: true, do: do}}, f.tasks...)
	}
	f.Nudge()
}

// fill does all the work there is, until ctx ends.
func (f *Filler) fill(ctx context.Context) {
	for ctx.Err() == nil && f.step(ctx) {
	}
	if f.tally != (tally{}) && ctx.Err() == nil {
		f.report("caught up with Discord", 0)
		f.tally = tally{}
		f.lastReport = time.Time{}
	}
}

// Run fetches what is missing until ctx ends.
func (f *Filler) Run(ctx context.Context) { pace.Every(ctx, f.Timing.Fill, f.wake, f.fill) }
