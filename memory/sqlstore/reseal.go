package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	Plain string         `json:"plain,omitempty"`
	Renew bool           `json:"renew,omitempty"` // whether all keys were retired
	Guild memory.GuildID `json:"guild,omitempty"` // the only one whose messages and vectors are sealed anew; 0: all
	Stage int            `json:"stage"`           // a table of sealedTables; then those of vectors
	After []any          `json:"after,omitempty"` // the key of the last row that is done
	Done  int            `json:"done,omitempty"`  // messages
	Lost  LostError      `json:"lost,omitzero"`
}

// lastStage is when everything is sealed anew, and only keys are to be destroyed.
var lastStage = len(sealedTables) + len(VectorTables)

// LostError reports values that were changed in the database. They stay as they are, but their key may be gone.
type LostError struct {
	Values int    `json:"values,omitempty"`
	First  string `json:"first,omitempty"` // the place of one
}

// Error implements error.
func (e LostError) Error() string {
	return fmt.Sprintf("all else is sealed, but %d values were changed in the database and can't be read, the first in %s: "+
		"forget or delete what they belong to, or restore a backup with \"hark restore FILE\"", e.Values, e.First)
}

// asError returns nil if nothing was lost.
func (e LostError) asError() error {
	if e.Values == 0 {
		return nil
	}
	return e
}

func (e *LostError) add(at Place) { e.Values, e.First = e.Values+1, cmp.Or(e.First, at.String()) }

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
// which others write, and continues an interrupted run. progress, if not nil, gets the messages done and their total.
// It does nothing if nothing is left. When all is done, it returns a LostError if some values can't be read.
func Reseal(ctx context.Context, s *Store, progress func(done, total int)) error {
	var lost LostError
	for {
		left, err := IsResealing(ctx, s)
		if err != nil {
			return err
		}
		if !left || s.vault == nil {
			return lost.asError()
		}
		if lost, err = s.resealOnce(ctx, progress); err != nil {
			return s.failed(err, "seal")
		}
	}
}

// resealOnce seals everything anew and destroys the retired keys, unless more is to be sealed by then.
func (s *Store) resealOnce(ctx context.Context, progress func(done, total int)) (lost LostError, err error) {
	var total int
	if err := s.row(ctx, "SELECT count(*) FROM message").Scan(&total); err != nil {
		return lost, err
	}
	last := 0
	if _, err := s.inSteps(ctx, 0, 0, nil, func(t *transaction, limit int) int {
		n, done := t.resealSome(limit)
		if progress != nil && done > last {
			progress(min(done, total), total)
		}
		last = done
		return n
	}); err != nil {
		return lost, err
	}
	if err := s.sweep(ctx); err != nil { // vectors that nobody reads any more
		return lost, err
	}
	state, err := readResealing(ctx, s.engine)
	if err == nil && state.Plain != "" {
		err = s.engine.Rewrite(ctx, tablesOfText())
	}
	destroyed := false
	if err == nil {
		err = s.writing(ctx, func(t *transaction) { destroyed = t.destroyRetired() })
	}
	if err != nil || !destroyed {
		return lost, err
	}
	// Readers that began before may still find what is plain or has an old key, and need that key. Erase waits for
	// them.
	if err := s.Erase(ctx, true); err != nil {
		return lost, err
	}
	return lost, s.writing(ctx, func(t *transaction) { lost = t.endResealing() })
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
// continues. progress, and a LostError, are as in Reseal.
func Renew(ctx context.Context, s *Store, progress func(done, total int)) error {
	state, err := readResealing(ctx, s.engine)
	if err != nil {
		return s.failed(err, "read how far sealing is")
	}
	if !state.Renew {
		if err := Reseal(ctx, s, progress); err != nil && !errors.As(err, new(LostError)) {
			return err
		}
		if _, err := s.retireKeys(ctx, memory.Everywhere); err != nil {
			return err
		}
	}
	return Reseal(ctx, s, progress)
}

// retireKeys has Reseal destroy the keys of a guild, or of all. It reports whether there is any.
func (s *Store) retireKeys(ctx context.Context, guild memory.GuildID) (some bool, err error) {
	err = s.writing(ctx, func(t *transaction) {
		const of = " AND (guild = ?1 OR ?1 = ?2)"
		now := t.exec("UPDATE data_key SET retired = 1 WHERE retired = 0"+of, guild, memory.Everywhere)
		some = now > 0 || t.has("SELECT 1 FROM data_key WHERE retired <> 0"+of, guild, memory.Everywhere)
		state, err := readResealing(t.ctx, t)
		ensure(err)
		left := t.meta(resealKey) != ""
		if !some || now == 0 && left && (state.Guild == 0 || state.Guild == guild) {
			return
		}
		clear(t.store.ingest.keys)
		t.changed.structure[memory.Everywhere] = true
		next := resealing{Plain: state.Plain, Renew: state.Renew || guild == memory.Everywhere}
		if guild > 0 && (state.Guild == guild || !left) {
			next.Guild = guild
		}
		t.note(resealKey, t.jsonText(next))
	})
	return some, err
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
		rows, last = t.resealTable(sealedTables[state.Stage], &state, limit)
		if sealedTables[state.Stage].name == "message" {
			state.Done += rows
		}
	case state.Stage < lastStage:
		rows, last = t.resealVectors(state.Stage > n, &state, limit)
	default:
		return 0, 0
	}
	if state.After = last; rows == 0 {
		state.Stage++
	}
	t.note(resealKey, t.jsonText(state))
	return max(rows, 1), state.Done
}

