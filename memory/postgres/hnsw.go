package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hark/memory"
	"hark/memory/sqlstore"
)

// A guild with many segments has an HNSW index of its own (https://github.com/pgvector/pgvector#hnsw). One index for
// all guilds would return too few rows behind the filter of channels. Erase builds the indexes, since the janitor
// calls it.

const (
	// exactSegments is how many segments a guild may have without an index.
	exactSegments = 50_000
	// indexEvery is the time between looks for guilds that need an index, and for indexes that others built.
	indexEvery = time.Minute
	// indexDimensions is the most that an index of half precision takes.
	indexDimensions = 4000

	indexPrefix = "embedding_hnsw_"
)

// vectorIndexes are the guilds whose vectors have an index.
type vectorIndexes struct {
	most int // segments of a guild without an index; 0: no index is ever used, since pgvector is too old

	building sync.Mutex
	built    time.Time // when buildIndexes last looked

	mu     sync.Mutex
	looked time.Time
	guilds map[memory.GuildID]bool
}

// ofIndex is what indexes order by. They need the dimensions.
func ofIndex(dimensions int) string { return fmt.Sprintf(`("values"::halfvec(%d))`, dimensions) }

// indexed returns the guilds with an index that can be used.
func (e *engine) indexed(ctx context.Context) (map[memory.GuildID]bool, error) {
	x := &e.indexes
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.most == 0 || time.Since(x.looked) < indexEvery {
		return x.guilds, nil
	}
	rows, err := e.pool.Query(ctx, `SELECT replace(c.relname, $1, '')::bigint
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = 'embedding'::regclass AND i.indisvalid AND c.relname ~ ('^' || $1 || '[0-9]+$')`, indexPrefix)
	if err != nil {
		return nil, err
	}
	guilds, err := pgx.CollectRows(rows, pgx.RowTo[memory.GuildID])
	if err != nil {
		return nil, err
	}
	x.guilds, x.looked = map[memory.GuildID]bool{}, time.Now()
	for _, guild := range guilds {
		x.guilds[guild] = true
	}
	return x.guilds, nil
}

// buildIndexes builds the index of each guild that has become large.
func (e *engine) buildIndexes(ctx context.Context) error {
	x := &e.indexes
	x.building.Lock()
	defer x.building.Unlock()
	if x.most == 0 || e.vault != nil || time.Since(x.built) < indexEvery {
		return nil
	}
	x.built = time.Now()
	use, _, err := sqlstore.Spaces(ctx, e)
	if err != nil || use.Dimensions == 0 || use.Dimensions > indexDimensions {
		return err
	}
	there, err := e.indexed(ctx)
	if err != nil {
		return err
	}
	rows, err := e.pool.Query(ctx, "SELECT guild FROM embedding WHERE guild > 0 GROUP BY 1 HAVING count(*) > $1", x.most)
	if err != nil {
		return err
	}
	large, err := pgx.CollectRows(rows, pgx.RowTo[memory.GuildID])
	if err != nil {
		return err
	}
	for _, guild := range large {
		if there[guild] {
			continue
		}
		name := fmt.Sprint(indexPrefix, guild)
		for _, statement := range []string{
			"DROP INDEX CONCURRENTLY IF EXISTS " + name, // what an interruption left
			"CREATE INDEX CONCURRENTLY " + name + " ON embedding USING hnsw (" + ofIndex(use.Dimensions) +
				" halfvec_cosine_ops) WHERE guild = " + fmt.Sprint(guild),
			"ALTER INDEX " + name + " ALTER 1 SET STATISTICS 0", // as those of the tables
		} {
			if _, err := e.pool.Exec(ctx, statement); err != nil {
				return fmt.Errorf("index the vectors of a large server: %w", explain(err))
			}
		}
	}
	return nil
}

// nearestByIndex returns about the nearest segments of a guild, as w selects them. It may miss some.
func (e *engine) nearestByIndex(ctx context.Context, guild memory.GuildID, q sqlstore.VectorQuery, w *where,
	limit int) (found []sqlstore.Near, err error) {
	w.args = append(w.args, vectorText(q.Vector), limit)
	n := len(w.args)
	distance := fmt.Sprintf("%s <=> $%d::text::halfvec(%d)", ofIndex(q.Space.Dimensions), n-1, q.Space.Dimensions)
	err = pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// It goes on until it has found enough in the channels. The order may be slightly wrong, so it is made here.
		if _, err := tx.Exec(ctx, "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), "+
			"set_config('hnsw.ef_search', '100', true)"); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, fmt.Sprintf(`SELECT segment, 1 - (%s) FROM embedding WHERE guild = %d AND %s
			ORDER BY %[1]s LIMIT $%[4]d`, distance, guild, w.text.String(), n), w.args...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (near sqlstore.Near, err error) {
			return near, row.Scan(&near.Segment, &near.Similarity)
		})
		return err
	})
	slices.SortFunc(found, func(a, b sqlstore.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Segment, b.Segment))
	})
	return found, err
}
