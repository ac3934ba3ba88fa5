package tools

import (
	"context"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/search"
)

// recallLore shows the lore of a name, or which names there are.
func recallLore() Tool {
	t := NewTool("recall_lore", "What Hark was told to remember under a name (lore). Without a name: which names there are.",
		`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":100}}}`, (*Turn).recallLore)
	t.offered = func(t *Turn, _ context.Context) (bool, error) { return t.Answer.HasLore(), nil }
	return t
}

func (t *Turn) recallLore(ctx context.Context, a struct{ Name string }) (Outcome, error) {
	all, said, err := t.Answer.Lore(ctx)
	if err != nil {
		return Outcome{}, err
	}
	called := all
	if a.Name != "" {
		called = search.LoreNamed(a.Name, all)
	}
	var in builder.Input
	for _, lore := range called {
		text := lore.Name
		if a.Name != "" {
			text += ": " + lore.Text
		}
		in.Lore = append(in.Lore, text)
	}
	in.Now = t.Question.Now.In(t.Answer.Zone())
	part := t.Builder.Part(in, t.Room)
	o := Outcome{Text: part.Text, Summary: Plural(part.Lore, "piece") + " of lore",
		Emission: manifest.Emission{Lore: called[:part.Lore], Said: said}}
	switch {
	case len(all) == 0:
		o.Text = "There is no lore."
	case len(called) == 0:
		o.Text = "There is no lore of that name. Call without a name for the names there are."
	case part.Lore == 0:
		o.Text = "There is no room to tell any."
	}
	return o, nil
}
