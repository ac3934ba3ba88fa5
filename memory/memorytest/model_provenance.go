package memorytest

import (
	"slices"

	"hark/memory"
)

// thing is something derived.
type thing struct {
	kind  string
	guild memory.GuildID
	from  []memory.Source // a fact's source has the guild's id as its channel
	about []memory.UserID
	// rules cover the thing like this message; nil: it goes with its sources only
	as    *memory.Message
	is    func(memory.Source) bool         // whether it is a given source; nil: it is none
	goes  func(itself bool)                // deletes it
	after func(hidden bool, deleted place) // runs after everything was deleted; may be nil
}

// going is how a thing is deleted.
type going struct {
	// what Discord must stop showing: 2: the thing; 1: the thing if it repeats what went; 0: nothing
	hide   int
	itself bool // selected directly, not by a source
}

func isAt(s memory.Source, at place) bool {
	return s.Kind == memory.SourceMessage && s.Channel == at.channel && s.ID == int64(at.id)
}

// isFact reports whether a kept thing's source is a fact.
func isFact(s memory.Source, key inGuild) bool {
	return s.Kind == memory.SourceFact && s.Channel == memory.ChannelID(key.guild) && s.ID == key.id
}

func (m *model) things() []thing {
	var all []thing
	for at, a := range m.traces {
		t := answerAt("answer", at, a)
		t.goes = func(bool) { m.dropTrace(at) }
		t.after = func(hidden bool, deleted place) {
			if hidden && deleted == (place{a.Channel, a.Question}) {
				m.withdraw(memory.Withdrawn{Guild: a.Guild, Channel: at.channel, Message: at.id, First: true,
					Unasked: true})
			}
			var left []memory.MessageID
			for _, id := range partsOf(a) {
				if m.dropPart(a.Trace, id, hidden) {
					left = append(left, id)
				}
			}
			if !hidden {
				m.leaveShown(a, left)
			}
		}
		all = append(all, t)
	}
	for at, a := range m.shown {
		t := answerAt("shown", at, a)
		t.goes = func(bool) {}
		t.after = func(hidden bool, deleted place) {
			if !hidden {
				return
			}
			delete(m.shown, at)
			for _, id := range partsOf(a) {
				m.withdraw(memory.Withdrawn{Guild: a.Guild, Channel: at.channel, Message: id, First: id == at.id,
					Unasked: id == at.id && deleted == (place{a.Channel, a.Question})})
			}
		}
		all = append(all, t)
	}
	for key, f := range m.facts {
		if !f.gone {
			all = append(all, thing{kind: "fact", guild: key.guild, from: messages(f.Channel, f.Message),
				about: []memory.UserID{f.user},
				is:    func(s memory.Source) bool { return isFact(s, key) },
				goes:  func(bool) { m.facts[key] = &fact{gone: true} }})
		}
	}
	for key, l := range m.lore {
		if !l.gone {
			var from []memory.Source
			for _, s := range l.Sources {
				from = append(from, messages(s.Channel, s.Message)...)
			}
			all = append(all, thing{kind: "lore", guild: key.guild, from: from, as: loreAsMessage(l.Lore),
				is: func(s memory.Source) bool { return s.Kind == memory.SourceLore && s.ID == key.id },
				goes: func(itself bool) {
					// another version, perhaps an older one, may lack that source
					if m.lore[key] = (&lore{gone: true}); itself {
						delete(m.lore, key)
					}
				}})
		}
	}
	for at, s := range m.summaries {
		if s.there() {
			all = append(all, thing{kind: "summary", guild: s.Guild, from: versionsOf(at.channel, s.Sources),
				goes: func(bool) { m.summaries[at] = &summary{again: true, after: s.after} }})
		}
	}
	for id, c := range m.channels {
		if c.condensed.Until != 0 {
			all = append(all, thing{kind: "summary", guild: c.Guild, from: versionsOf(id, c.condensed.Sources),
				goes: func(bool) { c.condensed = memory.Condensed{} }})
		}
	}
	all = append(all, m.copies()...)
	for _, r := range m.records {
		all = append(all, thing{kind: "record", guild: r.Guild,
			from: messages(r.Channel, r.Question, r.Answer), about: namedIn(r), as: recordAsMessage(r),
			goes: func(bool) {
				m.records = slices.DeleteFunc(slices.Clone(m.records), func(of memory.Record) bool {
					return of.CallID == r.CallID
				})
			}})
	}
	return all
}

func answerAt(kind string, at place, a answer) thing {
	return thing{kind: kind, guild: a.Guild, from: a.from, about: about(a.Trace),
		as: &memory.Message{ID: at.id, Guild: a.Guild, Channel: at.channel},
		is: func(s memory.Source) bool {
			return slices.ContainsFunc(partsOf(a), func(id memory.MessageID) bool {
				return isAt(s, place{at.channel, id})
			})
		}}
}

// versionsOf returns message versions as repeated sources.
func versionsOf(channel memory.ChannelID, from []memory.SummarySource) (all []memory.Source) {
	for _, s := range from {
		all = append(all, repeated(channel, s.Message, s.Edited))
	}
	return all
}

// messages returns messages, in any version, as repeated sources; none for id 0.
func messages(channel memory.ChannelID, ids ...memory.MessageID) (all []memory.Source) {
	for _, id := range ids {
		if id != 0 {
			all = append(all, repeated(channel, id, 0))
		}
	}
	return all
}

// closure returns how everything goes that find selects, and everything derived from it. find returns
// whether and how a thing goes.
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
					if is := all[from].is; is == nil || !is(s) {
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

// invalidate deletes what find selects, and everything derived from it. deleted is the deleted message that
// caused it, if any.
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

// madeFrom selects what was derived from a source. most is going.hide for what repeats it.
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

func fromMessage(at place, most int, kinds ...string) func(thing) (going, bool) {
	return madeFrom(most, func(s memory.Source) bool { return isAt(s, at) }, kinds...)
}

// madeBefore selects what was made from a version of a message before one. Of several versions that a thing is made
// from, the one listed first counts.
func madeBefore(at place, version int64) func(thing) (going, bool) {
	return func(t thing) (g going, found bool) {
		for _, s := range t.from {
			if !isAt(s, at) {
				continue
			}
			if !found && s.Version >= version {
				return g, false
			}
			found = true
			if s.Repeats {
				g.hide = 1
			}
		}
		return g, found
	}
}

// stands returns the state of a source: unchanged, not gone, and gone because it was rewritten.
func (m *model) stands(guild memory.GuildID, s memory.Source) (same, there, anew bool) {
	at := place{s.Channel, memory.MessageID(s.ID)}
	switch s.Kind {
	case memory.SourceFact:
		f := m.facts[inGuild{guild, s.ID}]
		same = f == nil || !f.gone
	case memory.SourceLore:
		at := m.loreAt(s.ID)
		same = at != nil && (s.Version == 0 || int64(memory.FirstMessageID(at.At)) == s.Version)
	case memory.SourceSummary:
		of := m.summaries[at]
		same = of.there() && of.Made.UnixMilli() == s.Version
	default:
		now, known := m.message(at)
		switch {
		case m.isGone(at):
			return false, false, false
		case m.isRewritten(s):
			return false, false, true
		case m.channels[s.Channel] == nil:
			return false, false, false
		}
		same = known && editedAt(now) == s.Version
		return same, same || !known || now.Kind == memory.FromHark, false
	}
	return same, same, false
}
