package memorytest

import (
	"maps"
	"slices"

	"hark/memory"
)

// thing is something that was made from what people said.
type thing struct {
	kind  string
	guild memory.GuildID
	from  []memory.Source // that of a fact has the guild's id for the channel's
	about []memory.UserID
	// it is forgotten as this message would be; nil: with what it was made from only
	as    *memory.Message
	is    func(memory.Source) bool         // whether it is a source of others; nil: of none
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
	// 2: Discord is to show it no more, whatever it says; 1: since it repeats what went; 0: Discord may show
	// it
	hide   int
	itself bool // it goes by itself rather than with a source
}

// isAt reports whether a source is a message.
func isAt(s memory.Source, at place) bool {
	return s.Kind == memory.SourceMessage && s.Channel == at.channel && s.ID == int64(at.id)
}

// isFact reports whether a source of a thing that is kept is a fact.
func isFact(s memory.Source, key inGuild) bool {
	return s.Kind == memory.SourceFact && s.Channel == memory.ChannelID(key.guild) && s.ID == key.id
}

// things are all that there are.
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
					// of other lore an older version may be without that source
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
	for id, c := range m.condensed {
		all = append(all, thing{kind: "summary", guild: c.Guild, from: versionsOf(id, c.Sources),
			goes: func(bool) { delete(m.condensed, id) }})
	}
	for _, r := range m.records {
		all = append(all, thing{kind: "record", guild: r.Guild,
			from: messages(r.Channel, r.Question, r.Answer), about: namedIn(r),
			as: recordAsMessage(r),
			goes: func(bool) {
				m.records = slices.DeleteFunc(slices.Clone(m.records), func(of memory.Record) bool {
					return of.CallID == r.CallID
				})
			}})
	}
	return all
}

// answerAt is an answer as a thing, but for how it goes.
func answerAt(kind string, at place, a answer) thing {
	return thing{kind: kind, guild: a.Guild, from: a.from, about: about(a.Trace),
		as: &memory.Message{ID: at.id, Guild: a.Guild, Channel: at.channel},
		is: func(s memory.Source) bool {
			return slices.ContainsFunc(partsOf(a), func(id memory.MessageID) bool {
				return isAt(s, place{at.channel, id})
			})
		}}
}

// partsOf are the messages of an answer.
func partsOf(a answer) []memory.MessageID { return append([]memory.MessageID{a.Answer}, a.Parts...) }

// versionsOf are versions of messages of a channel, as what was made from them repeats them.
func versionsOf(channel memory.ChannelID, from []memory.SummarySource) (all []memory.Source) {
	for _, s := range from {
		all = append(all, repeated(channel, s.Message, s.Edited))
	}
	return all
}

// messages are messages of a channel, as what was made from them repeats them, in whatever version; none of the id 0.
func messages(channel memory.ChannelID, ids ...memory.MessageID) (all []memory.Source) {
	for _, id := range ids {
		if id != 0 {
			all = append(all, repeated(channel, id, 0))
		}
	}
	return all
}

// closure is how all things go that find selects, and all that was made from them. find tells how a thing
// goes, if it does.
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

// invalidate takes away what find selects, and all that was made from that. deleted is the message that was
// deleted, if that is why.
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

// stands tells how a source is: as it was read, not gone at least, and whether it is gone since it was written anew.
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

