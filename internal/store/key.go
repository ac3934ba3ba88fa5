package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"hark/memory/postgres"
	"hark/memory/seal"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
)

// Secret returns the key of a sealed memory; nil without one. It refuses a key file in the data directory: see KeyIsApart.
func (p Place) Secret() (*seal.Secret, error) {
	if p.KeyFile == "" {
		return nil, nil
	}
	if err := p.KeyIsApart(); err != nil {
		return nil, err
	}
	return seal.ReadSecret(p.KeyFile)
}

// keyed returns p with the key of another file.
func (p Place) keyed(keyFile string) Place {
	p.KeyFile = keyFile
	return p
}

// KeyIsApart returns an error if the key file lies in the data directory: who copies that has both.
func (p Place) KeyIsApart() error {
	if p.KeyFile == "" || !p.IsFile() {
		return nil
	}
	key, err := resolved(p.KeyFile)
	dir, err2 := resolved(p.Dir)
	if err != nil || err2 != nil { // it isn't there, which Secret tells
		return nil
	}
	if within, err := filepath.Rel(dir, key); err == nil && filepath.IsLocal(within) {
		return fmt.Errorf("the key file %s lies in the data directory, so whoever copies that can read everything: move the key file "+
			"elsewhere, and name it in memory.key_file", p.KeyFile)
	}
	return nil
}

func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Verify decrypts all that is sealed, and returns an error that names the first value that was changed.
func (p Place) Verify(ctx context.Context) (err error) {
	if err := p.mustBeSealed(ctx); err != nil {
		return err
	}
	s, err := p.Open(ctx, Options{})
	if err != nil {
		return err
	}
	return errors.Join(sqlstore.Verify(ctx, s), s.Close())
}

// Sealed is how a memory is sealed, and whether its key file is right.
type Sealed struct {
	Key   string // the fingerprint of its key; "" if it isn't sealed
	Given string // that of the key file; "" without one
}

// Sealed says how the memory is sealed, and changes nothing.
func (p Place) Sealed(ctx context.Context) (s Sealed, err error) {
	secret, err := p.Secret()
	if err != nil {
		return s, err
	}
	var is sqlstore.Sealing
	if p.IsFile() {
		info, err := sqlite.Inspect(ctx, p.Dir)
		if err != nil {
			return s, err
		}
		is = info.Sealing
	} else {
		info, err := postgres.Inspect(ctx, p.URL)
		if err != nil {
			return s, err
		}
		is = info.Sealing
	}
	s.Key = is.Fingerprint
	if secret != nil {
		s.Given = secret.Key(is.Salt).Fingerprint()
	}
	return s, nil
}

// Restore puts a backup in the place of the memory, or of one guild in a database. keyFile, if not "", is the file with
// the backup's key; else it is the memory's. See sqlite.Restore.
func (p Place) Restore(ctx context.Context, path, keyFile string, progress sqlstore.Progress) (r sqlite.Restored, err error) {
	var keys sqlite.Keys
	keys.Replaced, err = p.Secret()
	if err != nil {
		return r, err
	}
	keys.Backup = keys.Replaced
	if keyFile != "" {
		keys.Backup, err = p.keyed(keyFile).Secret()
		if err != nil {
			return r, err
		}
	}
	if p.IsFile() {
		r, err = sqlite.Restore(ctx, p.Dir, path, keys, func(what string, done, total int64) {
			progress(what, int(done), int(total))
		})
	} else {
		if keys.Replaced == nil {
			keys.Replaced = keys.Backup // what is copied in between is sealed with it
		}
		r, err = p.restoreGuild(ctx, path, cmp.Or(p.KeyFile, keyFile), keys, progress)
	}
	return r, err
}

// RotateKey wraps the data key by the key of another file. No Hark may use the memory.
func (p Place) RotateKey(ctx context.Context, keyFile string) (fingerprint string, err error) {
	secret, err := p.keyed(keyFile).Secret()
	if err != nil {
		return "", err
	}
	if err := p.mustBeSealed(ctx); err != nil {
		return "", err
	}
	release, err := p.lockForMove(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	s, err := p.Open(ctx, Options{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return sqlstore.Rewrap(ctx, s, secret)
}

func (p Place) mustBeSealed(ctx context.Context) error {
	s, err := p.Sealed(ctx)
	if err == nil && s.Key == "" {
		err = errors.New("the memory isn't sealed: \"hark move --to DIRECTORY --key-file FILE\" copies it to a sealed one")
	}
	return err
}
