package postgres

import (
	"context"
	"fmt"
	"strings"

	"hark/memory"
	"hark/memory/sqlstore"
)

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
	if err := t.exec("INSERT INTO "+table+" ("+strings.Join(names, ", ")+") SELECT * FROM unnest("+
		strings.Join(arrays, ", ")+")", args...); err != nil || counter == "" {
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

// Vectors implements sqlstore.Engine.
func (e *engine) Vectors(ctx context.Context, _ memory.Space, shadow bool, after int64,
	limit int) (all []sqlstore.Vector, err error) {
	table := "embedding"
	if shadow {
		table = "embedding_next"
	}
	rows, err := e.pool.Query(ctx, "SELECT segment, channel, first, last, \"values\"::real[] FROM "+table+
		" WHERE segment > $1 ORDER BY segment LIMIT $2", after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v sqlstore.Vector
		if err := rows.Scan(&v.Segment, &v.Channel, &v.First, &v.Last, &v.Values); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
