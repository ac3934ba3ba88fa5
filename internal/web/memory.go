package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

const peopleShown = 100

type serversData struct {
	Servers []serverRow
	Next    string
}

// servers lists the servers.
func servers(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	from, err := id[memory.GuildID](v, "from")
	if err != nil {
		return err
	}
	var d serversData
	var more memory.GuildID
	d.Servers, more, err = v.serverRows(from)
	if err != nil {
		return err
	}
	if more != 0 {
		d.Next = v.with("from", more.String())
	}
	return v.show(http.StatusOK, "servers", "Memory", d)
}

type serverData struct {
	Guild    *memory.Guild
	Ref      refOf
	Channels []channelRow
	People   int
	Lore     int
	Choice   string
	Talk     plot
}

// channelRow is what is kept of a channel.
type channelRow struct {
	Ref        refOf
	Kind       string
	Thread     bool // below its channel
	Stray      bool // a thread whose channel isn't remembered
	FirstStray bool
	Messages   int
	Remembered bool
	Choice     string
	Gaps       int
	AgeLimited bool
	Shut       bool
}

// choiceNames say what admins chose to remember.
var choiceNames = map[memory.Choice]string{memory.Remember: "remembered", memory.RememberPublic: "public channels",
	memory.RememberChosen: "chosen channels", memory.Ignore: "nothing"}

// serverPage shows what is kept of a server.
func serverPage(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	g, err := v.guild()
	if err != nil {
		return err
	}
	d := serverData{
		Guild:  g,
		Ref:    v.guildRef(g.ID),
		Choice: choiceNames[g.Choice],
	}
	gaps, err := v.app.Store.Gaps(v.ctx, g.ID, false)
	if err != nil {
		return err
	}
	missing := map[memory.ChannelID]int{}
	for _, gap := range gaps {
		missing[gap.Channel]++
	}
	for _, c := range inOrder(g) {
		if c.Kind == memory.CategoryChannel {
			continue
		}
		row := channelRow{
			Ref:        v.channelRef(g.ID, c.ID),
			Kind:       kindNames[c.Kind],
			Thread:     c.Kind.IsThread(),
			Stray:      isStray(g, c),
			Remembered: v.policy().Remembers(g, c.ID),
			Choice:     choiceNames[c.Choice],
			Gaps:       missing[c.ID],
			AgeLimited: c.AgeLimited,
			Shut:       c.Shut,
		}
		row.Messages, _, err = v.app.Store.Frequencies(v.ctx, memory.Scope{Channels: []memory.ChannelID{c.ID}}, nil,
			0)
		if err != nil {
			return err
		}
		row.FirstStray = row.Stray && (len(d.Channels) == 0 || !d.Channels[len(d.Channels)-1].Stray)
		d.Channels = append(d.Channels, row)
	}
	known, err := v.app.Store.People(v.ctx, g.ID)
	if err != nil {
		return err
	}
	told, err := v.app.Store.Lore(v.ctx, g.ID)
	if err != nil {
		return err
	}
	d.People = len(known)
	d.Lore = len(told)
	d.Talk, err = v.messagesByDay(channelsOf(g))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "server", d.Ref.Name, d)
}

// isStray reports whether c is a thread whose channel isn't remembered: one from a file, without its forum.
func isStray(g *memory.Guild, c memory.Channel) bool {
	return c.Kind.IsThread() && g.Channel(c.Parent) == nil
}

// inOrder returns the channels of g by name, each followed by its threads. Stray threads are last, those of one channel
// together.
func inOrder(g *memory.Guild) []memory.Channel {
	all := slices.Clone(g.Channels)
	const last = "\U0010FFFF"
	name := func(c memory.Channel) string { return strings.ToLower(c.Name) + c.ID.String() }
	key := func(c memory.Channel) string {
		if isStray(g, c) {
			return last + c.Parent.String() + "\x00" + name(c)
		}
		if parent := g.Channel(c.Parent); c.Kind.IsThread() && parent != nil {
			return name(*parent) + "\x00" + name(c)
		}
		return name(c)
	}
	slices.SortFunc(all, func(a, b memory.Channel) int { return cmp.Compare(key(a), key(b)) })
	return all
}

type peopleData struct {
	Guild  refOf
	ID     memory.GuildID
	Q      string
	People []personRow
	Next   string
}

type personRow struct {
	Ref      refOf
	Username string
	Bot      bool
	Facts    int
}

// people lists the people of a server, by id.
func people(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	g, err := v.guild()
	if err != nil {
		return err
	}
	after, err := id[memory.UserID](v, "after")
	if err != nil {
		return err
	}
	d := peopleData{
		Guild: v.guildRef(g.ID),
		ID:    g.ID,
		Q:     v.form("q"),
	}
	known, err := v.app.Store.People(v.ctx, g.ID)
	if err != nil {
		return err
	}
	last := after
	for _, p := range known {
		if p.ID <= after || !isCalled(p, d.Q) {
			continue
		}
		if len(d.People) == peopleShown {
			d.Next = v.with("after", last.String())
			break
		}
		last = p.ID
		d.People = append(d.People, personRow{v.personRef(g.ID, p.ID), p.Username, p.Bot, len(p.Facts)})
	}
	return v.show(http.StatusOK, "people", "People of "+d.Guild.Name, d)
}

// isCalled reports whether a part of a person's names is q.
func isCalled(p memory.Person, q string) bool {
	return q == "" || p.ID.String() == q || slices.ContainsFunc(append(p.Aliases(), p.Username, p.Name, p.Nick),
		func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(q)) })
}

