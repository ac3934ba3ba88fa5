package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"hark/internal/terminal"
	"hark/memory"
)

// show answers with a page.
func (v *visit) show(status int, name, title string, data any) error {
	p := page{
		Title:    title,
		Section:  section(v.r.URL.Path),
		Version:  v.Version,
		LoggedIn: v.access.isLoggedIn(v.r),
		Data:     data,
	}
	if again, is := data.(interface{ refresh() string }); is {
		p.Refresh = again.refresh()
	}
	t, err := templates()[name].Clone()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Funcs(v.funcs()).ExecuteTemplate(&b, "page.html", p); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes()) // an error means that the client hung up
	return nil
}

// templates are the pages by name.
var templates = sync.OnceValue(func() map[string]*template.Template {
	v := &visit{}
	all := map[string]*template.Template{}
	names, err := fs.Glob(files, "files/templates/*.html")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, name := range names {
		own := strings.TrimSuffix(path.Base(name), ".html")
		all[own] = template.Must(template.New(own).Funcs(v.funcs()).ParseFS(files, "files/templates/page.html",
			"files/templates/parts.html", name))
	}
	return all
})

// funcs are the functions of the templates.
func (v *visit) funcs() template.FuncMap {
	return template.FuncMap{
		"loreurl": func(l memory.Lore) string { return loreURL(l.Guild, l.ID) },
		"time": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.In(v.zone()).Format("2006-01-02 15:04")
		},
		"clock":       func(t time.Time) string { return t.In(v.zone()).Format("15:04") },
		"day":         func(t time.Time) string { return t.In(v.zone()).Format("Monday, 2 January 2006") },
		"iso":         func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"ms":          span,
		"bytes":       func(n int64) string { return terminal.Bytes(n) },
		"count":       func(n int, noun string) string { return number(n) + plural(n, noun) },
		"number":      func(n any) string { return number(int(reflect.ValueOf(n).Int())) },
		"percent":     func(of float64) string { return fmt.Sprintf("%.0f %%", 100*of) },
		"two":         func(f float64) string { return fmt.Sprintf("%.2f", f) },
		"line":        visible,
		"markup":      v.markup,
		"words":       words,
		"mark":        func(relevance float64) string { return v.app.Builder.Labels().Relevance(relevance) },
		"add":         func(a, b int) int { return a + b },
		"pair":        func(a, b any) pair { return pair{a, b} },
		"guildchoice": func(any string, all []choice, chosen string) guildChoice { return guildChoice{any, all, chosen} },
		"groupchoice": func(all []choiceGroup, chosen string) groupChoice { return groupChoice{all, chosen} },
		"guildid": func(g *memory.Guild) string {
			if g == nil {
				return ""
			}
			return g.ID.String()
		},
	}
}

// page is what all templates get.
type page struct {
	Title    string
	Section  string // of the menu
	Version  string
	LoggedIn bool
	Refresh  string // when the page loads again, and what; empty: it doesn't
	Data     any
}

// section returns the first part of a path.
func section(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// finish shows what went wrong.
func (v *visit) finish(err error) {
	status := http.StatusInternalServerError
	switch {
	case err == nil || v.ctx.Err() != nil:
		return
	case errors.As(err, new(missing)) || errors.Is(err, memory.ErrNotFound):
		status = http.StatusNotFound
	case v.app != nil && v.App() != v.app: // it was closed meanwhile
		status = http.StatusServiceUnavailable
		err = errStarted
	case errors.Is(err, errStarted):
		status = http.StatusServiceUnavailable
	case errors.As(err, new(complaint)) || errors.As(err, new(memory.ValidationError)):
		status = http.StatusBadRequest
	}
	if err := v.show(status, "wrong", "That didn't work", err.Error()); err != nil {
		http.Error(v.w, err.Error(), status)
	}
}

// refuse tells nothing but how to log in.
func (v *visit) refuse() {
	_ = v.show(http.StatusUnauthorized, "login", "Log in", loginData{Password: v.Web.Password.IsSet()})
}

// static serves the style sheet and the script.
func static(v *visit) error {
	content, err := files.ReadFile("files/" + v.r.PathValue("file"))
	if err != nil || strings.Contains(v.r.PathValue("file"), "/") {
		return errNoPage
	}
	http.ServeContent(v.w, v.r, v.r.PathValue("file"), time.Time{}, bytes.NewReader(content))
	return nil
}

// What templates give to their parts.
type (
	pair        struct{ A, B any }
	guildChoice struct {
		Any     string
		Choices []choice
		Chosen  string
	}
	groupChoice struct {
		Groups []choiceGroup
		Chosen string
	}
)
