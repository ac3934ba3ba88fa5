package postgres

import (
	"fmt"
	"strings"

	"hark/memory/sqlstore"
)

// Insert implements sqlstore.Tx, with one array for each column.
func (t *tx) Insert(table string, columns []string, rows [][]any) error {
	types := map[string]string{}
	counter := ""
	read := func(scan sqlstore.Scanner) error {
		var name, kind string
		var counts bool
		err := scan(&name, &kind, &counts)
		types[name] = kind
		if counts {
			counter = name
		}
		return err
	}
	err := sqlstore.Each(t.ctx, t.tx, read, `SELECT attname, format_type(atttypid, NULL), attidentity <> ''
		FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped`, table)
	if err != nil {
		return err
	}
	names := make([]string, len(columns))
	arrays := make([]string, len(columns))
	args := make([]any, len(columns))
	for i, name := range columns {
		names[i] = `"` + name + `"`
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, types[name])
		switch types[name] {
		case "text":
			args[i] = columnOf[string](rows, i)
		case "bigint":
			args[i] = columnOf[int64](rows, i)
		default:
			return fmt.Errorf("the table %s has no column %s that can be filled", table, name)
		}
	}
	err = t.exec("INSERT INTO "+table+" ("+strings.Join(names, ", ")+") SELECT * FROM unnest("+
		strings.Join(arrays, ", ")+")", args...)
	if err != nil || counter == "" {
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
