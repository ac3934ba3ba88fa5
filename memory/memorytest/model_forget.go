package memorytest

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"hark/memory"
)

// forgetting is one that was begun. The model forgets at once: only carrying it out may be left to do.
type forgetting struct {
	memory.Receipt
	end  memory.MessageID // what is before it is forgotten
	all  bool             // whether there was no end but the beginning
	done bool
}

const never memory.MessageID = 1<<63 - 1

// begin forgets, and keeps what was forgotten, so that it doesn't come back.
func (m *model) begin(f memory.Forgetting) *forgetting {
	g := &forgetting{}
	g.end, g.all = m.endOf(f)
	f.ID = int64(len(m.forgettings) + 1)
	if g.all || f.Before.After(f.At) {
		f.Before = f.At
	}
	g.Forgetting = f
	m.forgettings = append(m.forgettings, g)
	before := maps.Clone(m.lost)
	m.invalidate(m.fallsUnder(g), place{})
	var covered []place
	for at, e := range m.entries {
		if e.deleted || !m.covers(g, m.known(at)) {
			continue
		}
		if covered = append(covered, at); e.posted != nil || e.edit != nil {
			g.Messages++
		}
	}
	for _, at := range covered {
		m.delete(at, 0)
	}
	lost := func(kind string) int { return m.lost[kind] - before[kind] }
	g.Facts, g.Lore, g.Summaries, g.Records, g.Answers = lost("fact"), lost("lore"), lost("summary"), lost("record"), lost("answer")
	m.forgetNames(g)
	m.forgetSpending(g)
	m.forgetPeople(g)
	m.forgetSettings(g)
	m.forgetGuilds(g)
	return g
}

// endOf is the end of a forgetting, and whether that is only its beginning.
func (m *model) endOf(f memory.Forgetting) (end memory.MessageID, all bool) {
	switch all = f.Before.IsZero(); {
	case f.Why == memory.WhyDeleted:
		return never, all
	case all, f.Before.After(f.At):
		return memory.FirstMessageID(f.At), all
	default:
		return memory.FirstMessageID(f.Before), all
	}
}

// covers reports whether a message falls under a forgetting.
func (m *model) covers(g *forgetting, message memory.Message) bool {
	f := g.Forgetting
	return g.of(message.Guild) && (f.User == 0 || f.User == message.Author) && message.ID < g.end &&
		(f.Channel == 0 || m.lies(message.Channel, f.Channel))
}

// coversName reports whether a channel's name falls under a forgetting: it was deleted, or it is somebody's thread.
func (m *model) coversName(g *forgetting, c memory.Channel) bool {
	f := g.Forgetting
	lies := f.Channel == 0 || f.Channel == c.ID || c.Kind.IsThread() && f.Channel == c.Parent
	return g.of(c.Guild) && lies && memory.MessageID(c.ID) < g.end && (f.Why == memory.WhyDeleted || f.User != 0 && f.User == c.Owner)
}

// forgetNames forgets the names of channels that were deleted, or of somebody's threads, and the prompts that may show them.
func (m *model) forgetNames(g *forgetting) {
	for _, c := range m.channels {
		if name := c.Name; name != "" && m.coversName(g, *c) {
			c.Name = ""
			words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			first := append(words, "")[0] // what marks up text may be written otherwise
			m.dropPrompts(func(t answer, p memory.Prompt) bool {
				return (g.of(t.Guild) || t.Guild == memory.LocalGuild) && slices.ContainsFunc(p.Messages, func(message memory.PromptMessage) bool {
					return strings.Contains(message.Content, first)
				})
			})
		}
	}
}

// lies reports whether channel is another one or a thread of it.
func (m *model) lies(channel, in memory.ChannelID) bool {
	c := m.channels[channel]
	return channel == in || c != nil && c.Kind.IsThread() && c.Parent == in
}

func (g *forgetting) of(guild memory.GuildID) bool {
	return g.Forgetting.Guild == memory.Everywhere || g.Forgetting.Guild == guild
}

