package sqlstore

import (
	"context"
	"errors"
	"slices"

	"hark/memory"
)

// numbered are the columns with a guild's number, and how many bits follow it. Numbers differ between stores.
var numbered = map[string]map[string]int{
	"guild":    {"no": 0},
	"channel":  {"no": ChannelBits},
	"message":  {"row": ChannelBits + SequenceBits, "channel": ChannelBits, "segment": SegmentBits},
	"presence": {"channel": ChannelBits},
	"segment":  {"id": SegmentBits, "channel": ChannelBits},
}

// derivedColumns are the columns with a derived thing's number.
var derivedColumns = map[string]string{"derived": "no", "source": "derived", "named": "derived", "shown": "derived"}

// counted are the tables whose numbers nothing refers to.
var counted = []string{"withdrawn", "prompt"}

// Writes returns a number that changes when somebody else writes to the store.
func (s *Store) Writes(ctx context.Context) (int64, error) {
	err := s.writing(ctx, func(*transaction) {}) // so that the next write notices others
	return s.othersWrote.Load(), err
}

// ReplaceGuild replaces what a store remembers of a guild by what another remembers of it. The other has no forgetting
// to do, and what it knows of other guilds is left out. It is one transaction, so nothing is left half-done. It fails if
// somebody else has written to the store since Writes returned a number. What either was told to forget stays recorded.
func ReplaceGuild(ctx context.Context, from, to *Store, guild memory.GuildID, writes int64, progress Progress) error {
	use, _, err := Spaces(ctx, from.engine)
	if err != nil {
		return from.failed(err, "read the backup")
	}
	return to.writing(ctx, func(t *transaction) {
		if to.othersWrote.Load() != writes {
			ensure(errors.New("something was written to the database meanwhile: stop Hark, and restore again"))
		}
		r := replacing{
			transaction: t,
			of:          guild,
			from:        from,
			progress:    progress,
		}
		ensure(from.row(ctx, "SELECT no FROM guild WHERE id = ?", guild).Scan(&r.shift))
		r.shift = t.guildNo(guild) - r.shift
		r.derived = value[int64](t, "SELECT coalesce(max(no), 0) FROM derived")
		r.records = value[int64](t, "SELECT coalesce(max(no), 0) FROM record")
		r.empty()
		r.fill(ctx)
		r.fillVectors(ctx, use)
		r.fillText()
		r.addRules(ctx)
		t.changed.structure[guild] = true
		t.changed.people[guild] = true
		t.changed.space = true
		t.changed.Text = true
		t.changed.pending = true
		t.store.ingest.forget()
	})
}

type replacing struct {
	*transaction
	of       memory.GuildID
	from     *Store
	shift    int64 // what is added to the guild's number
	derived  int64 // what is added to the numbers of derived things
	records  int64 // and to those of records
	progress Progress
}

// replaced are the tables that are replaced row by row. The first is that of guilds.
func replaced() []moved {
	return slices.DeleteFunc(slices.Clone(movedTables), func(m moved) bool {
		return m.name == "meta" || m.name == "forgetting" || m.name == "pending_deletion"
	})
}

func (r *replacing) empty() {
	ensure(r.ClearText(r.of))
	r.execAll([]any{r.of}, "DELETE FROM vector WHERE guild = ?", "DELETE FROM vector_next WHERE guild = ?",
		"DELETE FROM pending_deletion WHERE guild = ?")
	for _, table := range replaced()[1:] {
		r.exec("DELETE FROM "+table.name+" WHERE guild = ?", r.of)
	}
	r.exec("DELETE FROM guild WHERE id = ?", r.of)
}

func (r *replacing) fill(ctx context.Context) {
	var total, done int
	ensure(r.from.row(ctx, "SELECT count(*) FROM message").Scan(&total))
	m := mover{
		from: r.from,
		read: r.from.engine,
		to:   r.store,
	}
	for _, table := range replaced() {
		columns, err := m.columns(ctx, table)
		ensure(err)
		for after := []any(nil); ; {
			rows, err := table.read(ctx, r.from.vault, r.from.engine, columns, after)
			ensure(err)
			if len(rows) == 0 {
				break
			}
			after = table.keyOf(columns, rows[len(rows)-1])
			ensure(r.insert(table.name, columns, rows))
			if table.name == "message" {
				done += len(rows)
				r.progress("putting messages in place", done, total)
			}
		}
	}
}

