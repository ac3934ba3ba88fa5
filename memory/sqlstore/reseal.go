package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/seal"
)

// resealKey in meta is how far sealing anew is, while some values are plain or sealed with retired keys.
const resealKey = "reseal"

// resealing is how far sealing anew is. Full text of a message is keyed as its text is sealed, so both change together.
type resealing struct {
	// Plain is plainMark if some values may be plain. So nobody without the key can have plain ones taken for Hark's.
	Plain string `json:"plain,omitempty"`
	Stage int    `json:"stage"`           // a table of sealedTables; then those of vectors
	After []any  `json:"after,omitempty"` // the key of the last row that is done
	Done  int    `json:"done,omitempty"`  // messages
}

func plainMark(k *seal.Key) string { return k.Mark("some values are plain") }

// readResealing returns how far sealing anew is; the zero value if nothing is left.
func readResealing(ctx context.Context, q Querier) (r resealing, err error) {
	var state string
	there, err := Found(RowOf(ctx, q, "SELECT value FROM meta WHERE key = '"+resealKey+"'").Scan(&state))
	if err != nil || !there {
		return r, err
	}
	decoder := json.NewDecoder(strings.NewReader(state))
	decoder.UseNumber()
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("read how far sealing is: %w", err)
	}
	for i, v := range r.After {
		if n, is := v.(json.Number); is {
			if r.After[i], err = n.Int64(); err != nil {
				return r, fmt.Errorf("read how far sealing is: %w", err)
			}
		}
	}
	return r, nil
}

// IsResealing reports whether some values are still to be sealed, or sealed anew.
func IsResealing(ctx context.Context, s *Store) (bool, error) {
	state, err := s.meta(ctx, resealKey)
	return state != "", s.failed(err, "read how far sealing is")
}

// Reseal seals what is plain, and seals anew what has a retired key, which it then destroys. It runs in steps, between
// which others write, and continues an interrupted run. progress, if not nil, gets the messages done and their total. It
// does nothing if nothing is left.
func Reseal(ctx context.Context, s *Store, progress func(done, total int)) error {
	left, err := IsResealing(ctx, s)
	if err != nil || !left || s.vault == nil {
		return err
	}
	var total int
	if err := s.row(ctx, "SELECT count(*) FROM message").Scan(&total); err != nil {
		return s.failed(err, "seal")
	}
	last := 0
	_, err = s.inSteps(ctx, 0, 0, nil, func(t *transaction, limit int) int {
		n, done := t.resealSome(limit)
		if progress != nil && done > last {
			progress(min(done, total), total)
		}
		last = done
		return n
	})
	if err != nil {
		return err
	}
	if err := s.sweep(ctx); err != nil { // vectors that nobody reads any more
		return s.failed(err, "seal")
	}
	state, err := readResealing(ctx, s.engine)
	if err == nil && state.Plain != "" {
		err = s.engine.Rewrite(ctx, tablesOfText())
	}
	if err == nil {
		err = s.writing(ctx, (*transaction).endResealing)
	}
	if err != nil {
		return s.failed(err, "seal")
	}
	return s.engine.Erase(ctx, true)
}

// tablesOfText are the tables that hold what is sealed.
func tablesOfText() []string {
	tables := slices.Clone(VectorTables)
	for _, t := range sealedTables {
		tables = append(tables, t.name)
	}
	return append(tables, "fulltext")
}

// Renew gives every guild a new data key, seals everything anew, and destroys the old keys. If it was interrupted, it
// continues. progress is as in Reseal.
func Renew(ctx context.Context, s *Store, progress func(done, total int)) error {
	left, err := IsResealing(ctx, s)
	if err == nil && !left {
		err = s.retireKeys(ctx, memory.Everywhere)
	}
	if err != nil {
		return err
	}
	return Reseal(ctx, s, progress)
}

// retireKeys has Reseal destroy the keys of a guild, or of all.
func (s *Store) retireKeys(ctx context.Context, guild memory.GuildID) error {
	return s.writing(ctx, func(t *transaction) {
		if t.exec("UPDATE data_key SET retired = 1 WHERE retired = 0 AND (guild = ?1 OR ?1 = ?2)", guild,
			memory.Everywhere) == 0 {
			return
		}
		clear(t.store.ingest.keys)
		state, err := readResealing(t.ctx, t)
		ensure(err)
		t.changed.structure[memory.Everywhere] = true
		t.note(resealKey, jsonText(resealing{Plain: state.Plain}))
	})
}

