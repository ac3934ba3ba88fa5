package sqlstore

import (
	"slices"
	"strings"

	"hark/memory"
)

// sealedTable is a table with sealed columns.
type sealedTable struct {
	name    string
	key     string // columns that tell its rows apart
	columns []string
}

// sealedTables are all columns of text that are sealed. Vectors are too: see putVector.
var sealedTables = []sealedTable{
	{"guild", "id", []string{"name"}},
	{"role", "guild, id", []string{"name"}},
	{"channel", "id, no", []string{"name", "tags"}},
	{"person", "guild, id", []string{"username", "name", "nick"}},
	{"message", "channel, id", []string{"content", "extra"}},
	{"early_edit", "channel, id", []string{"content"}},
	{"external_id", "channel, id", []string{"name"}},
	{"trace", "channel, answer", []string{"body"}},
	{"fact", "guild, id", []string{"text"}},
	{"lore", "guild, id", []string{"name", "own", "text"}},
	{"summary", "channel, id", []string{"topics", "text"}},
	{"prompt", "channel, answer", []string{"body"}},
	{"setting", "guild, channel, key", []string{"value"}},
	{"record", "call", []string{"body"}},
	{"condensed", "channel", []string{"text"}},
}

// VectorTables are the tables of vectors in the store's statements. Values of both have their place in the first, since
// the two change names.
var VectorTables = []string{"vector", "vector_next"}

// tablesOfText are the tables that hold what is sealed.
func tablesOfText() []string {
	tables := append(slices.Clone(VectorTables), "fulltext")
	for _, t := range sealedTables {
		tables = append(tables, t.name)
	}
	return tables
}

// VisibleColumns are the columns of text that aren't sealed, and why.
var VisibleColumns = map[string]string{
	"meta.key": "a word of Hark's own",
	"meta.value": "names of embedding models, versions, states, the key of fingerprints, which are sealed, and the " +
		"data key, which the operator's key wraps",
	"channel.overwrites": "ids and permissions",
	"person.roles":       "ids",
	"trace.parts":        "ids",
	"trace.model":        "the name of a model, from the configuration",
	"summary.model":      "the name of a model, from the configuration",
	"summary.kind":       "one of a few words of Hark's own",
	"condensed.model":    "the name of a model, from the configuration",
	"forgetting.why":     "one of a few words of Hark's own",
	"forgetting.receipt": "counts",
	"setting.key":        "one of a few words of Hark's own",
	"record.call":        "a random id",
	"record.speaker":     "one of a few words of Hark's own",
	"record.method":      "the name of a function",
	"connection.hash":    "a hash of a random token",
	"external_id.token":  "a keyed hash",
}

// IsSealed reports whether a column of text is sealed.
func IsSealed(table, column string) bool {
	for _, t := range sealedTables {
		if t.name == table {
			for _, c := range t.columns {
				if c == column {
					return true
				}
			}
		}
	}
	return false
}

// place returns where a column of a row is, by the row's key: up to two numbers, or those and a text.
func (t sealedTable) place(column string, key []any) Place {
	p := Place{table: t.name, column: column}
	numbers := []*int64{&p.a, &p.b}
	for _, v := range key {
		switch v := v.(type) {
		case int64:
			*numbers[0] = v
			numbers = numbers[1:]
		case string:
			p.key = v
		case []byte:
			p.key = string(v)
		}
	}
	return p
}

// keyColumns are the columns of t's key.
func (t sealedTable) keyColumns() []string { return strings.Split(t.key, ", ") }

// OpenRow decrypts the sealed columns of a row, whose values are int64, string or nil.
func (v *Vault) OpenRow(table string, columns []string, row []any) error {
	if v == nil {
		return nil
	}
	return eachSealed(table, columns, row, func(i int, at Place) error {
		text, _ := row[i].(string)
		plain, err := v.openText([]byte(text), at)
		row[i] = string(plain)
		return err
	})
}

