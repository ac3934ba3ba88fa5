package postgrestest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Network is the way to a database, which a test can cut.
type Network struct {
	URL string // of the database by this way

	listener net.Listener
	to       string
	running  sync.WaitGroup

	mu    sync.Mutex
	cut   bool
	open  map[net.Conn]bool
	ended bool
}

// NewNetwork returns a way to the database of a URL. It ends with the test.
func NewNetwork(t testing.TB, address string) *Network {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{listener: listener, to: u.Host, open: map[net.Conn]bool{}}
	u.Host = listener.Addr().String()
	n.URL = u.String()
	n.running.Go(n.accept)
	t.Cleanup(n.End)
	return n
}

// Cut swallows all that is sent from now on, without telling anybody.
func (n *Network) Cut() { n.set(true) }

// Heal passes new connections on again. Those from before break.
func (n *Network) Heal() {
	n.set(false)
	n.breakAll()
}

// End breaks all connections for good.
func (n *Network) End() {
	n.mu.Lock()
	n.ended = true
	n.mu.Unlock()
	_ = n.listener.Close()
	n.breakAll()
	n.running.Wait()
}

func (n *Network) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
}

func (n *Network) isCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

func (n *Network) breakAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.open {
		_ = c.Close()
	}
	clear(n.open)
}

// keep notes an open connection, unless the network has ended.
func (n *Network) keep(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		_ = c.Close()
		return false
	}
	n.open[c] = true
	return true
}

func (n *Network) accept() {
	for {
		in, err := n.listener.Accept()
		if err != nil {
			return
		}
		if !n.keep(in) || n.isCut() { // in a cut network it waits in vain
			continue
		}
		out, err := net.Dial("tcp", n.to)
		if err != nil || !n.keep(out) {
			_ = in.Close()
			continue
		}
		n.running.Go(func() { n.pass(in, out) })
		n.running.Go(func() { n.pass(out, in) })
	}
}

func (n *Network) pass(from, to net.Conn) {
	b := make([]byte, 32<<10)
	for {
		read, err := from.Read(b)
		if n.isCut() {
			if err != nil {
				return // the other side learns nothing
			}
			continue
		}
		if _, failed := to.Write(b[:read]); err != nil || failed != nil {
			_, _ = from.Close(), to.Close()
			n.mu.Lock()
			delete(n.open, from)
			delete(n.open, to)
			n.mu.Unlock()
			return
		}
	}
}
