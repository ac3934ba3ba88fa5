package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/postgres/postgrestest"
	"hark/memory/seal"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
)

// keyFile is a new key file.
func keyFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(seal.NewKey()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verified checks that all of a memory can be read, and describes a server in it.
func verified(t testing.TB, p Place, guild memory.GuildID) (told string) {
	t.Helper()
	with(t, p, func(s *sqlstore.Store) {
		apply(t, s) // makes the vectors
		must(t, sqlstore.Verify(t.Context(), s))
		told = tell(t, s, guild)
	})
	return told
}

// A backup is restored with its key, also after the memory's key was changed. What was decided since stays so.
func TestASealedBackupIsRestored(t *testing.T) {
	t.Parallel()
	first, second := keyFile(t), keyFile(t)
	p := Place{Dir: t.TempDir(), KeyFile: first}
	channel := memory.ChannelID(harbour) + 10
	with(t, p, func(s *sqlstore.Store) { apply(t, s, settle(harbour)...) })
	backup := filepath.Join(t.TempDir(), "backup.db")
	info, err := sqlite.Backup(t.Context(), p.Dir, backup, false, nil)
	must(t, err)
	if now, err := p.Sealed(t.Context()); err != nil || info.Key == "" || now.Key != info.Key || now.Given != info.Key {
		t.Errorf("the backup has the key %q, and the memory is %+v, %v", info.Key, now, err)
	}
	fingerprint, err := p.RotateKey(t.Context(), second)
	must(t, err)
	if _, err := p.Open(t.Context(), Options{}); !errors.Is(err, sqlstore.ErrWrongKey) {
		t.Errorf("with the old key: %v", err)
	}
	p.KeyFile = second
	with(t, p, func(s *sqlstore.Store) {
		apply(t, s, memory.Edited{Guild: harbour, Channel: channel, ID: moment(1), Content: "edited since", At: began.Add(2 * time.Hour)},
			memory.Deleted{Guild: harbour, Channel: channel, IDs: []memory.MessageID{moment(2)}},
			memory.SettingChosen{Guild: harbour, Key: memory.SettingPersona, Value: "chosen since", At: began.Add(2 * time.Hour)})
	})
	want := verified(t, p, harbour)
	_, err = p.Restore(t.Context(), backup, "", quietly)
	if err == nil || !strings.Contains(err.Error(), "the key "+info.Key) || !strings.Contains(err.Error(), "--key-file") {
		t.Errorf("without the backup's key: %v", err)
	}
	if got := verified(t, p, harbour); got != want {
		t.Errorf("a restore that failed left\n%s", got)
	}
	r, err := p.Restore(t.Context(), backup, first, quietly)
	must(t, err)
	if !r.Known || r.Unknown != nil || r.Deleted != 1 || r.Edited != 1 {
		t.Errorf("restored %+v", r)
	}
	if got := verified(t, p, harbour); got != want {
		t.Errorf("it became\n%s\nbut was\n%s", got, want)
	}
	if now, err := p.Sealed(t.Context()); err != nil || now.Given != now.Key || now.Key != fingerprint {
		t.Errorf("the memory is %+v, %v", now, err)
	}

	elsewhere := Place{Dir: t.TempDir()}
	if _, err := elsewhere.Restore(t.Context(), backup, "", quietly); err == nil || !strings.Contains(err.Error(), "--key-file") {
		t.Errorf("without any key: %v", err)
	}
	_, err = elsewhere.Restore(t.Context(), backup, first, quietly)
	must(t, err)
	elsewhere.KeyFile = first
	if got := verified(t, elsewhere, harbour); !strings.Contains(got, "captain") {
		t.Errorf("elsewhere it became\n%s", got)
	}
}

// A memory is moved to a sealed one, and back, and one server of it is backed up and restored.
func TestASealedMemoryIsMoved(t *testing.T) {
	t.Parallel()
	key := keyFile(t)
	plain, database, file := Place{Dir: t.TempDir()}, Place{Dir: t.TempDir(), URL: postgrestest.URL(t), KeyFile: key},
		Place{Dir: t.TempDir(), KeyFile: keyFile(t)}
	var want string
	with(t, plain, func(s *sqlstore.Store) {
		apply(t, s, append(settle(garden), settle(harbour)...)...)
		apply(t, s, memory.ExternalIDSeen{Channel: memory.ChannelID(harbour) + 10, ID: moment(3), ExternalID: "the third"})
		want = tell(t, s, harbour)
	})
	from := plain
	from.KeyFile = key // what is configured is for both
	_, err := from.Move(t.Context(), database, quietly)
	must(t, err)
	if s, err := plain.Sealed(t.Context()); err != nil || s.Key != "" {
		t.Errorf("what was moved is %+v, %v", s, err)
	}
	if got := verified(t, database, harbour); got != want {
		t.Errorf("in the database it is\n%s\nnot\n%s", got, want)
	}
	backup := filepath.Join(t.TempDir(), "harbour.db")
	info, err := database.BackUpGuild(t.Context(), harbour, backup, false, quietly)
	must(t, err)
	if info.Key == "" {
		t.Error("the backup of a server isn't sealed")
	}
	with(t, database, func(s *sqlstore.Store) {
		apply(t, s, memory.Posted{Message: memory.Message{ID: moment(50), Guild: harbour, Channel: memory.ChannelID(harbour) + 10,
			Author: 1, Content: "said since"}})
	})
	_, err = database.Restore(t.Context(), backup, "", quietly)
	must(t, err)
	if got := verified(t, database, harbour); got != want {
		t.Errorf("restored it is\n%s\nnot\n%s", got, want)
	}
	_, err = database.Move(t.Context(), file, quietly)
	must(t, err)
	if got := verified(t, file, harbour); got != want {
		t.Errorf("in the file it is\n%s\nnot\n%s", got, want)
	}
	second := Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	_, err = file.Move(t.Context(), second, quietly)
	must(t, err)
	third := Place{Dir: t.TempDir(), URL: postgrestest.URL(t), KeyFile: key}
	_, err = second.Move(t.Context(), third, quietly)
	must(t, err)
	for _, p := range []Place{second, third} {
		if got := verified(t, p, harbour); got != want {
			t.Errorf("in %s it is\n%s\nnot\n%s", p, got, want)
		}
	}
	if s, err := second.Sealed(t.Context()); err != nil || s.Key != "" {
		t.Errorf("what was unsealed is %+v, %v", s, err)
	}
	with(t, file, func(s *sqlstore.Store) {
		if id, err := memory.MessageByExternalID(context.Background(), s, memory.ChannelID(harbour)+10, "the third"); id != moment(3) || err != nil {
			t.Errorf("the third is %d, %v", id, err)
		}
	})
}

// The error says what a wrong or missing key is of: the backup, or the memory.
func TestAMissingKeyIsThatOfTheBackupOrOfTheMemory(t *testing.T) {
	t.Parallel()
	key, other := keyFile(t), keyFile(t)
	p := Place{Dir: t.TempDir(), URL: postgrestest.URL(t), KeyFile: key}
	with(t, p, func(s *sqlstore.Store) { apply(t, s, settle(harbour)...) })
	backup := filepath.Join(t.TempDir(), "harbour.db")
	_, err := p.BackUpGuild(t.Context(), harbour, backup, false, quietly)
	must(t, err)
	want := verified(t, p, harbour)
	for file, reason := range map[string]error{"": sqlstore.ErrKeyMissing, other: sqlstore.ErrWrongKey} {
		p.KeyFile = file
		if _, err := p.Restore(t.Context(), backup, key, quietly); !errors.Is(err, reason) || strings.Contains(err.Error(), "backup") {
			t.Errorf("with the key %q: %v", file, err)
		}
	}
	p.KeyFile = key
	if got := verified(t, p, harbour); got != want {
		t.Errorf("it became\n%s\nbut was\n%s", got, want)
	}
}
