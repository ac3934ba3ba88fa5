//go:build linux

package main

import "testing"

// TestForgettingIsConfirmedOnATerminal answers what is asked before anything is forgotten.
func TestForgettingIsConfirmedOnATerminal(t *testing.T) {
	t.Parallel()
	whole := newDesk(t)
	for name, c := range map[string]struct {
		keys, says string
		code       int
		forgotten  bool
	}{
		"yes":      {"y\r", "Forgotten: 650 messages", 0, true},
		"in words": {"YES\r", "Forgotten: 650 messages", 0, true},
		"no":       {"n\r", "hark: nothing was changed", 1, false},
		"nothing":  {"\r", "hark: nothing was changed", 1, false},
		"else":     {"yesterday\r", "hark: nothing was changed", 1, false},
		"Ctrl-D":   {"\x04", "hark: nothing was changed", 1, false},
		"Ctrl-C":   {"\x03", "hark: interrupted", 130, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := whole.copy(t)
			p := onTerminal(t, 200, nil, "forget", "--user", "jane", "--data", d.path("data"))
			p.wait("650 messages")
			p.wait("[y/N] ")
			p.write(c.keys)
			p.wait(c.says)
			p.ended(c.code)
			if d.in("jane-canary") == c.forgotten {
				t.Errorf("forgotten: %t", !c.forgotten)
			}
		})
	}
}
