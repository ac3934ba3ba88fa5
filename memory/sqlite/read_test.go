package sqlite

import (
	"fmt"
	"sync"
	"testing"

	"hark/memory/sqlstore"
)

// Concurrent snapshots on all connections don't wait for each other's.
func TestSnapshotsTakeOneConnectionEach(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	const all = 4
	var begun, done sync.WaitGroup
	begun.Add(all)
	for i := range all {
		done.Go(func() {
			err := s.engine.Snapshot(t.Context(), func(q sqlstore.Querier) error {
				begun.Done()
				begun.Wait()
				rows, err := q.QueryContext(t.Context(), fmt.Sprintf("SELECT %d", i))
				if err != nil {
					return err
				}
				return rows.Close()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}
