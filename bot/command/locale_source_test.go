package command

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// speech is the source's texts for people.
type speech struct {
	texts   map[string]gotoken.Position
	plurals map[string]string // singulars by plural
	bounds  map[string]int    // Discord's limits of texts, in characters
	faults  []string

	described map[string]bool // descriptions, which the registration translates
}

// saidBy are the packages with texts for people, and whether all their sentences are such texts.
var saidBy = map[string]bool{
	".": true, "../markdown": true, "../discord": true, "../ingest": true, "../reply": true,
	"../locale": false, "../../memory": false, "../../internal/answer": false,
}

// readSource reads the packages' texts.
func readSource(t *testing.T) speech {
	t.Helper()
	_, described := namesAndWords(registered())
	s := speech{map[string]gotoken.Position{}, map[string]string{}, map[string]int{}, nil, described}
	for dir, whole := range saidBy {
		s.readPackage(t, dir, whole)
	}
	return s
}

func (s *speech) readPackage(t *testing.T, dir string, whole bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: no source: %v", dir, err)
	}
	var files []*ast.File
	set := gotoken.NewFileSet()
	for _, name := range names {
		page := filepath.Base(name) == "html.go" // only the operator's page is made of that
		if page || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	r := speechReader{speech: s, set: set, consts: constants{}, whole: whole}
	for _, file := range files {
		r.consts.add(file)
	}
	for _, file := range files {
		ast.PreorderStack(file, nil, r.visit)
	}
}

// constants are a package's constants, by name.
type constants map[string]constant

type constant struct {
	value ast.Expr
	key   bool // whether it is a locale.MessageKey
}

func (c constants) add(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		decl, is := n.(*ast.GenDecl)
		if !is || decl.Tok != gotoken.CONST {
			return true
		}
		for _, spec := range decl.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				c[v.Names[i].Name] = constant{value, isMessageKey(v)}
			}
		}
		return true
	})
}

func isMessageKey(v *ast.ValueSpec) bool {
	of, is := v.Type.(*ast.SelectorExpr)
	return is && of.Sel.Name == "MessageKey"
}

// text returns the value of a constant text.
func (c constants) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == gotoken.STRING
	case *ast.Ident:
		if c[e.Name].value == nil {
			return "", false
		}
		return c.text(c[e.Name].value)
	case *ast.ParenExpr:
		return c.text(e.X)
	case *ast.BinaryExpr:
		a, isA := c.text(e.X)
		b, isB := c.text(e.Y)
		return a + b, isA && isB && e.Op == gotoken.ADD
	case *ast.CallExpr:
		if name := called(e); len(e.Args) == 1 && (name == "MessageKey" || name == "string") {
			return c.text(e.Args[0])
		}
	}
	return "", false
}

// called returns the name of what is called, without its package or receiver.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// makesMessageKey reports whether a call is a conversion to a message key.
func makesMessageKey(call *ast.CallExpr) bool {
	s, is := call.Fun.(*ast.SelectorExpr)
	if !is || s.Sel.Name != "MessageKey" {
		return false
	}
	of, is := s.X.(*ast.Ident)
	return is && of.Name == "locale"
}

func isMethod(call *ast.CallExpr) bool { _, is := call.Fun.(*ast.SelectorExpr); return is }

// speechReader reads one package.
type speechReader struct {
	*speech
	set    *gotoken.FileSet
	consts constants
	whole  bool // as in saidBy
}

func (r *speechReader) visit(n ast.Node, stack []ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		r.call(n)
		if called(n) == "Text" && isMethod(n) && len(n.Args) > 0 {
			if words, is := r.consts.text(n.Args[0]); is {
				r.bound(words, stack)
			}
		}
	case *ast.ValueSpec:
		for _, value := range n.Values {
			if isMessageKey(n) {
				r.text(value)
			}
		}
	case *ast.FuncDecl:
		if n.Name.Name == "Sentence" && n.Recv != nil && n.Body != nil {
			ast.Inspect(n.Body, func(in ast.Node) bool {
				if back, is := in.(*ast.ReturnStmt); is && len(back.Results) == 1 {
					r.text(back.Results[0])
				}
				return true
			})
		}
	case ast.Expr:
		if words, is := r.consts.text(n); is && r.whole && sentenceLike.MatchString(words) &&
			!r.described[words] && !r.isUse(n, stack) && !isTold(stack) {
			r.fault(n, "%.60q isn't said in anybody's language: give it to text or count, or make it a message key", words)
		}
	}
	return true
}