// destroyRetired destroys the retired keys, and reports whether it did: not if some were retired since. Everything
// has a newer one.
func (t *transaction) destroyRetired() bool {
	state, err := readResealing(t.ctx, t)
	if ensure(err); state.Stage < lastStage {
		return false
	}
	t.changed.Text = true
	t.exec("DELETE FROM data_key WHERE retired <> 0 AND (guild = ?1 OR ?1 = 0)", state.Guild)
	return true
}

// endResealing notes that nothing is plain or has a destroyed key, unless some keys were retired since. Processes drop
// those once they notice.
func (t *transaction) endResealing() LostError {
	state, err := readResealing(t.ctx, t)
	if ensure(err); state.Stage < lastStage {
		return LostError{}
	}
	t.exec("DELETE FROM meta WHERE key = '" + resealKey + "'")
	t.changed.structure[memory.Everywhere] = true
	numbers := columnIn[int64](t, "SELECT number FROM data_key")
	t.committed = append(t.committed, func() {
		t.store.vault.whole.Store(true)
		t.store.vault.keep(numbers)
	})
	return state.Lost
}

// storedRow is a row of a sealed table as it is stored.
type storedRow struct {
	key    []any
	guild  memory.GuildID // unless its values tell it
	values [][]byte       // of the sealed columns; nil for NULL
}

