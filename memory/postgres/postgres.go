// Package postgres is the engine of sqlstore for many machines: a PostgreSQL database, which several processes
// may use at once. Everything in memory is a cache of it. Only the table message holds what people wrote;
// full text holds hashes of it.
//
// One transaction writes at a time: it holds the only row of the table turn. Its counter tells each process whether
// others have written since it last looked. Nothing relies on the state of a session, so PgBouncer may pool
// transactions.
//
// Begin reading at Open; statement.go turns the store's SQL into PostgreSQL's, tx.go commits, fulltext.go
// searches, lease.go shares jobs, erase.go vacuums.
package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"hark/internal/lease"
	"hark/memory"
	"hark/memory/seal"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// Options configure a store.
type Options struct {
	// Space is the space of new vectors, as in sqlstore.Options.
	Space memory.Space
	// Tokens counts the tokens of a text, as in sqlstore.Options. If nil, Message.Tokens stays 0.
	Tokens func(string) int
	// Secret is the key of a sealed memory; nil: none. An empty memory is sealed with it.
	Secret *seal.Secret
	// Moving opens the store for sqlstore.Move.
	Moving sqlstore.Moving
	// Index configures the vectors in memory.
	Index vectors.Options

	// Of tests:
	tracer pgx.QueryTracer
}

// IsURL reports whether a store is named by the URL of a PostgreSQL database.
func IsURL(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// Open opens the store in a database, by its URL. It creates the schema in an empty one.
func Open(ctx context.Context, address string, o Options) (*sqlstore.Store, error) {
	if o.Tokens == nil {
		o.Tokens = func(string) int { return 0 }
	}
	e, err := connect(ctx, address, o.tracer)
	if err != nil {
		return nil, err
	}
	s := sqlstore.New(e, sqlstore.Options{
		Space:    o.Space,
		Tokens:   o.Tokens,
		Secret:   o.Secret,
		TextOnly: true,
		Moving:   o.Moving,
		Index:    o.Index,
	})
	if err := e.prepareDatabase(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", e.address(), explain(err)), e.Close())
	}
	err = sqlstore.Open(ctx, s)
	if err == nil && o.Moving == sqlstore.NotMoving {
		err = sqlstore.HideForgotten(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", e.address(), explain(err)), s.Close())
	}
	return s, nil
}

func connect(ctx context.Context, address string, tracer pgx.QueryTracer) (*engine, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	// Statements aren't prepared on the server: PgBouncer would lose them, and a prepared one is planned without
	// looking at its arguments after five runs, so partial indexes stay unused.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	if _, ok := config.ConnConfig.RuntimeParams["application_name"]; !ok {
		config.ConnConfig.RuntimeParams["application_name"] = "hark"
	}
	if !strings.Contains(address, "connect_timeout") {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.ConnConfig.DialFunc = dialer.DialContext
	config.PingTimeout = pingTimeout
	leases, err := newLeases(config.Copy())
	if err != nil {
		return nil, explain(err)
	}
	config.ConnConfig.Tracer = tracer
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		leases.close()
		return nil, explain(err)
	}
	return &engine{
		pool:   pool,
		db:     stdlib.OpenDBFromPool(pool),
		name:   rand.Text(),
		lock:   make(chan struct{}, 1),
		leases: leases,
	}, nil
}

const (
	connectTimeout = 10 * time.Second
	pingTimeout    = 5 * time.Second // of an idle connection before its use
)

// dialer makes connections that end when the network swallows what is sent, so that no statement waits for ever.
var dialer = net.Dialer{
	KeepAliveConfig: net.KeepAliveConfig{
		Enable:   true,
		Idle:     10 * time.Second,
		Interval: 5 * time.Second,
		Count:    3,
	},
	Control: limitUnacknowledged,
}

// parse reads a database's URL. Its errors show nothing of the password, which pgx's may.
func parse(address string) (*pgxpool.Config, error) {
	const write = "write postgres://USER:PASSWORD@HOST:5432/DATABASE, with %40 for an @ in the password, and so on"
	if _, err := url.Parse(address); err != nil {
		return nil, fmt.Errorf("the database's address can't be read: %s", write)
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		if why := errors.Unwrap(err); why != nil { // err begins with the address
			err = why
		}
		return nil, fmt.Errorf("the database's address can't be used (%w): %s", err, write)
	}
	return config, nil
}

// Address names the database of a URL, without user and password.
func Address(address string) string {
	config, err := parse(address)
	if err != nil {
		return "a database"
	}
	return addressOf(config)
}

func addressOf(config *pgxpool.Config) string {
	c := config.ConnConfig
	return fmt.Sprintf("the database %q on %s", c.Database, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
}

// address returns the host and the database, for errors.
func (e *engine) address() string { return addressOf(e.pool.Config()) }

// WriteLock implements sqlstore.Engine.
func (e *engine) WriteLock() chan struct{} { return e.lock }

// ReleaseWriteLock implements sqlstore.Engine.
func (e *engine) ReleaseWriteLock(bool) { <-e.lock }

// QueryContext implements sqlstore.Engine.
func (e *engine) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return querier{e, retrying{e.db}}.QueryContext(ctx, query, args...)
}

// retrying runs statements outside of transactions.
type retrying struct{ db *sql.DB }

func (r retrying) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return retried(ctx, func() (*sql.Rows, error) { return r.db.QueryContext(ctx, query, args...) })
}

