package licences_test

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/internal/licences"
)

const file = "licences.txt"

// systems are those that releases are made for. What is linked differs by them, and not by processors.
var systems = []string{"linux", "darwin", "windows"}

// goProject stands for the standard library: its licence is that of the Go project's other modules.
const goProject = "golang.org/x/sys"

// licence is the name of a file with a licence, or with what must go with one.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// A licence's text has whatever must be shown with the modules that are linked: also those that a change adds.
func TestText(t *testing.T) {
	t.Parallel()
	modules := linked(t)
	if golden.Updating() {
		golden.File(t, file, text(t, modules))
		return
	}
	const remedy = `: run "go generate ./internal/licences" and commit ` + file
	for _, m := range slices.Sorted(maps.Keys(modules)) {
		if !strings.Contains(licences.Text, "\n- "+m+"\n") {
			t.Errorf("the module %s is linked, and its licence isn't in %s%s", m, file, remedy)
		}
	}
	if !t.Failed() && licences.Text != text(t, modules) {
		t.Errorf("%s differs from the licences of the modules that are linked%s", file, remedy)
	}
}

// linked returns the directories that packages linked into Hark are in, and those above them up to the module's root, by
// the modules' names.
func linked(t *testing.T) map[string][]string {
	t.Helper()
	modules := map[string][]string{}
	for _, system := range systems {
		for _, p := range packages(t, system) {
			for dir := p.dir; ; dir = filepath.Dir(dir) {
				modules[p.module] = append(modules[p.module], dir)
				if dir == p.root {
					break
				}
			}
		}
	}
	if len(modules) < 10 {
		t.Fatalf("only %d modules are linked", len(modules))
	}
	for name, dirs := range modules {
		slices.Sort(dirs)
		modules[name] = slices.Compact(dirs)
	}
	return modules
}

// linkedPackage is one that is linked into Hark.
type linkedPackage struct {
	module string
	root   string // the module's directory
	dir    string
}

// packages lists those of other modules that are linked into Hark on a system.
func packages(t *testing.T, system string) []linkedPackage {
	t.Helper()
	const format = "{{with .Module}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}"
	list := exec.Command("go", "list", "-deps", "-f", format, "hark/cmd/hark")
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = t.Output()
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []linkedPackage
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) == 3 && fields[0] != "hark" {
			all = append(all, linkedPackage{module: fields[0], root: fields[1], dir: fields[2]})
		}
	}
	return all
}

// text returns what licences.txt should hold: each text once, with the modules that it is for.
func text(t *testing.T, modules map[string][]string) string {
	t.Helper()
	users := map[string][]string{}
	for name, dirs := range modules {
		texts := textsIn(t, dirs)
		if len(texts) == 0 {
			t.Errorf("the module %s has no licence in %s: it mustn't be passed on", name, dirs[0])
		}
		for _, text := range texts {
			users[text] = append(users[text], name)
			if name == goProject {
				users[text] = append(users[text], "Go's standard library")
			}
		}
	}
	for _, names := range users {
		slices.Sort(names)
	}
	own, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("Hark is passed on under this licence:\n\n" + tidy(own) +
		"\nThe modules below are part of it. Each is passed on under the terms that stand below its name.\n")
	order := slices.SortedFunc(maps.Keys(users), func(one, other string) int {
		return cmp.Or(slices.Compare(users[one], users[other]), strings.Compare(one, other))
	})
	for _, text := range order {
		b.WriteString("\n" + strings.Repeat("=", 80) + "\n- " + strings.Join(users[text], "\n- ") + "\n\n" + text)
	}
	return b.String()
}

// textsIn returns the licences in directories of a module, each once.
func textsIn(t *testing.T, dirs []string) []string {
	t.Helper()
	var texts []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !isLicence(e) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, tidy(data))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// isLicence reports whether a file of a module is a licence. A module's logo isn't linked.
func isLicence(e fs.DirEntry) bool {
	return !e.IsDir() && licence.MatchString(e.Name()) && path.Ext(e.Name()) != ".go" && e.Name() != "LICENSE-LOGO"
}

// tidy returns a text without the white space that nobody sees, so that texts that read the same are the same.
func tidy(data []byte) string {
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}