func (r *speechReader) call(n *ast.CallExpr) {
	switch name := called(n); {
	case name == "Text" && isMethod(n) && len(n.Args) > 0, makesMessageKey(n), name == "Complain":
		r.text(n.Args[0])
	case name == "Count" && isMethod(n) && len(n.Args) > 2:
		one, isOne := r.consts.text(n.Args[1])
		other, isOther := r.consts.text(n.Args[2])
		switch was, there := r.plurals[other]; {
		case !isOne || !isOther:
			r.fault(n, "what is counted isn't constant")
		case there && was != one:
			r.fault(n, "%q is one of another thing too: %q", other, was)
		case !sameVerbs(one, other) || n.Ellipsis == 0 && len(verbs(other)) != len(n.Args)-2:
			r.fault(n, "the verbs of %q and %q don't match, or not what is given", one, other)
		}
		r.plurals[other] = one
	}
}

// bound notes Discord's limit of a text within these nodes.
// https://discord.com/developers/docs/components/reference
func (r *speechReader) bound(words string, stack []ast.Node) {
	for _, n := range stack {
		most := 0
		switch n := n.(type) {
		case *ast.CallExpr:
			most = map[string]int{"Button": 80, "Menu": 150, "ChannelMenu": 150, "Input": 45}[called(n)]
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is {
				most = map[string]int{"Title": 45, "Label": 45}[key.Name]
			}
		}
		if was := r.bounds[words]; most != 0 && (was == 0 || most < was) {
			r.bounds[words] = most
		}
	}
}

func (r *speechReader) text(e ast.Expr) {
	words, is := r.consts.text(e)
	switch {
	case is:
		r.texts[words] = r.set.Position(e.Pos())
	case filepath.Base(filepath.Dir(r.set.Position(e.Pos()).Filename)) != "locale": // it passes texts on
		r.fault(e, "what is said isn't constant")
	}
}

func (r *speechReader) fault(at ast.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf("%v: ", r.set.Position(at.Pos()))+fmt.Sprintf(format, args...))
}

// sentenceLike matches two words, the second of which isn't a name.
var sentenceLike = regexp.MustCompile(`\p{L}{2,}[,.:;]? \p{Ll}{2,}`)

// isUse reports whether a text is part of another, a key, a name or a message key.
func (r *speechReader) isUse(n ast.Expr, stack []ast.Node) bool {
	if name, is := n.(*ast.Ident); is && r.consts[name.Name].key {
		return true
	}
	switch in := stack[len(stack)-1].(type) {
	case *ast.BinaryExpr:
		_, whole := r.consts.text(in)
		return whole
	case *ast.SelectorExpr:
		return n == in.Sel
	case *ast.IndexExpr:
		return n == in.Index
	case *ast.KeyValueExpr:
		return n == in.Key
	case *ast.ValueSpec, *ast.Field, *ast.FuncDecl, *ast.CaseClause:
		return true
	}
	return false
}

// toldElsewhere are functions whose texts are translated, logged or errors.
var toldElsewhere = []string{
	"Text", "Count", "Keyed", "MessageKey", "Complain", "Msg", "Errorf", "New", "Wrap", "Recover", "Report",
	"failed", "undelivered", "logLack", "report", "warn", // logs
	"apply", "inMenu",
}

// isTold reports whether texts in these nodes are translated, or only read by whoever runs Hark.
func isTold(stack []ast.Node) bool {
	return slices.ContainsFunc(stack, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return slices.Contains(toldElsewhere, called(n))
		case *ast.FuncDecl:
			return n.Recv != nil && (n.Name.Name == "Error" || n.Name.Name == "Sentence") ||
				n.Name.Name == "account"
		case *ast.KeyValueExpr:
			key, is := n.Key.(*ast.Ident)
			return is && (key.Name == "Description" || key.Name == "Choices" || key.Name == "Name")
		}
		return false
	})
}

// verb matches a verb of fmt.Sprintf, and an escaped percent sign.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*[\d.]*(?:\[(\d+)\])?([a-zA-Z%])`)

// verbs returns a format's verbs by argument.
func verbs(format string) map[int]string {
	all := map[int]string{}
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[3] == "%" {
			continue
		}
		if n, err := strconv.Atoi(m[1] + m[2]); err == nil {
			next = n
		}
		if was := all[next]; was != "" && was != m[3] {
			return map[int]string{0: "two verbs for one argument"}
		}
		all[next] = m[3]
		next++
	}
	return all
}

func sameVerbs(a, b string) bool { return fmt.Sprint(verbs(a)) == fmt.Sprint(verbs(b)) }

// TestWordsAreSaidInALocale finds texts for people that aren't translated.
func TestWordsAreSaidInALocale(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	for _, fault := range s.faults {
		t.Error(fault)
	}
	if len(s.texts) == 0 || len(s.bounds) == 0 {
		t.Errorf("%d texts, bounds of %v", len(s.texts), s.bounds)
	}
}
