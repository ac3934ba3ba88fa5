package imports

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"hark/memory"
)

// stream makes up a file of that size as it is read.
func stream(t *testing.T, size int64, next func(i int) string) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		for i := 0; size > 0; i++ {
			n, err := io.WriteString(w, next(i))
			if size -= int64(n); err != nil {
				return
			}
		}
		_ = w.Close()
	}()
	return r
}

func TestBigFilesTakeLittleMemory(t *testing.T) {
	size, most := int64(8<<20), uint64(5<<20)
	if os.Getenv("HARK_LONG") != "" {
		size, most = 256<<20, 16<<20
	}
	text := strings.Repeat("The tide table hangs beside the door. ", 6)
	setLine := func(i int) string {
		return fmt.Sprintf(`{"type":"message","channel":"c%d","id":"m%d","author":"A%d","time":"2024-05-01T10:%02d:%02dZ","text":"%s"}`+"\n",
			i%50, i, i%1000, i/60%60, i%60, text)
	}
	exported := func(i int) string {
		return fmt.Sprintf(`{"id":"%d","type":"Default","content":"%s","author":{"id":"%d","name":"A%d"}},`,
			1000000000000000001+i, text, i%1000+1, i%1000)
	}
	export := io.MultiReader(strings.NewReader(exportHead), stream(t, size, exported),
		strings.NewReader(`{"id":"1100000000000000000"}]}`))
	for name, file := range map[string]io.Reader{"recall set": stream(t, size, setLine), "export": export} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			known := newShelf() // stays empty, so that only the reader's own memory shows
			var stats runtime.MemStats
			var peak uint64
			var posts, batches int
			sum, err := Read(t.Context(), file, known, func(events []memory.Event) error {
				for _, e := range events {
					if _, ok := e.(memory.Posted); ok {
						posts++
					}
				}
				if batches++; batches%20 == 0 {
					runtime.GC() // what is held counts, not what waits for being collected
					runtime.ReadMemStats(&stats)
					peak = max(peak, stats.HeapAlloc)
				}
				return nil
			}, nil)
			if err != nil || sum.Messages != posts || int64(posts) < size/1000 {
				t.Fatalf("%+v, %d posts, %v", sum, posts, err)
			}
			t.Logf("%d MiB, %d messages, at most %.1f MiB held", size>>20, posts, float64(peak)/(1<<20))
			if peak == 0 || peak > most {
				t.Errorf("%d bytes are held", peak)
			}
		})
	}
}
