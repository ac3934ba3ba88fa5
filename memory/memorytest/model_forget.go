package memorytest

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"hark/memory"
)

var forgettingRules = []modelRule{on((*model).beginOnce)}

// forgetting is one that was begun. The model forgets at once. Only carrying it out may be left to do.
type forgetting struct {
	memory.DeletionReport
	end  memory.MessageID // exclusive
	all  bool             // ends only with its beginning
	done bool
}

const never memory.MessageID = 1<<63 - 1

func (m *model) begin(f memory.Forgetting) *forgetting {
	g := newForgetting(f)
	g.Forgetting.ID = int64(len(m.forgettings) + 1)
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
	g.Facts, g.Lore, g.Summaries, g.Records, g.Answers = lost("fact"), lost("lore"), lost("summary"),
		lost("record"), lost("answer")
	m.forgetNames(g)
	m.forgetPeople(g)
	m.forgetGuilds(g)
	maps.DeleteFunc(m.decided, func(_ memory.Event, of decision) bool {
		e, ok := of.Event.(memory.SettingChosen)
		return ok && m.takesSetting(g, e)
	})
	return g
}

func newForgetting(f memory.Forgetting) *forgetting {
	g := &forgetting{DeletionReport: memory.DeletionReport{Forgetting: f}, all: f.Before.IsZero()}
	switch {
	case f.Why == memory.WhyDeleted:
		g.end = never
	case g.all, f.Before.After(f.At):
		g.end = memory.FirstMessageID(f.At)
	default:
		g.end = memory.FirstMessageID(f.Before)
	}
	return g
}

func (m *model) covers(g *forgetting, message memory.Message) bool {
	f := g.Forgetting
	return g.of(message.Guild) && (f.User == 0 || f.User == message.Author) && message.ID < g.end &&
		(f.Channel == 0 || m.lies(message.Channel, f.Channel))
}

// coversName reports whether a rule covers a channel's name: the channel was deleted, or it is the person's
// thread.
func (g *forgetting) coversName(c memory.Channel) bool {
	f := g.Forgetting
	lies := f.Channel == 0 || f.Channel == c.ID || c.Kind.IsThread() && f.Channel == c.Parent
	return g.of(c.Guild) && lies && memory.MessageID(c.ID) < g.end &&
		(f.Why == memory.WhyDeleted || f.User != 0 && f.User == c.Owner)
}

func (m *model) takesSetting(g *forgetting, e memory.SettingChosen) bool {
	f := g.Forgetting
	return f.User == 0 && g.all && (f.Channel == 0 || f.Why == memory.WhyDeleted || !e.Key.StaysWithChannel()) &&
		m.covers(g, memory.Message{ID: memory.FirstMessageID(e.At), Guild: e.Guild, Channel: e.Channel})
}

// lies reports whether channel is in, or a thread of it.
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

// fallsUnder selects the derived things that a forgetting covers.
func (m *model) fallsUnder(g *forgetting) func(thing) (going, bool) {
	f, most := g.Forgetting, 1
	if g.all || g.end == never {
		most = 2
	}
	from := madeFrom(most, func(s memory.Source) bool {
		return s.Kind == memory.SourceMessage && m.covers(g, m.known(place{s.Channel, memory.MessageID(s.ID)}))
	})
	return func(t thing) (going, bool) {
		how, found := from(t)
		if t.as != nil && m.covers(g, *t.as) {
			how, found = going{most, true}, true
		}
		here := g.of(t.guild) || t.guild == memory.LocalGuild && t.kind != "fact"
		isIn := func(who memory.UserID) bool { return who == f.User }
		switch {
		case !g.all || f.Channel != 0:
			return how, found
		case f.User != 0 && t.kind == "record":
			here = here && t.as.ID < g.end
		case f.User == 0 && t.kind == "fact":
			isIn = func(memory.UserID) bool { return true }
		case f.User == 0:
			here, isIn = t.guild == memory.LocalGuild, func(who memory.UserID) bool { return m.isKnownIn(g, who) }
		}
		if here && slices.ContainsFunc(t.about, isIn) {
			how.hide, found = 2, true
		}
		return how, found
	}
}

func (m *model) isKnownIn(g *forgetting, who memory.UserID) bool {
	for key := range m.people {
		if key.id == int64(who) && g.of(key.guild) {
			return true
		}
	}
	return false
}

func (m *model) dryRun(f memory.Forgetting) (e memory.DryRun) {
	f.At = began.AddDate(100, 0, 0)
	g := newForgetting(f)
	channels := map[memory.ChannelID]bool{}
	for at := range m.entries {
		if message, there := m.message(at); there && m.covers(g, message) {
			e.Messages++
			channels[at.channel] = true
		}
	}
	e.Channels = len(channels)
	all, n := m.things(), map[string]int{}
	for i := range m.closure(all, m.fallsUnder(g)) {
		n[all[i].kind]++
	}
	e.Facts, e.Lore, e.Summaries, e.Answers = n["fact"], n["lore"], n["summary"], n["answer"]
	return e
}