// insert adds rows of the other store with this store's numbers.
func (r *replacing) insert(table string, columns []string, rows [][]any) error {
	if i := slices.Index(columns, "guild"); i >= 0 { // a file of its own may have known others
		rows = slices.DeleteFunc(rows, func(row []any) bool { return row[i] != int64(r.of) })
	}
	for i, name := range columns {
		bits, isNumbered := numbered[table][name]
		for _, row := range rows {
			switch n, _ := row[i].(int64); {
			case isNumbered && n != 0: // no segment is 0
				row[i] = n + r.shift<<bits
			case derivedColumns[table] == name:
				row[i] = n + r.derived
			case table == "record" && name == "no", table == "derived" && name == "id" && kindOf(columns, row) == aRecord:
				row[i] = n + r.records
			}
		}
	}
	if slices.Contains(counted, table) {
		i := slices.Index(columns, "no")
		columns = slices.Delete(slices.Clone(columns), i, i+1)
		for j, row := range rows {
			rows[j] = slices.Delete(row, i, i+1)
		}
	}
	return r.insertRows(table, columns, rows)
}

func kindOf(columns []string, row []any) kind {
	n, _ := row[slices.Index(columns, "kind")].(int64)
	return kind(n)
}

// addRules records what the other store was told to forget of the guild, as far as this one wasn't.
func (r *replacing) addRules(ctx context.Context) {
	rules, err := list(ctx, r.from.engine, func(scan Scanner, o *rule) error { return o.scan(scan) },
		"SELECT "+forgettingColumns+" FROM forgetting WHERE guild IN (?, ?) ORDER BY id", r.of, memory.Everywhere)
	ensure(err)
	for _, o := range rules {
		r.exec(`INSERT INTO forgetting (guild, channel, user, before, why, at, whole, done, receipt, begun)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, '{}', ?8 WHERE NOT EXISTS (SELECT 1 FROM forgetting f
				WHERE f.guild IN (?1, ?9) AND f.channel = ?2 AND f.user = ?3 AND f.why = ?5 AND f.before >= ?4 AND f.at >= ?6
				AND f.whole >= ?7)`, r.of, o.Channel, o.User, o.end, o.Why, millis(o.At), o.whole, isHidden, memory.Everywhere)
	}
}

// fillVectors adds the vectors in use, or lets all be made anew if they are of another space.
func (r *replacing) fillVectors(ctx context.Context, use memory.Space) {
	here, next, err := Spaces(ctx, r)
	ensure(err)
	r.exec("UPDATE segment SET next = ? WHERE guild = ?", next != memory.Space{}, r.of)
	if use != here {
		r.exec("UPDATE segment SET pending = 1 WHERE guild = ? AND pending = 0", r.of)
		return
	}
	for after := int64(0); use != (memory.Space{}); {
		some, err := r.from.vault.readVectors(ctx, r.from.engine, r.of, activeSet, use, after, movedRows)
		ensure(err)
		if len(some) == 0 {
			return
		}
		after = some[len(some)-1].segment
		for _, v := range some {
			v.segment += r.shift << SegmentBits
			v.channel += r.shift << ChannelBits
			r.putVector(activeSet, v)
		}
	}
}

func (r *replacing) fillText() {
	for after := int64(-1); ; {
		rows, terms := r.termsOf(`SELECT row, channel, id, kind, content, extra FROM message WHERE guild = ? AND row > ?
			ORDER BY row LIMIT ?+0`, r.of, after, movedRows)
		if len(rows) == 0 {
			return
		}
		for i, row := range rows {
			after = row
			if terms[i] != "" {
				r.addText(row, terms[i])
			}
		}
	}
}
