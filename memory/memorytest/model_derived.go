package memorytest

import (
	"cmp"
	"slices"

	"hark/memory"
)

var derivedRules = []modelRule{
	on((*model).tellFact),
	on(func(m *model, e memory.FactGone) { m.takeFact(inGuild{e.Guild, e.Fact}) }),
	on(func(m *model, e memory.LoreTold) { m.tellLore(e.Lore) }),
	on(func(m *model, e memory.LoreGone) { m.takeLore(inGuild{e.Guild, e.ID}) }),
	on((*model).summarise),
	on(func(m *model, e memory.SessionCondensed) { m.condense(e.Condensed) }),
	on((*model).endSession),
	on(func(m *model, e memory.Recorded) { m.keepRecord(e.Record) }),
}

func (m *model) endSession(e memory.CondensedGone) {
	if c := m.channels[e.Channel]; c != nil && c.condensed.Until <= e.Until {
		c.condensed = memory.Condensed{}
	}
}

// fact is the fact of an id, or that it is gone for good.
type fact struct {
	user memory.UserID
	gone bool
	memory.Fact
}

// tellFact keeps a fact, unless it or its source is gone, or its person has opted out.
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

func (m *model) takeFact(key inGuild) {
	m.facts[key] = &fact{gone: true}
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return isFact(s, key) }), place{})
}

// lore is the lore of an id, or that it is gone for good.
type lore struct {
	gone bool
	memory.Lore
}

// loreAsMessage is the message by which rules cover l.
func loreAsMessage(l memory.Lore) *memory.Message {
	return &memory.Message{ID: memory.FirstMessageID(l.At), Guild: l.Guild, Channel: l.Channel, Author: l.By}
}

// tellLore keeps lore, unless it or a source is gone, a newer version exists, or its teller is forgotten.
func (m *model) tellLore(l memory.Lore) {
	l, _ = l.Checked()
	key := inGuild{l.Guild, l.ID}
	old := m.lore[key]
	switch {
	case m.isOut(l.Guild, l.By), old != nil && (old.gone || !l.At.After(old.At)), m.isForgotten(*loreAsMessage(l)):
		return
	case slices.ContainsFunc(l.Sources, func(s memory.MessageRef) bool {
		return m.isGone(place{s.Channel, s.Message})
	}):
		m.takeLore(key)
		return
	case old != nil:
		m.dropMadeFromLore(l.ID)
	}
	m.guild(l.Guild)
	m.lore[key] = &lore{Lore: l}
}

func (m *model) takeLore(key inGuild) {
	m.lore[key] = &lore{gone: true}
	m.dropMadeFromLore(key.id)
}

func (m *model) dropMadeFromLore(id int64) {
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return s.Kind == memory.SourceLore && s.ID == id }), place{})
}

// loreAt returns the lore with an id in any guild, or nil.
func (m *model) loreAt(id int64) (found *lore) {
	for key, l := range m.lore {
		if key.id == id && !l.gone {
			found = l
		}
	}
	return found
}

func (m *model) loreOf(guild memory.GuildID) []memory.Lore {
	var all []memory.Lore
	for key, l := range m.lore {
		if key.guild == guild && !l.gone {
			all = append(all, l.Lore)
		}
	}
	return sorted(all, func(l memory.Lore) int64 { return l.ID })
}

// summary is of a stretch that ends at its place; again means that it must be made again.
type summary struct {
	again bool
	after memory.MessageID
	memory.Summary
}

func (s *summary) there() bool { return s != nil && !s.again }

func (m *model) summarise(e memory.Summarised) {
	c := m.channels[e.Channel]
	if c == nil {
		return
	}
	c.summarised = max(c.summarised, e.Until)
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

func (m *model) makeRoom(e memory.Summarised) {
	for _, id := range e.Evicted {
		if at := (place{e.Channel, id}); m.summaries[at].there() {
			delete(m.summaries, at)
		}
	}
}

func (m *model) areAsTheyWere(channel memory.ChannelID, sources []memory.SummarySource) bool {
	return !slices.ContainsFunc(sources, func(s memory.SummarySource) bool {
		now, ok := m.message(place{channel, s.Message})
		return !ok || editedAt(now) != s.Edited
	})
}

func (m *model) summariesOf(channel memory.ChannelID) []memory.Summary {
	var all []memory.Summary
	for at, s := range m.summaries {
		if at.channel == channel && s.there() && m.channels[channel] != nil {
			all = append(all, s.Summary)
		}
	}
	return sorted(all, func(s memory.Summary) memory.MessageID { return s.ID })
}

func (m *model) unsummarised(since memory.MessageID) []memory.Stretch {
	var again, fresh []memory.Stretch
	for at, s := range m.summaries {
		if c := m.channels[at.channel]; s.again && c != nil {
			again = append(again, memory.Stretch{Guild: c.Guild, Channel: at.channel, After: s.after,
				Until: at.id, Again: true})
		}
	}
	for id, c := range m.channels {
		after := c.summarised
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
		slices.SortStableFunc(all, func(a, b memory.Stretch) int { return cmp.Compare(a.Until, b.Until) })
	}
	return append(again, fresh...)
}

func (m *model) condense(c memory.Condensed) {
	c, _ = c.Checked()
	if of := m.channels[c.Channel]; of != nil && c.Made.After(of.condensed.Made) &&
		m.areAsTheyWere(c.Channel, c.Sources) {
		of.condensed = c
	}
}

// keepRecord keeps a record, unless its subject is gone.
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

// recordAsMessage is the message by which rules cover r.
func recordAsMessage(r memory.Record) *memory.Message {
	of := memory.Message{ID: r.Question, Guild: r.Guild, Channel: r.Channel, Author: r.Asker}
	if of.ID == 0 {
		of.ID = memory.FirstMessageID(r.Timestamp)
	}
	return &of
}

func namedIn(r memory.Record) (all []memory.UserID) {
	for _, id := range r.Named() {
		all = append(all, memory.UserID(id))
	}
	return all
}

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

// limitRecords leaves the limit in tokens to the store.
func (m *model) limitRecords(l memory.RecordLimits) {
	goes := map[string]bool{}
	for channel := range m.channels {
		for i, r := range m.recordsFor(memory.RecordQuery{Channels: []memory.ChannelID{channel}}) {
			goes[r.CallID] = r.Timestamp.Before(l.Before) || l.Count > 0 && i >= l.Count
		}
	}
	m.records = slices.DeleteFunc(slices.Clone(m.records), func(r memory.Record) bool { return goes[r.CallID] })
}
