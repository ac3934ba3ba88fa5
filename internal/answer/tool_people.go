package answer

import (
	"context"

	"hark/search"
)

type personArguments struct{ Name string }

// getParticipant tells of a person what the prompt's participants section would.
func getParticipant() tool {
	return newTool("get_participant",
		"What is known of a person who isn't introduced, or more of one who is: names, when they were last active, what was told of them.",
		`{"type":"object","properties":{`+
			`"name":{"type":"string","minLength":1,"maxLength":100,"description":"a name, or a tag such as <@123>"}},"required":["name"]}`,
		(*Turn).getParticipant)
}

func (t *Turn) getParticipant(ctx context.Context, a personArguments) (Outcome, error) {
	people, err := t.e.peopleCalled(ctx, t, a.Name)
	if err != nil {
		return Outcome{}, err
	}
	found := &recalled{reach: t.r.reach, result: search.Result{People: people}}
	if err := t.e.settle(ctx, found); err != nil {
		return Outcome{}, err
	}
	part := t.r.voice.builder.Part(t.e.historyOf(t, found.result), t.room)
	o := Outcome{Text: part.Text, who: found.result.People[:part.People], said: found.said,
		Summary: plural(part.People, "participant")}
	switch {
	case len(people) == 0:
		o.Text = "Nobody of that name is known."
	case part.People == 0:
		o.Text = "There is no room to tell of anybody."
	}
	return o, nil
}
