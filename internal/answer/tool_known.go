package answer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// recallLore tells what was told to be remembered under a name, or which names there are. It is offered where
// there is lore.
func recallLore() tool {
	t := newTool("recall_lore", "What Hark was told to remember under a name (lore). Without a name: which names there are.",
		`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":100}}}`, (*Turn).recallLore)
	t.offered = func(t *Turn, _ context.Context) (bool, error) { return len(t.loreHere()) > 0, nil }
	return t
}

func (t *Turn) recallLore(ctx context.Context, a struct{ Name string }) (Outcome, error) {
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

// getParticipant tells of a person what the prompt's participants section would.
func getParticipant() tool {
	return newTool("get_participant",
		"What is known of a person who isn't introduced, or more of one who is: names, when they were last active, what was told of them.",
		`{"type":"object","properties":{`+
			`"name":{"type":"string","minLength":1,"maxLength":100,"description":"a name, or a tag such as <@123>"}},"required":["name"]}`,
		(*Turn).getParticipant)
}

func (t *Turn) getParticipant(ctx context.Context, a struct{ Name string }) (Outcome, error) {
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

// currentTime tells the time at which the question was asked, which is now for the answer.
func currentTime() tool {
	return newTool("current_time", "The date, the weekday and the time now.",
		`{"type":"object","properties":{`+
			`"zone":{"type":"string","maxLength":60,"description":"an IANA time zone such as Europe/Berlin; left out: the zone of all times shown"}}}`,
		(*Turn).currentTime)
}

func (t *Turn) currentTime(_ context.Context, a struct{ Zone string }) (Outcome, error) {
	zone := t.Zone()
	if a.Zone = strings.TrimSpace(a.Zone); a.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(a.Zone); err != nil || zone == time.Local {
			return Outcome{}, mendf(`"zone" has to be the IANA name of a time zone, such as UTC or Europe/Berlin.`)
		}
	}
	now := t.Question.Now.In(zone)
	return Outcome{Text: now.Format("[2006-01-02 15:04] Monday, ") + zone.String(), Summary: "told"}, nil
}
