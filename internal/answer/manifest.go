package answer

import (
	"slices"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// manifestOf returns what r.Prompt shows.
func manifestOf(r *recalled) manifest.Manifest {
	m := manifest.New()
	m.Hits = slices.Clone(r.result.Hits)
	m.People = slices.Clip(r.result.People[:min(len(r.result.People), r.included(builder.SectionParticipants))])
	for _, n := range r.Prompt.Numbers {
		m.SetNumber(n.Message, n.N)
	}
	shown := map[memory.MessageID]bool{}
	for _, s := range r.Prompt.Shown {
		shown[s.Message] = true
	}
	for _, hit := range r.result.Hits {
		for _, said := range hit.Excerpt {
			if shown[said.ID] {
				m.Add(said)
			}
		}
	}
	m.Lore = loreOf(r.result.Lore[:min(len(r.result.Lore), r.included(builder.SectionLore))])
	m.Summaries = summariesOf(r.summaries[:min(len(r.summaries), r.included(builder.SectionPreviousContext))])
	m.AddSources(r.said, manifest.SourcesOf(m.People, m.Lore, m.Summaries))
	m.Session = r.turnsOf(r.Prompt)
	if !r.unlogged {
		m.Add(m.Session...)
		m.Files = r.fileSources()
		m.Add(m.Files...)
	}
	if r.Prompt.Condensed {
		m.Condensed = r.sources
		m.Add(r.sources...)
	}
	return m
}

func loreOf(hits []search.LoreHit) []memory.Lore {
	return digest.Each(hits, func(h search.LoreHit) memory.Lore { return h.Lore })
}

func summariesOf(hits []search.SummaryHit) []memory.Summary {
	return digest.Each(hits, func(h search.SummaryHit) memory.Summary { return h.Summary })
}

// turnsOf returns the messages of the session, and those it goes back to, that a prompt shows.
func (r *recalled) turnsOf(p builder.Prompt) (session []memory.Message) {
	for _, i := range p.Turns {
		session = append(session, r.turns[i]...)
	}
	return session
}

// included returns how many items of a section are in the prompt.
func (r *recalled) included(section builder.SectionType) int {
	for _, s := range r.Prompt.Report.Sections {
		if s.Type == section {
			return s.Included
		}
	}
	return 0
}

// fileSources returns the logged messages, except the question, whose files the model was shown.
func (r *recalled) fileSources() []memory.Message {
	if r.unlogged {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.session), func(m memory.Message) bool {
		return !slices.ContainsFunc(r.files, func(f attachment) bool { return f.Message == m.ID })
	})
}
