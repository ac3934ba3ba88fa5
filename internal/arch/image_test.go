package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every package reaches the engine, and nothing private does.
func TestBuildContext(t *testing.T) {
	t.Parallel()
	ignore := strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(read(t, ".dockerignore"), ""))
	if len(ignore) == 0 || ignore[0] != "*" {
		t.Fatal(".dockerignore doesn't begin by leaving out everything")
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if !slices.Contains(ignore, "!"+name) {
			t.Errorf(".dockerignore leaves out %s", name)
		}
	}
	for pkg := range rules {
		top, _, _ := strings.Cut(pkg, "/")
		if !slices.Contains(ignore, "!"+top) {
			t.Errorf(".dockerignore leaves out %s", top)
		}
	}
	for _, private := range []string{"!.env", "!data", "!.git", "!config.toml"} {
		if slices.Contains(ignore, private) {
			t.Errorf(".dockerignore lets %s through", private[1:])
		}
	}
}

// The image has no time zones of its own.
func TestCommandHasTimeZones(t *testing.T) {
	t.Parallel()
	if !slices.ContainsFunc(sources(t, "../.."), func(s source) bool { return s.pkg == "cmd/hark" && slices.Contains(s.imports, "time/tzdata") }) {
		t.Error(`cmd/hark doesn't import "time/tzdata"`)
	}
}
