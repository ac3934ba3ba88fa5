package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

// backedUp makes a store, and a backup of it.
func backedUp(t *testing.T, sealed bool) (dir, backup string) {
	t.Helper()
	dir, backup = emptyDir(t), filepath.Join(t.TempDir(), "backup")
	open := openOnce
	if sealed {
		open = openSealed
	}
	s := open(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	_, err := Backup(bg, dir, backup, false, nil)
	must(t, err)
	return dir, backup
}

// What was forgotten since a backup is only in the replaced memory, so nothing is restored without that one's key.
func TestNothingIsRestoredWithoutTheKeyOfTheReplacedMemory(t *testing.T) {
	t.Parallel()
	dir, backup := backedUp(t, true)
	s := openSealed(t, dir)
	forget(t, s, memory.Forgetting{Guild: 100, User: 1, Why: memory.WhyMember, At: id(9_000_000).Time()})
	_, err := sqlstore.Rewrap(bg, s.Store, secretOf(t, anotherKey))
	must(t, err)
	closed(t, s)
	before, err := os.ReadFile(filepath.Join(dir, FileName))
	must(t, err)
	one := secretOf(t, oneKey)
	for _, wrong := range []*seal.Secret{nil, one} {
		_, err := Restore(bg, dir, backup, Keys{Backup: one, Replaced: wrong}, func(what string, _, _ int64) {
			t.Errorf("it is %s", what)
		})
		if err == nil || !strings.Contains(err.Error(), "memory.key_file") {
			t.Errorf("with the key %v: %v", wrong, err)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, FileName))
	if must(t, err); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
	r, err := Restore(bg, dir, backup, Keys{Backup: one, Replaced: secretOf(t, anotherKey)}, nil)
	if must(t, err); !r.Known || r.Unknown != nil || len(r.Forgettings) == 0 {
		t.Errorf("restored %+v", r)
	}
}

// Backups are restored over memories with another data key, or without one. What was decided there stays so.
func TestASealedBackupIsRestoredOverAnotherMemory(t *testing.T) {
	t.Parallel()
	one := secretOf(t, oneKey)
	for name, c := range map[string]struct {
		sealedBackup, sealedMemory bool
	}{"of another data key": {true, true}, "over a plain one": {true, false}} {
		_, backup := backedUp(t, c.sealedBackup)
		dir, _ := backedUp(t, c.sealedMemory)
		open := openOnce
		keys := Keys{Backup: one}
		if c.sealedMemory {
			open = openSealed
			keys.Replaced = one
		}
		s := open(t, dir)
		log, err := s.Log(bg, 1000, -1<<62, 1<<62, 1)
		must(t, err)
		apply(t, s,
			memory.Edited{Guild: guild, Channel: 1000, ID: log[0].ID, Content: "edited since", At: id(9_000_000).Time()},
			memory.SettingChosen{Guild: guild, Key: memory.SettingPersona, Value: "chosen since", At: id(9_000_000).Time()})
		closed(t, s)
		r, err := Restore(bg, dir, backup, keys, nil)
		if must(t, err); !r.Known || r.Unknown != nil || r.Edited == 0 || r.Key == "" {
			t.Errorf("%s: restored %+v", name, r)
		}
		s = openSealed(t, dir)
		drain(t, s)
		must(t, sqlstore.Verify(bg, s.Store))
		if got := tell(t, s); !strings.Contains(got, "edited since") || !strings.Contains(got, "chosen since") {
			t.Errorf("%s: it is\n%s", name, got)
		}
		checkSound(t, s)
		closed(t, s)
		wantSealed(t, dir, "canary")
	}
}

// A plain backup doesn't take the place of a sealed memory.
func TestAPlainBackupIsNotRestoredWithAKey(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t, false)
	dir, _ := backedUp(t, true)
	_, err := Restore(bg, dir, backup, Keys{Replaced: secretOf(t, oneKey)}, nil)
	if err == nil || !strings.Contains(err.Error(), "the backup isn't sealed") {
		t.Errorf("restored: %v", err)
	}
	s := openSealed(t, dir)
	closed(t, s)
}