// eachSealed calls f for the sealed columns of a row that aren't NULL.
func eachSealed(table string, columns []string, row []any, f func(i int, at Place) error) error {
	n := slices.IndexFunc(sealedTables, func(t sealedTable) bool { return t.name == table })
	if n < 0 {
		return nil
	}
	t := sealedTables[n]
	var key []any
	for _, name := range t.keyColumns() {
		key = append(key, row[slices.Index(columns, name)])
	}
	for _, name := range t.columns {
		if i := slices.Index(columns, name); i >= 0 && row[i] != nil {
			if err := f(i, t.place(name, key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// insertRows adds rows, and seals them.
func (t *transaction) insertRows(table string, columns []string, rows [][]any) error {
	if t.store.vault == nil {
		return t.Insert(table, columns, rows)
	}
	if table == "external_id" {
		columns = append(slices.Clone(columns), "token")
		rows = t.withTokens(columns, rows)
	}
	for _, row := range rows {
		err := eachSealed(table, columns, row, func(i int, at Place) error {
			row[i] = t.sealAny(at, row[i])
			return nil
		})
		if err != nil {
			return err
		}
	}
	return t.Insert(table, columns, rows)
}

// withTokens adds the tokens of names to rows.
func (t *transaction) withTokens(columns []string, rows [][]any) [][]any {
	withTokens := make([][]any, len(rows))
	for n, row := range rows {
		channel, _ := row[slices.Index(columns, "channel")].(int64)
		name, _ := row[slices.Index(columns, "name")].(string)
		withTokens[n] = append(row, t.store.vault.token(memory.ChannelID(channel), name))
	}
	return withTokens
}

// at returns the place of a column of a row whose key is two numbers.
func at[A, B ~int64](table, column string, a A, b B) Place {
	return Place{
		table:  table,
		column: column,
		a:      int64(a),
		b:      int64(b),
	}
}

// atID returns the place of a column of a row whose key is a number.
func atID[A ~int64](table, column string, id A) Place {
	return Place{
		table:  table,
		column: column,
		a:      int64(id),
	}
}

// vectorPlace returns the place of a part of a segment's vector.
func vectorPlace(part string, segment int64) Place { return atID(VectorTables[0], part, segment) }

func placeOfSetting(guild memory.GuildID, channel memory.ChannelID, key memory.Setting) Place {
	return Place{
		table:  "setting",
		column: "value",
		a:      int64(guild),
		b:      int64(channel),
		key:    string(key),
	}
}

func recordPlace(call string) Place {
	return Place{
		table:  "record",
		column: "body",
		key:    call,
	}
}

func editPlace(channel memory.ChannelID, id memory.MessageID) Place {
	return at("early_edit", "content", channel, id)
}

// channelName is the destination for c's name. Its id and its number must be known or scanned before.
func (v *Vault) channelName(c *memory.Channel, no *int64) any {
	return v.opened(&c.Name, func() Place { return placeOfChannelName(c.ID, *no) })
}

// channelTags is channelName for c's tags.
func (v *Vault) channelTags(c *memory.Channel, no *int64) any {
	return v.opened(asTags{&c.Tags}, func() Place { return placeOfChannelTags(c.ID, *no) })
}

func placeOfChannelTags(id memory.ChannelID, no int64) Place { return at("channel", "tags", id, no) }

// placeOfChannelName binds a channel's name to its number too, by which its messages are found.
func placeOfChannelName(id memory.ChannelID, no int64) Place { return at("channel", "name", id, no) }

func placeOfGuildName(id memory.GuildID) Place { return atID("guild", "name", id) }

func promptPlace(m memory.MessageRef) Place { return at("prompt", "body", m.Channel, m.Message) }

func tracePlace(channel memory.ChannelID, answer memory.MessageID) Place {
	return at("trace", "body", channel, answer)
}

// personName is the destination for one of p's names. The guild and the id must be known or scanned before.
func (v *Vault) personName(p *memory.Person, column string, to *string) any {
	return v.opened(to, func() Place { return at("person", column, p.Guild, p.ID) })
}

// SealedColumn is a sealed column of text, and the columns that tell its table's rows apart.
type SealedColumn struct{ Table, Column, Key string }

// SealedColumns returns all sealed columns of text.
func SealedColumns() (all []SealedColumn) {
	for _, t := range sealedTables {
		for _, name := range t.columns {
			all = append(all, SealedColumn{t.name, name, t.key})
		}
	}
	return all
}
