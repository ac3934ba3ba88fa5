package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrations bring an empty database to the current schema. Never change a released one; add a new one.
//
//go:embed migrations/*.sql
var migrations embed.FS

// oldest is the oldest PostgreSQL that Hark works with, as its server_version_num.
const oldest = 150000

// prepareDatabase checks the server and migrates the database. One process migrates at a time.
func (e *engine) prepareDatabase(ctx context.Context) error {
	var number int
	var version string
	var standby bool
	if err := e.pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		pg_is_in_recovery()`).Scan(&number, &version, &standby); err != nil {
		return err
	}
	switch {
	case number < oldest:
		return fmt.Errorf("its PostgreSQL is %s; Hark needs 15 or newer", version)
	case standby:
		return errors.New("it is a read-only standby: give the address of the primary")
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	locker, err := lock.NewPostgresTableLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, e.db, files, goose.WithLocker(locker),
		goose.WithDisableVersioning(false))
	if err != nil {
		return err
	}
	now, known, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if now > known {
		return fmt.Errorf("its schema is of version %d, made by a newer Hark than this one, which knows %d: use the newer Hark",
			now, known)
	}
	if now < known {
		_, err = provider.Up(ctx)
	}
	return err
}
