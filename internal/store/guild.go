package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hark/memory"
	"hark/memory/postgres"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
)

// guildTemp are the temporary directories, in the data directory, of files with one server.
const guildTemp = "one-server-*"

// BackUpGuild copies all that a database remembers of a guild to the file at path, as of one moment, while others
// write. The file is as those of sqlite.Backup.
func (p Place) BackUpGuild(ctx context.Context, guild memory.GuildID, path string, force bool,
	progress sqlstore.Progress) (info sqlite.BackupInfo, err error) {
	copied, remove, err := p.temporary()
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := sqlite.MayBackUp(ctx, p.Dir, path, force); err != nil {
		return info, err
	}
	from, err := p.Open(ctx, Options{})
	if err != nil {
		return info, err
	}
	err = copyGuild(ctx, from, copied, guild, progress)
	if err := errors.Join(err, from.Close()); err != nil {
		return info, err
	}
	return sqlite.Backup(ctx, copied.Dir, path, force, func(done, total int64) {
		progress("writing the backup", int(done), int(total))
	})
}

// restoreGuild replaces what a database remembers of a guild by a backup of this guild alone. It first applies to a
// copy of the backup all that was forgotten, deleted, edited or decided in the database since. No Hark may use the
// database. The copy is sealed with the key of keyFile.
func (p Place) restoreGuild(ctx context.Context, path, keyFile string, keys sqlite.Keys,
	progress sqlstore.Progress) (r sqlite.Restored, err error) {
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
	copied.KeyFile = keyFile
	r, err = sqlite.Restore(ctx, copied.Dir, path, keys, func(what string, done, total int64) {
		progress(what, int(done), int(total))
	})
	if err != nil {
		return r, err
	}
	from, err := copied.Open(ctx, Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	guild, err := onlyGuild(ctx, from)
	if err != nil {
		return r, fmt.Errorf("restore %s: %w", path, err)
	}
	to, err := p.Open(ctx, Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	writes, err := to.Writes(ctx)
	if err != nil {
		return r, err
	}
	known, err := knows(ctx, to, guild)
	if err != nil {
		return r, err
	}
	err = replayGuild(ctx, to, from, guild, progress, &r)
	if err != nil {
		return r, err
	}
	r.Known = known && r.Unknown == nil
	return r, p.replaceGuild(ctx, to, from, guild, writes, progress)
}

// replayGuild applies to a restored file what was decided about its guild in a database.
func replayGuild(ctx context.Context, in, to *sqlstore.Store, guild memory.GuildID, progress sqlstore.Progress,
	r *sqlite.Restored) error {
	progress("reading what was decided", 0, 1)
	err := sqlstore.Replay(ctx, sqlstore.DecisionsOf(in, guild), to, &r.Replayed)
	if err != nil {
		return err
	}
	forgotten, err := sqlstore.FinishForgettings(ctx, to, func(done, total int) { progress("forgetting", done, total) })
	r.Forgettings = append(r.Forgettings, forgotten...)
	return err
}

// temporary makes a directory for a file, in the data directory. remove deletes it.
func (p Place) temporary() (t Place, remove func() error, err error) {
	t.KeyFile = p.KeyFile
	err = os.MkdirAll(p.Dir, 0o700)
	if err == nil {
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
		info, gone := os.Stat(path)
		if gone != nil || time.Since(info.ModTime()) < time.Minute { // it may be about to be locked
			continue
		}
		release, locked := sqlite.LockRunning(path, time.Now())
		if locked == nil {
			err = errors.Join(err, sqlite.DropParts(path), release(), os.RemoveAll(path))
		}
	}
	return err
}

func copyGuild(ctx context.Context, from *sqlstore.Store, to Place, guild memory.GuildID,
	progress sqlstore.Progress) error {
	target, err := to.openForMove(ctx, sqlstore.MovesTo)
	if err != nil {
		return err
	}
	_, err = sqlstore.CopyGuild(ctx, from, target, guild, progress)
	return errors.Join(err, target.Close())
}

func onlyGuild(ctx context.Context, s *sqlstore.Store) (memory.GuildID, error) {
	guilds, err := s.Guilds(ctx)
	if err == nil && len(guilds) != 1 {
		err = fmt.Errorf("it holds %d servers, but a database takes backups of one, which \"hark backup --guild\" makes",
			len(guilds))
	}
	if err != nil {
		return 0, err
	}
	return guilds[0], nil
}

// knows reports whether a memory can tell what was forgotten of a guild.
func knows(ctx context.Context, s *sqlstore.Store, guild memory.GuildID) (bool, error) {
	guilds, err := s.Guilds(ctx)
	if err != nil || slices.Contains(guilds, guild) {
		return true, err
	}
	return s.HasForgotten(ctx, guild)
}

// replaceGuild puts what is in a file in the place of what the database has. If all of it was forgotten since, the file
// has nothing.
func (p Place) replaceGuild(ctx context.Context, to, from *sqlstore.Store, guild memory.GuildID, writes int64,
	progress sqlstore.Progress) error {
	guilds, err := from.Guilds(ctx)
	if err == nil && len(guilds) > 0 {
		err = postgres.DropSessions(ctx, p.URL)
	}
	if err == nil && len(guilds) > 0 {
		err = sqlstore.ReplaceGuild(ctx, from, to, guild, writes, progress)
	}
	if err != nil {
		return err
	}
	err = to.Erase(context.WithoutCancel(ctx), true)
	if err != nil {
		return fmt.Errorf("the server is restored, but what was there before may still lie in pages of the database; "+
			"\"hark run\" tries again: %w", err)
	}
	return nil
}
