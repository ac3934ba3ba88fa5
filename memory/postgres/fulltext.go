package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Full text is the table fulltext: a row for each message, with the terms that it holds, each as often as it stands
// there, and what searches ask of the message, since a join with all messages would take most of the time. A term is a number of its guild: guild.no << 40 | hash. So the index of one term has messages of one guild.

// termsOf returns the numbers of terms, which are hashes in letters separated by spaces (see sqlstore.Hashes).
func termsOf(guild int64, hashes string) []int64 {
	var terms []int64
	for hash := range strings.FieldsSeq(hashes) {
		var n int64
		for _, c := range []byte(hash) {
			if c >= 'a' {
				n = n<<5 | int64(c-'a')
			} else {
				n = n<<5 | int64(c-'2'+26)
			}
		}
		terms = append(terms, guild<<40|n)
	}
	return terms
}

const guildOfRow = sqlstore.ChannelBits + sqlstore.SequenceBits

func (t *tx) resize(guild memory.GuildID, messages, terms int) {
	size := t.text[guild]
	if size == nil {
		size = &textSize{}
		t.text[guild] = size
	}
	size.messages += int64(messages)
	size.terms += int64(terms)
}

func (t *tx) flushTextSizes() error {
	for guild, size := range t.text {
		if err := t.exec(`INSERT INTO text_size (guild, messages, terms) VALUES ($1, $2, $3) ON CONFLICT (guild) DO UPDATE
			SET messages = text_size.messages + $2, terms = text_size.terms + $3`, int64(guild), size.messages,
			size.terms); err != nil {
			return err
		}
	}
	return nil
}

// AddText implements sqlstore.Tx.
func (t *tx) AddText(guild memory.GuildID, row int64, hashes string) error {
	terms := termsOf(row>>guildOfRow, hashes)
	t.resize(guild, 1, len(terms))
	return t.exec(`INSERT INTO fulltext (guild, row, channel, id, author, terms)
		SELECT guild, row, channel, id, author, $3::bigint[] FROM message WHERE guild = $1 AND row = $2`,
		int64(guild), row, terms)
}

// RemoveText implements sqlstore.Tx.
func (t *tx) RemoveText(guild memory.GuildID, row int64, hashes string) error {
	n, err := t.run("DELETE FROM fulltext WHERE guild = $1 AND row = $2", int64(guild), row)
	if n > 0 {
		t.resize(guild, -1, -len(strings.Fields(hashes)))
	}
	return err
}

// RemoveInBulk implements sqlstore.Tx: there is no other way for much text.
func (t *tx) RemoveInBulk() error { return nil }

// HasText implements sqlstore.Tx.
func (t *tx) HasText(guild memory.GuildID, row int64) (there bool, err error) {
	const query = "SELECT EXISTS (SELECT 1 FROM fulltext WHERE guild = ? AND row = ?)"
	err = sqlstore.RowOf(t.ctx, t, query, guild, row).Scan(&there)
	return there, err
}

// ClearText implements sqlstore.Tx.
func (t *tx) ClearText(guild memory.GuildID) error {
	clear(t.text)
	_, err := t.Exec("DELETE FROM fulltext WHERE (guild = ?1 OR ?1 = -1)", guild)
	if err != nil {
		return err
	}
	_, err = t.Exec("DELETE FROM text_size WHERE (guild = ?1 OR ?1 = -1)", guild)
	return err
}

// maxRanked is how many messages are ranked at once, the newest of those that match.
const maxRanked = 3000

// FindText implements sqlstore.Engine. If too many messages match any term, it ranks those with the rarest, or with
// both others, if these suffice.
func (e *engine) FindText(ctx context.Context, q sqlstore.TextQuery) ([]sqlstore.TextMatch, error) {
	return retried(ctx, func() ([]sqlstore.TextMatch, error) { return e.findText(ctx, q) })
}

func (e *engine) findText(ctx context.Context, q sqlstore.TextQuery) ([]sqlstore.TextMatch, error) {
	guild := sqlstore.GuildOf(q.Channels[0])
	terms := termsOf(guild, strings.Join(q.Terms, " "))
	found, all, err := e.rank(ctx, q, terms, condition("f.terms && ?", terms))
	if err != nil || all || len(terms) != 3 {
		return found, err
	}
	rarest, _, err := e.rank(ctx, q, terms, condition("(f.terms @> ? OR f.terms @> ?)", terms[:1], terms[1:]))
	if err != nil || len(rarest) == q.Limit {
		return rarest, err
	}
	return found, nil
}

// where is a condition under construction, with its arguments.
type where struct {
	text strings.Builder
	args []any
}

func condition(text string, args ...any) *where {
	w := &where{}
	w.and(text, args...)
	return w
}

