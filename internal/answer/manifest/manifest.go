// Package manifest holds what the model was shown for an answer, and the numbers that it cites. Citing,
// revalidating, tracing and forgetting all read it.
//
// It may import memory, search and internal/digest. Begin with Manifest.
package manifest

import (
	"slices"

	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// Manifest is what the model was shown for an answer. It is filled as the prompt is laid out, and by tools.
type Manifest struct {
	Hits      []search.Hit     // what was found, best first, shown or not
	Session   []memory.Message // and what it goes back to, logged or not
	Condensed []memory.Message // sources of the condensed part of the session
	Files     []memory.Message // messages whose files were shown
	People    []search.Participant
	Lore      []memory.Lore
	Summaries []memory.Summary
	Named     []memory.UserID  // named by tools, besides the authors of messages
	Emitted   []memory.Message // shown by tools
	// Messages are the logged messages that were shown, or that something shown was made from, each once.
	Messages []memory.Message

	titles  map[memory.MessageRef]string // of threads, by the message that began each
	numbers map[memory.MessageID]int     // the [n] of the hits that may be cited
	known   map[memory.MessageRef]bool   // those of Messages
	next    int                          // the number of the next message that may be cited
}

// New returns an empty manifest.
func New() Manifest {
	return Manifest{
		titles:  map[memory.MessageRef]string{},
		numbers: map[memory.MessageID]int{},
		known:   map[memory.MessageRef]bool{},
		next:    1,
	}
}

// Emission is what a tool showed the model.
type Emission struct {
	// Shown are the logged messages that the tool's text shows or was made from.
	Shown []memory.Message
	// Named are whom the text names besides Shown's authors and their mentions.
	Named []memory.UserID

	Hits   []NumberedHit
	People []search.Participant
	Lore   []memory.Lore
	Said   map[memory.MessageRef]memory.Message // the sources of People's facts and of Lore
}

// NumberedHit is a hit and the number it may be cited by; 0: none.
type NumberedHit struct {
	search.Hit
	Number int
}

// Emit adds what a tool showed.
func (m *Manifest) Emit(e Emission) {
	for _, h := range e.Hits {
		if m.numbers[h.Message.ID] == 0 || h.Number > 0 {
			m.SetNumber(h.Message.ID, h.Number)
		}
		if !IsHit(m.Hits, h.Message) {
			m.Hits = append(m.Hits, h.Hit) // else the prompt had no room for it
		}
	}
	m.People = append(m.People, e.People...)
	m.Lore = append(m.Lore, e.Lore...)
	m.Named = append(m.Named, e.Named...)
	m.AddSources(e.Said, SourcesOf(e.People, e.Lore, nil))
	m.Emitted = append(m.Emitted, e.Shown...)
	m.Add(e.Shown...)
}

// Add adds logged messages.
func (m *Manifest) Add(messages ...memory.Message) {
	for _, said := range messages {
		at := memory.MessageRef{Channel: said.Channel, Message: said.ID}
		if !m.known[at] {
			m.known[at] = true
			m.Messages = append(m.Messages, said)
		}
	}
}

// AddTitled adds the message that began a thread, as the source of the thread's title.
func (m *Manifest) AddTitled(opening memory.Message, title string) {
	m.Add(opening)
	m.titles[memory.MessageRef{Channel: opening.Channel, Message: opening.ID}] = title
}

// AddSources adds the messages in said that things were made from.
func (m *Manifest) AddSources(said map[memory.MessageRef]memory.Message, made []Source) {
	for _, s := range made {
		for _, at := range s.From {
			m.Add(said[at])
		}
	}
}

// SetNumber lets a message be cited by n.
func (m *Manifest) SetNumber(id memory.MessageID, n int) {
	m.numbers[id], m.next = n, max(m.next, n+1)
}

// Number returns the number a message may be cited by; 0: none.
func (m *Manifest) Number(id memory.MessageID) int { return m.numbers[id] }

// Next returns the number of the next message that may be cited.
func (m *Manifest) Next() int { return m.next }

// Hit returns the hit of number n.
func (m *Manifest) Hit(n int) (search.Hit, bool) {
	at := slices.IndexFunc(m.Hits, func(h search.Hit) bool { return n > 0 && m.numbers[h.Message.ID] == n })
	if at < 0 {
		return search.Hit{}, false
	}
	return m.Hits[at], true
}

// IsNumber reports whether a hit has number n.
func (m *Manifest) IsNumber(n int) bool {
	_, is := m.Hit(n)
	return is
}

// IsHit reports whether a message is among hits.
func IsHit(hits []search.Hit, m memory.Message) bool {
	return slices.ContainsFunc(hits, func(h search.Hit) bool { return h.Message.ID == m.ID })
}

func (m *Manifest) ByChannel() map[memory.ChannelID][]memory.Message {
	all := map[memory.ChannelID][]memory.Message{}
	for _, said := range m.Messages {
		all[said.Channel] = append(all[said.Channel], said)
	}
	return all
}

// TraceHits returns the hits and the other messages for a trace.
func (m *Manifest) TraceHits(cited map[memory.MessageRef]bool) (all []memory.TraceHit) {
	for _, hit := range m.Hits {
		at := memory.MessageRef{Channel: hit.Message.Channel, Message: hit.Message.ID}
		all = append(all, memory.TraceHit{
			Channel:   at.Channel,
			Message:   at.Message,
			Relevance: hit.Relevance,
			Why:       digest.Each(hit.Why, func(w search.Reason) string { return w.Kind }),
			Edited:    hit.Message.AsSource(false).Version,
			Number:    m.numbers[at.Message],
			Context:   m.known[at],
			Cited:     cited[at],
		})
	}
	for _, said := range m.Messages {
		if !IsHit(m.Hits, said) && !digest.Has(m.Condensed, said.ID) {
			at := memory.MessageRef{Channel: said.Channel, Message: said.ID}
			all = append(all, memory.TraceHit{
				Channel: at.Channel,
				Message: at.Message,
				Context: true,
				Edited:  said.AsSource(false).Version,
				Number:  m.numbers[at.Message],
				Cited:   cited[at],
			})
		}
	}
	return all
}

// Source is something of the manifest, with its words.
type Source struct {
	memory.Source
	Text string
	By   memory.UserID       // the member who said it; 0 for what was made of another source
	From []memory.MessageRef // the messages it was made from
}

// Sources returns all that an answer is made from except the question, each once.
func (m *Manifest) Sources() (all []Source) {
	for _, said := range m.Messages {
		s := Source{Source: said.AsSource(false), Text: said.Text()}
		if title := m.titles[memory.MessageRef{Channel: said.Channel, Message: said.ID}]; title != "" {
			s.Text = title + "\n" + s.Text
		}
		if said.Kind == memory.FromMember {
			s.By = said.Author
		}
		all = append(all, s)
	}
	for _, s := range SourcesOf(m.People, m.Lore, m.Summaries) {
		if !slices.ContainsFunc(all, func(known Source) bool { return known.Source == s.Source }) {
			all = append(all, s)
		}
	}
	return all
}

// SourcesOf returns people's facts, lore and summaries as sources.
func SourcesOf(people []search.Participant, lore []memory.Lore, summaries []memory.Summary) (all []Source) {
	for _, p := range people {
		all = append(all, digest.Each(p.Person.Facts, OfFact)...)
	}
	return slices.Concat(all, digest.Each(lore, OfLore), digest.Each(summaries, OfSummary))
}

// OfFact returns a fact as a source.
func OfFact(f memory.Fact) Source {
	s := Source{Source: memory.Source{Kind: memory.SourceFact, ID: f.ID}, Text: f.Text}
	if f.Message != 0 {
		s.From = []memory.MessageRef{{Channel: f.Channel, Message: f.Message}}
	}
	return s
}

// OfLore returns lore as a source.
func OfLore(l memory.Lore) Source {
	return Source{
		Source: l.AsSource(false),
		Text:   l.Name + ": " + l.Text,
		From:   l.Sources,
	}
}

// OfSummary returns a summary as a source.
func OfSummary(s memory.Summary) Source {
	return Source{
		Source: memory.Source{
			Kind:    memory.SourceSummary,
			Channel: s.Channel,
			ID:      int64(s.ID),
			Version: s.Made.UnixMilli(),
		},
		Text: s.Text,
		From: digest.Each(s.Sources, func(of memory.SummarySource) memory.MessageRef {
			return memory.MessageRef{Channel: s.Channel, Message: of.Message}
		}),
	}
}
