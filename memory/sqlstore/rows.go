package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"hark/memory"
)

// Scanner copies a row's columns, like sql.Rows.Scan.
type Scanner = func(dest ...any) error

func Each(ctx context.Context, q Querier, f func(scan Scanner) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list returns a query's rows, each decoded by read.
func list[T any](ctx context.Context, q Querier, read func(scan Scanner, to *T) error, query string,
	args ...any) ([]T, error) {
	var all []T
	err := Each(ctx, q, func(scan Scanner) error {
		all = append(all, *new(T))
		return read(scan, &all[len(all)-1])
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

func column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return list(ctx, q, func(scan Scanner, to *T) error { return scan(to) }, query, args...)
}

// mapOf maps a query's first column to its second.
func mapOf[K comparable, V any](ctx context.Context, q Querier, query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	err := Each(ctx, q, func(scan Scanner) error {
		var key K
		var value V
		err := scan(&key, &value)
		all[key] = value
		return err
	}, query, args...)
	return all, err
}

func rowError[I ~int64](err error, kind string, id I) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %d: %w", kind, id, err)
}

// asJSON scans a JSON column. NULL and no text change nothing.
type asJSON struct{ to any }

func (a asJSON) Scan(from any) error {
	switch from := from.(type) {
	case string:
		return a.Scan([]byte(from))
	case []byte:
		if len(from) > 0 {
			return json.Unmarshal(from, a.to)
		}
		return nil
	case nil:
		return nil
	}
	return fmt.Errorf("%T where JSON should be", from)
}

// jsonText returns v as JSON.
func jsonText(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// asTime scans a column of milliseconds.
type asTime struct{ *time.Time }

func (a asTime) Scan(from any) error {
	switch from := from.(type) {
	case int64:
		*a.Time = fromMillis(from)
	case nil:
		*a.Time = time.Time{}
	default:
		return fmt.Errorf("%T where a time should be", from)
	}
	return nil
}

// asInt scans an integer. database/sql converts types other than int64 through text.
type asInt[T ~int | ~int64 | ~uint8] struct{ to *T }

func (a asInt[T]) Scan(from any) error {
	n, ok := from.(int64)
	if !ok {
		return fmt.Errorf("%T where an integer should be", from)
	}
	*a.to = T(n)
	return nil
}

// behind scans the columns that follow some others.
func behind(scan Scanner, others ...any) Scanner {
	return func(dest ...any) error { return scan(append(others, dest...)...) }
}

// Found turns Scan's error into a boolean: false if there was no row.
func Found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Row is the first row of a result, or the error.
type Row struct {
	rows *sql.Rows
	err  error
}

// RowOf returns the first row of a query.
func RowOf(ctx context.Context, q Querier, query string, args ...any) Row {
	rows, err := q.QueryContext(ctx, query, args...)
	return Row{rows, err}
}

func (r Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), sql.ErrNoRows)
	}
	return cmp.Or(r.rows.Scan(dest...), r.rows.Close())
}

// Triples are the rows of a list of lists of up to three numbers.
const Triples = "(SELECT key AS n, value ->> 0 AS a, value ->> 1 AS b, value ->> 2 AS c FROM json_each(?1))"

// triples has the list read once; otherwise SQLite would read it again wherever a number of it is used.
const triples = "WITH j AS MATERIALIZED (SELECT n, a, b, c FROM " + Triples + " t) "

func jsonOf[T ~int64](ids []T) string {
	b := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(append(b, ']'))
}

// millis returns t in milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// FirstAt returns the smallest message id at or after t, rounded up to milliseconds, the unit of ids.
func FirstAt(t time.Time) memory.MessageID {
	return memory.FirstMessageID(t.Add(time.Millisecond - 1).Truncate(time.Millisecond))
}
