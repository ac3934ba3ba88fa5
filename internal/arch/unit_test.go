package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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
	out, err := exec.Command(analyze, "--version").Output()
	version := regexp.MustCompile(`^systemd (\d+)`).FindSubmatch(out)
	if err != nil || version == nil {
		t.Skipf("systemd-analyze doesn't run here: %v", err)
	}
	known, _ := strconv.Atoi(string(version[1]))
	// a command that is there
	text := strings.Replace(read(t, "deploy/hark.service"), "ExecStart=/usr/local/bin/hark", "ExecStart="+analyze, 1)
	file := filepath.Join(t.TempDir(), "hark.service")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command(analyze, "verify", "--man=no", file)
	told, err := verify.CombinedOutput()
	younger := regexp.MustCompile(`'RestartSteps'|'RestartMaxDelaySec'`) // of version 254
	for line := range strings.Lines(string(told)) {
		if strings.Contains(line, "hark.service") && !(known < 254 && younger.MatchString(line)) {
			t.Error(line)
		}
	}
	if err != nil && len(told) == 0 {
		t.Error(err)
	}
}
