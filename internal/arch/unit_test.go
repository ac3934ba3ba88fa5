package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What systemd itself makes of the unit, where there is one.
func TestServiceUnitForSystemd(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	// a command that is there
	text := strings.Replace(read(t, "deploy/hark.service"), "ExecStart=/usr/local/bin/hark", "ExecStart="+analyze, 1)
	file := filepath.Join(t.TempDir(), "hark.service")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command(analyze, "verify", "--man=no", file)
	told, err := verify.CombinedOutput()
	for line := range strings.Lines(string(told)) {
		if strings.Contains(line, "hark.service") {
			t.Error(line)
		}
	}
	if err != nil && len(told) == 0 {
		t.Error(err)
	}
}
