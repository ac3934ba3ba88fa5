package answer

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkDialogue reads what was said before a question in a session of 150 turns, half of them Hark's,
// that was condensed: all that comes before the search.
func BenchmarkDialogue(b *testing.B) {
	w := condensing(b, &keeper{})
	for turn := range 75 {
		w.gives(w.asksAt(time.Duration(2*turn)*20*time.Second, lobby, "And the number of the island?"),
			-time.Duration(2*turn+1)*20*time.Second)
		w.drain()
	}
	q := w.asksAt(51*time.Minute, lobby, "And?")
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		now, err := w.engine.readable(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		d, err := w.engine.dialogueBefore(b.Context(), q, now)
		if err != nil || d.condensed == nil {
			b.Fatal(d.condensed, err)
		}
		took = append(took, time.Since(began))
		if len(took) == 1 {
			b.Logf("%d turns, %d condensed", len(d.turns), len(d.sources))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
