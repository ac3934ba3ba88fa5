package memory

import "testing"

func TestUseOfTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tokens, window int
		want           float64
	}{{800, 1000, 0.8}, {1500, 1000, 1.5}, {800, 0, 0}, {0, 1000, 0}} {
		if got := (Trace{Tokens: c.tokens, Window: c.window}).Use(); got != c.want {
			t.Errorf("%d of %d: %v, want %v", c.tokens, c.window, got, c.want)
		}
	}
}
