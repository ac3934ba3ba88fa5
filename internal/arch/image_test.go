package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	want := []string{"*", "!.git", "!go.mod", "!go.sum"}
	for pkg := range rules {
		top, _, _ := strings.Cut(pkg, "/")
		want = append(want, "!"+top)
	}
	slices.Sort(want[4:])
	want = append(slices.Compact(want), "**/*_test.go", "**/testdata")
	if diff := cmp.Diff(want, ignore); diff != "" {
		t.Errorf(".dockerignore (-want +got):\n%s", diff)
	}
}

// The licences of what is linked go along with each image and archive.
func TestLicencesGoAlong(t *testing.T) {
	t.Parallel()
	const text = "internal/licences/licences.txt"
	if !strings.Contains(read(t, "Dockerfile"), "\nCOPY --from=build /src/"+text+" /licences.txt\n") {
		t.Error("the Dockerfile doesn't copy " + text + " into the image")
	}
	if !strings.Contains(read(t, ".goreleaser.yaml"), "\n      - src: "+text+"\n        dst: licences.txt\n") {
		t.Error(".goreleaser.yaml doesn't put " + text + " into the archives")
	}
}

// The image has no time zones of its own.
func TestCommandHasTimeZones(t *testing.T) {
	t.Parallel()
	if !slices.ContainsFunc(sources(t, "../.."), func(s source) bool {
		return s.pkg == "cmd/hark" && slices.Contains(s.imports, "time/tzdata")
	}) {
		t.Error(`cmd/hark doesn't import "time/tzdata"`)
	}
}
