package main

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// notifier tells systemd Hark's state, see sd_notify(3). Without a socket it does nothing.
type notifier struct {
	address string        // of the socket; "" if there is none
	every   time.Duration // systemd expects a sign of life; 0: never
}

// notifyPatience bounds the sending of a message.
const notifyPatience = 200 * time.Millisecond

func newNotifier(env func(string) (string, bool), pid int) *notifier {
	n := &notifier{}
	n.address, _ = env("NOTIFY_SOCKET")
	of, _ := env("WATCHDOG_PID")
	usec, _ := env("WATCHDOG_USEC")
	if us, err := strconv.ParseInt(usec, 10, 64); err == nil && us > 0 && (of == "" || of == strconv.Itoa(pid)) {
		n.every = time.Duration(us) * time.Microsecond
	}
	return n
}

// send sends variables in one message, and ignores failures.
func (n *notifier) send(variables ...string) {
	if n.address == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.address, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(notifyPatience))
	_, _ = conn.Write([]byte(strings.Join(variables, "\n")))
}

// state reports a connection to Discord, or why there is none. The first connection means that Hark has started.
func (n *notifier) state(why error) {
	if why != nil {
		n.send(status(why.Error()))
		return
	}
	n.send("READY=1", status("Connected to Discord."))
}

func (n *notifier) stopping() { n.send("STOPPING=1", status("Stopping.")) }

func status(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return "STATUS=" + line
}

// watch notifies the watchdog twice per interval while alive returns true, until ctx is done.
func (n *notifier) watch(ctx context.Context, alive func(context.Context) bool) {
	if n.every == 0 || n.address == "" {
		return
	}
	tick := time.NewTicker(n.every / 2)
	defer tick.Stop()
	for {
		until, cancel := context.WithTimeout(ctx, n.every/2)
		if alive(until) {
			n.send("WATCHDOG=1")
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
