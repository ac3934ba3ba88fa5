package answer

import (
	"flag"
	"os"
	"testing"
)

// TestMain has rapid draw less where tests are to be short, as with the race detector, under which SQLite takes many times as
// long.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
