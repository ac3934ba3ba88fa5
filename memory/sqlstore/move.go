package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
)

// moved is a table that a move copies row by row.
type moved struct {
	name, key string
	rows      string // a condition on those that are copied; "" for all
}

// movedTables are all tables that aren't an engine's own. Vectors and full text are copied otherwise.
var movedTables = []moved{
	{"meta", "key", "key IN ('space', 'next', '" + fingerprintKey + "')"},
	{"guild", "no", ""}, {"role", "guild, id", ""}, {"channel", "no", ""}, {"forgetting", "id", ""},
	{"person", "guild, id", ""},
	{"message", "row", ""}, {"early_edit", "channel, id, guild", ""}, {"tombstone", "channel, id, guild", ""},
	{"external_id", "channel, id", ""}, {"presence", "channel, author, guild", ""}, {"segment", "id", ""},
	{"trace", "channel, answer, guild", ""}, {"opted", "guild, user", ""}, {"fact", "guild, id", ""},
	{"star", "channel, id, guild", ""}, {"question", "channel, id, guild", ""},
	{"gap", "channel, sweep, until, guild", ""}, {"withdrawn", "no", ""}, {"learn", "guild, user", ""},
	{"connection", "guild, user", ""}, {"pending_deletion", "row", ""},
	{"lore", "guild, id", ""}, {"summary", "channel, id, guild", ""}, {"prompt", "no", ""},
	{"setting", "guild, channel, key", ""}, {"role_limit", "guild, role", ""}, {"spent", "guild, question", ""},
	{"record", "no", ""}, {"condensed", "channel, guild", ""}, {"derived", "no", ""},
	{"source", "kind, place, id, derived", ""}, {"named", "user, derived", ""},
	{"shown", "channel, id, guild", ""}, {"taken", "channel, id, guild", ""}, {"rewritten", "channel, id, guild", ""},
}

// MovedTables returns the names of the tables that a move copies row by row.
func MovedTables() (names []string) {
	for _, t := range movedTables {
		names = append(names, t.name)
	}
	return names
}

// movingKey is in meta until a move to this store is complete. Until then nobody else may open the store.
const movingKey = "moving"

// ErrMoving reports that a move to the store was interrupted.
var ErrMoving = errors.New("a move to it isn't complete: begin again with \"hark move\"")

// Progress of a move: what is done now, and how far it is.
type Progress func(what string, done, total int)

// Move copies everything in from, opened with MovesFrom, to an empty store, opened with MovesTo, and compares the two.
// After an interruption, it begins again. Nobody else may have either open. from stays as it is. What it copies is
// sealed if to is.
func Move(ctx context.Context, from, to *Store, progress Progress) (Moved, error) {
	m := mover{
		from:     from,
		read:     from.engine,
		to:       to,
		guild:    memory.Everywhere,
		progress: progress,
	}
	written := from.othersWrote.Load()
	err := m.copy(ctx)
	if err == nil {
		err = from.notice(ctx)
	}
	if err == nil && from.othersWrote.Load() != written {
		err = errDiffers
	}
	if err == nil {
		err = m.finish(ctx)
	}
	return m.moved, err
}

// Moved counts what both stores have at the end of a move.
type Moved struct{ Guilds, Channels, Messages int }

var errDiffers = errors.New("what was remembered has changed since the move began: stop all that writes, " +
	"and move again")

// CopyGuild copies everything that is remembered of a guild, as of one moment, to an empty store, as Move does. Others
// may write meanwhile. Only an engine that keeps guilds apart can do so.
func CopyGuild(ctx context.Context, from, to *Store, guild memory.GuildID, progress Progress) (Moved, error) {
	m := mover{
		from:     from,
		to:       to,
		guild:    guild,
		progress: progress,
	}
	err := from.engine.Snapshot(ctx, func(q Querier) error {
		m.read = q
		return m.copy(ctx)
	})
	if err == nil {
		err = m.finish(ctx)
	}
	return m.moved, err
}

type mover struct {
	from     *Store
	read     Querier // from
	to       *Store
	guild    memory.GuildID // that is copied; Everywhere: all
	progress Progress
	moved    Moved
}

