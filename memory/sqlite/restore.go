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
	// Known says whether the replaced database told all that was forgotten since the backup. Unknown is why not; nil if
	// there was no database.
	Known             bool
	Key               string                  // the fingerprint of the key that the memory is sealed with now; "" if it isn't
	Forgettings       []memory.DeletionReport // carried out
	sqlstore.Replayed                         // since the backup
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
	replaced, err := findReplaced(ctx, path, keys.Replaced)
	if err != nil {
		return r, err
	}
	r.Unknown = replaced.damage
	err = os.Mkdir(copied, 0o700)
	if err != nil {
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
	err = replaced.replay(ctx, s, &r)
	if err == nil {
		r.Forgettings, err = sqlstore.FinishForgettings(ctx, s.Store, func(done, total int) {
			progress("forgetting", int64(done), int64(total))
		})
	}
	if err == nil && options.Secret != nil && keys.Replaced != nil && keys.Replaced != keys.Backup {
		_, err = sqlstore.Rewrap(ctx, s.Store, keys.Replaced)
	}
	if err == nil {
		err = s.Erase(ctx, true)
	}
	err = errors.Join(err, s.Close(), ctx.Err())
	if err != nil {
		return r, err
	}
	return r, putInPlace(ctx, filepath.Join(copied, FileName), replaced, &r)
}

// putInPlace replaces a database by a restored one.
func putInPlace(ctx context.Context, restored string, replaced replacedFile, r *Restored) error {
	err := syncPath(restored)
	if err != nil {
		return err
	}
	sealing, err := readSealing(ctx, restored)
	if err != nil {
		return err
	}
	r.Key = sealing.Fingerprint
	if replaced.version > 0 {
		err = checkpoint(ctx, replaced.path)
	}
	if err != nil {
		return err
	}
	return replaceFile(restored, replaced.path)
}

// replacedFile is the database that a restored one replaces.
type replacedFile struct {
	path    string
	version int   // of its schema; 0: there is none, or it can't be read
	damage  error // why it can't be read
	key     *seal.Secret
}

// findReplaced looks at the database at path. It fails if that is sealed with another key.
func findReplaced(ctx context.Context, path string, key *seal.Secret) (f replacedFile, err error) {
	f.path = path
	f.key = key
	f.version, f.damage = inspectExisting(ctx, path)
	if f.version == 0 {
		return f, nil
	}
	sealing, err := readSealing(ctx, path)
	if err != nil {
		f.version = 0
		f.damage = err
		return f, nil
	}
	if sealing.IsSealed() && !opens(sealing, key) {
		return f, fmt.Errorf("only the memory that it would replace knows what was forgotten since, and that is sealed with the "+
			"key %s: name the file with that key in memory.key_file or HARK_MEMORY_KEY_FILE; if the key is lost, move %s "+
			"elsewhere, restore, and forget again what you know of", sealing.Fingerprint, path)
	}
	return f, nil
}

// replay applies to the restored copy s what was decided in the replaced database.
func (f replacedFile) replay(ctx context.Context, s *Store, r *Restored) error {
	if f.version == 0 {
		return nil
	}
	db, err := f.open(ctx, s.engine.dir)
	if err != nil {
		r.Unknown = err
		return ctx.Err()
	}
	decisions, err := sqlstore.ReadDecisions(ctx, db, f.key)
	if err == nil {
		err = sqlstore.Replay(ctx, decisions, s.Store, &r.Replayed)
	} else {
		r.Unknown = err
		err = nil
	}
	r.Known = r.Unknown == nil
	return errors.Join(err, db.Close(), ctx.Err())
}

// open opens the database for reading. It copies one of an older version to a directory, to bring it up to date there.
func (f replacedFile) open(ctx context.Context, dir string) (*sql.DB, error) {
	if f.version == len(migrations) {
		return openReading(f.path)
	}
	updated := filepath.Join(dir, "replaced.db")
	for _, end := range []string{"", "-wal"} {
		err := copyFile(ctx, f.path+end, updated+end, func(int64, int64) {})
		if err != nil && !(end != "" && errors.Is(err, os.ErrNotExist)) {
			return nil, err
		}
	}
	db, err := sql.Open("sqlite", updated)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		err = errors.Join(migrate(ctx, conn, migrations), conn.Close())
	}
	if err != nil {
		return nil, errors.Join(explain(err), db.Close())
	}
	return db, nil
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

// inspectExisting returns the version of the database at path, and what makes it unreadable; 0 and nil if there is
// none.
func inspectExisting(ctx context.Context, path string) (version int, damage error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil
	}
	db, err := openReading(path)
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT user_version FROM pragma_user_version, (SELECT count(*)
			FROM sqlite_schema)`).Scan(&version)
		err = errors.Join(err, db.Close())
	}
	if err == nil && version > len(migrations) {
		err = fmt.Errorf("it is of version %d, made by a newer Hark than this one", version)
	}
	if err != nil {
		return 0, explain(err)
	}
	return version, nil
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
