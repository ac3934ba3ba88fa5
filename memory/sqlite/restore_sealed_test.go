package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	for _, sealed := range []bool{false, true} {
		dir, backup := backedUp(t, sealed)
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
}

// A sealed backup is restored over a memory that is still being sealed, and what was edited there stays so.
func TestASealedBackupIsRestoredOverAHalfSealedStore(t *testing.T) {
	t.Parallel()
	_, backup := backedUp(t, true)
	dir, plain := backedUp(t, false)
	s := openSealed(t, dir)
	info, err := Backup(bg, dir, plain, false, nil)
	if must(t, err); info.Key == "" || !info.Partly {
		t.Errorf("a backup that is sealed in part is %+v", info)
	}
	log, err := s.Log(bg, 1000, -1<<62, 1<<62, 1)
	must(t, err)
	apply(t, s, memory.Edited{Guild: guild, Channel: 1000, ID: log[0].ID, Content: "edited since", At: id(9_000_000).Time()})
	closed(t, s)
	one := secretOf(t, oneKey)
	r, err := Restore(bg, dir, backup, Keys{Backup: one, Replaced: one}, nil)
	if must(t, err); !r.Known || r.Unknown != nil || r.Edited == 0 {
		t.Errorf("restored %+v", r)
	}
	s = openSealed(t, dir)
	must(t, sqlstore.Reseal(bg, s.Store, nil))
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
	wantSealed(t, dir, "canary")
	if info, err = Backup(bg, dir, plain, false, nil); err != nil || info.Partly {
		t.Errorf("a backup that is sealed is %+v, %v", info, err)
	}
}

// A command with a key leaves a plain memory as it is, and a running Hark without a key goes on.
func TestOnlySealBeginsToSealAPlainStore(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	running := openOnce(t, dir)
	apply(t, running, memorytest.Canaries("canary")...)
	drain(t, running)
	s, err := Open(bg, dir, Options{Space: memorytest.Embedder{}.Space(), Tokens: words, Secret: secretOf(t, oneKey)})
	must(t, err)
	apply(t, s, posted(1000, 5000, "said by a command"))
	if got, want := tell(t, s), tell(t, running); got != want || !strings.Contains(got, "said by a command") {
		t.Errorf("with a key it is\n%s\nwithout\n%s", got, want)
	}
	apply(t, running, posted(1000, 5001, "said later"))
	closed(t, s)
	closed(t, running)
	if i, err := readSealing(bg, filepath.Join(dir, FileName)); err != nil || i.Salt != "" {
		t.Errorf("it is sealed as %+v, %v", i, err)
	}
}

// Another process writes while all is sealed anew.
func TestARotationLetsOthersWrite(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	var many []memory.Event
	for n := range 15000 {
		many = append(many, posted(general, n, fmt.Sprintf("apples and pears %d", n)))
	}
	apply(t, s, many...)
	other := openSealed(t, dir)
	begun, ended := make(chan bool), make(chan error, 1)
	var once sync.Once
	go func() { ended <- sqlstore.Renew(bg, other.Store, func(int, int) { once.Do(func() { close(begun) }) }) }()
	<-begun
	for n := range 3 {
		apply(t, s, posted(general, 20000+n, "said meanwhile"))
	}
	select {
	case err := <-ended:
		t.Errorf("the writes waited until the rotation ended (%v)", err)
	default:
		must(t, <-ended)
	}
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
	closed(t, other)
}
