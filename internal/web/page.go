package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"hark/internal/archive"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
)

// visit is a request for a page.
type visit struct {
	*Site
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context

	app     *setup.App
	archive *archive.Archive
	direct  *memory.Guild // the direct messages
	people  map[memory.Membership]memory.Person
}

// Errors that a visitor sees as a page.
var (
	errNoPage  = missing{errors.New("there is no such page")}
	errStarted = errors.New("Hark is still starting, or waits for its configuration to change: try again in a moment")
)

// missing is an error about what isn't there.
type missing struct{ error }

// complaint is an error in what the visitor entered.
type complaint struct{ error }

func complain(format string, args ...any) error { return complaint{fmt.Errorf(format, args...)} }

// open opens the memory for a page.
func (v *visit) open() (err error) {
	if v.app = v.App(); v.app == nil {
		return errStarted
	}
	if v.archive, err = archive.New(v.ctx, v.app.Store, v.app.Config); err != nil {
		return err
	}
	// Direct messages are used only where they were written, and nobody else looks at them. They are only counted.
	v.direct = v.archive.GuildByID(memory.DirectGuild)
	v.archive.Servers = slices.DeleteFunc(v.archive.Servers,
		func(g *memory.Guild) bool { return g.ID == memory.DirectGuild })
	v.people = map[memory.Membership]memory.Person{}
	return nil
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

// show answers with a page.
func (v *visit) show(status int, name, title string, data any) error {
	p := page{Title: title, Section: section(v.r.URL.Path), Version: v.Version, LoggedIn: v.access.isLoggedIn(v.r),
		Data: data}
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

// section returns the first part of a path.
func section(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
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
		status, err = http.StatusServiceUnavailable, errStarted
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

// static serves the style sheet and the script.
func static(v *visit) error {
	content, err := files.ReadFile("files/" + v.r.PathValue("file"))
	if err != nil || strings.Contains(v.r.PathValue("file"), "/") {
		return errNoPage
	}
	http.ServeContent(v.w, v.r, v.r.PathValue("file"), time.Time{}, bytes.NewReader(content))
	return nil
}

// form returns a field of the query.
func (v *visit) form(name string) string { return strings.TrimSpace(v.r.FormValue(name)) }

// id reads an id from the path or the query; 0 if there is none.
func id[T ~int64](v *visit, name string) (T, error) {
	text := cmp.Or(v.r.PathValue(name), v.form(name))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, complain("%s: %q is no id", name, text)
	}
	return T(n), nil
}

// guildOrOnly returns the guild that the query names, or the only one that choices name; nil if there are several.
func (v *visit) guildOrOnly(choices []choice) (*memory.Guild, error) {
	g, err := v.guild()
	if g != nil || err != nil || len(choices) != 1 {
		return g, err
	}
	for _, only := range v.archive.Servers {
		if only.ID.String() == choices[0].Value {
			return only, nil
		}
	}
	return nil, nil
}

// discordGuilds are the servers in Discord, to choose from.
func (v *visit) discordGuilds() (choices []choice) {
	for _, g := range v.archive.Servers {
		if g.ID != memory.DirectGuild && g.ID != memory.LocalGuild {
			choices = append(choices, choice{g.ID.String(), v.guildRef(g.ID).Name})
		}
	}
	return choices
}

// guild returns the guild that the path or the query names; nil if it names none.
func (v *visit) guild() (*memory.Guild, error) {
	n, err := id[memory.GuildID](v, "guild")
	if err != nil || v.r.PathValue("guild") == "" && v.form("guild") == "" {
		return nil, err
	}
	for _, g := range v.archive.Servers {
		if g.ID == n {
			return g, nil
		}
	}
	return nil, errNoPage
}

// channelOf returns a channel, and its guild, by its id.
func (v *visit) channelOf(id memory.ChannelID) (*memory.Guild, *memory.Channel, error) {
	for _, g := range v.archive.Servers {
		if c := g.Channel(id); c != nil {
			return g, c, nil
		}
	}
	return nil, nil, errNoPage
}

// person returns somebody as a guild knows them, or another guild if the talk is the terminal's: it is about people of
// all guilds.
func (v *visit) person(guild memory.GuildID, user memory.UserID) memory.Person {
	who := memory.Membership{Guild: guild, User: user}
	p, known := v.people[who]
	if known {
		return p
	}
	p, known = v.lookUp(guild, user)
	if !known && guild == memory.LocalGuild {
		for _, g := range v.archive.Servers {
			elsewhere, is := v.lookUp(g.ID, user)
			if is {
				p = elsewhere
				break
			}
		}
	}
	v.people[who] = p
	return p
}

// lookUp returns somebody as a guild knows them; known is false if it doesn't.
func (v *visit) lookUp(guild memory.GuildID, user memory.UserID) (p memory.Person, known bool) {
	found, err := v.app.Store.People(v.ctx, guild, user)
	if err != nil || len(found) == 0 {
		return memory.Person{ID: user, Guild: guild}, false
	}
	return found[0], true
}

// refOf is something to link to, with its name.
type refOf struct{ Name, URL string }

func (v *visit) personRef(guild memory.GuildID, user memory.UserID) refOf {
	if user == 0 {
		return refOf{Name: "nobody"}
	}
	if v.archive.GuildByID(guild).Self == user {
		return refOf{"Hark", fmt.Sprintf("/memory/%d/people/%d", guild, user)}
	}
	p := v.person(guild, user)
	return refOf{cmp.Or(p.DisplayName(), user.String()), fmt.Sprintf("/memory/%d/people/%d", p.Guild, user)}
}

// channelRef names a channel. A category has no page, nor has a channel that isn't remembered.
func (v *visit) channelRef(guild memory.GuildID, channel memory.ChannelID) refOf {
	c := v.archive.GuildByID(guild).Channel(channel)
	name := v.archive.ChannelName(guild, channel)
	switch {
	case c == nil:
		return refOf{Name: "#" + name}
	case c.Kind == memory.CategoryChannel:
		return refOf{Name: name}
	}
	return refOf{"#" + name, fmt.Sprintf("/memory/%d/%d", guild, channel)}
}

func (v *visit) guildRef(guild memory.GuildID) refOf {
	return refOf{archive.GuildName(v.archive.GuildByID(guild)), fmt.Sprintf("/memory/%d", guild)}
}

// messageURL is where the log shows a message; "" if its channel isn't remembered.
func (v *visit) messageURL(guild memory.GuildID, channel memory.ChannelID, message memory.MessageID) string {
	if v.channelRef(guild, channel).URL == "" {
		return ""
	}
	return messageURL(guild, channel, message)
}

// messageURL is where the log of a channel that is remembered shows a message.
func messageURL(guild memory.GuildID, channel memory.ChannelID, message memory.MessageID) string {
	return fmt.Sprintf("/memory/%d/%d?at=%d#m%[3]d", guild, channel, message)
}

// with returns the page's address with changed fields of its query; an empty value removes one.
func (v *visit) with(fields ...string) string {
	q := v.r.URL.Query()
	for i := 0; i+1 < len(fields); i += 2 {
		if q.Del(fields[i]); fields[i+1] != "" {
			q.Set(fields[i], fields[i+1])
		}
	}
	return (&url.URL{Path: v.r.URL.Path, RawQuery: q.Encode()}).String()
}

// zone is the configured time zone.
func (v *visit) zone() *time.Location {
	if v.app == nil {
		return time.UTC
	}
	return v.app.Config.Answer.Location()
}

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

// span writes a duration with two units at most.
func span(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", minutes)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	default:
		return fmt.Sprintf("%d days", minutes/60/24)
	}
}

// number writes a number with spaces between thousands.
func number(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "\u202f" + text[at:]
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return " " + noun
	}
	first, rest, compound := strings.Cut(noun, " of ") // "piece of lore"
	switch {
	case noun == "person":
		return " people"
	case compound:
		return " " + first + "s of " + rest
	case strings.HasSuffix(noun, "y"):
		return " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return " " + noun + "s"
}

// visible shows characters that can't be seen, or that turn the text around them, as their codes.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// words turns a name of the code, such as "previous_context", into words.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