// resealTable seals the next rows of a table anew. It returns how many it read, and the key of the last.
func (t *transaction) resealTable(table sealedTable, state *resealing, limit int) (n int, last []any) {
	where, args := "WHERE true ", slices.Clone(state.After)
	if len(args) > 0 {
		where += "AND (" + table.key + ") > (?" + strings.Repeat(", ?", len(args)-1) + ") "
	}
	if table.name == "message" && state.Guild != 0 { // other tables are small
		where += "AND channel >= ? AND channel < ? "
		no := t.noOfResealed(state)
		args = append(args, no<<ChannelBits, (no+1)<<ChannelBits)
	}
	keys := table.keyColumns()
	rows := listIn(t, func(scan Scanner, r *storedRow) error {
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
		"ORDER BY "+table.key+" LIMIT ?+0", append(args, limit)...)
	if len(rows) == 0 {
		return 0, nil
	}
	defer t.in(t.guild)()
	for _, r := range rows {
		t.resealRow(table, r, &state.Lost)
	}
	return len(rows), rows[len(rows)-1].key
}

// noOfResealed returns the number of the only guild that is sealed anew; 0 if it isn't known.
func (t *transaction) noOfResealed(state *resealing) int64 {
	return value[int64](t, "SELECT no FROM guild WHERE id = ?", state.Guild)
}

// resealRow seals a row anew. It leaves values that were changed as they are.
func (t *transaction) resealRow(table sealedTable, r storedRow, lost *LostError) {
	old, guild, stale := t.keyOfRow(r)
	if !stale {
		return
	}
	t.enter(guild)
	var set []string
	var args []any
	plain, before := make([]any, len(r.values)), lost.Values
	for i, value := range r.values {
		if value == nil {
			continue
		}
		place := table.place(table.columns[i], r.key)
		text, err := t.store.vault.openText(value, place)
		if errors.Is(err, seal.ErrChanged) {
			lost.add(place)
			continue
		}
		ensure(err)
		plain[i] = string(text)
		set, args = append(set, table.columns[i]+" = ?"), append(args, t.sealAny(guild, place, plain[i]))
	}
	if table.name == "message" && lost.Values > before {
		t.unindex(value[int64](t, "SELECT row FROM message WHERE channel = ? AND id = ?", r.key...), unreadable)
	}
	if len(set) == 0 {
		return
	}
	if table.name == "external_id" {
		set, args = append(set, "token = ?"), append(args, t.token(guild, memory.ChannelID(r.key[0].(int64)), plain[0].(string)))
	}
	var where []string
	for _, name := range table.keyColumns() {
		where = append(where, name+" = ?")
	}
	t.exec("UPDATE "+table.name+" SET "+strings.Join(set, ", ")+" WHERE "+strings.Join(where, " AND "),
		append(args, r.key...)...)
	if table.name == "message" && lost.Values == before {
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
func (t *transaction) resealVectors(shadow bool, state *resealing, limit int) (n int, last []any) {
	use, next, err := Spaces(t.ctx, t)
	if ensure(err); shadow {
		use = next
	}
	if use == (memory.Space{}) {
		return 0, nil
	}
	from, until := int64(-1), int64(1<<63-1)
	if state.Guild != 0 {
		no := t.noOfResealed(state)
		from, until = no<<SegmentBits-1, (no+1)<<SegmentBits
	}
	if len(state.After) > 0 {
		from = state.After[0].(int64)
	}
	some, err := t.store.vault.readVectors(t.ctx, t, setOf(shadow), use, from, limit)
	for errors.Is(err, seal.ErrChanged) && limit > 1 {
		limit /= 2
		some, err = t.store.vault.readVectors(t.ctx, t, setOf(shadow), use, from, limit)
	}
	if errors.Is(err, seal.ErrChanged) {
		return t.reembedNext(shadow, from)
	}
	ensure(err)
	some = slices.DeleteFunc(some, func(v vector) bool { return v.segment >= until })
	defer t.in(t.guild)()
	for _, v := range some {
		t.enter(t.guildOfNo(v.channel))
		key := t.keyIfSealed(t.guild)
		if v.key != key {
			v.key = key
			t.putVector(setOf(shadow), v)
		}
		last = []any{v.segment}
	}
	return len(some), last
}

// reembedNext has the vector after a segment made anew: it was changed.
func (t *transaction) reembedNext(shadow bool, from int64) (n int, last []any) {
	set := setOf(shadow)
	segment := value[int64](t, "SELECT min(segment) FROM "+set.table+" WHERE segment > ?", from)
	t.deleteVectors(segment)
	t.exec("UPDATE segment SET pending = 1, version = version + 1, next = (SELECT count(*) FROM meta WHERE key = 'next') "+
		"WHERE id = ?", segment)
	t.changed.space, t.changed.pending = true, true
	return 1, []any{segment}
}

// resealVectorsAgain has Reseal begin with the vectors again, before their tables change names.
func (t *transaction) resealVectorsAgain() {
	if t.meta(resealKey) == "" {
		return
	}
	state, err := readResealing(t.ctx, t)
	if ensure(err); state.Stage > len(sealedTables) || state.Stage == len(sealedTables) && len(state.After) > 0 {
		state.Stage, state.After = len(sealedTables), nil
		t.note(resealKey, t.jsonText(state))
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
			was := left.Plain
			if left.Plain = ""; was == plainMark(s.vault.key.Load()) { // else somebody without the key wrote it
				left.Plain = plainMark(key)
			}
			t.note(resealKey, t.jsonText(left))
		}
		for _, r := range listIn(t, func(scan Scanner, r *row) error {
			return scan(&r.number, &r.guild, &r.wrapped)
		}, "SELECT number, guild, wrapped FROM data_key") {
			place := placeOfKey(uint32(r.number), r.guild)
			data, err := s.vault.key.Load().Unwrap(r.wrapped, place)
			ensure(err)
			wrapped, err := key.Wrap(data, place)
			ensure(err)
			t.exec("UPDATE data_key SET wrapped = ? WHERE number = ?", wrapped, r.number)
		}
		t.note(SealKey, t.jsonText(state))
		t.committed = append(t.committed, func() { s.vault.secret = to; s.vault.key.Store(key) })
	})
}
