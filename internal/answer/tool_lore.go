package answer

import (
	"context"
	"maps"
	"slices"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

type loreArguments struct{ Name string }

// recallLore tells what was told to be remembered under a name, or which names there are. It is offered where
// there is lore.
func recallLore() tool {
	t := newTool("recall_lore", "What Hark was told to remember under a name (lore). Without a name: which names there are.",
		`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":100}}}`, (*Turn).recallLore)
	t.offered = func(t *Turn, _ context.Context) (bool, error) { return len(t.loreHere()) > 0, nil }
	return t
}

func (t *Turn) recallLore(ctx context.Context, a loreArguments) (Outcome, error) {
	all, said, err := t.e.toldLore(ctx, t.r.reach, t.loreHere())
	if err != nil {
		return Outcome{}, err
	}
	called := all
	if a.Name != "" {
		called = search.LoreCalled(a.Name, all)
	}
	var in builder.Input
	for _, lore := range called {
		text := lore.Name
		if a.Name != "" {
			text += ": " + lore.Text
		}
		in.Lore = append(in.Lore, text)
	}
	in.Now = t.Question.Now.In(t.Zone())
	part := t.r.voice.builder.Part(in, t.room)
	o := Outcome{Text: part.Text, lore: called[:part.Lore], said: said, Summary: plural(part.Lore, "piece") +
		" of lore"}
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

// loreHere is the lore that the question is about.
func (t *Turn) loreHere() []memory.Lore {
	return slices.DeleteFunc(search.LoreIn(t.r.asked, slices.Collect(maps.Values(t.r.reach.lore))),
		func(l memory.Lore) bool {
			// what was told for the whole guild wasn't said there
			elsewhere := len(t.Question.Filter.In) > 0 && l.Channel == 0
			return elsewhere || len(t.r.asked.Authors) > 0 && !slices.Contains(t.r.asked.Authors, l.By)
		})
}