// and adds a condition whose parameters are "?".
func (w *where) and(text string, args ...any) {
	if w.text.Len() > 0 {
		w.text.WriteString(" AND ")
	}
	for _, a := range args {
		w.args = append(w.args, a)
		text = strings.Replace(text, "?", fmt.Sprintf("$%d", len(w.args)), 1)
	}
	w.text.WriteString(text)
}

// within adds q's channels, and leaves out what is being forgotten.
func (w *where) within(q sqlstore.TextQuery) {
	w.and("f.guild = ?", int64(q.Guild))
	w.and("f.channel = ANY (?)", q.Channels)
	w.and("NOT EXISTS (SELECT 1 FROM pending_deletion d WHERE d.guild = f.guild AND d.row = f.row)")
}

// rank returns the best messages that meet w within q, and whether it looked at all of them.
func (e *engine) rank(ctx context.Context, q sqlstore.TextQuery, terms []int64, w *where) (best []sqlstore.TextMatch,
	all bool, err error) {
	w.within(q)
	if q.Since != nil {
		w.and("f.id >= ?", int64(*q.Since))
	}
	if q.Until != nil {
		w.and("f.id < ?", int64(*q.Until))
	}
	if len(q.Authors) > 0 {
		w.and("f.author = ANY (?)", numbers(q.Authors))
	}
	counts := make([]string, len(terms))
	for i, term := range terms {
		w.args = append(w.args, term)
		counts[i] = fmt.Sprintf(", cardinality(array_positions(terms, $%d))", len(w.args))
	}
	w.args = append(w.args, maxRanked+1)
	rows, err := e.pool.Query(ctx, fmt.Sprintf(`SELECT channel, id, cardinality(terms)%s
		FROM (SELECT f.channel, f.id, f.terms FROM fulltext f WHERE %s ORDER BY f.id DESC LIMIT $%d) newest`,
		strings.Join(counts, ""), w.text.String(), len(w.args)), w.args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	var matches []textMatch
	with := make([]int, len(terms)) // messages with each term
	for rows.Next() {
		m := textMatch{counts: make([]int, len(terms))}
		to := []any{&m.Channel, &m.ID, &m.length}
		for i := range m.counts {
			to = append(to, &m.counts[i])
		}
		if err := rows.Scan(to...); err != nil {
			return nil, false, err
		}
		for i, n := range m.counts {
			with[i] += min(n, 1)
		}
		matches = append(matches, m)
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	size, err := e.textSize(ctx, q.Guild)
	if err != nil {
		return nil, false, err
	}
	return bm25(matches, with, size, q.Limit), len(matches) <= maxRanked, nil
}

func (e *engine) textSize(ctx context.Context, guild memory.GuildID) (size textSize, err error) {
	err = e.pool.QueryRow(ctx, `SELECT coalesce(sum(messages), 0)::bigint, coalesce(sum(terms), 0)::bigint
		FROM text_size WHERE guild = $1`, int64(guild)).Scan(&size.messages, &size.terms)
	return size, err
}

type textMatch struct {
	sqlstore.TextMatch
	length int   // terms in the message
	counts []int // of each term
}

// bm25 returns the limit best matches by the formula of SQLite's FTS5 (https://www.sqlite.org/fts5.html#the_bm25_function),
// with k1 1.2 and b 0.75. with counts the messages that have each term.
func bm25(matches []textMatch, with []int, size textSize, limit int) []sqlstore.TextMatch {
	const k1, b = 1.2, 0.75
	average := float64(size.terms) / float64(max(1, size.messages))
	idf := make([]float64, len(with))
	for i, n := range with {
		idf[i] = max(1e-6, math.Log((float64(size.messages)-float64(n)+0.5)/(float64(n)+0.5)))
	}
	best := make([]sqlstore.TextMatch, len(matches))
	for i, m := range matches {
		best[i] = m.TextMatch
		for k, n := range m.counts {
			f := float64(n)
			best[i].Score += idf[k] * f * (k1 + 1) / (f + k1*(1-b+b*float64(m.length)/average))
		}
	}
	slices.SortFunc(best, func(x, y sqlstore.TextMatch) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(y.ID, x.ID))
	})
	return best[:min(limit, len(best))]
}

// CountText implements sqlstore.Engine.
func (e *engine) CountText(ctx context.Context, q sqlstore.TextQuery) (n int, err error) {
	w := condition("f.terms && ?", termsOf(sqlstore.GuildOf(q.Channels[0]), strings.Join(q.Terms, " ")))
	w.within(q)
	w.args = append(w.args, q.Limit)
	return retried(ctx, func() (n int, err error) {
		err = e.pool.QueryRow(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM fulltext f WHERE %s LIMIT $%d) found",
			w.text.String(), len(w.args)), w.args...).Scan(&n)
		return n, err
	})
}

func numbers[T ~int64](ids []T) []int64 {
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = int64(id)
	}
	return all
}
