package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "hark/"

// rules says for each package which others of Hark it may import, besides the leaves, in files that aren't
// tests. The imports run against the data: memory ← search ← builder ← internal/digest ← internal/answer ←
// bot ← cmd/hark.
var rules = map[string][]string{
	"memory":                       {},
	"memory/vectors":               {"memory"},
	"memory/sqlite":                {"memory", "memory/seal", "memory/sqlstore", "memory/vectors"},
	"memory/seal":                  {},
	"memory/sqlstore":              {"memory", "memory/seal", "memory/vectors"},
	"memory/sqlite/sqlitetest":     {"memory/sqlite", "internal/fixture"},
	"memory/postgres":              {"memory", "memory/seal", "memory/sqlstore", "memory/vectors"},
	"memory/postgres/postgrestest": {"memory/postgres"},
	"memory/memorytest":            {"memory", "internal/embed"},
	"search":                       {"memory"},
	"builder":                      {"memory", "search", "builder/escape"},
	"builder/escape":               {},
	"internal/digest":              {"memory", "search", "builder"},
	"internal/answer": {"memory", "search", "builder", "internal/digest", "internal/answer/manifest",
		"internal/answer/tools"},
	"internal/answer/manifest": {"memory", "search", "internal/digest"},
	"internal/answer/tools":    {"memory", "search", "builder", "internal/digest", "internal/answer/manifest"},
	"internal/llm":             {"internal/endpoint", "internal/llm/failure", "internal/llm/stream"},
	"internal/llm/failure":     {},
	"internal/llm/stream":      {"internal/llm/failure"},
	"internal/endpoint":        {"internal/llm/failure"},
	"internal/embed":           {"memory", "internal/endpoint"},
	"internal/embed/static":    {"memory"},
	"internal/rerank":          {"internal/endpoint"},
	"internal/media":           {"memory"},
	"internal/body":            {"memory"},
	"internal/imports":         {"memory", "internal/body"},
	"internal/migrate":         {"internal/config"},
	"internal/personaldata":    {"memory", "internal/exports"},
	"internal/exports":         {"memory", "internal/imports"},
	"internal/tune":            {"search", "internal/embed", "internal/eval"},
	"internal/eval": {"memory", "memory/sqlite", "search", "builder", "internal/answer",
		"internal/imports"},
	"internal/chat":                {},
	"internal/atomicfile":          {},
	"internal/crash":               {},
	"internal/lease":               {},
	"internal/pace":                {},
	"internal/clock":               {},
	"internal/ttl":                 {},
	"internal/config":              {},
	"internal/licences":            {},
	"internal/metrics":             {},
	"internal/metrics/metricstest": {"internal/metrics"},
	"internal/dates":               {},
	"internal/pattern":             {},
	"internal/text":                {},
	"internal/tokens":              {},
	"internal/tokens/tokenstest":   {},
	"internal/terminal":            {},
	"internal/arch":                {},
	"internal/browsertest":         {"internal/wait"},
	"internal/discordtest":         {"internal/wait"},
	"internal/fixture":             {},
	"internal/golden":              {},
	"internal/guildtest":           {"memory"},
	"internal/llamatest":           {"internal/wait"},
	"internal/llmtest":             {},
	"internal/mcptest":             {},
	"internal/mcpclient":           {"internal/answer/tools"},
	"internal/wait":                {},
	"internal/store": {"memory", "memory/seal", "memory/sqlstore", "memory/sqlite", "memory/postgres", "memory/vectors",
		"internal/config"},
	"internal/setup": {"memory", "memory/sqlstore", "search", "builder", "internal/answer", "internal/config",
		"internal/digest", "internal/embed", "internal/embed/static", "internal/llm", "internal/media", "internal/mcpclient",
		"internal/answer/tools", "internal/rerank", "internal/store"},
	"internal/archive": {"memory", "memory/sqlite", "memory/sqlstore", "internal/config", "internal/exports",
		"internal/personaldata", "internal/store"},
	"internal/cli": {"memory", "builder", "internal/config", "internal/exports"},
	"internal/console": {"memory", "memory/sqlstore", "builder", "internal/answer", "internal/archive", "internal/cli",
		"internal/config", "internal/digest", "internal/imports", "internal/personaldata", "internal/setup",
		"bot/locale", "bot/markdown"},
	"internal/doctor": {"memory", "memory/sqlite", "memory/postgres", "internal/config", "internal/endpoint",
		"internal/llm", "internal/setup", "internal/store",
		"internal/health", "internal/clock", "bot/discord"},
	"internal/health":    {},
	"internal/mcpserver": {"memory", "internal/answer", "bot/locale", "bot/markdown"},
	"internal/web":       besides("bot", "bot/shards", "cmd/hark"),
	"bot/locale":         {"memory"},
	"bot/discord":        {"memory", "internal/answer", "internal/body", "internal/clock", "bot/locale", "bot/markdown"},
	"bot/ingest":         {"memory", "search", "bot/locale", "bot/discord", "internal/body"},
	"bot/listen":         {"memory", "internal/answer", "internal/media", "bot/discord", "bot/ingest"},
	"bot/reply": {"memory", "internal/answer", "internal/llm", "bot/locale", "bot/markdown", "bot/discord",
		"bot/ingest"},
	"bot/command": {"memory", "search", "builder", "internal/answer", "internal/llm", "internal/exports",
		"internal/personaldata", "bot/locale", "bot/markdown", "bot/discord", "bot/ingest", "bot/listen", "bot/reply"},
	"bot/markdown": {"memory", "internal/answer", "bot/locale"},
	"bot":          besides("bot/shards", "cmd/hark"),
	"bot/shards":   {"memory", "search", "internal/answer", "internal/lease", "bot", "bot/discord"},
	"cmd/hark":     besides(),
}