// keepTrace keeps a trace, unless a source of it was deleted or edited meanwhile, or the answer deleted.
func (m *model) keepTrace(t memory.Trace) {
	if !m.stand(&t) {
		return
	}
	at := place{t.Channel, t.Answer}
	m.settleRewritten(t)
	asked, same, lost, gone, hide := false, true, false, false, 0
	a := answer{from: slices.Clone(t.Sources)}
	for i, s := range a.from {
		if isAt(s, place{t.Channel, t.Question}) {
			asked, a.from[i].Repeats = true, true
		} else if s.Kind == memory.SourceFact {
			a.from[i].Channel = memory.ChannelID(t.Guild)
		}
		isSame, isThere, isAnew := m.stands(t.Guild, s)
		if known := m.traces[at].from; isAnew { // it stays where what that was made from was handed down to it
			i := slices.IndexFunc(known, func(o memory.Source) bool {
				return isAt(o, place{s.Channel, memory.MessageID(s.ID)})
			})
			isThere = i >= 0 && known[i].Version == s.Version
			isAnew = !isThere
		}
		gone = gone || !isThere && !isAnew
		same, lost = same && isSame, lost || !isThere
		if !isThere && !isAnew && a.from[i].Repeats {
			hide = 2
		}
		if of := m.summaries[place{s.Channel, memory.MessageID(s.ID)}]; s.Kind == memory.SourceSummary && of.there() {
			for _, from := range versionsOf(s.Channel, of.Sources) {
				from.Repeats = s.Repeats
				a.from = append(a.from, from)
			}
		}
	}
	since := t.Answer
	if t.Prompt != nil {
		since = memory.FirstMessageID(t.Prompt.Built)
	} else if t.Question != 0 {
		since = t.Question
	}
	if slices.ContainsFunc(m.forgottenSince(t.Guild, since-1),
		func(user memory.UserID) bool { return gone || slices.Contains(about(t), user) }) {
		lost, hide = true, 2
	}
	a.Trace = t
	a.Prompt = nil // which is kept beside it
	m.traces[at] = a
	delete(m.prompts, at)
	switch {
	case lost || m.isOut(t.Guild, t.Asker):
		m.invalidate(func(of thing) (going, bool) {
			return going{hide, false}, of.kind == "answer" && of.as.Channel == at.channel && of.as.ID == at.id
		}, place{})
	case t.Prompt != nil && same && asked &&
		!m.areForgotten(t.Guild, about(t), memory.FirstMessageID(t.Prompt.Built)-1):
		m.prompts[at] = *t.Prompt
	}
}

// stand has a trace be under the first message of its answer that is there, and tells whether there is one.
func (m *model) stand(t *memory.Trace) bool {
	for m.isAway(place{t.Channel, t.Answer}) {
		if len(t.Parts) == 0 {
			return false
		}
		t.Answer, t.Parts = t.Parts[0], orNil(t.Parts[1:])
	}
	return true
}

func (m *model) dropTrace(at place) {
	delete(m.traces, at)
	delete(m.prompts, at)
}

// dropPrompts takes the prompts away for whose answers a condition holds.
func (m *model) dropPrompts(holds func(answer, memory.Prompt) bool) {
	maps.DeleteFunc(m.prompts, func(at place, p memory.Prompt) bool { return holds(m.traces[at], p) })
}

// about are those whom an answer is about.
func about(t memory.Trace) []memory.UserID { return append([]memory.UserID{t.Asker}, t.Named...) }

// traceOf is how an answer came about, by any of its messages.
func (m *model) traceOf(channel memory.ChannelID, id memory.MessageID) (memory.Trace, bool) {
	for at, a := range m.traces {
		if at.channel == channel && slices.Contains(partsOf(a), id) {
			return a.Trace, true
		}
	}
	return memory.Trace{}, false
}

// lastTraces are those of the answers before an id, newest first.
func (m *model) lastTraces(before memory.MessageID, limit int) []memory.Trace {
	var all []memory.Trace
	for at, a := range m.traces {
		if at.id < before {
			all = append(all, a.Trace)
		}
	}
	sorted(all, func(t memory.Trace) memory.ChannelID { return t.Channel })
	slices.SortStableFunc(all, func(a, b memory.Trace) int { return compare(b.Answer, a.Answer) })
	return all[:min(limit, len(all))]
}

// unshow notes that Discord shows a message no more, or not as it was.
func (m *model) unshow(at place) {
	for key, a := range m.shown {
		parts := partsOf(a)
		if i := slices.Index(parts, at.id); key.channel == at.channel && i >= 0 {
			delete(m.shown, key)
			m.leaveShown(a, slices.Delete(parts, i, i+1))
		}
	}
}

// leaveShown notes which messages of an answer that isn't kept any more Discord shows still.
func (m *model) leaveShown(a answer, messages []memory.MessageID) {
	if len(messages) > 0 {
		a.Answer, a.Parts = messages[0], messages[1:]
		m.shown[place{a.Channel, a.Answer}] = a
	}
}

// dropPart deletes a message of an answer, and tells whether it was there.
func (m *model) dropPart(t memory.Trace, id memory.MessageID, withdrawn bool) bool {
	at := place{t.Channel, id}
	if m.isAway(at) {
		return false
	}
	if withdrawn {
		m.withdraw(memory.Withdrawn{Guild: t.Guild, Channel: t.Channel, Message: id, First: id == t.Answer})
	}
	m.delete(at, 0)
	m.entry(at).taken = true
	return true
}

