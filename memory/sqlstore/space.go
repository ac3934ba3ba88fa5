package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"hark/memory"
)

// The file's meta table names the space of the vectors in use ("space") and, while there is one, the space whose
// vectors are filled in beside them ("next"). A segment has a flag for each: it lacks a vector there, or what it says
// has changed. Tables and flags are exchanged in the commit that leaves no segment lacking; what then lies in
// vector_next is of no use ("sweep") and is deleted in steps.

// side is one of the two sets of vectors.
type side struct{ table, flag string }

var (
	inUse  = side{"vector", "pending"}
	beside = side{"vector_next", "next"}
)

// Space implements memory.Store.
func (s *Store) Space(ctx context.Context) (memory.Space, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return memory.Space{}, err
	}
	use, _, err := readSpaces(ctx, s.engine)
	return parseSpace(use), s.failed(err, "read the space of the vectors")
}

// useSpace makes the space that the store was opened for the one in use, if the file has no other's vectors, or
// else the one that is filled beside it.
func (s *Store) useSpace(ctx context.Context) error {
	use, next, err := readSpaces(ctx, s.engine)
	if err != nil {
		return err
	}
	if s.options.Space == (memory.Space{}) {
		s.options.Space = parseSpace(use)
		return nil
	}
	if own := NameOf(s.options.Space); own == use && next == "" || own == next {
		return nil
	}
	return s.writing(ctx, (*transaction).useSpace)
}

func (t *transaction) useSpace() error {
	t.changed.Space = true
	own := NameOf(t.store.options.Space)
	var use, next string
	var some bool
	if err := t.row("SELECT "+spaceColumns+", EXISTS (SELECT 1 FROM vector)").Scan(&use, &next, &some); err != nil {
		return err
	}
	if own == next { // another process was faster
		return nil
	}
	if next != "" {
		if err := t.abandon(); err != nil {
			return err
		}
	}
	if own == use {
		return nil
	}
	to, key := beside, "next"
	if !some {
		to, key = inUse, "space"
	}
	if err := t.exec("UPDATE segment SET " + to.flag + " = 1 WHERE " + to.flag + " <> 1"); err != nil {
		return err
	}
	return t.note(key, own)
}

// abandon gives up the space that was to follow.
func (t *transaction) abandon() error {
	if err := t.execAll(nil, "UPDATE segment SET next = 0 WHERE next <> 0",
		"DELETE FROM meta WHERE key = 'next'"); err != nil {
		return err
	}
	return t.note("sweep", "")
}

// switchOver puts the vectors that were filled in beside those in use in their place, if none is missing.
func (t *transaction) switchOver() error {
	var next string
	var missing bool
	if err := t.row(`SELECT coalesce((SELECT value FROM meta WHERE key = 'next'), ''), EXISTS (SELECT 1
		FROM segment WHERE next = 1)`).Scan(&next, &missing); err != nil || next == "" || missing {
		return err
	}
	t.changed.Space = true
	if err := t.execAll(nil,
		"ALTER TABLE vector RENAME TO vector_before", "ALTER TABLE vector_next RENAME TO vector", "ALTER TABLE vector_before RENAME TO vector_next",
		"UPDATE segment SET pending = next WHERE pending <> next",
		"UPDATE meta SET value = (SELECT value FROM meta WHERE key = 'next') WHERE key = 'space'",
	); err != nil {
		return err
	}
	return t.abandon()
}

// side is where the vectors of the space belong that the store was opened for.
func (t *transaction) side() (side, error) {
	to, err := t.store.sideOf(t.ctx, t)
	if err != nil || to == inUse {
		return to, err
	}
	var sweep bool
	if err := t.row("SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'sweep')").Scan(&sweep); err != nil || !sweep {
		return to, err
	}
	return to, t.execAll(nil, "DELETE FROM vector_next", "DELETE FROM meta WHERE key = 'sweep'") // of another space
}

// sideOf tells which of the file's vectors lie in the space that the store was opened for.
func (s *Store) sideOf(ctx context.Context, q Querier) (side, error) {
	var use, next string
	if err := RowOf(ctx, q, "SELECT "+spaceColumns).Scan(&use, &next); err != nil {
		return side{}, err
	}
	switch own := NameOf(s.options.Space); own {
	case use:
		return inUse, nil
	case next:
		return beside, nil
	default:
		return side{}, fmt.Errorf("another process has opened the database for vectors of %s, this one for those of %s: give both the same embedder and restart",
			cmp.Or(next, use), own)
	}
}

// sweepStep bounds how many vectors are deleted in one transaction, so that nobody waits long.
const sweepStep = 2000

// sweep deletes vectors of a space that is neither in use nor to follow.
func (s *Store) sweep(ctx context.Context) error {
	for {
		var left bool
		if err := s.row(ctx, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'sweep')").Scan(&left); err != nil || !left {
			return err
		}
		if err := s.writing(ctx, (*transaction).sweepStep); err != nil {
			return err
		}
	}
}

func (t *transaction) sweepStep() error {
	t.changed.Text = true // or what can be told of it from a vector
	if err := t.exec(`DELETE FROM vector_next WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'sweep')
		AND segment IN (SELECT segment FROM vector_next LIMIT ?)`, sweepStep); err != nil {
		return err
	}
	return t.exec("DELETE FROM meta WHERE key = 'sweep' AND NOT EXISTS (SELECT 1 FROM vector_next)")
}

// tear deletes a segment's vectors, in whatever space.
func (t *transaction) tear(segment int64) error {
	t.changed.Gone = append(t.changed.Gone, segment)
	return t.execAll([]any{segment}, "DELETE FROM "+inUse.table+" WHERE segment = ?", "DELETE FROM "+
		beside.table+" WHERE segment = ?")
}

const spaceColumns = `coalesce((SELECT value FROM meta WHERE key = 'space'), ''), coalesce((SELECT value FROM meta WHERE key = 'next'), '')`

// Spaces are the space in use and the one that is to follow; zero where there is none.
func Spaces(ctx context.Context, q Querier) (use, next memory.Space, err error) {
	inUse, toFollow, err := readSpaces(ctx, q)
	return parseSpace(inUse), parseSpace(toFollow), err
}

// readSpaces are the names of the space in use and of the one that is to follow; empty where there is none.
func readSpaces(ctx context.Context, q Querier) (use, next string, err error) {
	err = RowOf(ctx, q, "SELECT "+spaceColumns).Scan(&use, &next)
	return use, next, err
}

// NameOf is a space as the file names it.
func NameOf(s memory.Space) string {
	return fmt.Sprintf("%s/%d/%d", s.Name, s.Version, s.Dimensions)
}

// parseSpace is the space that the file names; the zero Space if the name is none.
func parseSpace(name string) memory.Space {
	parts := strings.Split(name, "/")
	n := len(parts)
	if n < 3 {
		return memory.Space{}
	}
	version, err1 := strconv.Atoi(parts[n-2])
	dimensions, err2 := strconv.Atoi(parts[n-1])
	if err1 != nil || err2 != nil {
		return memory.Space{}
	}
	return memory.Space{Name: strings.Join(parts[:n-2], "/"), Version: version, Dimensions: dimensions}
}
