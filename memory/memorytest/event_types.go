package memorytest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// EventTypes returns the names of all types of event, sorted, from the source of package memory in dir.
func EventTypes(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			method, is := d.(*ast.FuncDecl)
			if is && method.Recv != nil && method.Name.Name == "Place" {
				names = append(names, method.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("no types of event in %s", dir)
	}
	slices.Sort(names)
	return names
}
