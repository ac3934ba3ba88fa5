package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hark/internal/config"
	"hark/internal/golden"
)

func TestAhead(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time { return time.UnixMilli(int64(1000 * seconds)) }
	for _, c := range []struct{ sent, received, date, want float64 }{
		{10, 11, 10, 0}, {10, 11, 11, 0}, {10.9, 11, 10, 0}, {10, 50, 30, 0}, {10, 11, 31, -20}, {40, 41, 10, 29},
	} {
		if got := clockAhead(at(c.sent), at(c.received), at(c.date)); got.Seconds() != c.want {
			t.Errorf("between %v and %v, at %v: %v", c.sent, c.received, c.date, got)
		}
	}
}

func TestNoAnswerInTime(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("ask: what: %w", context.DeadlineExceeded)
	golden.Seen(t, Failure(err, "wait").For("model").String())
}

func TestParted(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string][2]string{
		"it fails":                                {"it fails", ""},
		"it fails: do that: now":                  {"it fails", "do that: now"},
		"http://x:1 (dial: no) fails: is it up?":  {"http://x:1 (dial: no) fails", "is it up?"},
		"the server at http://x:1/v1 isn't there": {"the server at http://x:1/v1 isn't there", ""},
	} {
		if happened, advice := splitAdvice(sentence); [2]string{happened, advice} != want {
			t.Errorf("%s: %q, %q", sentence, happened, advice)
		}
	}
}

func TestAKeyFileThatOthersCanReadIsFound(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	d := Doctor{Config: config.Config{Data: t.TempDir()}}
	d.Config.Memory.KeyFile = key
	if err := os.WriteFile(key, []byte("a passphrase of the operator"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := d.sealed(t.Context()); strings.Contains(found.String(), key) {
		t.Errorf("a private key file: %v", found)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if found := d.sealed(t.Context()); runtime.GOOS != "windows" && !strings.HasSuffix(found.Advice, "; chmod 600 "+key) {
		t.Errorf("%v", found)
	}
}
