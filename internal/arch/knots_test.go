package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largestKnot is how many files of a package may refer to each other in circles: those have to be read together. Where
// files are many, each a command or a page, it is less.
const largestKnot = 7

// knots are the packages with other limits.
var knots = map[string]int{
	"bot/command":  3,
	"cmd/hark":     3,
	"internal/web": 3,
}

// TestFilesReferDown reads all packages but those for tests. Whoever ties a new knot moves a declaration down to its
// lowest user, or up to the file that uses it.
func TestFilesReferDown(t *testing.T) {
	t.Parallel()
	files := map[string][]string{}
	for _, s := range sources(t, "../..") {
		if !s.test && !slices.Contains(fakes, s.pkg) {
			files[s.pkg] = append(files[s.pkg], s.name)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		most, other := knots[pkg]
		if !other {
			most = largestKnot
		}
		if tied := knot(t, files[pkg]); len(tied) > most {
			t.Errorf("%s: %d files refer to each other in circles, and %d may: %s", pkg, len(tied), most,
				strings.Join(tied, " "))
		}
	}
	for pkg := range knots {
		if files[pkg] == nil {
			t.Errorf("knots name %s, which isn't there", pkg)
		}
	}
}

// knot returns the most files of a package that refer to each other in circles.
func knot(t *testing.T, names []string) []string {
	t.Helper()
	refers := references(t, names)
	reaches := map[string]map[string]bool{}
	for _, from := range names {
		reaches[from] = reachable(refers, from)
	}
	var largest []string
	for _, a := range names {
		var tied []string
		for _, b := range names {
			if reaches[a][b] && reaches[b][a] {
				tied = append(tied, filepath.Base(b))
			}
		}
		if len(tied) > len(largest) {
			largest = tied
		}
	}
	return largest
}

// reachable returns the files that from refers to, directly or through others, and from itself.
func reachable(refers map[string]map[string]bool, from string) map[string]bool {
	seen := map[string]bool{from: true}
	queue := []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for next := range refers[at] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return seen
}

// references returns for each file those whose declarations it uses.
func references(t *testing.T, names []string) map[string]map[string]bool {
	t.Helper()
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	used := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// What other packages declare isn't loaded, so some names stay unknown: they are no references to files of this one.
	config := types.Config{Importer: unloaded{}, Error: func(error) {}, FakeImportC: true}
	own, _ := config.Check("p", set, parsed, used)
	refers := map[string]map[string]bool{}
	for id, object := range used.Uses {
		if object.Pkg() != own || !object.Pos().IsValid() {
			continue
		}
		from := set.Position(id.Pos()).Filename
		to := set.Position(object.Pos()).Filename
		if refers[from] == nil {
			refers[from] = map[string]bool{}
		}
		refers[from][to] = true
	}
	return refers
}

// unloaded imports every package as an empty one.
type unloaded struct{}

func (unloaded) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func TestKnotsAreFound(t *testing.T) {
	t.Parallel()
	tied := knot(t, []string{"testdata/knot/a.go", "testdata/knot/b.go", "testdata/knot/c.go"})
	if want := []string{"a.go", "b.go"}; !slices.Equal(tied, want) {
		t.Errorf("tied are %v, want %v", tied, want)
	}
}
