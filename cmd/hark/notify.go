package main

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// notifier tells systemd how Hark is, see sd_notify(3); one that there is nobody to tell tells nothing.
type notifier struct {
	address string        // of the socket; "" if there is none
	every   time.Duration // in which systemd wants a sign of life; 0 if it wants none
}

// notifyPatience bounds a message: nobody waits for systemd.
const notifyPatience = 200 * time.Millisecond

// newNotifier is for what the environment says.
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

// send sends variables in one message. That systemd can't be told changes nothing.
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

// state tells whether there is a connection to Discord; the first means that Hark has started.
func (n *notifier) state(why error) {
	if why != nil {
		n.send(status(why.Error()))
		return
	}
	n.send("READY=1", status("Connected to Discord."))
}

// stopping tells that Hark has begun to stop.
func (n *notifier) stopping() { n.send("STOPPING=1", status("Stopping.")) }

// status is a line about how Hark is.
func status(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return "STATUS=" + line
}

// watch gives a sign of life twice in the time that systemd wants one, while alive says so, until ctx is done.
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
