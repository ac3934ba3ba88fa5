package shards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"hark/bot/discord"
	"hark/internal/lease"
)

// share divides among the processes what Discord allows the bot.
func (p *Pool) share() {
	n := p.cfg.Table.Processes()
	p.rest.Limit.SetLimit(rate.Limit(requestsASecond) / rate.Limit(n))
	p.rest.Limit.SetBurst(max(1, requestsAtOnce/n))
}

// balance claims shards that are free, up to a fair share, or begins to give one back.
func (p *Pool) balance(ctx context.Context) {
	if ctx.Err() != nil || time.Now().Before(p.rests) {
		return
	}
	n := p.cfg.Table.Processes()
	share := (p.of + n - 1) / n
	p.mu.Lock()
	have := len(p.members)
	ending := slices.ContainsFunc(slices.Collect(maps.Values(p.members)),
		func(m *member) bool { return m.ending })
	p.mu.Unlock()
	switch free := p.isFree(ctx, n); {
	case have < share:
		p.claim(ctx, share-have)
	case free: // another process doesn't take its share
		p.keeps = time.Now().Add(p.keepFor)
		p.keepFor = 2 * p.keepFor
		p.claim(ctx, 1)
	case have > share && !ending && time.Now().After(p.keeps): // so another process has fewer
		p.giveBack()
	}
}

// isFree reports whether a shard has been nobody's for so long that who should take it doesn't.
func (p *Pool) isFree(ctx context.Context, processes int) bool {
	held, _, err := p.working(ctx)
	switch {
	case err != nil || held >= p.of || processes == 1: // else it takes all
		p.free = time.Time{}
	case p.free.IsZero() || held != p.taken: // another may be free now
		p.free = time.Now()
	}
	p.taken = held
	return !p.free.IsZero() && time.Since(p.free) > p.freeFor
}

// jobs are the names of the shards' leases.
func jobs(of int) []string {
	all := make([]string, of)
	for no := range all {
		all[no] = prefix + discord.Shard{No: no, Of: of}.String()
	}
	return all
}

const prefix = "shard "

// working returns how many shards living processes hold, and how many processes there are.
func (p *Pool) working(ctx context.Context) (shards, processes int, err error) {
	all, err := p.cfg.Table.Jobs(ctx)
	p.mu.Lock()
	ours := jobs(p.of)
	p.mu.Unlock()
	held := slices.DeleteFunc(all, func(job string) bool { return !slices.Contains(ours, job) })
	return len(held), p.cfg.Table.Processes(), err
}

// others returns a number of shards that other processes have and this one hasn't; 0 if there is none.
func (p *Pool) others(ctx context.Context) (int, error) {
	all, err := p.cfg.Table.Jobs(ctx)
	if err != nil {
		return 0, err
	}
	most := 0
	for _, job := range all {
		var no, of int
		if _, err := fmt.Sscanf(job, prefix+"%d/%d", &no, &of); err == nil && of != p.of {
			most = max(most, of)
		}
	}
	return most, nil
}

// claim claims up to most shards and runs their bots. While other processes have another number of shards, it waits:
// a guild would be in two shards. If both began at once, both let go and try again.
func (p *Pool) claim(ctx context.Context, most int) {
	err := p.tryClaim(ctx, most)
	if ctx.Err() != nil || errors.Is(err, lease.ErrLost) {
		return // the end of ctx follows
	}
	if failing := err != nil; failing != p.failing {
		p.failing = failing
		if failing {
			p.logger.Warn().Err(err).Msg("can't claim shards; trying on")
		} else {
			p.logger.Info().Msg("shards can be claimed again")
		}
	}
}

func (p *Pool) tryClaim(ctx context.Context, most int) error {
	other, err := p.others(ctx)
	if err != nil {
		return err
	}
	if other > 0 && p.adopts(other) {
		other = 0
	}
	p.wait(other)
	if other > 0 {
		return nil
	}
	claimed, err := p.cfg.Table.Claim(ctx, jobs(p.of), most)
	if err != nil {
		return err
	}
	other, err = p.others(ctx)
	if err != nil || other > 0 {
		for _, l := range claimed {
			p.release(ctx, l, l.Note)
		}
		p.wait(other)
		return err
	}
	for _, l := range claimed {
		if failed := p.begin(ctx, l); failed != nil {
			p.release(ctx, l, l.Note)
			err = failed
		}
	}
	return err
}

// adopts takes the number of shards with which others run for this process's own, if Discord chooses the number and
// doesn't demand more.
func (p *Pool) adopts(other int) bool {
	p.mu.Lock()
	yes := p.cfg.Shards == 0 && len(p.members) == 0 && other >= p.least
	if yes {
		p.of = other
	}
	p.mu.Unlock()
	if yes {
		p.logger.Info().Int("shards", other).Msg("other processes run with this number of shards, so this one does")
	}
	return yes
}

// wait records that other processes have another number of shards; 0: none has.
func (p *Pool) wait(other int) {
	p.mu.Lock()
	was := p.waits
	p.waits = nil
	if other > 0 {
		p.waits = fmt.Errorf("waiting until no process runs with %d shards any more; this one is to have %d", other, p.of)
	}
	now := p.waits
	p.mu.Unlock()
	if now != nil && was == nil {
		p.logger.Warn().Int("theirs", other).Int("ours", p.of).
			Msg("other processes run with another number of shards; waiting until they have ended")
	}
}

// release gives a lease back. If it fails, the table tries again.
func (p *Pool) release(ctx context.Context, l lease.Lease, note string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasing)
	defer cancel()
	if err := p.cfg.Table.Release(ctx, l, note); err != nil {
		p.logger.Warn().Err(err).Str("job", l.Job).Msg("couldn't give a shard back")
	}
}

// giveBack ends the bot of the last shard, so that another process can take it.
func (p *Pool) giveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.members[slices.Max(slices.Collect(maps.Keys(p.members)))]
	m.ending = true
	m.end()
	p.logger.Info().Stringer("shard", m.Shard).Msg("giving a shard to another process")
}
