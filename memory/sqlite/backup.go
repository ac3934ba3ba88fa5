package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"hark/memory"
	"hark/memory/sqlstore"
)

// BackupInfo describes a backup.
type BackupInfo struct {
	Size     int64 // bytes
	Guilds   int
	Channels int
	Messages int
	Newest   time.Time // when the newest message was sent; zero if there is none
	Key      string    // the fingerprint of the key that it is sealed with; "" if it isn't
}

// ErrNotBackup reports that a file isn't a database of Hark's.
var ErrNotBackup = errors.New("it is no backup of Hark's")

// Backup copies the database in dir to the file at path, as of one moment, while others write. The file appears
// whole or not at all, readable by its owner only. It replaces a backup of Hark's, or with force any file.
// progress, if not nil, gets the bytes written and an estimated total.
func Backup(ctx context.Context, dir, path string, force bool, progress func(done, total int64)) (BackupInfo, error) {
	info, err := backup(ctx, dir, path, force, progress)
	if err != nil {
		return info, fmt.Errorf("back up to %s: %w", path, err)
	}
	return info, nil
}

// MayBackUp returns the error with which Backup would refuse the file at path.
func MayBackUp(ctx context.Context, dir, path string, force bool) error {
	if err := mayOverwrite(ctx, dir, path, force); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func backup(ctx context.Context, dir, path string, force bool, progress func(done, total int64)) (BackupInfo, error) {
	if err := mayOverwrite(ctx, dir, path, force); err != nil {
		return BackupInfo{}, err
	}
	part := path + ".part"
	lock := flock.New(part)
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return BackupInfo{}, fmt.Errorf("%w: name a file in a directory that can be written", err)
	case !ok:
		return BackupInfo{}, errors.New("another backup is being written there: wait for it, or name another file")
	}
	note, err := notePart(dir, part)
	if err != nil {
		return BackupInfo{}, errors.Join(err, os.Remove(part), lock.Unlock())
	}
	defer os.Remove(note)
	info, err := writeBackup(ctx, dir, part, progress)
	err = errors.Join(err, ctx.Err())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return info, errors.Join(err, os.Remove(part), lock.Unlock())
	}
	return info, errors.Join(syncPath(filepath.Dir(path)), lock.Unlock())
}

// partNote begins the names of files in the data directory that record where a backup is being written, so that
// a later start can delete the partial copy of an interrupted one.
const partNote = "backing-up-"

// notePart records where a backup is being written. The caller removes the note at the end.
func notePart(dir, part string) (note string, err error) {
	part, err = filepath.Abs(part)
	if err != nil {
		return "", err
	}
	note = filepath.Join(dir, fmt.Sprintf("%s%x", partNote, sha256.Sum256([]byte(part))))
	return note, os.WriteFile(note, []byte(part), 0o600)
}

