package memorytest

import (
	"slices"

	"hark/memory"
)

// thing is something that was made from what people said.
type thing struct {
	kind  string
	guild memory.GuildID
	from  []memory.Source // that of a fact has the guild's id for the channel's
	about []memory.UserID
	as    *memory.Message                  // it is forgotten as this message would be; nil: with what it was made from only
	is    func(memory.Source) bool         // whether it is a source of others
	goes  func(itself bool)                // takes it away
	after func(hidden bool, deleted place) // what else happens, once all that goes is away; nil: nothing
}

// answer is an answer that is kept, with what it was made from, also of what that was made from before.
type answer struct {
	memory.Trace
	from []memory.Source
}

// going is how a thing goes.
type going struct {
	hide   int  // 2: Discord is to show it no more, whatever it says; 1: since it repeats what went; 0: Discord may show it
	itself bool // it goes by itself rather than with a source
}

// isAt reports whether a source is a message.
func isAt(s memory.Source, at place) bool {
	return s.Kind == memory.SourceMessage && s.Channel == at.channel && s.ID == int64(at.id)
}

// isFact reports whether a source of a thing that is kept is a fact.
func isFact(s memory.Source, key factKey) bool {
	return s.Kind == memory.SourceFact && s.Channel == memory.ChannelID(key.guild) && s.ID == key.id
}

// things are all that there are.
func (m *model) things() []thing {
	var all []thing
	none := func(memory.Source) bool { return false }
	for at, a := range m.traces {
		parts := append([]memory.MessageID{a.Answer}, a.Parts...)
		all = append(all, thing{kind: "answer", guild: a.Guild, from: a.from, about: about(a.Trace), as: &memory.Message{ID: at.id, Guild: a.Guild, Channel: at.channel},
			is: func(s memory.Source) bool {
				return slices.ContainsFunc(parts, func(id memory.MessageID) bool { return isAt(s, place{at.channel, id}) })
			},
			goes: func(bool) { m.dropTrace(at) },
			after: func(hidden bool, deleted place) {
				if hidden && deleted == (place{a.Channel, a.Question}) {
					m.withdraw(memory.Withdrawn{Guild: a.Guild, Channel: at.channel, Message: at.id, First: true, Unasked: true})
				}
				var left []memory.MessageID
				for _, id := range parts {
					if m.dropPart(a.Trace, id, hidden) {
						left = append(left, id)
					}
				}
				if !hidden {
					m.leaveShown(a, left)
				}
			}})
	}
	for at, a := range m.shown {
		parts := append([]memory.MessageID{a.Answer}, a.Parts...)
		all = append(all, thing{kind: "shown", guild: a.Guild, from: a.from, about: about(a.Trace), as: &memory.Message{ID: at.id, Guild: a.Guild, Channel: at.channel},
			is: func(s memory.Source) bool {
				return slices.ContainsFunc(parts, func(id memory.MessageID) bool { return isAt(s, place{at.channel, id}) })
			},
			goes: func(bool) {},
			after: func(hidden bool, deleted place) {
				if !hidden {
					return
				}
				delete(m.shown, at)
				for _, id := range parts {
					m.withdraw(memory.Withdrawn{Guild: a.Guild, Channel: at.channel, Message: id, First: id == at.id,
						Unasked: id == at.id && deleted == (place{a.Channel, a.Question})})
				}
			}})
	}
	for key, f := range m.facts {
		if !f.gone {
			var from []memory.Source
			if f.Message != 0 {
				from = messageSources(f.Channel, memory.SummarySource{Message: f.Message})
			}
			all = append(all, thing{kind: "fact", guild: key.guild, from: from, about: []memory.UserID{f.user},
				is:   func(s memory.Source) bool { return isFact(s, key) },
				goes: func(bool) { m.facts[key] = &fact{gone: true} }})
		}
	}
	for key, l := range m.lore {
		if !l.gone {
			var from []memory.Source
			for _, s := range l.Sources {
				from = append(from, messageSources(s.Channel, memory.SummarySource{Message: s.Message})...)
			}
			all = append(all, thing{kind: "lore", guild: key.guild, from: from, as: asMessage(l.Lore),
				is: func(s memory.Source) bool { return s.Kind == memory.SourceLore && s.ID == key.id },
				goes: func(itself bool) {
					if m.lore[key] = (&lore{gone: true}); itself { // of other lore an older version may be without that source
						delete(m.lore, key)
					}
				}})
		}
	}
	for at, s := range m.summaries {
		if s.there() {
			all = append(all, thing{kind: "summary", guild: s.Guild, from: messageSources(at.channel, s.Sources...), is: none,
				goes: func(bool) { m.summaries[at] = &summary{again: true, after: s.after} }})
		}
	}
	for id, c := range m.condensed {
		all = append(all, thing{kind: "summary", guild: c.Guild, from: messageSources(id, c.Sources...), is: none, goes: func(bool) { delete(m.condensed, id) }})
	}
	for _, r := range m.records {
		var from []memory.Source
		for _, id := range []memory.MessageID{r.Question, r.Answer} {
			if id != 0 {
				from = append(from, messageSources(r.Channel, memory.SummarySource{Message: id})...)
			}
		}
		all = append(all, thing{kind: "record", guild: r.Guild, from: from, about: namedIn(r), as: recordAsMessage(r), is: none,
			goes: func(bool) {
				m.records = slices.DeleteFunc(slices.Clone(m.records), func(of memory.Record) bool { return of.CallID == r.CallID })
			}})
	}
	return all
}

