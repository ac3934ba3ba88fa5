package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hark/memory"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

type Restored struct {
	// Known says whether the replaced database told what was forgotten since the backup. Unknown is why not;
	// nil if there was no database.
	Known   bool
	Unknown error

	Key            string                  // the fingerprint of the key that the memory is sealed with now; "" if it isn't
	Forgettings    []memory.DeletionReport // carried out
	sqlstore.Taken                         // since the backup
}

// Keys are those of a backup and of the database that it replaces; nil: none. Those of what isn't sealed don't matter.
type Keys struct{ Backup, Replaced *seal.Secret }

// Restore replaces the database in dir by a copy of the backup at from. No other process may have it open
// (ErrInUse). It first applies to the copy all that the old database knows to be forgotten, deleted, edited or
// decided since the backup. After an interruption, the old or the new database is there, whole. progress, if not
// nil, gets the current phase and how far it is. The restored database is sealed with the key of the replaced one, or
// with the backup's if there is no other.
func Restore(ctx context.Context, dir, from string, keys Keys,
	progress func(what string, done, total int64)) (r Restored, err error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	if keys.Backup == nil {
		keys.Backup = keys.Replaced
	}
	if _, err := ReadBackup(ctx, from); err != nil {
		return r, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, fmt.Errorf("make the data directory: %w; name one that can be made and written", err)
	}
	lock, err := lockAlone(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if err := removeLeftovers(dir); err != nil {
		return r, err
	}
	r, err = restore(ctx, dir, from, keys, progress)
	if err != nil {
		return r, errors.Join(fmt.Errorf("restore %s: %w", from, err), removeLeftovers(dir))
	}
	return r, removeLeftovers(dir)
}

func restore(ctx context.Context, dir, from string, keys Keys,
	progress func(what string, done, total int64)) (r Restored, err error) {
	path := filepath.Join(dir, FileName)
	copied := filepath.Join(dir, restoringName)
	sealing, err := readSealing(ctx, from)
	if err != nil {
		return r, err
	}
	options, err := openBackup(sealing, keys)
	if err != nil {
		return r, err
	}
	whole, damage := inspectExisting(ctx, path)
	if whole {
		sealing, err := readSealing(ctx, path)
		whole = err == nil
		damage = err
		if sealing.IsSealed() && !opens(sealing, keys.Replaced) {
			return r, fmt.Errorf("only the memory that it would replace knows what was forgotten since, and that is sealed with the "+
				"key %s: name the file with that key in memory.key_file or HARK_MEMORY_KEY_FILE; if the key is lost, move %s "+
				"elsewhere, restore, and forget again what you know of", sealing.Fingerprint, path)
		}
	}
	if err := os.Mkdir(copied, 0o700); err != nil {
		return r, err
	}
	err = copyFile(ctx, from, filepath.Join(copied, FileName), func(done, total int64) {
		progress("copying", done, total)
	})
	if err != nil {
		return r, err
	}
	options.Check = true
	options.Progress = func(done, total int) { progress("indexing words", int64(done), int64(total)) }
	s, err := Open(ctx, copied, options) // checks and migrates it
	if err != nil {
		return r, err
	}
	r.Known = whole
	r.Unknown = damage
	if r.Known {
		r.Unknown = s.takeOver(ctx, path, keys.Replaced, &r.Taken)
		r.Known = r.Unknown == nil
	}
	if options.Secret != nil && keys.Replaced != nil && keys.Replaced != keys.Backup {
		_, err = sqlstore.Rewrap(ctx, s.Store, keys.Replaced)
		options.Secret = keys.Replaced
	}
	if err := errors.Join(err, s.Close()); err != nil || ctx.Err() != nil {
		return r, errors.Join(err, ctx.Err())
	}
	options.Check = false
	s, err = Open(ctx, copied, options)
	if err != nil {
		return r, err
	}
	r.Forgettings, err = s.resumeForgettings(ctx, progress)
	if err := errors.Join(err, s.Close(), syncPath(filepath.Join(copied, FileName)), ctx.Err()); err != nil {
		return r, err
	}
	sealing, err = readSealing(ctx, filepath.Join(copied, FileName))
	if err != nil {
		return r, err
	}
	r.Key = sealing.Fingerprint
	if whole {
		if err := checkpoint(ctx, path); err != nil {
			return r, err
		}
	}
	return r, replaceFile(filepath.Join(copied, FileName), path)
}

// openBackup returns the options with which a backup is opened.
func openBackup(sealing sqlstore.Sealing, keys Keys) (Options, error) {
	if !sealing.IsSealed() {
		if keys.Replaced != nil {
			return Options{}, errors.New("the backup isn't sealed, but memory.key_file names a key: restore it without one " +
				"in an empty data directory, and seal that with \"hark move --to DIRECTORY --key-file FILE\"")
		}
		return Options{}, nil
	}
	if !opens(sealing, keys.Backup) {
		return Options{}, fmt.Errorf("the backup is sealed with the key %s: name the file with that key with --key-file",
			sealing.Fingerprint)
	}
	return Options{Secret: keys.Backup}, nil
}

// opens reports whether a key opens what is sealed.
func opens(sealing sqlstore.Sealing, secret *seal.Secret) bool {
	_, err := sealing.Unlock(secret, false)
	return err == nil
}

// takeOver applies to a restored copy what the database at path knows.
func (s *Store) takeOver(ctx context.Context, path string, key *seal.Secret, taken *sqlstore.Taken) error {
	s.engine.writer.lock <- struct{}{}
	defer s.engine.ReleaseWriteLock(true)
	if _, err := s.engine.write.ExecContext(ctx, "ATTACH ? AS old", fileURL(path)+"?mode=ro"); err != nil {
		return explain(err)
	}
	err := sqlstore.TakeOver(ctx, s.Store, key, taken)
	_, detached := s.engine.write.ExecContext(context.WithoutCancel(ctx), "DETACH old")
	return errors.Join(err, detached)
}

func (s *Store) resumeForgettings(ctx context.Context,
	progress func(what string, done, total int64)) ([]memory.DeletionReport, error) {
	unfinished, err := s.Forgettings(ctx, memory.Everywhere, 0)
	if err != nil {
		return nil, err
	}
	var receipts []memory.DeletionReport
	for _, f := range unfinished {
		receipt, err := s.Forget(ctx, f.Forgetting, func(done, total int) {
			progress("forgetting", int64(done), int64(total))
		})
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}

// inspectExisting reports whether a database exists at path, and what makes it unreadable.
func inspectExisting(ctx context.Context, path string) (whole bool, damage error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return false, nil
	}
	var version int
	db, err := openReading(path)
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT user_version FROM pragma_user_version, (SELECT count(*)
			FROM sqlite_schema)`).Scan(&version)
		err = errors.Join(err, db.Close())
	}
	if err == nil && version > len(migrations) {
		err = fmt.Errorf("it is of version %d, made by a newer Hark than this one", version)
	}
	return err == nil && version > 0, explain(err)
}

// readSealing returns how the database at path is sealed.
func readSealing(ctx context.Context, path string) (i sqlstore.Sealing, err error) {
	db, err := openReading(path)
	if err != nil {
		return i, explain(err)
	}
	i, err = sqlstore.ReadSealing(ctx, db)
	return i, explain(errors.Join(err, db.Close()))
}

// checkpoint moves the write-ahead log of the database at path into it.
func checkpoint(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(explain(err), db.Close())
}

// copyFile copies a file to a new one, readable by its owner only, and syncs it.
func copyFile(ctx context.Context, from, to string, progress func(done, total int64)) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(target, source, 1<<20)
		done += n
		progress(done, info.Size())
		switch err {
		case nil:
		case io.EOF:
			return target.Sync()
		default:
			return err
		}
	}
}

// replaceFile replaces the database at path, which nobody has open, by a synced one. After an interruption, one
// of the two is there, whole.
func replaceFile(from, path string) error {
	// The old write-ahead log mustn't be applied to the new database.
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return syncPath(filepath.Dir(path))
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
