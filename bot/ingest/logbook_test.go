package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

// fakeLog is a store that also keeps the events it was given, and can be made to fail. It is for one goroutine.
type fakeLog struct {
	*sqlite.Store
	events    []memory.Event
	calls     int
	fails     error
	readFails error // of what tells of people
}

var (
	errFull = errors.New("no space left on device")
	midday  = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
)

func newFakeLog(t testing.TB) *fakeLog {
	t.Helper()
	store := sqlitetest.Open(t, sqlite.Options{Space: embed.Builtin{}.Space()})
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fakeLog{Store: store}
}

func (l *fakeLog) Apply(ctx context.Context, events ...memory.Event) error {
	l.calls++
	if l.fails != nil {
		return l.fails
	}
	l.events = append(l.events, events...)
	return l.Store.Apply(ctx, events...)
}

func (l *fakeLog) Member(ctx context.Context, guild memory.GuildID, user memory.UserID) (memory.Member, error) {
	if l.readFails != nil {
		return memory.Member{}, l.readFails
	}
	return l.Store.Member(ctx, guild, user)
}

// said is what happened to messages, in order: "them: text", "delete 2".
func (l *fakeLog) said() (lines []string) {
	for _, e := range l.events {
		switch e := e.(type) {
		case memory.Posted:
			lines = append(lines, "them: "+e.Message.Content)
		case memory.Deleted:
			lines = append(lines, fmt.Sprintf("delete %d", len(e.IDs)))
		}
	}
	return lines
}

// has reports whether there is an event of type E that satisfies match.
func has[E memory.Event](l *fakeLog, match func(E) bool) bool {
	return slices.ContainsFunc(l.events, func(e memory.Event) bool {
		is, ok := e.(E)
		return ok && match(is)
	})
}
