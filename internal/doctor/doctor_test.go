package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/golden"
)

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
