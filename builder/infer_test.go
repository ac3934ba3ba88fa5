package builder

import (
	"os"
	"strings"
	"testing"
)

func TestTuningProbe(t *testing.T) {
	data, err := os.ReadFile(os.Getenv("MODES"))
	if err != nil {
		t.Skip(err)
	}
	right, n := 0, 0
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		var tools []string
		if f[1] != "-" {
			tools = strings.Split(f[1], ",")
		}
		got, why := InferMode(f[2], tools)
		n++
		if string(got) == f[0] {
			right++
		} else if os.Getenv("SHOW") != "" {
			t.Logf("%s, want %s: %s (%s)", got, f[0], f[2], why)
		}
	}
	t.Logf("%d of %d", right, n)
}
