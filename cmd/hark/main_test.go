package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be Hark itself, for scripts and for tests that kill it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hark": main})
}
