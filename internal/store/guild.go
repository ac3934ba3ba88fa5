package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
)

// guildTemp are the temporary directories, in the data directory, of files with one server.
const guildTemp = "one-server-*"

// BackUpGuild copies all that a database remembers of a guild to the file at path, as of one moment, while others write.
// The file is as those of sqlite.Backup.
func (p Place) BackUpGuild(ctx context.Context, guild memory.GuildID, path string, force bool,
	progress sqlstore.Progress) (info sqlite.BackupInfo, err error) {
	copied, remove, err := p.temporary()
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := p.copyGuild(ctx, copied, guild, progress); err != nil {
		return info, err
	}
	return sqlite.Backup(ctx, copied.Dir, path, force, func(done, total int64) {
		progress("writing the backup", int(done), int(total))
	})
}

// RestoreGuild replaces what a database remembers of a guild by a backup of this guild alone. It first applies to the
// backup all that the database knows to be forgotten, deleted, edited or decided since. No Hark may use the database.
func (p Place) RestoreGuild(ctx context.Context, path string, progress sqlstore.Progress) (r sqlite.Restored, err error) {
	release, err := p.lockForMove(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release()) }()
	copied, remove, err := p.temporary()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	report := func(what string, done, total int64) { progress(what, int(done), int(total)) }
	inBackup := Place{Dir: filepath.Join(copied.Dir, "backup")}
	if _, err := sqlite.Restore(ctx, inBackup.Dir, path, report); err != nil {
		return r, err
	}
	guild, err := inBackup.onlyGuild(ctx)
	if err != nil {
		return r, fmt.Errorf("restore %s: %w", path, err)
	}
	if err := p.copyGuild(ctx, copied, guild, progress); err != nil {
		return r, err
	}
	if r, err = sqlite.Restore(ctx, copied.Dir, path, report); err != nil {
		return r, err
	}
	return r, p.replaceGuild(ctx, copied, guild, progress)
}

// temporary makes a directory for a file, in the data directory. remove deletes it.
func (p Place) temporary() (t Place, remove func() error, err error) {
	if err = os.MkdirAll(p.Dir, 0o700); err == nil {
		t.Dir, err = os.MkdirTemp(p.Dir, guildTemp)
	}
	if err != nil {
		return t, nil, fmt.Errorf("make the data directory: %w; name one that can be made and written", err)
	}
	release, err := t.LockRunning(time.Now()) // so that DropTemporary lets it be
	if err != nil {
		return t, nil, errors.Join(err, os.RemoveAll(t.Dir))
	}
	return t, func() error { return errors.Join(release(), os.RemoveAll(t.Dir)) }, nil
}

// DropTemporary removes what interrupted backups left in the data directory. It may hold what is to be forgotten.
func DropTemporary(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, guildTemp))
	for _, path := range left {
		release, locked := sqlite.LockRunning(path, time.Now())
		if locked == nil {
			err = errors.Join(err, release(), os.RemoveAll(path))
		}
	}
	return err
}

func (p Place) copyGuild(ctx context.Context, to Place, guild memory.GuildID, progress sqlstore.Progress) (err error) {
	from, err := p.Open(ctx, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	target, err := to.openForMove(ctx)
	if err != nil {
		return err
	}
	_, err = sqlstore.CopyGuild(ctx, from, target, guild, progress)
	return errors.Join(err, target.Close())
}

func (p Place) onlyGuild(ctx context.Context) (memory.GuildID, error) {
	s, err := p.Open(ctx, Options{})
	if err != nil {
		return 0, err
	}
	guilds, err := s.Guilds(ctx)
	if err == nil && len(guilds) != 1 {
		err = fmt.Errorf("it holds %d servers, but a database takes backups of one, which \"hark backup --guild\" makes",
			len(guilds))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return 0, err
	}
	return guilds[0], nil
}

func (p Place) replaceGuild(ctx context.Context, by Place, guild memory.GuildID, progress sqlstore.Progress) (err error) {
	from, err := by.Open(ctx, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := p.Open(ctx, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := sqlstore.ReplaceGuild(ctx, from, to, guild, progress); err != nil {
		return err
	}
	return to.Erase(ctx, true)
}
