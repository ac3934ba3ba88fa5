//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/internal/wait"
)

// manager is a socket like systemd's.
type manager struct {
	*testing.T
	conn    *net.UnixConn
	address string
	got     chan string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "hark-notify") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{T: t, address: filepath.Join(dir, "s"), got: make(chan string, 1000)}
	if m.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.address, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 4096); ; {
			n, err := m.conn.Read(buf)
			if err != nil {
				return
			}
			m.got <- string(buf[:n])
		}
	}()
	t.Cleanup(func() {
		m.conn.Close()
		<-done
		os.RemoveAll(dir)
	})
	return m
}

// wait returns the first message with that beginning, and those before.
func (m *manager) wait(text string) (message string, before []string) {
	m.Helper()
	for {
		got := wait.For(m, fmt.Sprintf("%q after %q", text, before), m.got)
		if strings.HasPrefix(got, text) {
			return got, before
		}
		before = append(before, got)
	}
}

func TestNotifiesSystemd(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t), newManager(t)
	w.env["NOTIFY_SOCKET"], w.env["WATCHDOG_USEC"], w.env["WATCHDOG_PID"] = m.address, "2000000",
		strconv.Itoa(os.Getpid())
	token := w.discord.Token
	w.configure("[discord]\ntoken = \"wrong\"\n")
	delete(w.env, "HARK_DISCORD_TOKEN")
	w.wait()
	status, before := m.wait("STATUS=Discord refuses")
	if strings.Contains(strings.Join(before, "\n"), "READY") || strings.Contains(status, "\n") {
		t.Errorf("got %q before %q", before, status)
	}
	w.configure("[discord]\ntoken = \"" + token + "\"\n")
	if ready, _ := m.wait("READY=1"); ready != "READY=1\nSTATUS=Connected to Discord." {
		t.Errorf("got %q", ready)
	}
	m.wait("WATCHDOG=1")

	w.discord.Drop()
	m.wait("STATUS=")
	m.wait("READY=1")
	w.stopWell()
	m.wait("STOPPING=1")
}

// The watchdog is notified only while alive returns true.
func TestWatchdogStaysAwayFromTheDead(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	n := newNotifier(func(name string) (string, bool) {
		value, ok := map[string]string{"NOTIFY_SOCKET": m.address, "WATCHDOG_USEC": "4000"}[name]
		return value, ok
	}, 7)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	n.watch(ctx, func(ctx context.Context) bool {
		if limit, ok := ctx.Deadline(); !ok || time.Until(limit) > 2*time.Millisecond {
			t.Error("it may take for ever")
		}
		if asked++; asked == 6 {
			cancel()
		}
		return asked == 3 || asked == 6
	})
	n.send("END=1")
	if _, before := m.wait("END=1"); len(before) != 2 || before[0] != "WATCHDOG=1" {
		t.Errorf("got %q", before)
	}
}

func TestNobodyToNotify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want time.Duration
	}{
		{nil, 0},
		{map[string]string{"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "8"}, 0},
		{map[string]string{"WATCHDOG_USEC": "-1"}, 0},
		{map[string]string{"WATCHDOG_USEC": "often"}, 0},
		{map[string]string{"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "7"}, time.Millisecond},
		{map[string]string{"NOTIFY_SOCKET": "/nowhere/at/all"}, 0},
	} {
		n := newNotifier(func(name string) (string, bool) { value, ok := c.env[name]; return value, ok }, 7)
		if n.every != c.want {
			t.Errorf("%v: a sign of life in %v", c.env, n.every)
		}
		n.state(errors.New("x"))
		n.state(nil)
		n.stopping()
		n.watch(t.Context(), nil)
	}
}
