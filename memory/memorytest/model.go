package memorytest

import (
	"maps"
	"slices"

	"hark/memory"
)

// place is where a message is.
type place struct {
	channel memory.ChannelID
	id      memory.MessageID
}

// entry is what was heard of a message: the newest whole version, the newest edit, the last that was said of its
// star, and whether it was deleted.
type entry struct {
	posted  *memory.Message
	edit    *memory.Edited
	star    memory.Starred
	deleted bool
	taken   bool // with something that it was made from, rather than by itself
	// anew says that it was written anew: versions edited before since, which is nil as long as none is known, are gone.
	anew  bool
	since *int64
}

// model keeps everything in maps and answers every question by looking at all of it.
type model struct {
	entries  map[place]*entry
	names    map[place]string
	dropped  map[place]member       // those who wrote what isn't logged because of that, or where it is, and of which nothing is kept
	traces   map[place]memory.Trace // without their prompts
	prompts  map[place]memory.Prompt
	records  []memory.Record                  // in the order in which they came
	key      []byte                           // of fingerprints
	guilds   map[memory.GuildID]*memory.Guild // without channels
	channels map[memory.ChannelID]*memory.Channel
	seen     map[memory.ChannelID]bool // told of by more than a message
	people   map[memory.GuildID]map[memory.UserID]memory.Person

	facts       map[factKey]*fact
	lore        map[loreKey]*lore
	summaries   map[place]*summary // by channel and last message
	summarised  map[memory.ChannelID]memory.MessageID
	condensed   map[memory.ChannelID]memory.Condensed
	opted       map[member]memory.Opted
	heard       map[memory.ChannelID]memory.MessageID
	choices     map[chosen]memory.Chose
	settings    map[set]memory.SettingChosen
	limits      map[limited]memory.LimitChosen
	spent       map[asked]memory.Spent
	gaps        map[gapKey]memory.Gap
	open        map[place]memory.OpenQuestion
	learn       map[member]memory.Learn // of a guild under no user
	learned     map[memory.ChannelID]memory.MessageID
	forgettings []*forgetting
	withdrawn   []memory.Withdrawn
}

func newModel() *model {
	return &model{
		entries:   map[place]*entry{},
		names:     map[place]string{},
		dropped:   map[place]member{},
		traces:    map[place]memory.Trace{},
		prompts:   map[place]memory.Prompt{},
		guilds:    map[memory.GuildID]*memory.Guild{},
		channels:  map[memory.ChannelID]*memory.Channel{},
		seen:      map[memory.ChannelID]bool{},
		people:    map[memory.GuildID]map[memory.UserID]memory.Person{},
		facts:     map[factKey]*fact{},
		lore:      map[loreKey]*lore{},
		summaries: map[place]*summary{}, summarised: map[memory.ChannelID]memory.MessageID{}, condensed: map[memory.ChannelID]memory.Condensed{},
		opted:    map[member]memory.Opted{},
		heard:    map[memory.ChannelID]memory.MessageID{},
		choices:  map[chosen]memory.Chose{},
		settings: map[set]memory.SettingChosen{},
		gaps:     map[gapKey]memory.Gap{},
		open:     map[place]memory.OpenQuestion{},
		learn:    map[member]memory.Learn{},
		learned:  map[memory.ChannelID]memory.MessageID{},
		limits:   map[limited]memory.LimitChosen{},
		spent:    map[asked]memory.Spent{},
	}
}

