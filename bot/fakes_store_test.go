package bot

import (
	"context"
	"math"
	"testing"
	"time"

	"hark/memory"
)

func reading[T any](n *notebook, read func() (T, error)) (T, error) {
	n.mu.Lock()
	err := n.readFails
	n.mu.Unlock()
	if err != nil {
		var none T
		return none, err
	}
	return read()
}

func (n *notebook) Gaps(ctx context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error) {
	return reading(n, func() ([]memory.Gap, error) { return n.Store.Gaps(ctx, guild, sweep) })
}

func (n *notebook) OptedOut(ctx context.Context, guild memory.GuildID, user memory.UserID) (bool, error) {
	return reading(n, func() (bool, error) { return n.Store.OptedOut(ctx, guild, user) })
}

func (n *notebook) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	return reading(n, func() ([]memory.Message, error) { return n.Store.Around(ctx, channel, ids, before, after) })
}

func (n *notebook) Traces(ctx context.Context, q memory.TraceQuery) ([]memory.Trace, error) {
	return reading(n, func() ([]memory.Trace, error) { return n.Store.Traces(ctx, q) })
}

func (n *notebook) Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	return reading(n, func() ([]memory.Lore, error) { return n.Store.Lore(ctx, guild) })
}

func (n *notebook) MessagesBy(ctx context.Context, guild memory.GuildID, user memory.UserID,
	do func(memory.Message) error) error {
	_, err := reading(n, func() (bool, error) { return true, n.Store.MessagesBy(ctx, guild, user, do) })
	return err
}

func (n *notebook) DryRun(ctx context.Context, q memory.DryRunQuery) (memory.DryRun, error) {
	return reading(n, func() (memory.DryRun, error) { return n.Store.DryRun(ctx, q) })
}

func (n *notebook) People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	return reading(n, func() ([]memory.Person, error) { return n.Store.People(ctx, guild, ids...) })
}

// Waiting is what the test set, if it did.
func (n *notebook) Waiting(ctx context.Context, guild memory.GuildID) (int, error) {
	return reading(n, func() (int, error) {
		if n.waiting != nil {
			return n.waiting[guild], nil
		}
		return n.Store.Waiting(ctx, guild)
	})
}

func (n *notebook) Withdrawn(ctx context.Context, limit int) ([]memory.Withdrawn, error) {
	return reading(n, func() ([]memory.Withdrawn, error) { return n.Store.Withdrawn(ctx, limit) })
}

func (n *notebook) Spending(ctx context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error) {
	n.mu.Lock()
	err := n.spendingFails
	n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return n.Store.Spending(ctx, guild, day)
}

// forgetting is what a notebook was told to forget, and how that goes.
type forgetting struct {
	begun []memory.Forgetting
	steps chan int // of progress; Forget returns when it is closed. nil: at once
	fails error
}

func (n *notebook) Forget(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	n.mu.Lock()
	n.forgetting.begun = append(n.forgetting.begun, f)
	n.mu.Unlock()
	return n.forgets(ctx, progress, func() (memory.DeletionReport, error) { return n.Store.Forget(ctx, f, progress) })
}

func (n *notebook) Resume(ctx context.Context, id int64, progress func(done, total int)) (memory.DeletionReport, error) {
	return n.forgets(ctx, progress, func() (memory.DeletionReport, error) { return n.Store.Resume(ctx, id, progress) })
}

// forgets forgets, or fails, once the steps are closed.
func (n *notebook) forgets(ctx context.Context, progress func(done, total int),
	forget func() (memory.DeletionReport, error)) (memory.DeletionReport, error) {
	n.mu.Lock()
	steps, fails := n.forgetting.steps, n.forgetting.fails
	n.mu.Unlock()
	for steps != nil {
		select {
		case done, more := <-steps:
			if !more {
				steps = nil
				break
			}
			progress(done, 100)
		case <-ctx.Done():
			return memory.DeletionReport{}, ctx.Err()
		}
	}
	if fails != nil {
		return memory.DeletionReport{}, fails
	}
	return forget()
}

// state are a channel's messages, by id.
func (n *notebook) state(t *testing.T, channel memory.ChannelID) []memory.Message {
	t.Helper()
	all, err := n.Store.Log(context.Background(), channel, 0, math.MaxInt64, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
