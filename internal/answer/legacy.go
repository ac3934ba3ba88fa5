package answer

import "hark/memory"

func legacy(t *memory.Trace, m *manifest, q Question) {
	t.QuestionEdited = editedAt(memory.Message{Edited: q.Edited})
	for _, s := range t.Sources {
		switch s.Kind {
		case memory.SourceFact:
			t.Facts = append(t.Facts, s.ID)
		case memory.SourceLore:
			t.Lore, t.LoreAt = append(t.Lore, s.ID), append(t.LoreAt, memory.MessageID(s.Version))
		case memory.SourceSummary:
			t.Summaries, t.SummariesMade = append(t.Summaries, memory.MessageID(s.ID)), append(t.SummariesMade, s.Version)
		}
	}
	for _, c := range m.condensed {
		t.Condensed, t.CondensedEdited = append(t.Condensed, c.ID), append(t.CondensedEdited, editedAt(c))
	}
}
