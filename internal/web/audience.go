package web

import (
	"net/http"

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
	Matrix   *matrix
	All      []verdictRow // of the place, for each channel
}

type verdictRow struct {
	Ref refOf
	OK  bool
	Why string
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
	More int // further channels like it
	At   int
}

type matrixCell struct {
	X, Y int
	OK   bool
	Why  string
	URL  string
}

// audience shows what may be said where.
func audience(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d := audienceData{Place: v.form("place"), Source: v.form("source"), Guilds: v.discordGuilds()}
	var err error
	if d.Guild, err = v.guildOrOnly(d.Guilds); err != nil {
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
	d.Channels = v.choicesOf(g).Choices
	var sets *search.RoleSets
	if v.Live != nil && v.Live().RoleSets != nil {
		sets = v.Live().RoleSets(g)
	}
	d.Known = sets != nil
	people := func(user memory.UserID) (memory.Person, bool) {
		p := v.person(g.ID, user)
		return p, p.DisplayName() != ""
	}
	at := func(channel memory.ChannelID) *search.Audience {
		return search.NewAudience(g, search.Place{Channel: channel, Sets: sets}, people)
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
			d.Asked, d.From = true, v.channelRef(g.ID, source)
			d.OK, d.Why = readers.Judge(source).OK, readers.Explain(source)
		}
		for _, c := range inOrder(g) {
			if c.Kind != memory.CategoryChannel && c.ID != place {
				d.All = append(d.All, verdictRow{v.channelRef(g.ID, c.ID), readers.Judge(c.ID).OK, readers.Explain(c.ID)})
			}
		}
	}
	d.Matrix = v.matrixOf(g, at)
	return nil
}

// matrixOf draws what may be said where. Channels that are alike share a row and a column; threads are like their
// channels.
func (v *visit) matrixOf(g *memory.Guild, at func(memory.ChannelID) *search.Audience) *matrix {
	var channels []memory.Channel
	for _, c := range inOrder(g) {
		if c.Kind != memory.CategoryChannel && !c.Kind.IsThread() {
			channels = append(channels, c)
		}
	}
	n := len(channels)
	audiences := make([]*search.Audience, n)
	ok := make([][]bool, n) // by place and channel
	for i, place := range channels {
		audiences[i], ok[i] = at(place.ID), make([]bool, n)
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
	m := &matrix{Size: 18}
	var of []int // the first channel of each group
next:
	for i, c := range channels {
		for k, first := range of {
			if alike(i, first) {
				m.Groups[k].More++
				continue next
			}
		}
		if len(of) == maxMatrix {
			m.Left++
			continue
		}
		of = append(of, i)
		m.Groups = append(m.Groups, matrixGroup{Name: v.channelRef(g.ID, c.ID).Name, At: (len(of) - 1) * m.Size})
	}
	for y, i := range of {
		for x, j := range of {
			m.Cells = append(m.Cells, matrixCell{X: x * m.Size, Y: y * m.Size, OK: ok[i][j],
				Why: audiences[i].Explain(channels[j].ID), URL: "/audience?" + encode("guild", g.ID.String(),
					"place", channels[i].ID.String(), "source", channels[j].ID.String())})
		}
	}
	m.Side = len(of) * m.Size
	return m
}
