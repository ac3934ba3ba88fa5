package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hark/internal/config"
)

// unit is a unit file: by section and key, the values.
type unit map[string][]string

func parseUnit(text string) (u unit, problems []string) {
	u = unit{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case !ok || section == "" || !regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`).MatchString(key):
			problems = append(problems, line)
		default:
			u[section+"."+key] = append(u[section+"."+key], value)
		}
	}
	return u, problems
}

func TestServiceUnit(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy/hark.service")
	u, problems := parseUnit(text)
	if len(problems) > 0 {
		t.Errorf("no settings: %q", problems)
	}
	for key, want := range map[string][]string{
		"Service.Type": {"notify-reload"}, "Service.ExecStart": {"/usr/local/bin/hark run"}, "Service.DynamicUser": {"yes"}, "Service.StateDirectory": {"hark"},
		"Service.ProtectSystem": {"strict"}, "Service.ProtectHome": {"yes"}, "Service.NoNewPrivileges": {"yes"}, "Service.MemoryDenyWriteExecute": {"yes"},
		"Service.RestrictAddressFamilies": {"AF_INET AF_INET6 AF_UNIX"}, "Service.SystemCallFilter": {"@system-service", "~@privileged"}, "Service.CapabilityBoundingSet": {""},
		"Service.LoadCredential": {"token:/etc/hark/token"}, "Service.Restart": {"on-failure"}, "Install.WantedBy": {"multi-user.target"},
		"Service.Environment": {"HARK_DATA=%S/hark", "HARK_DISCORD_TOKEN_FILE=%d/token"},
	} {
		if !slices.Equal(u[key], want) {
			t.Errorf("%s is %q, want %q", key, u[key], want)
		}
	}
	for _, key := range []string{"Service.WatchdogSec", "Service.TimeoutStopSec", "Service.TimeoutStartSec", "Service.UMask"} {
		if len(u[key]) != 1 {
			t.Errorf("%s is %q", key, u[key])
		}
	}
	if err := config.CheckEnv(regexp.MustCompile(`HARK_[A-Z_]+`).FindAllString(text, -1)); err != nil {
		t.Error(err)
	}
}

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
	text := strings.Replace(read(t, "deploy/hark.service"), "ExecStart=/usr/local/bin/hark", "ExecStart="+analyze, 1) // a command that is there
	file := filepath.Join(t.TempDir(), "hark.service")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command(analyze, "verify", "--man=no", file)
	told, err := verify.CombinedOutput()
	younger := regexp.MustCompile(`notify-reload|'RestartSteps'|'RestartMaxDelaySec'`) // of version 254
	for line := range strings.Lines(string(told)) {
		if strings.Contains(line, "hark.service") && !(known < 254 && younger.MatchString(line)) {
			t.Error(line)
		}
	}
	if err != nil && len(told) == 0 {
		t.Error(err)
	}
}
