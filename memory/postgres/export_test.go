package postgres

import "github.com/jackc/pgx/v5"

// Traced returns o with a tracer of every statement that the server is sent.
func (o Options) Traced(by pgx.QueryTracer) Options {
	o.tracer = by
	return o
}

// IsDistributed reports whether a table is keyed by guild.
func IsDistributed(table string) bool { return distributed[table] }
