package sqlite

import (
	"context"
	"os"
	"path/filepath"

	"hark/memory"
	"hark/memory/sqlstore"
)

// StoredSpaces returns the active space of the store in dir and the one being filled; zero if there is none or
// it is unreadable.
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
