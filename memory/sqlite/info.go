package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Info is the state of a database, read without opening it as a store.
type Info struct {
	Exists  bool
	Bytes   int64 // of the file and its write-ahead log
	SQLite  string
	Version int // of the schema
	Known   int // newest version that this Hark supports

	// The rest is set if Version is Known.
	Guilds, Channels, Messages int
	Waiting                    int          // segments without a vector
	Unfinished                 int          // incomplete forgettings
	Use, Next                  memory.Space // as in StoredSpaces
	Sealing                    sqlstore.Sealing
}

// Inspect returns the state of the database in dir while others use it, and changes nothing. It fails if the
// file is unreadable or has a newer version.
func Inspect(ctx context.Context, dir string) (Info, error) {
	s := Info{Known: len(migrations)}
	path := filepath.Join(dir, FileName)
	var err error
	s.Exists, s.Bytes, err = sizeOf(path)
	if err != nil {
		return s, fmt.Errorf("look at the database: %w", err)
	}
	source := path
	if !s.Exists {
		source = ":memory:" // for the SQLite version alone
	}
	db, err := openReading(source)
	if err != nil {
		return s, err
	}
	defer db.Close()
	if err := s.look(ctx, db); err != nil {
		return s, fmt.Errorf("look at the database: %w", explain(err))
	}
	return s, nil
}

func (s *Info) look(ctx context.Context, db *sql.DB) error {
	err := db.QueryRowContext(ctx,
		"SELECT sqlite_version(), user_version FROM pragma_user_version").Scan(&s.SQLite, &s.Version)
	switch {
	case err != nil:
		return err
	case s.Version > s.Known:
		return newerVersion(s.Version)
	case s.Version < s.Known:
		return nil
	}
	if err := db.QueryRowContext(ctx,
		`SELECT (SELECT count(*) FROM guild), (SELECT count(*) FROM channel WHERE kind <> ?),
		(SELECT count(*) FROM message),
		(SELECT count(*) FROM segment WHERE pending = 1 OR next = 1),
		(SELECT count(*) FROM forgetting WHERE done = 0)`, memory.CategoryChannel).
		Scan(&s.Guilds, &s.Channels, &s.Messages, &s.Waiting, &s.Unfinished); err != nil {
		return err
	}
	s.Use, s.Next, err = sqlstore.Spaces(ctx, db)
	if err == nil {
		s.Sealing, err = sqlstore.ReadSealing(ctx, db)
	}
	return err
}

// sizeOf returns the bytes of the database at path and of its write-ahead log.
func sizeOf(path string) (exists bool, bytes int64, err error) {
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(path + end); err == nil {
			exists = true
			bytes += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return exists, bytes, err
		}
	}
	return exists, bytes, nil
}

// Size implements sqlstore.Engine.
func (e *engine) Size(context.Context) (int64, error) {
	_, bytes, err := sizeOf(filepath.Join(e.dir, FileName))
	return bytes, err
}