// messageSources are versions of messages of a channel, as what was made from them repeats them.
func messageSources(channel memory.ChannelID, from ...memory.SummarySource) []memory.Source {
	var all []memory.Source
	for _, s := range from {
		all = append(all, memory.Source{Kind: memory.SourceMessage, Channel: channel, ID: int64(s.Message), Version: s.Edited, Repeats: true})
	}
	return all
}

// closure is how all things go that find selects, and all that was made from them. find tells how a thing goes, if it does.
func (m *model) closure(all []thing, find func(thing) (going, bool)) map[int]going {
	gone := map[int]going{}
	for i, t := range all {
		if g, found := find(t); found {
			gone[i] = g
		}
	}
	for again := true; again; {
		again = false
		for from, g := range gone {
			for i, t := range all {
				for _, s := range t.from {
					if !all[from].is(s) {
						continue
					}
					hide := g.hide
					if hide == 1 && !s.Repeats {
						hide = 0
					}
					if known, there := gone[i]; !there || known.hide < hide {
						gone[i], again = going{hide, known.itself}, true
					}
				}
			}
		}
	}
	return gone
}

// invalidate takes away what find selects, and all that was made from that. deleted is the message that was deleted, if that is why.
func (m *model) invalidate(find func(thing) (going, bool), deleted place) {
	all := m.things()
	gone := m.closure(all, find)
	for i, g := range gone {
		m.lost[all[i].kind]++
		all[i].goes(g.itself)
	}
	for i, g := range gone {
		if after := all[i].after; after != nil {
			after(g.hide > 0, deleted)
		}
	}
}

// madeFrom selects what was made from what a source tells of. most is how it goes that repeats it.
func madeFrom(most int, is func(memory.Source) bool, kinds ...string) func(thing) (going, bool) {
	return func(t thing) (g going, found bool) {
		for _, s := range t.from {
			if is(s) && (len(kinds) == 0 || slices.Contains(kinds, t.kind)) {
				found = true
				if s.Repeats || most == 2 {
					g.hide = most
				}
			}
		}
		return g, found
	}
}

// fromMessage selects what was made from a message.
func fromMessage(at place, most int, kinds ...string) func(thing) (going, bool) {
	return madeFrom(most, func(s memory.Source) bool { return isAt(s, at) }, kinds...)
}

// fallsUnder selects what falls under a forgetting.
func (m *model) fallsUnder(g *forgetting) func(thing) (going, bool) {
	f, most := g.Forgetting, 1
	if g.all || g.end == never {
		most = 2
	}
	whole := g.all && f.Channel == 0
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
		case !whole:
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

// isKnownIn reports whether somebody was seen in a guild that is forgotten.
func (m *model) isKnownIn(g *forgetting, who memory.UserID) bool {
	for guild, people := range m.people {
		if _, known := people[who]; known && g.of(guild) {
			return true
		}
	}
	return false
}