// withdraw has Discord show a message no more.
func (m *model) withdraw(w memory.Withdrawn) {
	if !slices.ContainsFunc(m.withdrawn, func(of memory.Withdrawn) bool {
		return w.Channel == of.Channel && w.Message == of.Message
	}) {
		m.withdrawn = append(m.withdrawn, w)
	}
}

func (m *model) unwithdraw(at place) {
	m.withdrawn = slices.DeleteFunc(m.withdrawn, func(w memory.Withdrawn) bool {
		return w.Channel == at.channel && w.Message == at.id
	})
}

// rewrite takes away how messages of Hark's came about, and what was made from them, but for other answers,
// which get what they were made from for sources. Those that went with a source count as never logged.
func (m *model) rewrite(e memory.Rewritten) {
	for _, id := range e.IDs {
		was, kept := m.traces[place{e.Channel, id}]
		if !kept {
			was = m.shown[place{e.Channel, id}]
		}
		m.handDown(was, e.IDs, kept)
	}
	for _, id := range e.IDs {
		at := place{e.Channel, id}
		m.dropTrace(at)
		m.unshow(at)
		m.invalidate(fromMessage(at, 0, "fact", "lore", "summary", "record"), place{})
		now := m.known(at)
		now.Guild = e.Guild // of a channel that may be forgotten
		if m.entry(at).taken && !m.isForgotten(now) {
			*m.entry(at) = entry{}
			m.unwithdraw(at)
		}
		m.entry(at).anew, m.entry(at).since = true, nil
	}
}

// handDown gives those answers that were made from one its sources, and takes away its parts that don't stay.
// kept says that it is kept, rather than shown by Discord only.
func (m *model) handDown(was answer, stay []memory.MessageID, kept bool) {
	stale := slices.DeleteFunc(slices.Clone(was.Parts), func(id memory.MessageID) bool {
		return slices.Contains(stay, id)
	})
	for _, all := range []map[place]answer{m.traces, m.shown} {
		for at, a := range all {
			for _, id := range partsOf(was) {
				i := slices.IndexFunc(a.from, func(s memory.Source) bool { return isAt(s, place{was.Channel, id}) })
				if i < 0 || at == (place{was.Channel, was.Answer}) {
					continue
				}
				for _, s := range was.from {
					s.Repeats = s.Repeats && a.from[i].Repeats
					a.from = append(slices.Clone(a.from), s)
				}
				a.Trace = a.WithSourcesOf(was.Trace)
				if slices.Contains(stale, id) {
					a.from = slices.DeleteFunc(a.from, func(s memory.Source) bool {
						return isAt(s, place{was.Channel, id})
					})
				}
			}
			all[at] = a
		}
	}
	for _, id := range stale {
		if kept {
			m.dropPart(was.Trace, id, true)
			continue
		}
		m.withdraw(memory.Withdrawn{Guild: was.Guild, Channel: was.Channel, Message: id})
		m.unshow(place{was.Channel, id})
	}
}

// settleRewritten notes of the messages of an answer from which version on they are those that a trace tells of.
func (m *model) settleRewritten(t memory.Trace) {
	for _, id := range partsOf(answer{Trace: t}) {
		at := place{t.Channel, id}
		if now, ok := m.message(at); ok && m.entry(at).anew && m.entry(at).since == nil {
			edited := editedAt(now)
			m.entry(at).since = &edited
		}
	}
}

// isRewritten reports whether what was used of a message was written anew since.
func (m *model) isRewritten(s memory.Source) bool {
	e := m.entry(place{s.Channel, memory.MessageID(s.ID)})
	return e.anew && (e.since == nil || s.Version < *e.since)
}

// fact is what was told under an id, or that it is gone for good.
type fact struct {
	user memory.UserID
	gone bool
	memory.Fact
}

// tellFact keeps a fact, unless it is gone, or its source, or its person has opted out.
func (m *model) tellFact(e memory.FactTold) {
	key := inGuild{e.Guild, e.Fact.ID}
	old := m.facts[key]
	switch {
	case old != nil && old.gone, m.isOut(e.Guild, e.User):
	case e.Fact.Message != 0 && m.isGone(place{e.Fact.Channel, e.Fact.Message}):
		m.takeFact(key)
	default:
		m.facts[key] = &fact{user: e.User, Fact: e.Fact}
		m.dropPrompts(func(a answer, _ memory.Prompt) bool {
			return slices.ContainsFunc(a.from, func(s memory.Source) bool { return isFact(s, key) })
		})
	}
}

