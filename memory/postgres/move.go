package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
	"hark/memory/sqlstore"
)

// guildOf is the guild of a row that comes from a table without one, by what the row has. Other tables have the
// channel's id.
var guildOf = map[string]string{
	"message":          "(SELECT g.id FROM guild g WHERE g.no = r.channel >> 20)",
	"presence":         "(SELECT g.id FROM guild g WHERE g.no = r.channel >> 20)",
	"segment":          "(SELECT g.id FROM guild g WHERE g.no = r.channel >> 20)",
	"pending_deletion": "(SELECT m.guild FROM message m WHERE m.row = r.row)",
	"source":           "(SELECT d.guild FROM derived d WHERE d.no = r.derived)",
	"named":            "(SELECT d.guild FROM derived d WHERE d.no = r.derived)",
}

// guildOfChannel is that of a channel that is known, or was forgotten.
const guildOfChannel = `coalesce((SELECT c.guild FROM channel c WHERE c.id = r.channel),
	(SELECT max(f.guild) FROM forgetting f WHERE f.channel = r.channel), 0)`

// Insert implements sqlstore.Tx, with one array for each column.
func (t *tx) Insert(table string, columns []string, rows [][]any) error {
	types, counter := map[string]string{}, ""
	if err := sqlstore.Each(t.ctx, t.tx, func(scan sqlstore.Scanner) error {
		var name, kind string
		var counts bool
		err := scan(&name, &kind, &counts)
		if types[name] = kind; counts {
			counter = name
		}
		return err
	}, `SELECT attname, format_type(atttypid, NULL), attidentity <> '' FROM pg_attribute
		WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped`, table); err != nil {
		return err
	}
	names, arrays, args := make([]string, len(columns)), make([]string, len(columns)), make([]any, len(columns))
	for i, name := range columns {
		names[i], arrays[i] = `"`+name+`"`, fmt.Sprintf("$%d::%s[]", i+1, types[name])
		switch types[name] {
		case "text":
			args[i] = columnOf[string](rows, i)
		case "bigint":
			args[i] = columnOf[int64](rows, i)
		default:
			return fmt.Errorf("the table %s has no column %s that can be filled", table, name)
		}
	}
	guild, into := "", strings.Join(names, ", ")
	if distributed[table] && !slices.Contains(columns, "guild") {
		guild, into = ", "+cmp.Or(guildOf[table], guildOfChannel), into+", guild"
		if t.guild != memory.Everywhere {
			guild = fmt.Sprint(", ", int64(t.guild))
		}
	}
	if err := t.exec("INSERT INTO "+table+" ("+into+") SELECT r.*"+guild+" FROM unnest("+strings.Join(arrays, ", ")+
		") r ("+strings.Join(names, ", ")+")", args...); err != nil || counter == "" {
		return err
	}
	return t.exec(fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%s', '%s'), max(%[2]s)) FROM %[1]s`, table, counter))
}

// columnOf returns a column of rows. NULLs are nil.
func columnOf[T any](rows [][]any, column int) []*T {
	values := make([]*T, len(rows))
	for i, row := range rows {
		if v, is := row[column].(T); is {
			values[i] = &v
		}
	}
	return values
}