// DropParts removes the partial files of interrupted backups of the database in dir.
func DropParts(dir string) error {
	notes, err := filepath.Glob(filepath.Join(dir, partNote+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, note := range notes {
		errs = append(errs, dropPart(note))
	}
	return errors.Join(errs...)
}

// dropPart removes the partial file that a note names, unless a backup is still being written there.
func dropPart(note string) error {
	part, err := os.ReadFile(note)
	if err != nil {
		return err
	}
	path := string(part)
	if _, err := os.Stat(path); err == nil && strings.HasSuffix(path, ".part") {
		lock := flock.New(path)
		if free, err := lock.TryLock(); !free || err != nil {
			return err
		}
		defer func() { _ = lock.Unlock() }()
		if err := os.Remove(path + "-journal"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.Remove(note)
}

// mayOverwrite returns an error if the file at path must be kept.
func mayOverwrite(ctx context.Context, dir, path string, force bool) error {
	there, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return notTheStore(dir, path)
	}
	if err != nil {
		return err
	}
	if err := notTheStore(dir, path); err != nil {
		return err
	}
	if !there.Mode().IsRegular() {
		return errors.New("it is there already and no file: name a file")
	}
	if _, err := ReadBackup(ctx, path); err != nil && !force {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.New("it is there already and is no backup of Hark's: name another file, or overwrite it " +
			"with --force")
	}
	return nil
}

func notTheStore(dir, path string) error {
	in, err1 := os.Stat(filepath.Dir(path))
	own, err2 := os.Stat(dir)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if name := filepath.Base(path); os.SameFile(in, own) && (strings.HasPrefix(name, FileName) ||
		name == LockName || name == restoringName) {
		return errors.New("that is a file of the memory itself: name another")
	}
	return nil
}

// writeBackup writes the database to the empty file at path and syncs it.
func writeBackup(ctx context.Context, dir, path string, progress func(done, total int64)) (BackupInfo, error) {
	if err := errors.Join(os.Truncate(path, 0), os.Chmod(path, 0o600)); err != nil {
		return BackupInfo{}, err
	}
	db, err := openReading(filepath.Join(dir, FileName))
	if err != nil {
		return BackupInfo{}, err
	}
	defer db.Close()
	if progress != nil {
		var total int64
		err := db.QueryRowContext(ctx, `SELECT (p.page_count - f.freelist_count) * s.page_size
			FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`).Scan(&total)
		if err != nil {
			return BackupInfo{}, explain(err)
		}
		defer watchSize(path, total, progress)()
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return BackupInfo{}, explain(err)
	}
	if err := syncPath(path); err != nil {
		return BackupInfo{}, err
	}
	return ReadBackup(ctx, path)
}

// watchSize reports how a file grows, until stop is called.
func watchSize(path string, total int64, progress func(done, total int64)) (stop func()) {
	end := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			if info, err := os.Stat(path); err == nil {
				progress(min(info.Size(), total), total)
			}
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// ReadBackup describes the backup at path. It returns ErrNotBackup if the file isn't one.
func ReadBackup(ctx context.Context, path string) (info BackupInfo, err error) {
	file, err := os.Stat(path)
	if err != nil {
		return info, err
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return info, fmt.Errorf("%s is in use, or was left by a Hark that died: \"hark backup\" makes a copy "+
			"that is whole", path)
	}
	cut := whole(path, file.Size())
	if cut != nil {
		return info, cut
	}
	return readInfo(ctx, path, file.Size())
}

// whole returns an error if a database file has less than its header says. SQLite would take a missing rest of the last
// page for zeros.
func whole(path string, size int64) error {
	if size == 0 {
		return fmt.Errorf("%s is empty: %w; take another", path, ErrNotBackup)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	const (
		magic     = "SQLite format 3\x00"
		pageSize  = 16 // where the header has it, in two bytes
		pageCount = 28 // the same, in four
		headSize  = 100
	)
	head := make([]byte, min(size, headSize))
	_, err = io.ReadFull(file, head)
	if err != nil {
		return err
	}
	isStart := strings.HasPrefix(magic, string(head[:min(size, int64(len(magic)))]))
	if !isStart {
		return nil // readInfo says that it is no backup
	}
	if size < headSize {
		return fmt.Errorf("%s was cut off: it has only %d bytes; copy it once more, or take another", path, size)
	}
	page := int64(binary.BigEndian.Uint16(head[pageSize:]))
	said := page * int64(binary.BigEndian.Uint32(head[pageCount:]))
	if size < said {
		return fmt.Errorf("%s was cut off: it has %d of %d bytes; copy it once more, or take another", path, size, said)
	}
	return nil
}

// Holds describes the memory in dir, even while Hark uses it; fs.ErrNotExist if there is none.
func Holds(ctx context.Context, dir string) (BackupInfo, error) {
	path := filepath.Join(dir, FileName)
	file, err := os.Stat(path)
	if err != nil {
		return BackupInfo{}, err
	}
	return readInfo(ctx, path, file.Size())
}

func readInfo(ctx context.Context, path string, size int64) (info BackupInfo, err error) {
	db, err := openReading(path)
	if err != nil {
		return info, err
	}
	defer db.Close()
	var version, tables int
	err = db.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE type = 'table'
		AND name IN ('meta', 'guild', 'channel', 'message', 'tombstone', 'segment'))
		FROM pragma_user_version`).Scan(&version, &tables)
	switch {
	case ctx.Err() != nil:
		return info, ctx.Err()
	case err != nil:
		return info, fmt.Errorf("%s: %w: %w", path, ErrNotBackup, err)
	case version == 0 || tables < 6:
		return info, fmt.Errorf("%s: %w", path, ErrNotBackup)
	case version > len(migrations):
		return info, fmt.Errorf("%s is of version %d, made by a newer Hark than this one, which knows %d: "+
			"use the newer Hark", path, version, len(migrations))
	}
	info.Size = size
	return info, info.count(ctx, db)
}

func (i *BackupInfo) count(ctx context.Context, db *sql.DB) error {
	var newest sql.NullInt64
	err := db.QueryRowContext(ctx,
		`SELECT (SELECT count(*) FROM guild), (SELECT count(*) FROM channel), (SELECT count(*) FROM message),
		(SELECT max(last) FROM presence)`).Scan(&i.Guilds, &i.Channels, &i.Messages, &newest)
	if err == nil {
		var sealing sqlstore.Sealing
		sealing, err = sqlstore.ReadSealing(ctx, db)
		i.Key = sealing.Fingerprint
	}
	if newest.Valid {
		i.Newest = memory.MessageID(newest.Int64).Time()
	}
	return explain(err)
}
