package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/sqlstore"
)

// synced is an engine that notes how each transaction is written: SQLite's synchronous.
type synced struct {
	*engine
	modes []int
}

func (e *synced) Transact(ctx context.Context, lasting bool, f func(sqlstore.Tx) error) error {
	return e.engine.Transact(ctx, lasting, func(t sqlstore.Tx) error {
		mode := 0
		err := e.write.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&mode)
		e.modes = append(e.modes, mode)
		return errors.Join(err, f(t))
	})
}

// What somebody decided is written through to the disk, and nothing else waits for that. A forgetting may begin in two
// ways.
func TestDecisionsAreWrittenThrough(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, emptyDir(t))
	e := &synced{engine: s.engine}
	s.Store = sqlstore.New(e, sqlstore.Options{Space: s.engine.options.Space,
		Tokens: s.engine.options.Tokens})
	must(t, sqlstore.Open(bg, s.Store))
	const normal, full = 1, 2
	for _, c := range []struct {
		name string
		do   func() error
		want int
	}{
		{"a message", func() error { return s.Apply(bg, posted(general, 1, "hello")) }, normal},
		{"a guild", func() error { return s.Apply(bg, memory.RoleSeen{Guild: 1, Role: memory.Role{ID: 2}}) }, normal},
		{"a setting", func() error {
			return s.Apply(bg, memory.SettingChosen{Guild: 1, Key: memory.SettingMode, Value: "search", At: at})
		}, full},
		{"lore among messages", func() error {
			return s.Apply(bg, posted(general, 2, "hello"), memory.LoreTold{Lore: memory.Lore{ID: 3, Guild: 1, Name: "plan",
				Text: "Friday", At: at}})
		}, full},
		{"an opt-out", func() error { return s.Apply(bg, memory.Opted{Guild: 1, User: 2, Out: true, At: at}) }, full},
		{"a deletion", func() error { return s.Apply(bg, deleted(general, 1)) }, full},
		{"a forgetting that is applied", func() error {
			return s.Apply(bg, memory.Forgetting{Guild: 1, User: 7, Why: memory.WhyMember, At: at})
		}, full},
		{"a forgetting", func() error {
			_, err := s.Forget(bg, memory.Forgetting{Guild: 1, User: 8, Why: memory.WhyMember, At: at}, nil)
			return err
		}, full},
	} {
		e.modes = nil
		must(t, c.do())
		if len(e.modes) == 0 || e.modes[0] != c.want {
			t.Errorf("%s: synchronous is %v, want %d first", c.name, e.modes, c.want)
		}
	}
	mode := 0
	must(t, s.engine.write.QueryRowContext(bg, "PRAGMA synchronous").Scan(&mode))
	if mode != normal {
		t.Errorf("afterwards synchronous is %d", mode)
	}
}
