package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hark/internal/config"
)

// pages are the documents of the project, by their paths from its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := fs.Glob(os.DirFS("../.."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			texts[name] = read(t, name)
		}
	}
	return texts
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for name, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", name, err)
			}
		}
	}
}

// testVariables are read by the tests alone: Hark itself doesn't know them.
var testVariables = []string{"HARK_LONG", "HARK_DISCORD_OPENAPI", "HARK_BENCH_DIR", "HARK_TEST_POSTGRES",
	"HARK_TEST_BROWSER", "HARK_TEST_AXE", "HARK_TEST_LLAMA"}

func TestSettingsThatFilesNameAreReal(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for _, name := range []string{"compose.yaml", "compose.ollama.yaml", "compose.prometheus.yaml",
		"compose.postgres.yaml", "deploy/hark.service", "Dockerfile"} {
		texts[name] = read(t, name)
	}
	variable := regexp.MustCompile(`\bHARK_[A-Z_]+\b`)
	for name, text := range texts {
		named := slices.DeleteFunc(variable.FindAllString(text, -1), func(v string) bool {
			return slices.Contains(testVariables, v)
		})
		if err := config.CheckEnv(named); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The number in the invite link is the sum of the permissions listed, and these are Discord's bits.
func TestInviteLinkHasThePermissionsListed(t *testing.T) {
	t.Parallel()
	// https://discord.com/developers/docs/topics/permissions
	bits := map[string]uint64{"View Channels": 1 << 10, "Send Messages": 1 << 11, "Attach Files": 1 << 15,
		"Read Message History":     1 << 16,
		"Send Messages in Threads": 1 << 38}
	readme := read(t, "README.md")
	sum := uint64(0)
	for name, bit := range bits {
		if !strings.Contains(readme, "| "+name+" | "+strconv.FormatUint(bit, 10)+" |") {
			t.Errorf("the README doesn't list %s as %d", name, bit)
		}
		sum += bit
	}
	if want := "&permissions=" + strconv.FormatUint(sum, 10) + "\n"; !strings.Contains(readme, want) {
		t.Errorf("the invite link doesn't have %s", want)
	}
}

func TestEveryPackageIsInTheArchitecture(t *testing.T) {
	t.Parallel()
	text := read(t, "docs/architecture.md")
	for pkg := range rules {
		if !strings.Contains(text, "`"+pkg+"`") {
			t.Errorf("docs/architecture.md doesn't say what %s does", pkg)
		}
	}
}