// resealSome seals the next rows anew. It returns how many it read, at least 1 until the end, and how many messages are
// done.
func (t *transaction) resealSome(limit int) (rows, done int) {
	if t.meta(resealKey) == "" { // another process was faster
		return 0, 0
	}
	state, err := readResealing(t.ctx, t)
	ensure(err)
	t.changed.Text = true // of old versions
	var last []any
	switch n := len(sealedTables); {
	case state.Stage < n:
		rows, last = t.resealTable(sealedTables[state.Stage], state.After, limit)
		if sealedTables[state.Stage].name == "message" {
			state.Done += rows
		}
	case state.Stage < n+len(VectorTables):
		rows, last = t.resealVectors(state.Stage > n, state.After, limit)
	default:
		return 0, 0
	}
	if state.After = last; rows == 0 {
		state.Stage++
	}
	t.note(resealKey, jsonText(state))
	return max(rows, 1), state.Done
}

// endResealing destroys the retired keys, unless some were retired since: everything has a newer one.
func (t *transaction) endResealing() {
	state, err := readResealing(t.ctx, t)
	if ensure(err); state.Stage < len(sealedTables)+len(VectorTables) {
		return
	}
	t.changed.Text = true
	var gone []*DataKey
	t.each(func(scan Scanner) error {
		var number int64
		err := scan(&number)
		if k := t.store.vault.known(uint32(number)); k != nil {
			gone = append(gone, k)
		}
		return err
	}, "SELECT number FROM data_key WHERE retired <> 0")
	t.execAll(nil, "DELETE FROM data_key WHERE retired <> 0", "DELETE FROM meta WHERE key = '"+resealKey+"'")
	t.changed.structure[memory.Everywhere] = true
	t.committed = append(t.committed, func() {
		t.store.vault.whole.Store(true)
		t.store.vault.drop(gone)
	})
}

// storedRow is a row of a sealed table as it is stored.
type storedRow struct {
	key    []any
	guild  memory.GuildID // unless its values tell it
	values [][]byte       // of the sealed columns; nil for NULL
}

// resealTable seals the next rows of a table anew. It returns how many it read, and the key of the last.
func (t *transaction) resealTable(table sealedTable, after []any, limit int) (n int, last []any) {
	where := ""
	if len(after) > 0 {
		where = "WHERE (" + table.key + ") > (?" + strings.Repeat(", ?", len(after)-1) + ") "
	}
	keys := table.keyColumns()
	rows := must(list(t.ctx, t, func(scan Scanner, r *storedRow) error {
		r.key, r.values = make([]any, len(keys)), make([][]byte, len(table.columns))
		var to []any
		for i := range r.key {
			to = append(to, &r.key[i])
		}
		to = append(to, &r.guild)
		for i := range r.values {
			to = append(to, &r.values[i])
		}
		err := scan(to...)
		for i, v := range r.key {
			if b, is := v.([]byte); is {
				r.key[i] = string(b)
			}
		}
		return err
	}, "SELECT "+table.key+", "+table.guild+" AS of_guild, "+strings.Join(table.columns, ", ")+" FROM "+table.name+" x "+where+
		"ORDER BY "+table.key+" LIMIT ?+0", append(slices.Clone(after), limit)...))
	if len(rows) == 0 {
		return 0, nil
	}
	defer t.in(t.guild)()
	for _, r := range rows {
		t.resealRow(table, r)
	}
	return len(rows), rows[len(rows)-1].key
}

func (t *transaction) resealRow(table sealedTable, r storedRow) {
	old, guild, stale := t.keyOfRow(r)
	if !stale {
		return
	}
	plain := make([]any, len(r.values))
	for i, value := range r.values {
		if value != nil {
			plain[i] = string(must(t.store.vault.openText(value, table.place(table.columns[i], r.key))))
		}
	}
	t.enter(guild)
	var set []string
	var args []any
	for i, name := range table.columns {
		set, args = append(set, name+" = ?"), append(args, t.sealAny(guild, table.place(name, r.key), plain[i]))
	}
	if table.name == "called" {
		set, args = append(set, "token = ?"), append(args, t.token(guild, memory.ChannelID(r.key[0].(int64)), plain[0].(string)))
	}
	var where []string
	for _, name := range table.keyColumns() {
		where = append(where, name+" = ?")
	}
	t.exec("UPDATE "+table.name+" SET "+strings.Join(set, ", ")+" WHERE "+strings.Join(where, " AND "),
		append(args, r.key...)...)
	if table.name == "message" {
		t.rekeyText(guild, old, r.key, plain)
	}
}

