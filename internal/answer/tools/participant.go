package tools

import (
	"context"
	"strconv"
	"strings"

	"hark/internal/answer/manifest"
	"hark/internal/pattern"
	"hark/memory"
	"hark/search"
)

func getParticipant() Tool {
	return NewTool(GetParticipant,
		"What is known of a person who isn't introduced, or more of one who is: names, when they were last "+
			"active, what was told of them.",
		`{"type":"object","properties":{`+
			`"name":{"type":"string","minLength":1,"maxLength":100,"description":"a name, or a tag such as `+
			`<@123>"}},"required":["name"]}`,
		(*Turn).getParticipant)
}

func (t *Turn) getParticipant(ctx context.Context, a struct{ Name string }) (Outcome, error) {
	people, err := t.peopleCalled(ctx, a.Name)
	if err != nil {
		return Outcome{}, err
	}
	people, said, err := t.Answer.Facts(ctx, people)
	if err != nil {
		return Outcome{}, err
	}
	part := t.Builder.Part(t.Answer.Input(search.Result{People: people}), t.Room)
	o := Outcome{
		Text:     part.Text,
		Summary:  Plural(part.People, "participant"),
		Emission: manifest.Emission{People: people[:part.People], Said: said},
	}
	switch {
	case len(people) == 0:
		o.Text = "Nobody of that name is known."
	case part.People == 0:
		o.Text = "There is no room to tell of anybody."
	}
	return o, nil
}

// personTag matches a mention tag, as Discord or the prompt shows it.
var personTag = pattern.Of(`^[<‹]?@?!?(\d{1,20})[>›]?$`)

// peopleCalled returns those whom a name or a tag names.
func (t *Turn) peopleCalled(ctx context.Context, name string) ([]search.Participant, error) {
	q := t.Answer.Query(t.Answer.Scope(), nil)
	q.Text = name
	q.Mentions = nil
	q.Session = nil
	if m := personTag().FindStringSubmatch(strings.TrimSpace(name)); m != nil {
		id, _ := strconv.ParseInt(m[1], 10, 64)
		q.Text = ""
		q.Mentions = []memory.UserID{memory.UserID(id)}
	}
	return t.Answer.Introduce(ctx, q)
}