// Snapshot implements sqlstore.Engine.
func (e *engine) Snapshot(ctx context.Context, read func(sqlstore.Querier) error) error {
	tx, err := retried(ctx, func() (*sql.Tx, error) {
		return e.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return read(querier{e, tx})
}

// querier runs the store's statements, outside or in a transaction.
type querier struct {
	engine *engine
	db     interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (q querier) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	query, args = q.engine.statements.translated(query, args)
	return q.db.QueryContext(ctx, query, args...)
}

// Close implements sqlstore.Engine: it waits for the current write.
func (e *engine) Close() error {
	e.lock <- struct{}{}
	defer func() { <-e.lock }()
	if e.closed {
		return nil
	}
	e.closed = true
	e.leases.close()
	err := e.db.Close()
	e.pool.Close()
	return err
}

// Watch implements sqlstore.Engine.
func (e *engine) Watch(changed func(ctx context.Context, q sqlstore.Querier, guilds []memory.GuildID,
	writing bool) error) {
	e.watch.changed = changed
}

// Notice implements sqlstore.Engine. It takes one round trip.
func (e *engine) Notice(ctx context.Context) error {
	w := &e.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	var last string
	version, err := retried(ctx, func() (version int64, err error) {
		err = e.pool.QueryRow(ctx, "SELECT version, writer FROM turn").Scan(&version, &last)
		return version, err
	})
	if err != nil {
		return fmt.Errorf("look for the writes of others: %w", explain(err))
	}
	if version == w.seen {
		return nil
	}
	// If this process wrote last, it noticed the others then.
	if last != e.name {
		if err := e.Snapshot(ctx, func(q sqlstore.Querier) error {
			guilds, err := changedSince(ctx, q, w.seen)
			if err != nil {
				return err
			}
			return w.changed(ctx, q, guilds, false)
		}); err != nil {
			return fmt.Errorf("read what others wrote: %w", explain(err))
		}
	}
	w.seen = version
	return nil
}

// changedSince returns the guilds whose cached state changed after a version of turn; 0: perhaps all.
func changedSince(ctx context.Context, q sqlstore.Querier, version int64) (guilds []memory.GuildID, err error) {
	if version == 0 {
		return []memory.GuildID{memory.Everywhere}, nil
	}
	err = sqlstore.Each(ctx, q, func(scan sqlstore.Scanner) error {
		var guild memory.GuildID
		err := scan(&guild)
		guilds = append(guilds, guild)
		return err
	}, "SELECT guild FROM changed WHERE version > ?", version)
	return guilds, err
}

// Latest implements sqlstore.Engine.
func (e *engine) Latest(ctx context.Context, read func(sqlstore.Querier) error) error {
	e.watch.mu.Lock()
	defer e.watch.mu.Unlock()
	return e.Snapshot(ctx, read)
}

// Leases implements sqlstore.Engine.
func (e *engine) Leases() lease.Table { return e.leases }

// Explain implements sqlstore.Engine.
func (e *engine) Explain(err error) error { return explain(err) }
