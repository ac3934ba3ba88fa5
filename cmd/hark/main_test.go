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

// TestMain lets the test binary run as Hark.
func TestMain(m *testing.M) {
	testscript.Main(tidily{m}, map[string]func(){"hark": main, "hark-session": serveSession})
}

// tidily runs tests that leave no goroutine behind.
type tidily struct{ *testing.M }

func (t tidily) Run() int {
	// Tests mostly wait: discordgo's Close sleeps for a second.
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
