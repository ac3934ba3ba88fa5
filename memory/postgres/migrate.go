package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrations bring an empty database to the current schema. Never change a released one; add a new one.
//
//go:embed migrations/*.sql
var migrations embed.FS

// knownVersion returns the newest version of the schema.
func knownVersion() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		return 0, err
	}
	return goose.NumericComponent(files[len(files)-1])
}

// prepareDatabase checks the server and migrates the database. One process migrates at a time.
func (e *engine) prepareDatabase(ctx context.Context) error {
	server, err := e.inspectServer(ctx)
	if err == nil {
		err = server.Unfit()
	}
	if err != nil {
		return err
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
