package sqlite

import (
	"context"
	"os"
	"path/filepath"

	"hark/memory"
	"hark/memory/sqlstore"
)

// loadSpace reads which space is in use, and throws away the vectors that are loaded.
func (e *engine) loadSpace(ctx context.Context) error {
	use, _, err := sqlstore.Spaces(ctx, e.read)
	e.vectors.reset(use)
	return err
}

// StoredSpaces are where the vectors of the store in dir lie that are in use, and where those do that are filled in
// beside them; the zero Space if there are none, or no store that tells.
func StoredSpaces(ctx context.Context, dir string) (use, next memory.Space) {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); err != nil {
		return use, next
	}
	db, err := openReading(path)
	if err != nil {
		return use, next
	}
	defer db.Close()
	use, next, _ = sqlstore.Spaces(ctx, db)
	return use, next
}