func (m *model) apply(events ...memory.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case memory.Posted:
			m.post(e)
		case memory.Heard:
			m.meet(e.Guild, e.Channel)
			m.hear(e.Channel, e.ID)
		case memory.Starred:
			m.star(e)
		case memory.Edited:
			m.edit(e)
		case memory.Deleted:
			for _, id := range e.IDs {
				at := place{e.Channel, id}
				if _, dropped := m.dropped[at]; !dropped {
					m.delete(at)
				}
			}
		case memory.Named:
			m.name(e)
		case memory.Answered:
			m.keepTrace(e.Trace)
		case memory.Called:
			m.keepRecord(e.Record)
		case memory.GapFound, memory.GapFilled:
			m.applyGap(e)
		case memory.Absent:
			m.sweep(e)
		case memory.ShutOut:
			m.shutOut(e)
		case memory.QuestionOpened:
			m.open[place{e.Question.Channel, e.Question.ID}] = e.Question
		case memory.QuestionClosed:
			delete(m.open, place{e.Channel, e.ID})
		case memory.PersonSeen, memory.PersonLeft, memory.FactTold, memory.FactGone, memory.Opted, memory.Learn:
			m.applyPerson(e)
		case memory.LoreTold:
			m.tellLore(e.Lore)
		case memory.LoreGone:
			m.takeLore(loreKey{e.Guild, e.ID})
		case memory.Spent:
			m.spend(e)
		case memory.Summarised:
			m.summarise(e)
		case memory.SessionCondensed:
			m.condense(e.Condensed)
		case memory.CondensedGone:
			if m.condensed[e.Channel].Until <= e.Until {
				delete(m.condensed, e.Channel)
			}
		case memory.SummaryGone:
			m.takeSummary(place{e.Channel, e.ID})
		case memory.Learned:
			m.meet(e.Guild, e.Channel)
			m.learned[e.Channel] = max(m.learned[e.Channel], e.Until)
		case memory.Rewritten:
			m.rewrite(e)
		case memory.Marked:
			m.withdrawn = slices.DeleteFunc(m.withdrawn, func(w memory.Withdrawn) bool { return w.Channel == e.Channel && w.Message == e.Message })
		default:
			m.applyStructure(e)
		}
	}
}

func (m *model) entry(at place) *entry {
	if m.entries[at] == nil {
		m.entries[at] = &entry{}
	}
	return m.entries[at]
}

func (m *model) post(p memory.Posted) {
	message := p.Message
	message.Starred = false
	at := place{message.Channel, message.ID}
	m.meet(message.Guild, message.Channel)
	if p.Live {
		m.hear(message.Channel, message.ID)
	}
	e := m.entry(at)
	out := m.opted[member{message.Guild, message.Author}].Out
	switch {
	case m.isAway(at):
		return
	case out || m.isForgotten(message):
		if !m.isKnown(at) {
			m.dropped[at] = member{message.Guild, message.Author} // so that of what is told of it nothing is kept either
		} else if !out || e.posted == nil {
			m.delete(at) // with an edit that came before it, and those that follow
		}
		return
	}
	m.changing(at, func() {
		if e.posted == nil || message.Edited.After(e.posted.Edited) {
			e.posted = &message
		}
	})
}

// isAway reports whether a message was deleted or dropped.
func (m *model) isAway(at place) bool {
	_, dropped := m.dropped[at]
	return dropped || m.entry(at).deleted
}

// isKnown reports whether anything was heard of a message, or was made from it.
func (m *model) isKnown(at place) bool {
	e, spot := m.entry(at), memory.Spot{Channel: at.channel, Message: at.id}
	_, asked := m.open[at]
	_, answer := m.traces[at]
	known := e.posted != nil || e.edit != nil || !e.star.At.IsZero() || e.anew || asked || answer
	for _, t := range m.traces {
		known = known || slices.ContainsFunc(sources(t), func(s used) bool { return s.place == at })
	}
	for _, f := range m.facts {
		known = known || f.Channel == at.channel && f.Message == at.id && at.id != 0
	}
	for _, l := range m.lore {
		known = known || slices.Contains(l.Sources, spot)
	}
	isSource := func(s memory.SummarySource) bool { return s.Message == at.id }
	for of, s := range m.summaries {
		known = known || of.channel == at.channel && slices.ContainsFunc(s.Sources, isSource)
	}
	known = known || slices.ContainsFunc(m.condensed[at.channel].Sources, isSource)
	return known || slices.ContainsFunc(m.records, func(r memory.Record) bool {
		return r.Channel == at.channel && at.id != 0 && (r.Question == at.id || r.Answer == at.id)
	})
}

