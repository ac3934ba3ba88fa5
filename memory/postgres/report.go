package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hark/memory"
)

// Report is the state of a server and its database, for an operator.
type Report struct {
	Server
	Address       string
	Ahead         time.Duration // of the server's clock before this machine's, at least; negative if behind
	Exists        bool          // it has Hark's schema
	SchemaVersion int64         // 0 if there is none
	Known         int64         // newest version that this Hark supports

	// Fsync and Commit are the server's settings fsync and synchronous_commit, as Hark's connections have them.
	Fsync  bool
	Commit string

	Connections, MostConnections int
	Standbys                     []Standby
	Readers                      []Reader
	Leases                       []Lease

	// The rest is set if SchemaVersion is Known.
	Guilds, Channels, Messages int
	Waiting                    int // segments without a vector
	Unfinished                 int // incomplete forgettings
	Bytes                      int64
}

// Standby is a standby that is connected to the server.
type Standby struct {
	Name  string
	Bytes int64 // of WAL that it hasn't replayed
	Lag   time.Duration
	Sync  bool // a commit waits for it
}

// Reader keeps deleted rows in their pages, since it may still see them.
type Reader struct {
	What string
	Age  time.Duration // 0 if unknown
}

// longReader is how long a transaction may run before it is worth telling.
const longReader = time.Minute

// oldReader is how many transactions ago a standby's may have begun before it is worth telling.
const oldReader = 10_000

// Lease is a job, and who does it.
type Lease struct {
	Job   string
	Owner string        // "" if nobody
	Left  time.Duration // until it expires; negative if it has
}

// Examine looks at a server and its database, and changes nothing. It returns what it could see besides an error.
func Examine(ctx context.Context, address string) (Report, error) {
	e, err := connect(ctx, address, nil)
	if err != nil {
		return Report{}, err
	}
	r := Report{Address: e.address()}
	err = e.examine(ctx, &r)
	if err != nil {
		err = fmt.Errorf("look at %s: %w", e.address(), explain(err))
	}
	return r, errors.Join(err, e.Close())
}

func (e *engine) examine(ctx context.Context, r *Report) (err error) {
	r.Server, err = e.inspectServer(ctx)
	if err != nil || r.Number < oldest {
		return err
	}
	sent := time.Now()
	var clock time.Time
	if err := e.pool.QueryRow(ctx, `SELECT clock_timestamp(), current_setting('fsync')::boolean,
			current_setting('synchronous_commit')`).Scan(&clock, &r.Fsync, &r.Commit); err != nil {
		return err
	}
	switch received := time.Now(); {
	case clock.Before(sent):
		r.Ahead = clock.Sub(sent)
	case clock.After(received):
		r.Ahead = clock.Sub(received)
	}
	if err := e.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			least(current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
				nullif((SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user), -1),
				nullif((SELECT datconnlimit FROM pg_database WHERE datname = current_database()), -1))`).
		Scan(&r.Connections, &r.MostConnections); err != nil {
		return err
	}
	r.Standbys, err = collect[Standby](ctx, e, `SELECT coalesce(nullif(application_name, ''), client_addr::text, ''),
			coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END,
				replay_lsn), 0)::bigint, coalesce(replay_lag, '0'), coalesce(sync_state IN ('sync', 'quorum'), false)
			FROM pg_stat_replication ORDER BY 1`)
	if err != nil {
		return err
	}
	r.Readers, err = collect[Reader](ctx, e, `
			SELECT 'a transaction of process ' || pid || ' (' || application_name || ')',
				clock_timestamp() - xact_start FROM pg_stat_activity WHERE datname = current_database()
				AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND clock_timestamp() - xact_start > $1
			UNION ALL SELECT 'the replication slot ' || slot_name, interval '0' FROM pg_replication_slots WHERE xmin IS NOT NULL
				AND (NOT active OR age(xmin) > $2)
			UNION ALL SELECT 'the standby ' || application_name, interval '0' FROM pg_stat_replication WHERE age(backend_xmin) > $2
			UNION ALL SELECT 'the prepared transaction ' || gid, clock_timestamp() - prepared FROM pg_prepared_xacts
				WHERE database = current_database()`, longReader, oldReader)
	if err != nil {
		return err
	}
	return e.examineSchema(ctx, r)
}

func (e *engine) examineSchema(ctx context.Context, r *Report) (err error) {
	r.Known, err = knownVersion()
	if err != nil {
		return err
	}
	var leases bool
	if err := e.pool.QueryRow(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL, to_regclass('lease') IS NOT NULL").
		Scan(&r.Exists, &leases); err != nil || !r.Exists {
		return err
	}
	if err := e.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").
		Scan(&r.SchemaVersion); err != nil || r.SchemaVersion != r.Known {
		return err
	}
	if leases {
		r.Leases, err = collect[Lease](ctx, e, `SELECT job, coalesce(owner, ''),
			coalesce(p.expires - clock_timestamp(), '0')
			FROM lease LEFT JOIN process p ON p.name = owner ORDER BY job`)
		if err != nil {
			return err
		}
	}
	if err := e.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM guild), (SELECT count(*) FROM channel WHERE kind <> $1),
			(SELECT count(*) FROM message), (SELECT count(*) FROM segment WHERE pending = 1 OR next = 1),
			(SELECT count(*) FROM forgetting WHERE done = 0)`, memory.CategoryChannel).
		Scan(&r.Guilds, &r.Channels, &r.Messages, &r.Waiting, &r.Unfinished); err != nil {
		return err
	}
	r.Bytes, err = e.Size(ctx)
	return err
}

func collect[T any](ctx context.Context, e *engine, query string, args ...any) ([]T, error) {
	rows, err := e.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}