// copy copies and compares.
func (m *mover) copy(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	if err := m.copyTables(ctx); err != nil {
		return err
	}
	if err := m.copyVectors(ctx); err != nil {
		return err
	}
	return m.compare(ctx)
}

// finish makes full text, and lets others open the store.
func (m *mover) finish(ctx context.Context) error {
	indexed := func(done, total int) { m.progress("indexing words", done, total) }
	if err := m.to.finishFullText(ctx, indexed); err != nil {
		return err
	}
	return m.to.writing(context.WithoutCancel(ctx), func(t *transaction) {
		t.changed.structure[memory.Everywhere] = true
		t.changed.space = true
		t.changed.pending = true
		t.exec("DELETE FROM meta WHERE key = ?", movingKey)
	})
}

// tables returns the tables, restricted to the guild.
func (m *mover) tables() []moved {
	if m.guild == memory.Everywhere {
		return movedTables
	}
	tables := slices.Clone(movedTables)
	for i, t := range tables {
		switch t.name {
		case "meta":
		case "guild":
			tables[i].rows = fmt.Sprintf("id = %d", m.guild)
		case "forgetting":
			tables[i].rows = fmt.Sprintf("guild IN (%d, %d)", m.guild, memory.Everywhere)
		default:
			tables[i].rows = fmt.Sprintf("guild = %d", m.guild)
		}
	}
	return tables
}

// count returns how many of the guild's rows a table has.
func (m *mover) count(ctx context.Context, table string) (n int, err error) {
	query := "SELECT count(*) FROM " + table + " WHERE (guild = ?1 OR ?1 = -1)"
	err = RowOf(ctx, m.read, query, m.guild).Scan(&n)
	return n, err
}

// isEmpty reports whether nothing is remembered, nor what was decided or forgotten.
func isEmpty(ctx context.Context, q Querier) (bool, error) {
	for _, table := range movedTables[1:] {
		var some bool
		err := RowOf(ctx, q, "SELECT EXISTS (SELECT 1 FROM "+table.name+")").Scan(&some)
		if some || err != nil {
			return false, err
		}
	}
	return true, nil
}

// empty removes what an interrupted move left in a store, also how it is sealed. A store that remembers something and
// isn't half of a move stays as it is.
func (s *Store) empty(ctx context.Context) error {
	left := false
	err := s.writing(ctx, func(t *transaction) {
		left = t.meta(movingKey) != ""
		empty, err := isEmpty(t.ctx, t)
		ensure(err)
		if !left && !empty {
			return
		}
		t.changed.structure[memory.Everywhere] = true
		t.changed.space = true
		t.changed.Text = true
		ensure(t.ClearText(memory.Everywhere))
		t.execAll(nil, "DELETE FROM vector", "DELETE FROM vector_next")
		for _, table := range movedTables[1:] {
			t.exec("DELETE FROM " + table.name)
		}
		t.exec("DELETE FROM meta WHERE key IN (?, ?, ?) OR "+movedTables[0].rows, movingKey, reindexKey, SealKey)
	})
	if err == nil && left { // it may be plain, and be sealed now
		err = s.engine.Rewrite(ctx, tablesOfText())
	}
	return s.failed(err, "remove what an interrupted move left")
}

// begin marks the store as half of a move.
func (m *mover) begin(ctx context.Context) error {
	empty, err := isEmpty(ctx, m.to.engine)
	if err != nil {
		return m.to.failed(err, "move")
	}
	if !empty {
		return errors.New("something is remembered there already: name an empty database or directory")
	}
	return m.to.writing(ctx, func(t *transaction) {
		t.exec("DELETE FROM meta WHERE " + movedTables[0].rows)
		t.note(movingKey, "begun")
	})
}

func (m *mover) copyTables(ctx context.Context) error {
	total, err := m.count(ctx, "message")
	if err != nil {
		return m.from.failed(err, "move")
	}
	for _, table := range m.tables() {
		columns, err := m.columns(ctx, table)
		if err != nil {
			return err
		}
		done := 0
		for after := []any(nil); ; {
			rows, err := table.read(ctx, m.from.vault, m.read, columns, after)
			if err != nil {
				return m.from.failed(err, "read the table %s", table.name)
			}
			if len(rows) == 0 {
				break
			}
			after = table.keyOf(columns, rows[len(rows)-1]) // before insertRows seals it
			err = m.to.writing(ctx, func(t *transaction) { ensure(t.insertRows(table.name, columns, rows)) })
			if err != nil {
				return fmt.Errorf("copy the table %s: %w", table.name, err)
			}
			done += len(rows)
			if table.name == "message" {
				m.progress("copying messages", done, total)
			}
		}
	}
	return nil
}