func (m *model) isForgotten(message memory.Message) bool {
	return slices.ContainsFunc(m.forgettings, func(g *forgetting) bool { return m.covers(g, message) })
}

// known is the message, or so much of it as what came before it tells: nobody knows yet who wrote it.
func (m *model) known(at place) memory.Message {
	message, ok := m.message(at)
	if !ok {
		message = memory.Message{ID: at.id, Channel: at.channel}
		if c := m.channels[at.channel]; c != nil {
			message.Guild = c.Guild
		}
	}
	return message
}

// forgetPeople forgets what is known of those of whom everything is forgotten.
func (m *model) forgetPeople(g *forgetting) {
	f := g.Forgetting
	if f.Channel != 0 || !g.all {
		return
	}
	for guild, people := range m.people {
		for id := range people {
			known := m.guilds[guild]
			stays := f.User == 0 && f.Why != memory.WhyLeft && known != nil && known.Self == id && known.Left.IsZero() // Hark itself
			if g.of(guild) && (f.User == 0 || f.User == id) && !stays {
				delete(people, id)
				g.People++
			}
		}
	}
	maps.DeleteFunc(m.learn, func(of member, _ memory.Learn) bool { return g.of(of.guild) && (f.User == 0 || f.User == of.user) })
}

// forgetGuilds forgets the structure of guilds of which everything is forgotten and that Hark isn't in, and what was
// chosen there. Who opted out stays so.
func (m *model) forgetGuilds(g *forgetting) {
	if f := g.Forgetting; f.Channel != 0 || f.User != 0 || !g.all {
		return
	}
	goes := map[memory.GuildID]bool{}
	for id, known := range m.guilds {
		goes[id] = g.of(id) && (g.Forgetting.Why == memory.WhyLeft || !known.Left.IsZero() || id == memory.LocalGuild)
	}
	maps.DeleteFunc(m.guilds, func(id memory.GuildID, _ *memory.Guild) bool { return goes[id] })
	maps.DeleteFunc(m.choices, func(c chosen, _ memory.Chose) bool { return goes[c.guild] })
	maps.DeleteFunc(m.limits, func(l limited, _ memory.LimitChosen) bool { return goes[l.guild] })
	maps.DeleteFunc(m.gaps, func(_ gapKey, gap memory.Gap) bool { return goes[gap.Guild] })
	for id, c := range m.channels {
		if goes[c.Guild] {
			delete(m.channels, id)
			delete(m.seen, id)
			delete(m.heard, id)
			delete(m.learned, id)
			delete(m.summarised, id)
			delete(m.condensed, id)
			maps.DeleteFunc(m.summaries, func(at place, _ *summary) bool { return at.channel == id })
		}
	}
}

// deleteChannel begins to forget what was said in a channel that was deleted, once.
func (m *model) deleteChannel(e memory.ChannelDeleted) {
	m.meet(e.Guild, e.Channel)
	m.unplace(e.Guild, func(c memory.Channel) bool { return c.ID == e.Channel || c.Kind.IsThread() && c.Parent == e.Channel })
	m.beginOnce(memory.Forgetting{Guild: e.Guild, Channel: e.Channel, Why: memory.WhyDeleted, At: e.At})
}

// beginOnce begins a forgetting unless one that covers as much for the same reason was begun.
func (m *model) beginOnce(f memory.Forgetting) {
	end, all := m.endOf(f)
	covers := func(g *forgetting) bool {
		o := g.Forgetting
		return o.Why == f.Why && o.Guild == f.Guild && o.Channel == f.Channel && o.User == f.User && g.end >= end && (g.all || !all)
	}
	if !slices.ContainsFunc(m.forgettings, covers) {
		m.begin(f)
	}
}

// unfinished are the forgettings that were begun and not carried out.
func (m *model) unfinished() []memory.Forgetting {
	var all []memory.Forgetting
	for _, g := range m.forgettings {
		if !g.done {
			all = append(all, g.Forgetting)
		}
	}
	return all
}
