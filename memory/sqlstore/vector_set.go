package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"hark/memory"
	"hark/memory/vectors"
)

// meta names the space of the active vectors ("space") and, while another is being filled, of the shadow vectors
// ("next"). A segment has a flag for each set: its vector is missing or out of date. The commit that completes
// the shadow set exchanges tables and flags. Then vector_next is obsolete ("sweep") and is emptied in steps.

type vectorSet struct{ table, flag string }

var (
	activeSet = vectorSet{"vector", "pending"}
	shadowSet = vectorSet{"vector_next", "next"}
)

func (t *transaction) useSpace() {
	t.changed.space = true
	own := nameOfSpace(*t.store.space.Load())
	next := t.meta("next")
	if own == next { // another process was faster
		return
	}
	if next != "" {
		t.dropShadow()
	}
	if own == t.meta("space") {
		return
	}
	to := shadowSet
	key := "next"
	if !t.has("SELECT 1 FROM vector LIMIT 1") {
		to = activeSet
		key = "space"
	}
	t.exec("UPDATE segment SET " + to.flag + " = 1 WHERE " + to.flag + " <> 1")
	t.note(key, own)
}

func (t *transaction) dropShadow() {
	t.execAll(nil, "UPDATE segment SET next = 0 WHERE next <> 0", "DELETE FROM meta WHERE key = 'next'")
	t.note("sweep", "")
}

// activateShadow replaces the active vectors by the shadow set, if that is complete.
func (t *transaction) activateShadow() {
	next := t.meta("next")
	if next == "" || t.has("SELECT 1 FROM segment WHERE next = 1 LIMIT 1") {
		return
	}
	t.changed.space = true
	t.execAll(nil, "ALTER TABLE vector RENAME TO vector_before", "ALTER TABLE vector_next RENAME TO vector",
		"ALTER TABLE vector_before RENAME TO vector_next", "UPDATE segment SET pending = next WHERE pending <> next")
	t.note("space", next)
	t.dropShadow()
}

// vectorSet returns the set for vectors of the store's space.
func (t *transaction) vectorSet() vectorSet {
	to, err := t.store.vectorSetOf(t.ctx, t)
	ensure(err)
	if to == shadowSet && t.has("SELECT 1 FROM meta WHERE key = 'sweep'") { // of another space
		t.execAll(nil, "DELETE FROM vector_next", "DELETE FROM meta WHERE key = 'sweep'")
	}
	return to
}

func (s *Store) vectorSetOf(ctx context.Context, q Querier) (vectorSet, error) {
	use, next, err := readSpaces(ctx, q)
	if err != nil {
		return vectorSet{}, err
	}
	switch own := nameOfSpace(*s.space.Load()); own {
	case use:
		return activeSet, nil
	case next:
		return shadowSet, nil
	default:
		return vectorSet{}, fmt.Errorf("another process has opened the database for vectors of %s, this one for "+
			"those of %s: give both the same embedder and restart", cmp.Or(next, use), own)
	}
}

// sweepStep bounds how many vectors a transaction deletes, so others wait briefly.
const sweepStep = 2000

func (t *transaction) sweepStep() {
	t.changed.Text = true                                 // vectors reveal something of the text
	if !t.has("SELECT 1 FROM meta WHERE key = 'sweep'") { // another process was faster
		return
	}
	n := 0
	segments := map[memory.GuildID][]int64{}
	eachKey(t, func(guild memory.GuildID, segment int64) {
		n++
		segments[guild] = append(segments[guild], segment)
	}, "SELECT guild, segment FROM vector_next ORDER BY segment LIMIT ?+0", sweepStep)
	for guild, some := range segments {
		t.exec("DELETE FROM vector_next WHERE guild = ? AND segment IN (SELECT value FROM json_each(?))",
			guild, jsonOf(some))
	}
	if n < sweepStep {
		t.exec("DELETE FROM meta WHERE key = 'sweep'")
	}
}

// deleteVectors deletes a segment's vectors from both sets.
func (t *transaction) deleteVectors(guild memory.GuildID, segment int64) {
	t.noteVector(segment, vectors.Row{})
	for _, set := range []vectorSet{activeSet, shadowSet} {
		t.exec("DELETE FROM "+set.table+" WHERE guild = ? AND segment = ?", guild, segment)
	}
}

// Spaces returns the active space and the one being filled; zero if there is none.
func Spaces(ctx context.Context, q Querier) (use, next memory.Space, err error) {
	active, shadow, err := readSpaces(ctx, q)
	return parseSpace(active), parseSpace(shadow), err
}

// readSpaces returns the names of the active space and of the one being filled; empty if there is none.
func readSpaces(ctx context.Context, q Querier) (use, next string, err error) {
	err = RowOf(ctx, q, `SELECT coalesce((SELECT value FROM meta WHERE key = 'space'), ''),
		coalesce((SELECT value FROM meta WHERE key = 'next'), '')`).Scan(&use, &next)
	return use, next, err
}

func nameOfSpace(s memory.Space) string {
	return fmt.Sprintf("%s/%d/%d", s.Name, s.Version, s.Dimensions)
}

// parseSpace parses a space's name in the file; the zero Space if it is invalid.
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
	return memory.Space{
		Name:       strings.Join(parts[:n-2], "/"),
		Version:    version,
		Dimensions: dimensions,
	}
}

// noteVector notes what becomes of a segment's active vector: a row without steps is deleted.
func (t *transaction) noteVector(segment int64, r vectors.Row) {
	guild := segment >> SegmentBits
	r.ID = segment & (1<<SegmentBits - 1)
	c := t.vectors[guild]
	c.Rows = append(c.Rows, r)
	if c.Many || len(c.Rows) > mostNoted {
		c.Many = true
		c.Rows = nil
	}
	t.vectors[guild] = c
}

// mostNoted is how many changes of a guild's vectors a transaction lists for the index. After more it loads the guild
// again.
const mostNoted = 10_000