// keyOfRow returns the key that sealed a row, and the row's guild. stale is whether it should have another key.
func (t *transaction) keyOfRow(r storedRow) (old *DataKey, guild memory.GuildID, stale bool) {
	guild = r.guild
	for _, value := range r.values {
		if len(value) == 0 {
			continue
		}
		key, _, err := t.store.vault.keyOfValue(value)
		if ensure(err); key != nil {
			old, guild = key, key.guild
		}
		stale = stale || key == nil || key != t.key(guild)
	}
	return old, guild, stale
}

// rekeyText keys a message's full text as its text is sealed now.
func (t *transaction) rekeyText(guild memory.GuildID, old *DataKey, key, plain []any) {
	var m memory.Message
	var row int64
	t.row("SELECT row, kind FROM message WHERE channel = ? AND id = ?", key...).into(&row, &m.Kind)
	m.Content, _ = plain[0].(string)
	ensure(asExtra{&m}.Scan(plain[1]))
	terms := indexTerms(new(text.Batch), m)
	ensure(t.RemoveInBulk())
	t.unindex(row, old.keyed(terms))
	t.index(guild, row, terms)
}

// resealVectors seals the next vectors anew. It returns how many it read, and the last segment.
func (t *transaction) resealVectors(shadow bool, after []any, limit int) (n int, last []any) {
	use, next, err := Spaces(t.ctx, t)
	if ensure(err); shadow {
		use = next
	}
	if use == (memory.Space{}) {
		return 0, nil
	}
	from := int64(-1)
	if len(after) > 0 {
		from = after[0].(int64)
	}
	some := must(t.store.engine.Vectors(t.ctx, t, use, shadow, from, limit))
	defer t.in(t.guild)()
	for _, v := range some {
		t.enter(t.guildOfNo(v.Channel))
		if key := t.keyIfSealed(t.guild); v.Key != key {
			v.Key = key
			ensure(t.PutVector(v, shadow))
		}
		last = []any{v.Segment}
	}
	return len(some), last
}

// resealVectorsAgain has Reseal begin with the vectors again, before their tables change names.
func (t *transaction) resealVectorsAgain() {
	if t.meta(resealKey) == "" {
		return
	}
	state, err := readResealing(t.ctx, t)
	if ensure(err); state.Stage > len(sealedTables) || state.Stage == len(sealedTables) && len(state.After) > 0 {
		state.Stage, state.After = len(sealedTables), nil
		t.note(resealKey, jsonText(state))
	}
}

// Rewrap wraps the data keys of a memory by another key of the operator's, whose fingerprint it returns.
func Rewrap(ctx context.Context, s *Store, to *seal.Secret) (fingerprint string, err error) {
	state := sealing{Salt: seal.NewSalt()}
	key := to.Key(state.Salt)
	state.Fingerprint = key.Fingerprint()
	return state.Fingerprint, s.writing(ctx, func(t *transaction) {
		type row struct {
			number  int64
			guild   memory.GuildID
			wrapped string
		}
		t.changed.Text = true
		t.changed.structure[memory.Everywhere] = true
		left, err := readResealing(t.ctx, t)
		if ensure(err); left.Plain != "" {
			left.Plain = plainMark(key)
			t.note(resealKey, jsonText(left))
		}
		for _, r := range must(list(t.ctx, t, func(scan Scanner, r *row) error {
			return scan(&r.number, &r.guild, &r.wrapped)
		}, "SELECT number, guild, wrapped FROM data_key")) {
			place := placeOfKey(uint32(r.number), r.guild)
			data := must(s.vault.key.Load().Unwrap(r.wrapped, place))
			t.exec("UPDATE data_key SET wrapped = ? WHERE number = ?", must(key.Wrap(data, place)), r.number)
		}
		t.note(SealKey, jsonText(state))
		t.committed = append(t.committed, func() { s.vault.secret = to; s.vault.key.Store(key) })
	})
}
