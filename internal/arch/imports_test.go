package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "hark/"

// rules says for each package which others of Hark it may import, besides the leaves, in files that aren't
// tests. The imports run against the data: memory ← search ← builder ← internal/digest ← internal/answer ← bot ← cmd/hark.
var rules = map[string][]string{
	"memory":                       {},
	"memory/sqlite":                {"memory"},
	"memory/sqlite/sqlitetest":     {"memory/sqlite", "internal/fixture"},
	"memory/memorytest":            {"memory"},
	"search":                       {"memory"},
	"builder":                      {"memory", "search"},
	"internal/digest":              {"memory", "search", "builder"},
	"internal/answer":              {"memory", "search", "builder", "internal/digest"},
	"internal/llm":                 {"internal/endpoint"},
	"internal/endpoint":            {},
	"internal/embed":               {"memory", "internal/endpoint"},
	"internal/rerank":              {"internal/endpoint"},
	"internal/imports":             {"memory"},
	"internal/migrate":             {"internal/config"},
	"internal/portrait":            {"memory", "internal/exports"},
	"internal/exports":             {"memory", "internal/imports"},
	"internal/tune":                {"search", "internal/embed", "internal/eval"},
	"internal/eval":                {"memory", "memory/sqlite", "search", "builder", "internal/answer", "internal/imports"},
	"internal/chat":                {},
	"internal/atomicfile":          {},
	"internal/config":              {},
	"internal/metrics":             {},
	"internal/metrics/metricstest": {"internal/metrics"},
	"internal/dates":               {},
	"internal/text":                {},
	"internal/tokens":              {},
	"internal/tokens/tokenstest":   {},
	"internal/arch":                {},
	"internal/discordtest":         {"internal/wait"},
	"internal/fixture":             {},
	"internal/golden":              {},
	"internal/guildtest":           {"memory"},
	"internal/llmtest":             {},
	"internal/wait":                {},
	"internal/web":                 besides("bot", "cmd/hark"),
	"bot":                          besides("cmd/hark"),
	"cmd/hark":                     besides(),
}

// leaves import nothing of Hark, and anything may import them.
var leaves = []string{"internal/atomicfile", "internal/chat", "internal/dates", "internal/metrics", "internal/text", "internal/tokens"}

// fakes are for tests.
var fakes = []string{"memory/memorytest", "memory/sqlite/sqlitetest", "internal/discordtest", "internal/fixture", "internal/golden", "internal/guildtest", "internal/llmtest", "internal/metrics/metricstest", "internal/tokens/tokenstest", "internal/wait"}

// doors says which packages may import a library, in tests as well: what it speaks stops there.
var doors = map[string][]string{
	"github.com/bwmarrin/discordgo":      {"bot", "internal/discordtest"},
	"github.com/sashabaranov/go-openai":  {"internal/llm"},
	"modernc.org/sqlite":                 {"memory/sqlite"},
	"go.yaml.in/yaml/v3":                 {"internal/migrate"},
	"github.com/philippgille/chromem-go": {"memory/sqlite"},
	"github.com/prometheus":              {"internal/metrics"},
}

// besides is a rule that forbids the packages named and allows all others.
func besides(packages ...string) []string { return append([]string{"*"}, packages...) }

func allows(rule []string, pkg string) bool {
	if len(rule) > 0 && rule[0] == "*" {
		return !slices.Contains(rule[1:], pkg)
	}
	return slices.Contains(rule, pkg)
}

// source is a Go file: its package's path in the module, and what it imports.
type source struct {
	pkg     string
	test    bool
	imports []string
}

// violations says what s imports and mustn't.
func violations(s source) []string {
	rule, known := rules[s.pkg]
	if !known {
		return []string{fmt.Sprintf("%s has no line in rules: decide what it may import", s.pkg)}
	}
	var found []string
	for _, imported := range s.imports {
		if why := forbidden(s, rule, imported); why != "" {
			found = append(found, fmt.Sprintf("%s imports %s: %s", s.pkg, imported, why))
		}
	}
	return found
}

func forbidden(s source, rule []string, imported string) string {
	for library, allowed := range doors {
		inside := imported == library || strings.HasPrefix(imported, library+"/")
		if inside && !slices.Contains(allowed, s.pkg) {
			return "only " + strings.Join(allowed, " and ") + " may"
		}
	}
	pkg, ours := strings.CutPrefix(imported, module)
	switch {
	case !ours || s.test || slices.Contains(leaves, pkg):
		return ""
	case slices.Contains(fakes, pkg) && !slices.Contains(fakes, s.pkg):
		return "only tests may"
	case !allows(rule, pkg):
		return "the imports run the other way"
	}
	return ""
}

func TestImports(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range sources(t, "../..") {
		seen[s.pkg] = true
		for _, v := range violations(s) {
			t.Error(v)
		}
	}
	for _, pkg := range []string{"memory", "search", "internal/config", "internal/arch"} {
		if !seen[pkg] {
			t.Errorf("%s wasn't looked at", pkg)
		}
	}
}

// sources reads the imports of every Go file of the module, whatever system it is for.
func sources(t *testing.T, root string) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		s := source{pkg: filepath.ToSlash(relative), test: strings.HasSuffix(name, "_test.go")}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		list = append(list, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Each rule names packages that there are rules for, so that a misspelt one can't allow or forbid nothing.
func TestRulesNamePackages(t *testing.T) {
	t.Parallel()
	for pkg, rule := range rules {
		for _, name := range rule {
			if _, known := rules[name]; !known && name != "*" {
				t.Errorf("the rule for %s names %s, which has none", pkg, name)
			}
		}
	}
	for _, name := range slices.Concat(leaves, fakes) {
		if _, known := rules[name]; !known {
			t.Errorf("%s has no rule", name)
		}
	}
}