// leaves import nothing of Hark, and anything may import them.
var leaves = []string{"internal/atomicfile", "internal/chat", "internal/crash", "internal/dates", "internal/lease",
	"internal/metrics", "internal/pace", "internal/pattern", "internal/terminal", "internal/text", "internal/tokens",
	"internal/ttl"}

// fakes are for tests.
var fakes = []string{"memory/memorytest", "memory/sqlite/sqlitetest", "memory/postgres/postgrestest",
	"internal/browsertest", "internal/discordtest",
	"internal/fixture", "internal/golden", "internal/guildtest", "internal/llamatest", "internal/llmtest", "internal/mcptest", "internal/metrics/metricstest", "internal/tokens/tokenstest", "internal/wait"}

// doors says which packages may import a library, in tests as well: what it speaks stops there.
var doors = map[string][]string{
	"github.com/bwmarrin/discordgo":      {"bot/discord", "internal/discordtest"},
	"github.com/modelcontextprotocol":    {"internal/mcpclient", "internal/mcpserver", "internal/mcptest"},
	"github.com/chromedp":                {"internal/browsertest"},
	"github.com/sashabaranov/go-openai":  {"internal/embed", "internal/llm"},
	"modernc.org/sqlite":                 {"memory/sqlite"},
	"github.com/philippgille/chromem-go": {"memory/vectors"},
	"github.com/jackc/pgx":               {"memory/postgres", "memory/postgres/postgrestest"},
	"go.yaml.in/yaml/v3":                 {"internal/migrate"},
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
	name    string
	pkg     string
	test    bool
	imports []string
}

// forbidden is why s mustn't import that; "" if it may.
func forbidden(s source, imported string) string {
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
	case !allows(rules[s.pkg], pkg):
		return "the imports run the other way"
	}
	return ""
}

func TestImports(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range sources(t, "../..") {
		seen[s.pkg] = true
		if _, known := rules[s.pkg]; !known {
			t.Errorf("%s has no line in rules: decide what it may import", s.pkg)
		}
		for _, imported := range s.imports {
			if why := forbidden(s, imported); why != "" {
				t.Errorf("%s imports %s: %s", s.pkg, imported, why)
			}
		}
	}
	// A misspelt name would allow or forbid nothing.
	for _, named := range append(slices.Collect(maps.Values(rules)), slices.Collect(maps.Keys(rules)), leaves, fakes) {
		for _, pkg := range named {
			if !seen[pkg] && pkg != "*" {
				t.Errorf("rules name %s, which isn't there", pkg)
			}
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
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), root+"/")
		s := source{name: name, pkg: pkg, test: strings.HasSuffix(name, "_test.go")}
		for _, spec := range file.Imports {
			s.imports = append(s.imports, strings.Trim(spec.Path.Value, `"`))
		}
		list = append(list, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