func (m *model) hear(channel memory.ChannelID, id memory.MessageID) {
	m.heard[channel] = max(m.heard[channel], id)
}

func (m *model) star(s memory.Starred) {
	e := m.entry(place{s.Channel, s.ID})
	if !m.isAway(place{s.Channel, s.ID}) && s.At.After(e.star.At) {
		e.star = s
	}
}

func (m *model) edit(edit memory.Edited) {
	at := place{edit.Channel, edit.ID}
	e := m.entry(at)
	if m.isAway(at) || e.posted == nil && m.isForgotten(memory.Message{ID: edit.ID, Guild: edit.Guild, Channel: edit.Channel}) {
		return
	}
	m.meet(edit.Guild, edit.Channel)
	m.changing(at, func() {
		if e.edit == nil || edit.At.After(e.edit.At) {
			e.edit = &edit
		}
	})
}

// changing deletes the answers made from a message if change changes its text.
func (m *model) changing(at place, change func()) {
	before, was := m.message(at)
	change()
	if after, _ := m.message(at); was && after.Text() != before.Text() {
		m.dropFacts(at)
		m.dropLore(at)
		m.dropSummaries(at)
		m.dropCondensed(at)
		if before.Kind != memory.FromHark {
			m.dropRecords(func(r memory.Record) bool { return r.Channel == at.channel && r.Question == at.id })
			m.dropAnswers(at)
		}
		m.dropPrompts(func(t memory.Trace, _ memory.Prompt) bool {
			return slices.ContainsFunc(sources(t), func(s used) bool { return s.place == at })
		})
	}
}

// message is the message as it is now; false if there is none.
func (m *model) message(at place) (memory.Message, bool) {
	e := m.entries[at]
	if e == nil || e.deleted || e.posted == nil {
		return memory.Message{}, false
	}
	message := *e.posted
	if e.edit != nil && e.edit.At.After(message.Edited) {
		message.Content, message.Edited = e.edit.Content, e.edit.At
	}
	message.Starred = e.star.On
	return message, true
}

// delete deletes a message, and withdraws the answers made from it.
func (m *model) delete(at place) {
	*m.entry(at) = entry{deleted: true}
	delete(m.names, at)
	delete(m.open, at)
	trace, known := m.traces[at]
	delete(m.traces, at)
	delete(m.prompts, at)
	if known {
		m.keepTrace(trace)
	}
	m.dropRecords(func(r memory.Record) bool {
		return r.Channel == at.channel && at.id != 0 && (r.Question == at.id || r.Answer == at.id)
	})
	for _, t := range m.traces {
		if at == (place{t.Channel, t.Question}) {
			m.withdrawn = append(m.withdrawn, memory.Withdrawn{Guild: t.Guild, Channel: t.Channel, Message: t.Answer, First: true, Unasked: true})
		}
	}
	m.dropMadeFrom(at)
}

// dropFacts takes away the facts that a message is the source of.
func (m *model) dropFacts(at place) {
	for key, f := range m.facts {
		if f.Message == at.id && f.Channel == at.channel && at.id != 0 {
			m.facts[key] = &fact{gone: true}
		}
	}
}

func (m *model) name(n memory.Named) {
	at := place{n.Channel, n.ID}
	if _, there := m.message(at); !there || m.names[at] != "" {
		return
	}
	if _, taken := m.named(n.Channel, n.Name); !taken {
		m.names[at] = n.Name
	}
}

func (m *model) named(channel memory.ChannelID, name string) (memory.MessageID, bool) {
	for at, n := range m.names {
		if at.channel == channel && n == name {
			return at.id, true
		}
	}
	return 0, false
}