type personData struct {
	Guild    refOf
	Person   memory.Person
	Ref      refOf
	Roles    []string
	OptedOut bool
	Facts    []factRow
	Wrote    []wroteRow
	Goes     memory.DryRun
	Lore     []memory.Lore
	Answers  string
	Forget   string
}

// factRow is a fact with its source.
type factRow struct {
	memory.Fact
	Told   refOf
	Place  refOf
	Source string
	At     time.Time
}

// wroteRow is how much somebody wrote in a channel.
type wroteRow struct {
	Ref      refOf
	Messages int
	Last     time.Time
	Width    float64 // of 100
}

// personPage shows what is known of somebody in a server.
func personPage(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	g, err := v.guild()
	if err != nil {
		return err
	}
	user, err := id[memory.UserID](v, "user")
	if err != nil {
		return err
	}
	known, err := v.app.Store.People(v.ctx, g.ID, user)
	if err != nil {
		return err
	}
	if user <= 0 {
		return errNoPage
	}
	d := personData{
		Guild:   v.guildRef(g.ID),
		Person:  v.person(g.ID, user),
		Ref:     v.personRef(g.ID, user),
		Answers: "/answers?" + encode("guild", g.ID.String(), "person", user.String()),
		Forget:  "/forget?" + encode("guild", g.ID.String(), "person", user.String()),
	}
	for _, role := range g.Roles {
		if slices.Contains(d.Person.Roles, role.ID) {
			d.Roles = append(d.Roles, role.Name)
		}
	}
	d.OptedOut, err = memory.HasOptedOut(v.ctx, v.app.Store, g.ID, user)
	if err != nil {
		return err
	}
	for _, f := range d.Person.Facts {
		row := factRow{
			Fact: f,
			Told: v.personRef(g.ID, f.By),
			At:   cmp.Or(f.Message, memory.MessageID(f.ID)).Time(),
		}
		if f.Channel != 0 {
			row.Place = v.channelRef(g.ID, f.Channel)
		}
		if f.Message != 0 {
			row.Source = v.messageURL(g.ID, f.Channel, f.Message)
		}
		d.Facts = append(d.Facts, row)
	}
	d.Wrote, err = v.wrote(g, user)
	if err != nil {
		return err
	}
	d.Goes, err = v.app.Store.DryRun(v.ctx, memory.DryRunQuery{Forgetting: memory.Forgetting{
		Guild: g.ID,
		User:  user,
		At:    time.Now(),
	}})
	if err != nil {
		return err
	}
	if len(known) == 0 && d.Goes.Messages == 0 {
		return missing{errors.New("nobody with this id is known there")}
	}
	told, err := v.app.Store.Lore(v.ctx, g.ID)
	if err != nil {
		return err
	}
	for _, l := range told {
		if l.By == user {
			d.Lore = append(d.Lore, l)
		}
	}
	return v.show(http.StatusOK, "person", d.Ref.Name, d)
}

// wrote returns where somebody wrote, the most first.
func (v *visit) wrote(g *memory.Guild, user memory.UserID) (rows []wroteRow, err error) {
	most := 1
	for _, channel := range channelsOf(g) {
		in := memory.Scope{Channels: []memory.ChannelID{channel}}
		there, err := v.app.Store.Presence(v.ctx, in, []memory.UserID{user})
		if err != nil {
			return nil, err
		}
		if p := there[user]; p.Messages > 0 {
			rows = append(rows, wroteRow{
				Ref:      v.channelRef(g.ID, channel),
				Messages: p.Messages,
				Last:     p.Last,
			})
			most = max(most, p.Messages)
		}
	}
	for i := range rows {
		rows[i].Width = 100 * float64(rows[i].Messages) / float64(most)
	}
	slices.SortFunc(rows, func(a, b wroteRow) int { return cmp.Compare(b.Messages, a.Messages) })
	return rows, nil
}

type loreData struct {
	Guild refOf
	Lore  []loreRow
	Next  string
}

// loreRow is lore with its sources.
type loreRow struct {
	memory.Lore
	By       refOf
	Channels []refOf // that all who are told must be able to read
	Sources  []loreSource
}

type loreSource struct {
	URL     string
	Channel refOf
	Said    *said // nil if it is gone
}

const loreShown = 50

// lore lists the lore of a server, by id.
func lore(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	g, err := v.guild()
	if err != nil {
		return err
	}
	after, err := id[int64](v, "after")
	if err != nil {
		return err
	}
	d := loreData{Guild: v.guildRef(g.ID)}
	all, err := v.app.Store.Lore(v.ctx, g.ID)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.ID <= after {
			continue
		}
		if len(d.Lore) == loreShown {
			d.Next = v.with("after", memory.MessageID(d.Lore[loreShown-1].ID).String())
			break
		}
		row := loreRow{Lore: l, By: v.personRef(g.ID, l.By)}
		if l.By == 0 {
			row.By.Name = "the operator"
		}
		if l.Channel != 0 {
			row.Channels = append(row.Channels, v.channelRef(g.ID, l.Channel))
		}
		for _, of := range l.Sources {
			if c := v.channelRef(g.ID, of.Channel); !slices.Contains(row.Channels, c) {
				row.Channels = append(row.Channels, c)
			}
			source := loreSource{URL: v.messageURL(g.ID, of.Channel, of.Message), Channel: v.channelRef(g.ID, of.Channel)}
			there, err := v.app.Store.Around(v.ctx, of.Channel, []memory.MessageID{of.Message}, 0, 0)
			if err != nil {
				return err
			}
			if len(there) > 0 {
				shown := v.said(there[0])
				source.Said = &shown
			}
			row.Sources = append(row.Sources, source)
		}
		d.Lore = append(d.Lore, row)
	}
	return v.show(http.StatusOK, "lore", "Lore of "+d.Guild.Name, d)
}
