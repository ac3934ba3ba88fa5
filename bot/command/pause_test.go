package command

import (
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"1m": time.Minute, "2h": 2 * time.Hour, " 1 D 12h ": 36 * time.Hour, "1w": 7 * 24 * time.Hour,
		"366d": 366 * 24 * time.Hour,
		"":     0, "0m": 0, "367d": 0, "999999w": 0, "999999w 999999w": 0, "9999999m": 0,
		"h": 0, "2": 0, "-1h": 0, "1.5h": 0, "1h 30": 0, "2 hours": 0,
	} {
		if got, ok := spanOf(text); ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
}
