package digest

import (
	"flag"
	"os"
	"testing"
)

// long asks for more draws, so many that all kinds of what is drawn must be among them.
var long = os.Getenv("HARK_LONG") != ""

func TestMain(m *testing.M) {
	flag.Parse()
	checks := "30"
	if long {
		checks = "200"
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
