package search

import (
	"context"
	"fmt"
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// Introduce gives those whom q mentions and whom its text names, if only misspelt by a letter, as a result of
// Search for q would introduce them. Nothing else is searched for, and nobody else is among them.
func (e *Engine) Introduce(ctx context.Context, q Query) ([]Participant, error) {
	q = within(q)
	q.Asker = 0
	known, err := e.known(ctx, q.Guilds, q.Scope)
	if err != nil {
		return nil, fmt.Errorf("look people up: %w", err)
	}
	named := known.namedIn(q.Text)
	if len(named) == 0 {
		named = known.misspelt(q.Text, text.QueryTerms(q.Text))
	}
	people, err := e.participants(ctx, q, named, nil, known)
	if err != nil {
		return nil, fmt.Errorf("look people up: %w", err)
	}
	return people, nil
}

// LoreCalled are those of lore that a text calls by a name, an alias or their initials, the surest first. If
// there are none, it is those of whose name or alias the text is a part.
func LoreCalled(s string, lore []memory.Lore) []memory.Lore {
	taken, said := calledBy(lore), spokenIn(s)
	var found []calling
	for _, l := range lore {
		if c := said.calls(l, taken); c.Why != "" {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		for _, l := range lore {
			if slices.ContainsFunc(append([]string{l.Name}, l.Own...), func(name string) bool {
				return spokenIn(name).has(s) > 0
			}) {
				found = append(found, calling{LoreHit: LoreHit{Lore: l}})
			}
		}
	}
	slices.SortFunc(found, surestFirst)
	called := make([]memory.Lore, len(found))
	for i, c := range found {
		called[i] = c.Lore
	}
	return called
}