// Rows that a transaction copies at once: about as many as take a moment to write, and fit into memory.
const (
	movedRows  = 1000
	movedBytes = 8 << 20
)

// columns returns the columns of a table that are copied.
func (m *mover) columns(ctx context.Context, table moved) (names []string, err error) {
	rows, err := m.read.QueryContext(ctx, "SELECT * FROM "+table.name+" LIMIT 0")
	if err == nil {
		names, err = rows.Columns()
		err = errors.Join(err, rows.Close())
	}
	if err != nil {
		return nil, m.from.failed(err, "read the table %s", table.name)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return table.name == "external_id" && name == "token" // insertRows makes it
	}), nil
}

// read returns the next rows of a table, in the order of its key. Each has an int64, a string or nil for each column.
func (table moved) read(ctx context.Context, v *Vault, from Querier, columns []string,
	after []any) (rows [][]any, err error) {
	size := 0
	err = table.each(ctx, v, from, columns, after, fmt.Sprintf(" LIMIT %d", movedRows), func(row []any) bool {
		rows = append(rows, row)
		for _, v := range row {
			if text, is := v.(string); is {
				size += len(text)
			}
		}
		return size < movedBytes
	})
	return rows, err
}

// each calls f with the rows of a table after a key, decrypted, in the order of its key, until f returns false.
func (table moved) each(ctx context.Context, v *Vault, from Querier, columns []string, after []any, limit string,
	f func(row []any) bool) error {
	var conditions []string
	if table.rows != "" {
		conditions = append(conditions, table.rows)
	}
	if len(after) > 0 {
		conditions = append(conditions, "("+table.key+") > (?"+strings.Repeat(", ?", len(after)-1)+")")
	}
	query := "SELECT " + strings.Join(columns, ", ") + " FROM " + table.name
	if len(conditions) > 0 {
		query += " WHERE " + strings.Join(conditions, " AND ")
	}
	rows, err := from.QueryContext(ctx, query+" ORDER BY "+table.key+limit, after...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row := make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		for i, v := range row {
			if b, is := v.([]byte); is {
				row[i] = string(b)
			}
		}
		if err := v.OpenRow(table.name, columns, row); err != nil {
			return err
		}
		if !f(row) {
			break
		}
	}
	return rows.Err()
}

func (table moved) keyOf(columns []string, row []any) (key []any) {
	for name := range strings.SplitSeq(table.key, ", ") {
		key = append(key, row[slices.Index(columns, name)])
	}
	return key
}

// copyVectors copies the vectors in use and those of the next space, and then lets full text be built.
func (m *mover) copyVectors(ctx context.Context) error {
	use, next, err := Spaces(ctx, m.read)
	if err != nil {
		return m.from.failed(err, "move")
	}
	if err := m.copySet(ctx, activeSet, use); err != nil {
		return err
	}
	if err := m.copySet(ctx, shadowSet, next); err != nil {
		return err
	}
	return m.to.writing(ctx, (*transaction).beginReindex)
}

// copySet copies the vectors of a set, which are of a space; the zero one: there are none.
func (m *mover) copySet(ctx context.Context, set vectorSet, space memory.Space) error {
	if space == (memory.Space{}) {
		return nil
	}
	total, err := m.count(ctx, set.table)
	if err != nil {
		return m.from.failed(err, "move")
	}
	done := 0
	for after := int64(0); ; {
		some, err := m.from.vault.readVectors(ctx, m.read, m.guild, set, space, after, movedRows)
		if err != nil {
			return m.from.failed(err, "read the vectors")
		}
		if len(some) == 0 {
			return nil
		}
		after = some[len(some)-1].segment
		err = m.to.writing(ctx, func(t *transaction) {
			for _, v := range some {
				t.putVector(set, v)
			}
		})
		if err != nil {
			return fmt.Errorf("copy the vectors: %w", err)
		}
		done += len(some)
		m.progress("copying vectors", min(done, total), total)
	}
}
