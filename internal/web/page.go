package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hark/internal/archive"
	"hark/internal/setup"
	"hark/memory"
)

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
	v.app = v.App()
	if v.app == nil {
		return errStarted
	}
	v.archive, err = archive.New(v.ctx, v.app.Store, v.app.Config)
	if err != nil {
		return err
	}
	// Direct messages are used only where they were written, and nobody else looks at them. They are only counted.
	v.direct = v.archive.GuildByID(memory.DirectGuild)
	v.archive.Servers = slices.DeleteFunc(v.archive.Servers,
		func(g *memory.Guild) bool { return g.ID == memory.DirectGuild })
	v.people = map[memory.Membership]memory.Person{}
	return nil
}

func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
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
		q.Del(fields[i])
		if fields[i+1] != "" {
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

type choice struct {
	Value, Name string
}

// choiceGroup is the channels of a server, to choose from.
type choiceGroup struct {
	Name    string
	Choices []choice
}

// loreURL is the page of a server's lore that has one with an id.
func loreURL(guild memory.GuildID, id int64) string {
	return fmt.Sprintf("/memory/%d/lore?after=%d#l%d", guild, id-1, id)
}

// audienceURL is the page of what may be told in a channel.
func audienceURL(guild memory.GuildID, place memory.ChannelID) string {
	return "/audience?" + encode("guild", guild.String(), "place", place.String())
}

// channelName names a channel that a message of a guild links to. One in the terminal may link to any.
func (v *visit) channelName(guild memory.GuildID, channel memory.ChannelID) string {
	own, _, err := v.channelOf(channel)
	if guild == memory.LocalGuild && err == nil {
		guild = own.ID
	}
	return v.channelRef(guild, channel).Name
}

func (v *visit) policy() memory.Policy { return setup.Policy(v.app.Config) }

// encode returns a query of names and values.
func encode(fields ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i+1] != "" {
			q.Set(fields[i], fields[i+1])
		}
	}
	return q.Encode()
}
