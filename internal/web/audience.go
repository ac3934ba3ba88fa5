package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"hark/memory"
	"hark/search"
)

// maxMatrix is how many kinds of channels the matrix shows.
const maxMatrix = 60

type audienceData struct {
	Guilds   []choice
	Guild    *memory.Guild
	Ref      refOf
	Channels []choice
	Place    string
	Source   string
	PlaceRef refOf
	From     refOf
	Asked    bool
	OK       bool
	Why      string // in words; empty if OK
	Known    bool   // the members' roles are
	Apart    bool   // nothing passes between the channels
	Matrix   *matrix
	All      []verdictRow // of the place, for each channel
}

type verdictRow struct {
	Ref refOf
	OK  bool
	URL string // why
}

// matrix is a picture: for each place a row, and for each channel a column.
type matrix struct {
	Groups []matrixGroup
	Cells  []matrixCell
	Size   int // of a cell
	Side   int // of the picture
	Left   int // channels left out
}

// matrixGroup is channels with the same row and the same column.
type matrixGroup struct {
	Name string
	More int    // further channels like it
	All  string // their names
	At   int
}

type matrixCell struct {
	X, Y int
	OK   bool
	URL  string // why
}

// audience shows what may be said where.
func audience(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d := audienceData{
		Place:  v.form("place"),
		Source: v.form("source"),
		Guilds: v.discordGuilds(),
	}
	var err error
	d.Guild, err = v.guildOrOnly(d.Guilds)
	if err != nil {
		return err
	}
	if d.Guild != nil {
		if err := v.judge(&d); err != nil {
			return err
		}
	}
	return v.show(http.StatusOK, "audience", "Audience", d)
}

// judge fills in what may be said where in a server.
func (v *visit) judge(d *audienceData) error {
	g := d.Guild
	d.Ref = v.guildRef(g.ID)
	d.Apart = g.ID == memory.LocalGuild || g.ID == memory.DirectGuild
	if d.Apart {
		return nil
	}
	d.Channels = v.choicesOf(g).Choices
	var sets *search.RoleSets
	if v.Live != nil && v.Live().RoleSets != nil {
		sets = v.Live().RoleSets(g)
	}
	d.Known = sets != nil
	if !d.Known {
		sets = search.PossibleRoleSets(g)
	}
	people := func(user memory.UserID) (memory.Person, bool) {
		p := v.person(g.ID, user)
		return p, p.DisplayName() != ""
	}
	at := func(channel memory.ChannelID) *search.Audience {
		return search.NewAudience(g, search.Place{
			Channel:  channel,
			Sets:     sets,
			Operator: true,
		}, people)
	}
	place, err := id[memory.ChannelID](v, "place")
	if err != nil {
		return err
	}
	source, err := id[memory.ChannelID](v, "source")
	if err != nil {
		return err
	}
	if place != 0 {
		if g.Channel(place) == nil || source != 0 && g.Channel(source) == nil {
			return complain("there is no such channel in %s", d.Ref.Name)
		}
		readers := at(place)
		d.PlaceRef = v.channelRef(g.ID, place)
		if source != 0 {
			d.Asked = true
			d.From = v.channelRef(g.ID, source)
			d.OK = readers.Judge(source).OK
			d.Why = readers.Explain(source)
		}
		told := map[string]bool{} // by rules
		for _, c := range inOrder(g) {
			if v.ctx.Err() != nil {
				return v.ctx.Err()
			}
			if c.Kind == memory.CategoryChannel || c.ID == place {
				continue
			}
			like := rulesOf(g, c)
			if _, known := told[like]; !known {
				told[like] = readers.Judge(c.ID).OK
			}
			d.All = append(d.All, verdictRow{v.channelRef(g.ID, c.ID), told[like], audienceURL(g.ID, place) + "&" +
				encode("source", c.ID.String())})
		}
	}
	d.Matrix, err = v.matrixOf(g, at)
	return err
}

// rulesOf is equal for channels of g that are judged alike. A private thread is like no other.
func rulesOf(g *memory.Guild, c memory.Channel) string {
	rules := c.Rules(g.Channel(c.Parent))
	if rules == nil || c.Kind == memory.PrivateThread {
		return c.ID.String()
	}
	overwrites := slices.SortedFunc(slices.Values(rules.Overwrites), func(a, b memory.Overwrite) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.User, b.User))
	})
	return fmt.Sprint(rules.Kind.Reading(), rules.AgeLimited, c.Shut, overwrites)
}

// matrixOf draws what may be said where. Channels that are alike share a row and a column; threads are like their
// channels.
func (v *visit) matrixOf(g *memory.Guild, at func(memory.ChannelID) *search.Audience) (*matrix, error) {
	m := &matrix{Size: 18}
	var channels []memory.Channel // one for each set of rules
	like := map[string][]memory.Channel{}
	for _, c := range inOrder(g) {
		if c.Kind == memory.CategoryChannel || c.Kind.IsThread() {
			continue
		}
		rules := rulesOf(g, c)
		switch {
		case like[rules] != nil:
		case len(channels) < maxMatrix:
			channels = append(channels, c)
		default:
			m.Left++
			continue
		}
		like[rules] = append(like[rules], c)
	}
	n := len(channels)
	audiences := make([]*search.Audience, n)
	ok := make([][]bool, n) // by place and channel
	for i, place := range channels {
		if v.ctx.Err() != nil {
			return nil, v.ctx.Err()
		}
		audiences[i] = at(place.ID)
		ok[i] = make([]bool, n)
		for j, c := range channels {
			ok[i][j] = audiences[i].Judge(c.ID).OK
		}
	}
	alike := func(a, b int) bool {
		for k := range n {
			if ok[a][k] != ok[b][k] || ok[k][a] != ok[k][b] {
				return false
			}
		}
		return true
	}
	var of []int // the first channel of each group
	for i, c := range channels {
		k := slices.IndexFunc(of, func(first int) bool { return alike(i, first) })
		if k < 0 {
			k = len(of)
			of = append(of, i)
			m.Groups = append(m.Groups, matrixGroup{
				Name: v.channelRef(g.ID, c.ID).Name,
				More: -1,
				At:   k * m.Size,
			})
		}
		for _, one := range like[rulesOf(g, c)] {
			m.Groups[k].More++
			m.Groups[k].All += " " + v.channelRef(g.ID, one.ID).Name
		}
	}
	for y, i := range of {
		for x, j := range of {
			m.Cells = append(m.Cells, matrixCell{
				X:  x * m.Size,
				Y:  y * m.Size,
				OK: ok[i][j],
				URL: "/audience?" + encode("guild", g.ID.String(),
					"place", channels[i].ID.String(), "source", channels[j].ID.String()),
			})
		}
	}
	m.Side = len(of) * m.Size
	return m, nil
}
