package memorytest

import (
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
	dropped  map[place]member // those who wrote what isn't logged because of that, or where it is, and of which nothing is kept
	traces   map[place]answer // without their prompts
	shown    map[place]answer // that aren't kept any more and Discord shows still: Answer and Parts are what it shows
	lost     map[string]int   // things that went, by kind
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
		traces:    map[place]answer{},
		shown:     map[place]answer{},
		lost:      map[string]int{},
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
					m.delete(at, 1)
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
			m.delete(at, 1) // with an edit that came before it, and those that follow
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
	e := m.entry(at)
	_, asked := m.open[at]
	_, answer := m.traces[at]
	return e.posted != nil || e.edit != nil || !e.star.At.IsZero() || e.anew || asked || answer || slices.ContainsFunc(m.things(), func(t thing) bool {
		return slices.ContainsFunc(t.from, func(s memory.Source) bool { return isAt(s, at) })
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

// changing takes away what was made from a message if change changes its text. An answer of Hark's grows while it is sent.
func (m *model) changing(at place, change func()) {
	before, was := m.message(at)
	change()
	after, _ := m.message(at)
	switch {
	case !was || after.Text() == before.Text():
	case before.Kind != memory.FromHark:
		m.invalidate(fromMessage(at, 1), place{})
	default:
		m.invalidate(fromMessage(at, 0, "fact", "lore", "summary"), place{})
		m.dropPrompts(func(a answer, _ memory.Prompt) bool {
			return slices.ContainsFunc(a.from, func(s memory.Source) bool { return isAt(s, at) })
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

// delete deletes a message, with what was made from it. most is how what repeats it goes.
func (m *model) delete(at place, most int) {
	*m.entry(at) = entry{deleted: true}
	delete(m.names, at)
	delete(m.open, at)
	m.unshow(at)
	if a, known := m.traces[at]; known {
		m.dropTrace(at)
		if m.stand(&a.Trace) {
			m.traces[place{at.channel, a.Answer}] = a
		}
	}
	m.invalidate(fromMessage(at, most), at)
}

func (m *model) dropTrace(at place) {
	delete(m.traces, at)
	delete(m.prompts, at)
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

// stand has a trace be under the first message of its answer that is there, and tells whether there is one.
func (m *model) stand(t *memory.Trace) bool {
	for m.isAway(place{t.Channel, t.Answer}) {
		if len(t.Parts) == 0 {
			return false
		}
		if t.Answer, t.Parts = t.Parts[0], t.Parts[1:]; len(t.Parts) == 0 {
			t.Parts = nil
		}
	}
	return true
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
			i := slices.IndexFunc(known, func(o memory.Source) bool { return isAt(o, place{s.Channel, memory.MessageID(s.ID)}) })
			isThere = i >= 0 && known[i].Version == s.Version
			isAnew = !isThere
		}
		gone = gone || !isThere && !isAnew
		same, lost = same && isSame, lost || !isThere
		if !isThere && !isAnew && a.from[i].Repeats {
			hide = 2
		}
		if of := m.summaries[place{s.Channel, memory.MessageID(s.ID)}]; s.Kind == memory.SourceSummary && of.there() {
			for _, from := range messageSources(s.Channel, of.Sources...) {
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
	if slices.ContainsFunc(m.forgottenSince(t.Guild, since-1), func(user memory.UserID) bool { return gone || slices.Contains(about(t), user) }) {
		lost, hide = true, 2
	}
	a.Trace = withoutPrompt(t)
	m.traces[at] = a
	if lost || m.opted[member{t.Guild, t.Asker}].Out {
		m.invalidate(func(of thing) (going, bool) {
			return going{hide, false}, of.kind == "answer" && of.as.Channel == at.channel && of.as.ID == at.id
		}, place{})
		return
	}
	m.keepPrompt(t, same && asked)
}

// stands tells how a source is: as it was read, not gone at least, and whether it is gone since it was written anew.
func (m *model) stands(guild memory.GuildID, s memory.Source) (same, there, anew bool) {
	switch s.Kind {
	case memory.SourceFact:
		f := m.facts[factKey{guild, s.ID}]
		same = f == nil || !f.gone
	case memory.SourceLore:
		same = m.hasLore(s.ID) && (s.Version == 0 || int64(m.loreAt(s.ID)) == s.Version)
	case memory.SourceSummary:
		of := m.summaries[place{s.Channel, memory.MessageID(s.ID)}]
		same = of.there() && of.Made.UnixMilli() == s.Version
	default:
		at := place{s.Channel, memory.MessageID(s.ID)}
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

// takeFact takes a fact away, with the answers that used it.
func (m *model) takeFact(key factKey) {
	m.facts[key] = &fact{gone: true}
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return isFact(s, key) }), place{})
}

// unshow notes that Discord shows a message no more, or not as it was.
func (m *model) unshow(at place) {
	for key, a := range m.shown {
		parts := append([]memory.MessageID{a.Answer}, a.Parts...)
		i := slices.Index(parts, at.id)
		if key.channel != at.channel || i < 0 {
			continue
		}
		delete(m.shown, key)
		m.leaveShown(a, slices.Delete(parts, i, i+1))
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
	if !slices.ContainsFunc(m.withdrawn, func(of memory.Withdrawn) bool { return w.Channel == of.Channel && w.Message == of.Message }) {
		m.withdrawn = append(m.withdrawn, w)
	}
}

// editedAt is when m was edited as traces tell it.
func editedAt(m memory.Message) int64 {
	if m.Edited.IsZero() {
		return 0
	}
	return m.Edited.UnixMilli()
}
