package sqlite

import (
	"context"
	"os"
	"path/filepath"

	"hark/memory"
	"hark/memory/sqlstore"
)

// loadSpace reads the active space and drops indexes of vectors that other processes have changed.
func (e *engine) loadSpace(ctx context.Context) error {
	v := &e.vectors
	use, _, err := sqlstore.Spaces(ctx, e.read)
	if err != nil || use != v.currentSpace() {
		v.reset(use)
		return err
	}
	begun := v.all()
	if len(begun) == 0 {
		return nil
	}
	guilds := make([]int64, 0, len(begun))
	for _, x := range begun {
		guilds = append(guilds, x.guild)
	}
	versions := map[int64]int64{}
	err = sqlstore.Each(ctx, e.read, func(scan sqlstore.Scanner) error {
		var guild, version int64
		err := scan(&guild, &version)
		versions[guild] = version
		return err
	}, "SELECT guild, version FROM vector_version WHERE guild IN (SELECT value FROM json_each(?))", jsonList(guilds))
	if err != nil {
		v.reset(use)
		return err
	}
	for _, x := range begun {
		if !x.upToDate(versions[x.guild]) {
			v.drop(x)
		}
	}
	return nil
}

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
