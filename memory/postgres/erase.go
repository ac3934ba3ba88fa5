package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hark/memory/sqlstore"
)

// A deleted or updated row stays in its page and in indexes until VACUUM. The table erasable names the tables with such
// rows, and the last transaction that left some. VACUUM makes no bytes zero: what it removes is in no row and no index
// any more, but its bytes may be in the free part of a page until something is stored there.

const (
	// eraseEvery is the least time between two runs that nobody waits for.
	eraseEvery = time.Minute
	// restAfterErasing is the pause after a run, as a multiple of its duration, unless somebody waits: VACUUM reads all
	// indexes of a table.
	restAfterErasing = 20
	// eraseWait is how long Erase waits for transactions that still see deleted rows.
	eraseWait = 10 * time.Second
)

// tableChanged returns the table in which a statement leaves old rows; "" if in none.
func tableChanged(statement string) string {
	words := strings.Fields(statement)
	switch {
	case len(words) > 1 && words[0] == "UPDATE":
		return words[1]
	case len(words) > 2 && (words[0] == "DELETE" || words[0] == "INSERT" && strings.Contains(statement, "DO UPDATE")):
		return words[2]
	}
	return ""
}

// errStillRead reports that VACUUM must leave deleted rows in place.
var errStillRead = errors.New("a transaction has been reading the database for so long that deleted text can't be " +
	"taken out of it yet: end it (see pg_stat_activity, replication slots and prepared transactions) and try again")

type erasable struct {
	table string
	by    string // the last transaction that deleted something
}

// Erase implements sqlstore.Engine: it vacuums the tables in which text was deleted.
func (e *engine) Erase(ctx context.Context, wait bool) error {
	e.eraser.mu.Lock()
	defer e.eraser.mu.Unlock()
	if !wait && time.Now().Before(e.eraser.after) {
		return nil
	}
	begun := time.Now()
	err := e.erase(ctx, wait)
	e.eraser.after = time.Now().Add(max(eraseEvery, restAfterErasing*time.Since(begun)))
	if errors.Is(err, errStillRead) && !wait {
		return nil
	}
	if err != nil {
		return fmt.Errorf("erase deleted text: %w", explain(err))
	}
	return nil
}

func (e *engine) erase(ctx context.Context, wait bool) error {
	rows, err := e.pool.Query(ctx, "SELECT name, by::text FROM erasable ORDER BY name")
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (one erasable, err error) {
		return one, row.Scan(&one.table, &one.by)
	})
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := e.waitUntilUnseen(ctx, one.by, wait); err != nil {
			return err
		}
		// Freezing waits for pages that somebody is reading, which VACUUM would pass over otherwise. Indexes with few
		// deleted rows are cleaned too: they hold hashes and names.
		if _, err := e.pool.Exec(ctx, "VACUUM (FREEZE, INDEX_CLEANUP ON) "+one.table); err != nil {
			return err
		}
		// Somebody may have deleted more meanwhile.
		if _, err := e.pool.Exec(ctx, "DELETE FROM erasable WHERE name = $1 AND by = $2::text::xid8", one.table,
			one.by); err != nil {
			return err
		}
	}
	return nil
}

// waitUntilUnseen waits until no transaction sees what transaction by deleted.
func (e *engine) waitUntilUnseen(ctx context.Context, by string, wait bool) error {
	for end := time.Now().Add(eraseWait); ; {
		var unseen bool
		// The horizon of VACUUM: running transactions of this database but other VACUUMs, replication slots, standbys
		// that feed back.
		if err := e.pool.QueryRow(ctx, `SELECT coalesce(max(age(horizon)), 0)
				< age(($1::text::numeric % 4294967296)::text::xid)
			FROM (SELECT unnest(ARRAY[backend_xmin, backend_xid]) AS horizon FROM pg_stat_activity
					WHERE pid <> pg_backend_pid() AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
					AND coalesce(datname, current_database()) = current_database()
				UNION ALL SELECT xmin FROM pg_replication_slots
				UNION ALL SELECT transaction FROM pg_prepared_xacts) seen WHERE horizon IS NOT NULL`, by).
			Scan(&unseen); err != nil {
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

// Rewrite implements sqlstore.Engine: VACUUM leaves bytes in the free parts of pages.
func (e *engine) Rewrite(ctx context.Context, tables []string) error {
	if err := e.Erase(ctx, true); err != nil {
		return err
	}
	for _, table := range tables {
		if err := e.rewrite(ctx, cmp.Or(synonyms[table], table)); err != nil {
			return err
		}
	}
	return nil
}

// rewrite makes a table anew. Its deleted rows must be vacuumed before: VACUUM FULL copies those that are newer than
// the oldest transaction of any database.
func (e *engine) rewrite(ctx context.Context, table string) error {
	if _, err := e.pool.Exec(ctx, "VACUUM (FULL) "+table); err != nil {
		return fmt.Errorf("make the table %s anew: %w", table, explain(err))
	}
	return nil
}

var _ sqlstore.Engine = (*engine)(nil)
