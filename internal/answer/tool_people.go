package answer

import (
	"context"
	"encoding/json"

	"hark/internal/chat"
	"hark/search"
)

// getParticipant tells of a person what the prompt's participants section would.
type getParticipant struct{ e *Engine }

// Spec is what the model is told.
func (getParticipant) Spec() chat.Tool {
	return chat.Tool{
		Name:        "get_participant",
		Description: "What is known of a person who isn't introduced, or more of one who is: names, when they were last active, what was told of them.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string","minLength":1,"maxLength":100,"description":"a name, or a tag such as <@123>"}},"required":["name"]}`),
	}
}

// Call looks somebody up.
func (g getParticipant) Call(ctx context.Context, t *Turn, arguments json.RawMessage) (Outcome, error) {
	var a struct{ Name string }
	if err := json.Unmarshal(arguments, &a); err != nil {
		return Outcome{}, err
	}
	people, err := g.e.peopleCalled(ctx, t, a.Name)
	if err != nil {
		return Outcome{}, err
	}
	found := &recalled{reach: t.r.reach, result: search.Result{People: people}}
	if err := g.e.settle(ctx, found); err != nil {
		return Outcome{}, err
	}
	part := t.r.voice.builder.Part(g.e.historyOf(t, found.result), t.room)
	o := Outcome{Text: part.Text, who: found.result.People[:part.People], said: found.said, Summary: plural(part.People, "participant")}
	switch {
	case len(people) == 0:
		o.Text = "Nobody of that name is known."
	case part.People == 0:
		o.Text = "There is no room to tell of anybody."
	}
	return o, nil
}
