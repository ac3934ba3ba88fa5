package sqlite

import (
	"errors"
	"fmt"
	"syscall"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const diskFull = "the disk is full: free some space; nothing that was stored is lost"

type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// explain adds advice to an error of SQLite's, unless it has some.
func explain(err error) error {
	if errors.As(err, &explained{}) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return explained{fmt.Errorf("%s: %w", diskFull, err)}
	}
	e, ok := errors.AsType[*sqlitedriver.Error](err)
	if !ok {
		return err
	}
	advice := ""
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		advice = diskFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		advice = "the file or its directory can't be written: check their owner and permissions"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		advice = "another process holds the database: stop it or wait"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		if isFullTextDamage(err) {
			return explained{fmt.Errorf("%w: \"hark reindex\" makes it again (SQLite: %w)", errFullText, err)}
		}
		advice = "the file is damaged or not a database of Hark's: " + Rescue
	default:
		return err
	}
	return explained{fmt.Errorf("%s: %w", advice, err)}
}

// errFullText reports that only full text is damaged.
var errFullText = errors.New("full text is damaged")

func isFullTextDamage(err error) bool {
	damage, ok := errors.AsType[*sqlitedriver.Error](err)
	return ok && damage.Code() == sqlite3.SQLITE_CORRUPT_VTAB
}

// Rescue tells the user what to do about a damaged database.
const Rescue = "restore a backup with \"hark restore FILE\", " +
	"or get out what can be read with SQLite's own program, as docs/recovery.md shows"

// errLogInUse reports that removed text is still in the write-ahead log.
var errLogInUse = errors.New("somebody has been reading the database for so long that removed text can't be " +
	"taken out of its write-ahead log: end what reads it and try again")
