package sqlite_test

import (
	"hash/crc32"
	"os"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/seal"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

func openToy(t testing.TB, dir string) memory.Opened {
	t.Helper()
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openEmpty(t testing.TB) memory.Opened { return openToy(t, sqlitetest.Dir(t)) }

func TestConformance(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, openEmpty)
	memorytest.Reopen(t, sqlitetest.Dir, openSome)
}

// openSealed opens a sealed store. It holds only the sketches of vectors in memory.
func openSealed(t testing.TB, dir string) memory.Opened {
	t.Helper()
	secret, err := seal.ParseSecret(sealedKey)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: memorytest.Embedder{}.Space(), Secret: secret,
		Index: vectors.Options{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const sealedKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// openSome opens about every second store sealed.
func openSome(t testing.TB, dir string) memory.Opened {
	t.Helper()
	if crc32.ChecksumIEEE([]byte(dir))%2 == 0 {
		return openSealed(t, dir)
	}
	return openToy(t, dir)
}

// A sealed store keeps the same promises. The random operations of TestConformance show most of that.
func TestSealedConformance(t *testing.T) {
	if os.Getenv("HARK_LONG") == "" {
		t.Skip("takes long")
	}
	t.Parallel()
	memorytest.Run(t, func(t testing.TB) memory.Opened { return openSealed(t, sqlitetest.Dir(t)) })
	memorytest.Reopen(t, sqlitetest.Dir, openSealed)
}

func TestConcurrentConformance(t *testing.T) {
	t.Parallel()
	memorytest.Concurrent(t, openEmpty)
}

func TestReplayConformance(t *testing.T) {
	t.Parallel()
	memorytest.Replay(t, 10, func(t testing.TB) memory.Opened { return openSome(t, sqlitetest.Dir(t)) },
		func(t testing.TB, from, to memory.Opened) {
			var r sqlstore.Replayed
			decisions := sqlstore.DecisionsOf(from.(*sqlite.Store).Store, memory.Everywhere)
			err := sqlstore.Replay(t.Context(), decisions, to.(*sqlite.Store).Store, &r)
			if err != nil || r.Unknown != nil {
				t.Fatal(err, r.Unknown)
			}
		})
}