// areForgotten reports whether any of who has opted out, or was forgotten as a whole since a moment, alone
// or with the guild.
func (m *model) areForgotten(guild memory.GuildID, who []memory.UserID, since memory.MessageID) bool {
	for _, of := range m.decided {
		if e, ok := of.Event.(memory.Opted); ok && e.Out && slices.Contains(who, e.User) &&
			(e.Guild == guild || guild == memory.LocalGuild) {
			return true
		}
	}
	return len(who) > 0 && slices.ContainsFunc(m.forgottenSince(guild, since),
		func(user memory.UserID) bool { return user == 0 || slices.Contains(who, user) })
}

// forgottenSince returns those forgotten as a whole since a moment, alone or with the guild (0).
func (m *model) forgottenSince(guild memory.GuildID, since memory.MessageID) (all []memory.UserID) {
	for _, g := range m.forgettings {
		if f := g.Forgetting; g.all && f.Why != memory.WhyDeleted && f.Channel == 0 &&
			(g.of(guild) || guild == memory.LocalGuild) && g.end > since {
			all = append(all, f.User)
		}
	}
	return all
}

// forgetNames deletes the names of deleted channels and of the person's threads, and the prompts that may
// show them.
func (m *model) forgetNames(g *forgetting) {
	for _, c := range m.channels {
		if name := c.Name; name != "" && g.coversName(c.Channel) {
			c.Name = ""
			c.Tags = nil
			words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			first := append(words, "")[0] // a prompt may escape markup
			m.dropPrompts(func(t answer, p memory.Prompt) bool {
				return (g.of(t.Guild) || t.Guild == memory.LocalGuild) && slices.ContainsFunc(p.Messages,
					func(message memory.PromptMessage) bool {
						return strings.Contains(message.Content, first)
					})
			})
		}
	}
}

// forgetPeople deletes people of whom everything is forgotten, and whose questions tokens were spent on;
// with a whole guild all its spending.
func (m *model) forgetPeople(g *forgetting) {
	f := g.Forgetting
	if f.Channel != 0 || !g.all {
		return
	}
	for key, p := range m.people {
		known := m.guilds[p.Guild]
		// Hark itself
		stays := f.User == 0 && f.Why != memory.WhyLeft && known != nil && known.Self == p.ID && known.Left.IsZero()
		if g.of(p.Guild) && (f.User == 0 || f.User == p.ID) && !stays {
			delete(m.people, key)
			g.People++
		}
	}
	maps.DeleteFunc(m.decided, func(_ memory.Event, of decision) bool {
		e, ok := of.Event.(memory.Learn)
		return ok && g.of(e.Guild) && (f.User == 0 || f.User == e.User)
	})
	m.forgetChoosers(g.takesChooser)
	maps.DeleteFunc(m.connections, func(of inGuild, c memory.Connection) bool {
		return g.takesChooser(of.guild, memory.UserID(of.id), c.At)
	})
	for key, e := range m.spent {
		switch {
		case !g.of(key.guild) || e.Question >= g.end:
		case f.User == 0:
			delete(m.spent, key)
		case f.User == e.User:
			m.disown(key)
		}
	}
}

// forgetGuilds deletes the structure and choices of guilds of which everything is forgotten and that Hark
// isn't in. Opt-outs stay.
func (m *model) forgetGuilds(g *forgetting) {
	if f := g.Forgetting; f.Channel != 0 || f.User != 0 || !g.all {
		return
	}
	goes := map[memory.GuildID]bool{}
	for id, known := range m.guilds {
		goes[id] = g.of(id) && (g.Forgetting.Why == memory.WhyLeft || !known.Left.IsZero() || id == memory.LocalGuild)
	}
	maps.DeleteFunc(m.guilds, func(id memory.GuildID, _ *memory.Guild) bool { return goes[id] })
	maps.DeleteFunc(m.gaps, func(_ gapKey, gap memory.Gap) bool { return goes[gap.Guild] })
	maps.DeleteFunc(m.decided, func(_ memory.Event, of decision) bool {
		switch e := of.Event.(type) {
		case memory.Chose:
			return goes[e.Guild]
		case memory.LimitChosen:
			return goes[e.Guild]
		}
		return false
	})
	for id, c := range m.channels {
		if goes[c.Guild] {
			delete(m.channels, id)
			maps.DeleteFunc(m.summaries, func(at place, _ *summary) bool { return at.channel == id })
		}
	}
}

func (m *model) expire(e memory.Expiry) {
	m.dropPrompts(func(_ answer, p memory.Prompt) bool { return p.Built.Before(e.Prompts) })
	maps.DeleteFunc(m.spent, func(_ inGuild, s memory.Spent) bool {
		return s.Question < memory.FirstMessageID(e.Spending)
	})
	m.limitRecords(e.Records)
}

// beginOnce begins a forgetting, unless one covers as much for the same reason.
func (m *model) beginOnce(f memory.Forgetting) {
	next := newForgetting(f)
	if !slices.ContainsFunc(m.forgettings, func(g *forgetting) bool {
		o := g.Forgetting
		return o.Why == f.Why && o.Guild == f.Guild && o.Channel == f.Channel && o.User == f.User &&
			g.end >= next.end && (g.all || !next.all)
	}) {
		m.begin(f)
	}
}

func (m *model) unfinished() []*forgetting {
	return slices.DeleteFunc(slices.Clone(m.forgettings), func(g *forgetting) bool { return g.done })
}