// takeFact takes a fact away, with the answers that used it.
func (m *model) takeFact(key inGuild) {
	m.facts[key] = &fact{gone: true}
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return isFact(s, key) }), place{})
}

// lore is what was told under an id, or that it is gone for good.
type lore struct {
	gone bool
	memory.Lore
}

// loreAsMessage is l as the message that it is forgotten like.
func loreAsMessage(l memory.Lore) *memory.Message {
	return &memory.Message{ID: memory.FirstMessageID(l.At), Guild: l.Guild, Channel: l.Channel, Author: l.By}
}

// tellLore keeps lore, unless it is gone, or a source, or there is a newer version, or whoever told it is forgotten.
func (m *model) tellLore(l memory.Lore) {
	l, _ = l.Checked()
	key := inGuild{l.Guild, l.ID}
	old := m.lore[key]
	switch {
	case m.isOut(l.Guild, l.By), old != nil && (old.gone || !l.At.After(old.At)), m.isForgotten(*loreAsMessage(l)):
		return
	case slices.ContainsFunc(l.Sources, func(s memory.Spot) bool { return m.isGone(place{s.Channel, s.Message}) }):
		m.takeLore(key)
		return
	case old != nil:
		m.dropMadeFromLore(l.ID)
	}
	m.guild(l.Guild)
	m.lore[key] = &lore{Lore: l}
}

// takeLore takes lore away, with the answers that used it.
func (m *model) takeLore(key inGuild) {
	m.lore[key] = &lore{gone: true}
	m.dropMadeFromLore(key.id)
}

func (m *model) dropMadeFromLore(id int64) {
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return s.Kind == memory.SourceLore && s.ID == id }), place{})
}

// loreAt is the lore with an id, in any guild; nil if there is none.
func (m *model) loreAt(id int64) (found *lore) {
	for key, l := range m.lore {
		if key.id == id && !l.gone {
			found = l
		}
	}
	return found
}

// loreOf is the lore of a guild, by id.
func (m *model) loreOf(guild memory.GuildID) []memory.Lore {
	var all []memory.Lore
	for key, l := range m.lore {
		if key.guild == guild && !l.gone {
			all = append(all, l.Lore)
		}
	}
	return plainLore(sorted(all, func(l memory.Lore) int64 { return l.ID }))
}

// summary is what sums up a stretch that ends at its place: it is there, or to be made again.
type summary struct {
	again bool
	after memory.MessageID
	memory.Summary
}

// there reports whether s is a summary that is there.
func (s *summary) there() bool { return s != nil && !s.again }

func (m *model) summarise(e memory.Summarised) {
	if m.channels[e.Channel] == nil {
		return
	}
	m.summarised[e.Channel] = max(m.summarised[e.Channel], e.Until)
	at := place{e.Channel, e.Until}
	old := m.summaries[at]
	if e.Summary == nil {
		m.makeRoom(e)
		if old != nil && old.again {
			delete(m.summaries, at)
		}
		return
	}
	s, _ := e.Summary.Checked()
	switch {
	case old.there() && !s.Made.After(old.Made):
	case !m.areAsTheyWere(e.Channel, s.Sources):
		if old == nil {
			m.summaries[at] = &summary{again: true, after: e.After}
		}
	default:
		m.makeRoom(e)
		m.summaries[at] = &summary{after: e.After, Summary: s}
	}
}

// makeRoom takes away the summaries that make room for one.
func (m *model) makeRoom(e memory.Summarised) {
	for _, id := range e.Evicted {
		if at := (place{e.Channel, id}); m.summaries[at].there() {
			delete(m.summaries, at)
		}
	}
}

// areAsTheyWere reports whether messages of a channel are there, in the versions that something was made from.
func (m *model) areAsTheyWere(channel memory.ChannelID, sources []memory.SummarySource) bool {
	return !slices.ContainsFunc(sources, func(s memory.SummarySource) bool {
		now, ok := m.message(place{channel, s.Message})
		return !ok || editedAt(now) != s.Edited
	})
}

// summariesOf are those of a channel, by id.
func (m *model) summariesOf(channel memory.ChannelID) []memory.Summary {
	var all []memory.Summary
	for at, s := range m.summaries {
		if at.channel == channel && s.there() && m.channels[channel] != nil {
			all = append(all, s.Summary)
		}
	}
	return plainSummaries(sorted(all, func(s memory.Summary) memory.MessageID { return s.ID }))
}

