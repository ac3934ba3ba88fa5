package tools

import (
	"context"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/search"
)

// recallLore tells what was told to be remembered under a name, or which names there are. It is offered where
// there is lore.
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

// getParticipant tells of a person what the prompt's participants section would.
func getParticipant() Tool {
	return NewTool("get_participant",
		"What is known of a person who isn't introduced, or more of one who is: names, when they were last active, what was told of them.",
		`{"type":"object","properties":{`+
			`"name":{"type":"string","minLength":1,"maxLength":100,"description":"a name, or a tag such as <@123>"}},"required":["name"]}`,
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
	o := Outcome{Text: part.Text, Summary: Plural(part.People, "participant"),
		Emission: manifest.Emission{People: people[:part.People], Said: said}}
	switch {
	case len(people) == 0:
		o.Text = "Nobody of that name is known."
	case part.People == 0:
		o.Text = "There is no room to tell of anybody."
	}
	return o, nil
}

// currentTime tells the time at which the question was asked, which is now for the answer.
func currentTime() Tool {
	return NewTool("current_time", "The date, the weekday and the time now.",
		`{"type":"object","properties":{`+
			`"zone":{"type":"string","maxLength":60,"description":"an IANA time zone such as Europe/Berlin; left out: the zone of all times shown"}}}`,
		(*Turn).currentTime)
}

func (t *Turn) currentTime(_ context.Context, a struct{ Zone string }) (Outcome, error) {
	zone := t.Answer.Zone()
	if a.Zone = strings.TrimSpace(a.Zone); a.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(a.Zone); err != nil || zone == time.Local {
			return Outcome{}, mendf(`"zone" has to be the IANA name of a time zone, such as UTC or Europe/Berlin.`)
		}
	}
	now := t.Question.Now.In(zone)
	return Outcome{Text: now.Format("[2006-01-02 15:04] Monday, ") + zone.String(), Summary: "told"}, nil
}
