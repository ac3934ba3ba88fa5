package answer

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"hark/builder"
	"hark/internal/chat"
	"hark/memory"
	"hark/search"
)

// recallLore tells what was told to be remembered under a name, or which names there are.
type recallLore struct{ e *Engine }

// Spec is what the model is told.
func (recallLore) Spec() chat.Tool {
	return chat.Tool{
		Name:        "recall_lore",
		Description: "What Hark was told to remember under a name (lore). Without a name: which names there are.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":100}}}`),
	}
}

// Offered is where there is lore.
func (recallLore) Offered(_ context.Context, t *Turn) (bool, error) {
	return len(t.loreHere()) > 0, nil
}

// Call looks lore up.
func (l recallLore) Call(ctx context.Context, t *Turn, arguments json.RawMessage) (Outcome, error) {
	var a struct{ Name string }
	if err := json.Unmarshal(arguments, &a); err != nil {
		return Outcome{}, err
	}
	all, said, err := l.e.toldLore(ctx, t.r.reach, t.loreHere())
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
	o := Outcome{Text: part.Text, lore: called[:part.Lore], said: said, Summary: plural(part.Lore, "piece") + " of lore"}
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
	return slices.DeleteFunc(search.LoreIn(t.r.asked, slices.Collect(maps.Values(t.r.reach.lore))), func(l memory.Lore) bool {
		elsewhere := len(t.Question.Filter.In) > 0 && l.Channel == 0 // what was told for the whole guild wasn't said there
		return elsewhere || len(t.r.asked.Authors) > 0 && !slices.Contains(t.r.asked.Authors, l.By)
	})
}
