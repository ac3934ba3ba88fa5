package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What systemd itself makes of the units, where there is one.
func TestUnitsForSystemd(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"hark.service", "hark-backup.service", "hark-backup.timer"} {
		// a command that is there
		text := strings.Replace(read(t, "deploy/"+name), "ExecStart=/usr/local/bin/hark", "ExecStart="+analyze, 1)
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	verify := exec.Command(analyze, append([]string{"verify", "--man=no"}, files...)...)
	told, err := verify.CombinedOutput()
	for line := range strings.Lines(string(told)) {
		if strings.Contains(line, "hark") {
			t.Error(line)
		}
	}
	if err != nil && len(told) == 0 {
		t.Error(err)
	}
}
