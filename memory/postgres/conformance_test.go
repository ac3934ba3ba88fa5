package postgres_test

import (
	"flag"
	"hash/crc32"
	"os"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// TestMain draws fewer examples than usual: each operation is many round trips to the server.
func TestMain(m *testing.M) {
	checks := "5"
	if os.Getenv("HARK_LONG") != "" {
		checks = "100"
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func openToy(t testing.TB, url string) memory.Opened {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openEmpty(t testing.TB) memory.Opened { return openToy(t, postgrestest.URL(t)) }

// openSealed opens a sealed store. It holds only the sketches of vectors in memory.
func openSealed(t testing.TB, url string) memory.Opened {
	t.Helper()
	secret, err := seal.ParseSecret("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), url, postgres.Options{Space: memorytest.Embedder{}.Space(), Secret: secret,
		Index: vectors.Options{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openSome opens about every second store sealed.
func openSome(t testing.TB, url string) memory.Opened {
	t.Helper()
	if crc32.ChecksumIEEE([]byte(url))%2 == 0 {
		return openSealed(t, url)
	}
	return openToy(t, url)
}

// A sealed store keeps the same promises. The random operations of TestReopenedConformance show most of that.
func TestSealedConformance(t *testing.T) {
	if os.Getenv("HARK_LONG") == "" {
		t.Skip("takes long")
	}
	t.Parallel()
	memorytest.Run(t, func(t testing.TB) memory.Opened { return openSealed(t, postgrestest.URL(t)) })
	memorytest.Reopen(t, postgrestest.URL, openSealed)
}

func TestReopenedConformance(t *testing.T) {
	t.Parallel()
	memorytest.Reopen(t, postgrestest.URL, openSome)
}

func TestConcurrentConformance(t *testing.T) {
	t.Parallel()
	memorytest.Concurrent(t, openEmpty)
}

func TestReplayConformance(t *testing.T) {
	t.Parallel()
	memorytest.Replay(t, 1, func(t testing.TB) memory.Opened { return openSome(t, postgrestest.URL(t)) },
		func(t testing.TB, from, to memory.Opened) {
			var r sqlstore.Replayed
			decisions := sqlstore.DecisionsOf(from.(*sqlstore.Store), memory.Everywhere)
			err := sqlstore.Replay(t.Context(), decisions, to.(*sqlstore.Store), &r)
			if err != nil || r.Unknown != nil {
				t.Fatal(err, r.Unknown)
			}
		})
}
