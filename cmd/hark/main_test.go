package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"hark/internal/wait"
)

// TestMain lets the test binary be Hark itself, for scripts and for tests that kill it.
func TestMain(m *testing.M) {
	testscript.Main(tidily{m}, map[string]func(){"hark": main, "hark-session": serveSession})
}

// tidily runs tests that leave no goroutine behind.
type tidily struct{ *testing.M }

// Run implements testscript.TestingM.
func (t tidily) Run() int {
	// Most tests wait most of the time: each bot sleeps for a second when it stops, in discordgo's Close.
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(300)
	code := t.M.Run()
	http.DefaultClient.CloseIdleConnections() // the tests' own, to the web server
	err := goleak.Find()
	// a goroutine's end gives no signal
	for late := time.Now().Add(wait.Limit); err != nil && time.Now().Before(late); {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
