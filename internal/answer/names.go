package answer

import (
	"hark/internal/digest"
	"hark/memory"
)

// names are those of the people and channels that an answer may speak of.
type names struct {
	people   digest.People
	channels map[memory.ChannelID]string
	unplaced map[memory.ChannelID]bool // channels that Discord, as far as is known, doesn't have
}

func newNames() names {
	return names{people: digest.People{}, channels: map[memory.ChannelID]string{},
		unplaced: map[memory.ChannelID]bool{}}
}

func (n names) add(g *memory.Guild, people []memory.Person) {
	for _, p := range people {
		n.people[p.ID] = p
	}
	for _, c := range g.Channels {
		n.channels[c.ID] = c.Name
		n.unplaced[c.ID] = c.Unplaced || c.Kind == memory.LocalChannel
	}
}

func (n names) person(id memory.UserID) (memory.Person, bool) {
	p, ok := n.people[id]
	return p, ok
}

// of is the name somebody goes by; of somebody unknown, their tag.
func (n names) of(id memory.UserID) string { return n.people.Name(id) }

func tag(id memory.UserID) string { return "<@" + id.String() + ">" }

func (n names) channel(id memory.ChannelID) string { return n.channels[id] }
