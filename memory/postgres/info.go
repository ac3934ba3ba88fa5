package postgres

import (
	"context"
	"errors"
	"fmt"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Info is the state of a database, read without opening it as a store.
type Info struct {
	Exists    bool         // it has Hark's schema
	Use, Next memory.Space // as in sqlstore.Spaces
	Running   int          // processes that run the bot on it
	Sealing   sqlstore.Sealing
}

// Inspect returns the state of a database, and changes nothing.
func Inspect(ctx context.Context, address string) (Info, error) {
	e, err := connect(ctx, address, nil)
	if err != nil {
		return Info{}, err
	}
	i, err := e.inspect(ctx)
	if err != nil {
		err = fmt.Errorf("look at %s: %w", e.address(), explain(err))
	}
	return i, errors.Join(err, e.Close())
}

func (e *engine) inspect(ctx context.Context) (i Info, err error) {
	if err := e.pool.QueryRow(ctx, "SELECT to_regclass('meta') IS NOT NULL").Scan(&i.Exists); err != nil || !i.Exists {
		return i, err
	}
	i.Running, err = e.running(ctx)
	if err != nil {
		return i, err
	}
	i.Use, i.Next, err = sqlstore.Spaces(ctx, e)
	if err == nil {
		i.Sealing, err = sqlstore.ReadSealing(ctx, e)
	}
	return i, err
}

// running counts the living processes that run the bot.
func (e *engine) running(ctx context.Context) (n int, err error) {
	var known bool
	if err := e.pool.QueryRow(ctx, "SELECT to_regclass('process') IS NOT NULL").Scan(&known); err != nil || !known {
		return 0, err
	}
	err = e.pool.QueryRow(ctx, "SELECT count(*) FROM process WHERE expires > clock_timestamp()").Scan(&n)
	return n, err
}

// DropSessions takes away what shards' owners left for the next ones. So these begin new sessions, in which Discord
// tells all about its servers.
func DropSessions(ctx context.Context, address string) error {
	e, err := connect(ctx, address, nil)
	if err != nil {
		return err
	}
	_, err = e.pool.Exec(ctx, "UPDATE lease SET note = ''")
	return errors.Join(explain(err), e.Close())
}

// Size implements sqlstore.Engine.
func (e *engine) Size(ctx context.Context) (bytes int64, err error) {
	err = e.pool.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`).Scan(&bytes)
	return bytes, err
}

// Checked implements sqlstore.Engine: the server checks its database itself.
func (e *engine) Checked(context.Context) error { return nil }
