package bot

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

// notebook is a store that keeps its events, and can be held or made to fail.
type notebook struct {
	*sqlite.Store

	mu      sync.Mutex
	events  []memory.Event
	calls   int
	fails   error
	held    chan struct{} // Apply waits for it, unless nil
	changed wait.Signal
	poke    func() // after each Apply, for those who wait for Discord
	tick    func() // after a decision, since no two may be of one moment; nil: nothing

	readFails     error // of what tells of people
	spendingFails error
	forgetting    forgetting
	stuck         int // Applies that were held
	waiting       map[memory.GuildID]int
}

func newNotebook(t testing.TB) *notebook {
	t.Helper()
	store := sqlitetest.Open(t, sqlite.Options{Space: embed.Builtin{}.Space()})
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &notebook{Store: store, poke: func() {}}
}

func (n *notebook) Apply(ctx context.Context, events ...memory.Event) error {
	n.mu.Lock()
	held := n.held
	if held != nil {
		n.stuck++
	}
	n.mu.Unlock()
	if held != nil {
		n.changed.Send()
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	defer n.poke()
	defer n.changed.Send()
	if n.tick != nil && slices.ContainsFunc(events, decides) {
		n.tick()
	}
	if n.fails != nil {
		return n.fails
	}
	if err := n.Store.Apply(ctx, events...); err != nil {
		return err
	}
	n.events = append(n.events, events...)
	return nil
}

func (n *notebook) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fails = err
}

// decides reports whether the latest event of this type holds.
func decides(e memory.Event) bool {
	switch e.(type) {
	case memory.Chose, memory.SettingChosen, memory.LimitChosen, memory.Learn, memory.Opted, memory.Starred:
		return true
	}
	return false
}

// hold makes Apply wait until the function returned is called.
func (n *notebook) hold() (release func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	held := make(chan struct{})
	n.held = held
	return sync.OnceFunc(func() {
		n.mu.Lock()
		n.held = nil
		n.mu.Unlock()
		close(held)
	})
}

// said is what happened to messages, in order: "ana: text", "edit: text", "delete 2", "hark: text".
func (n *notebook) said() []string {
	var lines []string
	for _, e := range n.eventsNow() {
		switch e := e.(type) {
		case memory.Posted:
			who := "them"
			if e.Message.Kind == memory.FromHark {
				who = "hark"
			}
			lines = append(lines, who+": "+e.Message.Content)
		case memory.Edited:
			lines = append(lines, "edit: "+e.Content)
		case memory.Deleted:
			lines = append(lines, fmt.Sprintf("delete %d", len(e.IDs)))
		}
	}
	return lines
}

// wait returns once ok holds. It is called after every Apply.
func (n *notebook) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	n.changed.Until(t, what, ok, func() string { return "the log has:\n" + strings.Join(n.said(), "\n") })
}

func (n *notebook) waitSaid(t *testing.T, line string) {
	t.Helper()
	n.wait(t, line, func() bool { return slices.Contains(n.said(), line) })
}

// waitLogged waits for a logged event that satisfies match.
func waitLogged[E memory.Event](t *testing.T, n *notebook, what string, match func(E) bool) {
	t.Helper()
	n.wait(t, what, func() bool {
		_, logged := find(n, match)
		return logged
	})
}

func eventsOf[E memory.Event](n *notebook) (all []E) {
	for _, e := range n.eventsNow() {
		if e, is := e.(E); is {
			all = append(all, e)
		}
	}
	return all
}

// eventsNow are all events.
func (n *notebook) eventsNow() []memory.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.events)
}

// find is the last event that satisfies match.
func find[E memory.Event](n *notebook, match func(E) bool) (E, bool) {
	for _, e := range slices.Backward(eventsOf[E](n)) {
		if match(e) {
			return e, true
		}
	}
	var none E
	return none, false
}

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

func (n *notebook) Member(ctx context.Context, guild memory.GuildID, user memory.UserID) (memory.Member, error) {
	return reading(n, func() (memory.Member, error) { return n.Store.Member(ctx, guild, user) })
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
	if f.ID == 0 {
		n.mu.Lock()
		n.forgetting.begun = append(n.forgetting.begun, f)
		n.mu.Unlock()
	}
	return n.forgets(ctx, progress, func() (memory.DeletionReport, error) { return n.Store.Forget(ctx, f, progress) })
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
