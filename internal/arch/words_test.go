package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Discord's members and admins speak of servers; only its API, the code and flags speak of guilds.
func TestPeopleReadOfServers(t *testing.T) {
	t.Parallel()
	prose := regexp.MustCompile(`\b(a|an|the|its|their|your|of|in|ask|at|what|many|each|any|this|whole) guilds?\b|^guilds? %`)
	isSQL := regexp.MustCompile(`\b(SELECT|WHERE|EXISTS|CREATE)\b`)
	counted := regexp.MustCompile(`^guilds?$`)
	for _, name := range goFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			said := ""
			pattern := prose
			switch n := n.(type) {
			case *ast.CallExpr:
				called, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || called.Sel.Name != "Plural" || len(n.Args) < 2 {
					return true
				}
				said = literal(n.Args[1])
				pattern = counted
			case *ast.BasicLit:
				said = literal(n)
			}
			if pattern.MatchString(said) && !isSQL.MatchString(said) {
				t.Errorf("%s: %q: write of servers", name, said)
			}
			return true
		})
	}
}

// goFiles are the product's, without tests and what is for tests.
func goFiles(t *testing.T) []string {
	var names []string
	for _, s := range sources(t, "../..") {
		if !s.test && !slices.Contains(fakes, s.pkg) {
			names = append(names, s.name)
		}
	}
	return names
}

// literal returns the text of a string literal; "" of anything else.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(text, "\n", " ")
}
