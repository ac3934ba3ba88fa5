// Package wait lets tests wait for a signal, without polling.
package wait

import (
	"sync"
	"testing"
	"time"
)

// Limit ends a test that hangs. No test's outcome depends on it.
const Limit = 2 * time.Minute

// Signal wakes those who wait for a change. Its zero value is ready. It is safe for concurrent use.
type Signal struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next Send; nil while nobody waits
}

// Send wakes those who wait.
func (s *Signal) Send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

func (s *Signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// Until returns once ok is true. It calls ok at once and then at most once for each Send, so ok must not lead
// to a Send. After Limit the test fails with what was waited for and, unless it is nil, with state.
func (s *Signal) Until(tb testing.TB, what string, ok func() bool, state func() string) {
	tb.Helper()
	late := time.NewTimer(Limit)
	defer late.Stop()
	for {
		changed := s.wait() // before ok, so that no change is missed
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			if state == nil {
				state = func() string { return "" }
			}
			tb.Fatalf("waited in vain for %s\n%s", what, state())
		}
	}
}

// For returns what c gives, or its zero value once c is closed. After Limit the test fails and names what it
// waited for.
func For[T any](tb testing.TB, what string, c <-chan T) T {
	tb.Helper()
	late := time.NewTimer(Limit)
	defer late.Stop()
	select {
	case v := <-c:
		return v
	case <-late.C:
		tb.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}