// keepTrace keeps a trace, unless a source of it was deleted or edited meanwhile, or the answer deleted.
func (m *model) keepTrace(t memory.Trace) {
	for m.isAway(place{t.Channel, t.Answer}) { // what is left is found by the next
		if len(t.Parts) == 0 {
			return
		}
		if t.Answer, t.Parts = t.Parts[0], t.Parts[1:]; len(t.Parts) == 0 {
			t.Parts = nil
		}
	}
	at := place{t.Channel, t.Answer}
	m.traces[at] = withoutPrompt(t)
	m.settleRewritten(t)
	gone := false
	for _, s := range sources(t) {
		now, ok := m.message(s.place)
		gone = gone || m.isGone(s.place) || m.channels[s.channel] == nil || m.isRewritten(s)
		gone = gone || ok && now.Kind != memory.FromHark && editedAt(now) != s.edited
	}
	for _, id := range t.Facts {
		known := m.facts[factKey{t.Guild, id}]
		gone = gone || known != nil && known.gone
	}
	for i, id := range t.Lore {
		gone = gone || !m.hasLore(id) || i < len(t.LoreAt) && m.loreAt(id) != t.LoreAt[i]
	}
	gone = gone || !m.hasSummaries(t)
	if gone || m.opted[member{t.Guild, t.Asker}].Out {
		m.dropAnswer(t, gone)
		return
	}
	m.keepPrompt(t)
}

// takeFact takes a fact away, with the answers that used it.
func (m *model) takeFact(key factKey) {
	m.facts[key] = &fact{gone: true}
	m.dropAnswersFrom(key)
}

// dropAnswersFrom withdraws the answers that used a fact.
func (m *model) dropAnswersFrom(key factKey) {
	for _, t := range maps.Clone(m.traces) {
		if t.Guild == key.guild && slices.Contains(t.Facts, key.id) {
			m.dropAnswer(t, true)
		}
	}
}

func (m *model) dropAnswers(source place) {
	for _, t := range maps.Clone(m.traces) {
		if slices.ContainsFunc(sources(t), func(s used) bool { return s.place == source }) {
			m.dropAnswer(t, true)
		}
	}
}

func (m *model) dropAnswer(t memory.Trace, withdrawn bool) {
	delete(m.traces, place{t.Channel, t.Answer})
	delete(m.prompts, place{t.Channel, t.Answer})
	for _, id := range append([]memory.MessageID{t.Answer}, t.Parts...) {
		m.dropPart(t, id, withdrawn)
	}
}

// dropPart deletes a message of an answer.
func (m *model) dropPart(t memory.Trace, id memory.MessageID, withdrawn bool) {
	at := place{t.Channel, id}
	if m.isAway(at) {
		return
	}
	known := slices.ContainsFunc(m.withdrawn, func(w memory.Withdrawn) bool { return w.Channel == t.Channel && w.Message == id })
	if withdrawn && !known {
		m.withdrawn = append(m.withdrawn, memory.Withdrawn{Guild: t.Guild, Channel: t.Channel, Message: id, First: id == t.Answer})
	}
	m.delete(at)
	m.entry(at).taken = true
}

// used is a version of a message that an answer was made from.
type used struct {
	place
	edited int64
}

// sources are all that an answer was made from.
func sources(t memory.Trace) []used {
	var all []used
	if t.Question != 0 {
		all = append(all, used{place{t.Channel, t.Question}, t.QuestionEdited})
	}
	for _, hit := range t.Recalled {
		if hit.Number > 0 || hit.Context {
			all = append(all, used{place{hit.Channel, hit.Message}, hit.Edited})
		}
	}
	for i, id := range t.Condensed {
		all = append(all, used{place{t.Channel, id}, append(t.CondensedEdited, make([]int64, i+1)...)[i]})
	}
	return all
}

// editedAt is when m was edited as traces tell it.
func editedAt(m memory.Message) int64 {
	if m.Edited.IsZero() {
		return 0
	}
	return m.Edited.UnixMilli()
}
