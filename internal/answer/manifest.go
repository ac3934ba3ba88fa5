package answer

import (
	"slices"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// manifest is what the model was shown for an answer. It is written as the prompt is laid out, and grows as
// tools tell more. Whatever needs to know what an answer was made from reads it: citing, the look before
// sending, the trace and its sources.
type manifest struct {
	hits      []search.Hit             // what was found, best first, shown or not
	numbers   map[memory.MessageID]int // the [n] of the hits that may be cited
	session   []memory.Message         // of the session, and what it goes back to, from the log or not
	condensed []memory.Message         // what the session's summary was made from
	files     []memory.Message         // whose files were shown
	people    []search.Participant
	lore      []memory.Lore
	summaries []memory.Summary
	named     []memory.UserID  // by tools, besides the authors of messages
	told      []memory.Message // by tools
	// messages are those of the log that were shown, or that something shown was made from, each once.
	messages []memory.Message
	known    map[memory.Spot]bool // those of messages
	next     int                  // the number of the next message that may be cited
}

func newManifest() manifest {
	return manifest{numbers: map[memory.MessageID]int{}, known: map[memory.Spot]bool{}}
}

// manifestOf is what r.Prompt shows.
func manifestOf(r *recalled) manifest {
	m := newManifest()
	m.hits, m.next = slices.Clone(r.result.Hits), len(r.Prompt.Numbers)+1
	m.people = slices.Clip(r.result.People[:min(len(r.result.People), r.included(builder.SectionParticipants))])
	for _, n := range r.Prompt.Numbers {
		m.numbers[n.Message] = n.N
	}
	shown := map[memory.MessageID]bool{}
	for _, s := range r.Prompt.Shown {
		shown[s.Message] = true
	}
	for _, hit := range r.result.Hits {
		for _, said := range hit.Excerpt {
			if shown[said.ID] {
				m.add(said)
			}
		}
	}
	m.lore = loreOf(r.result.Lore[:min(len(r.result.Lore), r.included(builder.SectionLore))])
	m.summaries = summariesOf(r.summaries[:min(len(r.summaries), r.included(builder.SectionPreviousContext))])
	m.addOrigins(r.said, madeOf(m.people, m.lore, m.summaries))
	m.session = r.turnsOf(r.Prompt)
	if !r.unlogged {
		m.add(m.session...)
		m.files = r.fileSources()
		m.add(m.files...)
	}
	if r.Prompt.Condensed {
		m.condensed = r.sources
		m.add(r.sources...)
	}
	return m
}

// take adds what a tool told, of which said are the messages that facts and lore were said in.
func (m *manifest) take(o Outcome) {
	for _, h := range o.hits {
		if _, numbered := m.numbers[h.Message.ID]; !numbered || h.number > 0 {
			m.numbers[h.Message.ID] = h.number
		}
		m.next = max(m.next, h.number+1)
		if !isHit(m.hits, h.Message) {
			m.hits = append(m.hits, h.Hit) // else the prompt had no room for it
		}
	}
	m.people, m.lore, m.named = append(m.people, o.who...), append(m.lore, o.lore...), append(m.named, o.Named...)
	m.addOrigins(o.said, madeOf(o.who, o.lore, nil))
	m.told = append(m.told, o.Shown...)
	m.add(o.Shown...)
}

func (m *manifest) add(messages ...memory.Message) {
	for _, said := range messages {
		if at := (memory.Spot{Channel: said.Channel, Message: said.ID}); !m.known[at] {
			m.known[at] = true
			m.messages = append(m.messages, said)
		}
	}
}

// addOrigins adds the messages that things were made from.
func (m *manifest) addOrigins(said map[memory.Spot]memory.Message, made []sourceText) {
	for _, s := range made {
		for _, at := range s.from {
			m.add(said[at])
		}
	}
}

// hit is the hit of number n.
func (m *manifest) hit(n int) (search.Hit, bool) {
	at := slices.IndexFunc(m.hits, func(h search.Hit) bool { return n > 0 && m.numbers[h.Message.ID] == n })
	if at < 0 {
		return search.Hit{}, false
	}
	return m.hits[at], true
}

// isHit reports whether a message is among hits.
func isHit(hits []search.Hit, m memory.Message) bool {
	return slices.ContainsFunc(hits, func(h search.Hit) bool { return h.Message.ID == m.ID })
}

// byChannel are the messages of the manifest.
func (m *manifest) byChannel() map[memory.ChannelID][]memory.Message {
	all := map[memory.ChannelID][]memory.Message{}
	for _, said := range m.messages {
		all[said.Channel] = append(all[said.Channel], said)
	}
	return all
}

// recalled are the hits and the other messages as a trace tells them.
func (m *manifest) recalled(cited map[memory.Spot]bool) (all []memory.TraceHit) {
	for _, hit := range m.hits {
		at := memory.Spot{Channel: hit.Message.Channel, Message: hit.Message.ID}
		all = append(all, memory.TraceHit{
			Channel: hit.Message.Channel, Message: hit.Message.ID, Relevance: hit.Relevance, Why: reasonKinds(hit), Edited: editedAt(hit.Message),
			Number: m.numbers[hit.Message.ID], Context: m.known[at], Cited: cited[at],
		})
	}
	for _, said := range m.messages {
		if !isHit(m.hits, said) && !digest.Has(m.condensed, said.ID) {
			all = append(all, memory.TraceHit{Channel: said.Channel, Message: said.ID, Context: true,
				Edited: editedAt(said)})
		}
	}
	return all
}

// sourceText is something of the manifest, with its words.
type sourceText struct {
	memory.Source
	text string
	by   memory.UserID // the member who said it; 0 for what was made of something else that is a source
	from []memory.Spot // that it was said in
}

// saidBy is the member who said m; 0 if none did.
func saidBy(m memory.Message) memory.UserID {
	if m.Kind != memory.FromMember {
		return 0
	}
	return m.Author
}

// sources are all that an answer is made from, but for the question, each once.
func (m *manifest) sources() (all []sourceText) {
	for _, said := range m.messages {
		all = append(all, sourceText{Source: said.AsSource(false), text: said.Text(), by: saidBy(said)})
	}
	for _, s := range madeOf(m.people, m.lore, m.summaries) {
		if !slices.ContainsFunc(all, func(known sourceText) bool { return known.Source == s.Source }) {
			all = append(all, s)
		}
	}
	return all
}

// madeOf are facts about people, lore and summaries, each with the messages that it was made from.
func madeOf(people []search.Participant, lore []memory.Lore, summaries []memory.Summary) (all []sourceText) {
	for _, p := range people {
		all = append(all, digest.Each(p.Person.Facts, ofFact)...)
	}
	return slices.Concat(all, digest.Each(lore, ofLore), digest.Each(summaries, ofSummary))
}

func ofFact(f memory.Fact) sourceText {
	s := sourceText{Source: memory.Source{Kind: memory.SourceFact, ID: f.ID}, text: f.Text}
	if f.Message != 0 {
		s.from = []memory.Spot{{Channel: f.Channel, Message: f.Message}}
	}
	return s
}

func ofLore(l memory.Lore) sourceText {
	return sourceText{Source: l.AsSource(false), text: l.Name + ": " + l.Text,
		from: l.Sources}
}

func ofSummary(s memory.Summary) sourceText {
	return sourceText{Source: memory.Source{Kind: memory.SourceSummary, Channel: s.Channel, ID: int64(s.ID),
		Version: s.Made.UnixMilli()}, text: s.Text,
		from: digest.Each(s.Sources, func(of memory.SummarySource) memory.Spot { return memory.Spot{Channel: s.Channel, Message: of.Message} })}
}

func loreOf(hits []search.LoreHit) []memory.Lore {
	return digest.Each(hits, func(h search.LoreHit) memory.Lore { return h.Lore })
}

func summariesOf(hits []search.SummaryHit) []memory.Summary {
	return digest.Each(hits, func(h search.SummaryHit) memory.Summary { return h.Summary })
}
