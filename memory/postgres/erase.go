package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hark/memory/sqlstore"
)

// erasableKey is in meta while deleted rows may still be in pages. Its value is the last transaction that deleted some.
const erasableKey = "erasable"

// noteErasable records that this transaction deleted text.
func (t *tx) noteErasable() error {
	if !t.erases {
		return nil
	}
	return t.exec(`INSERT INTO meta (key, value) VALUES ($1, pg_current_xact_id()::text)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`, erasableKey)
}

// erasableTables have rows with words, hashes or vectors. VACUUM takes deleted ones out of their pages and indexes.
var erasableTables = []string{"message", "fulltext", "early_edit", "called", "embedding", "embedding_next", "person", "channel",
	"guild", "fact", "lore", "summary", "condensed", "trace", "prompt", "record", "setting", "meta"}

const (
	// eraseEvery is the least time between two runs that nobody waits for.
	eraseEvery = time.Minute
	// eraseWait is how long Erase waits for transactions that still see deleted rows.
	eraseWait = 10 * time.Second
)

// errStillRead reports that VACUUM must leave deleted rows in place.
var errStillRead = errors.New("a transaction has been reading the database for so long that deleted text can't be taken out of it yet: " +
	"end it (see pg_stat_activity, replication slots and prepared transactions) and try again")

// Erase implements sqlstore.Engine: it vacuums the tables from which text was deleted.
func (e *engine) Erase(ctx context.Context, wait bool) error {
	if !wait && time.Now().Before(e.eraseAfter) {
		return nil
	}
	e.eraseAfter = time.Now().Add(eraseEvery)
	var by string
	switch err := e.pool.QueryRow(ctx, "SELECT value FROM meta WHERE key = $1", erasableKey).Scan(&by); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("erase deleted text: %w", explain(err))
	}
	err := e.waitUntilUnseen(ctx, by, wait)
	if err == nil {
		err = e.vacuum(ctx)
	}
	if err == nil {
		// Somebody may have deleted more meanwhile.
		_, err = e.pool.Exec(ctx, "DELETE FROM meta WHERE key = $1 AND value = $2", erasableKey, by)
	}
	if errors.Is(err, errStillRead) && !wait {
		return nil
	}
	if err != nil {
		return fmt.Errorf("erase deleted text: %w", explain(err))
	}
	return nil
}

// waitUntilUnseen waits until no transaction sees what transaction by deleted.
func (e *engine) waitUntilUnseen(ctx context.Context, by string, wait bool) error {
	for end := time.Now().Add(eraseWait); ; {
		var unseen bool
		// The horizon of VACUUM: running transactions of this database, replication slots, standbys that feed back.
		if err := e.pool.QueryRow(ctx, `SELECT coalesce(max(age(horizon)), 0) <= age(($1::text::numeric % 4294967296)::text::xid)
			FROM (SELECT backend_xmin AS horizon FROM pg_stat_activity WHERE backend_xmin IS NOT NULL
					AND pid <> pg_backend_pid()
				UNION ALL SELECT xmin FROM pg_replication_slots WHERE xmin IS NOT NULL
				UNION ALL SELECT transaction FROM pg_prepared_xacts) seen`, by).Scan(&unseen); err != nil {
			return err
		}
		if unseen {
			return nil
		}
		if !wait || time.Now().After(end) {
			return errStillRead
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// vacuum also cleans indexes with few deleted rows, which hold hashes and names.
func (e *engine) vacuum(ctx context.Context) error {
	for _, table := range erasableTables {
		if _, err := e.pool.Exec(ctx, "VACUUM (INDEX_CLEANUP ON) "+table); err != nil {
			return err
		}
	}
	return nil
}

var _ sqlstore.Engine = (*engine)(nil)
