package answer

import (
	"slices"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

func loreOf(hits []search.LoreHit) []memory.Lore {
	return digest.Each(hits, func(h search.LoreHit) memory.Lore { return h.Lore })
}

func summariesOf(hits []search.SummaryHit) []memory.Summary {
	return digest.Each(hits, func(h search.SummaryHit) memory.Summary { return h.Summary })
}

// turnsOf returns the messages of the session, and those it goes back to, that p shows.
func (r *recalled) turnsOf(p builder.Prompt) (session []memory.Message) {
	for _, i := range p.Turns {
		session = append(session, r.turns[i]...)
	}
	return session
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