// unsummarised is what is to be summed up: what is to be made again first.
func (m *model) unsummarised(since memory.MessageID) []memory.Stretch {
	var again, fresh []memory.Stretch
	for at, s := range m.summaries {
		if c := m.channels[at.channel]; s.again && c != nil {
			again = append(again, memory.Stretch{Guild: c.Guild, Channel: at.channel, After: s.after,
				Until: at.id, Again: true})
		}
	}
	for id, c := range m.channels {
		after := m.summarised[id]
		if after == 0 {
			after = max(since-1, 0)
		}
		last := after
		for _, message := range m.inScope(in(id)) {
			last = max(last, message.ID)
		}
		if last > after {
			fresh = append(fresh, memory.Stretch{Guild: c.Guild, Channel: id, After: after, Until: last})
		}
	}
	for _, all := range [][]memory.Stretch{again, fresh} {
		sorted(all, func(s memory.Stretch) memory.ChannelID { return s.Channel })
		slices.SortStableFunc(all, func(a, b memory.Stretch) int { return compare(a.Until, b.Until) })
	}
	return append(again, fresh...)
}

// condense keeps what a session was condensed to if all that it was made from is there, as it was.
func (m *model) condense(c memory.Condensed) {
	c, _ = c.Checked()
	if m.channels[c.Channel] != nil && c.Made.After(m.condensed[c.Channel].Made) &&
		m.areAsTheyWere(c.Channel, c.Sources) {
		m.condensed[c.Channel] = c
	}
}

// keepRecord keeps what is known of a call, unless what it is about is gone.
func (m *model) keepRecord(r memory.Record) {
	r, err := r.Checked()
	if err != nil || m.isOut(r.Guild, r.Asker) {
		return
	}
	m.meet(r.Guild, r.Channel)
	switch {
	case m.isForgotten(*recordAsMessage(r)), m.areForgotten(r.Guild, namedIn(r), recordAsMessage(r).ID):
	case r.Question != 0 && m.isGone(place{r.Channel, r.Question}), r.Answer != 0 &&
		m.isGone(place{r.Channel, r.Answer}):
	case slices.ContainsFunc(m.records, func(of memory.Record) bool { return of.CallID == r.CallID }):
	default:
		m.records = append(m.records, r)
	}
}

// recordAsMessage is the message that r is forgotten like.
func recordAsMessage(r memory.Record) *memory.Message {
	of := memory.Message{ID: r.Question, Guild: r.Guild, Channel: r.Channel, Author: r.Asker}
	if of.ID == 0 {
		of.ID = memory.FirstMessageID(r.Timestamp)
	}
	return &of
}

// namedIn are those whom the arguments of r name.
func namedIn(r memory.Record) (all []memory.UserID) {
	for _, id := range r.Named() {
		all = append(all, memory.UserID(id))
	}
	return all
}

// recordsFor are those that q asks for.
func (m *model) recordsFor(q memory.RecordQuery) []memory.Record {
	var all []memory.Record
	for _, r := range m.records {
		if slices.Contains(q.Channels, r.Channel) && (q.Since.IsZero() || !r.Timestamp.Before(q.Since)) &&
			(q.Until.IsZero() || r.Timestamp.Before(q.Until)) &&
			(q.Speaker == "" || r.Speaker == q.Speaker) && (q.Method == "" || r.Method == q.Method) &&
			(q.Asker == 0 || r.Asker == q.Asker) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b memory.Record) int { return a.Timestamp.Compare(b.Timestamp) })
	if !q.Oldest {
		slices.Reverse(all)
	}
	if q.Limit > 0 {
		all = all[:min(q.Limit, len(all))]
	}
	return all
}

// limitRecords takes away what is too old, and of each channel all but the newest. What records cost is the
// store's affair.
func (m *model) limitRecords(l memory.RecordLimits) {
	goes := map[string]bool{}
	for channel := range m.channels {
		for i, r := range m.recordsFor(memory.RecordQuery{Channels: []memory.ChannelID{channel}}) {
			goes[r.CallID] = r.Timestamp.Before(l.Before) || l.Count > 0 && i >= l.Count
		}
	}
	m.records = slices.DeleteFunc(slices.Clone(m.records), func(r memory.Record) bool { return goes[r.CallID] })
}
