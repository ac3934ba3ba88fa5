package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// rememberLore proposes lore, which is kept only if the asker agrees.
//
// Lore must name every message it is from: it is known to those who may read all of them, and goes with each. If
// only members' messages were shown, and at most memory.MaxLoreSources, it names all of them. Else it names the
// question and the messages that the model names, and each of its words must be in these.
func rememberLore() Tool {
	t := NewTool("remember",
		"Propose to remember something under a name, when the asker wants it remembered. The asker is asked "+
			"before it is kept. "+
			"Use the words of the query and of the messages that it is from, and name these by their numbers.",
		`{"type":"object","properties":{`+
			`"name":{"type":"string","minLength":1,"maxLength":100},`+
			`"text":{"type":"string","minLength":1,"maxLength":2000},`+
			`"aliases":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":100}},`+
			`"sources":{"type":"array","maxItems":19,"items":{"type":"integer","minimum":1},"description":"the `+
			`numbers of the messages that it is from"}},`+
			`"required":["name","text"]}`,
		(*Turn).rememberLore)
	t.offered = func(t *Turn, ctx context.Context) (bool, error) { return t.Answer.MayRemember(ctx) }
	return t
}

type rememberArguments struct {
	Name, Text string
	Aliases    []string
	Sources    []int
}

func (t *Turn) rememberLore(_ context.Context, a rememberArguments) (Outcome, error) {
	if len(t.Talk.Proposals) >= maxProposals {
		return Outcome{}, callErrorf("No more than %d things are proposed in one answer.", maxProposals)
	}
	q := t.Question
	sources, err := t.sourcesOf(a.Sources)
	if err != nil {
		return Outcome{}, err
	}
	numbers := manifest.Numbers{Known: t.Shown.IsNumber}
	lore := memory.Lore{
		Guild:   q.Guild,
		Channel: q.Channel,
		Name:    manifest.Uncited(a.Name, numbers),
		Text:    manifest.Uncited(a.Text, numbers),
	}
	for _, alias := range a.Aliases {
		lore.Own = append(lore.Own, manifest.Uncited(alias, numbers))
	}
	if all, small := t.allShown(); small {
		sources = all
	} else if unknown := t.missingTerms(lore, sources); len(unknown) > 0 {
		return Outcome{}, callErrorf("These words are neither in the query nor in the messages that you named as "+
			"sources: %s. "+
			"Name the messages that they are from, or use the words that are there. What isn't in a message can't be "+
			"remembered.", strings.Join(unknown, ", "))
	}
	lore.Sources = []memory.MessageRef{{Channel: q.Channel, Message: q.ID}}
	for _, m := range sources {
		lore.Sources = append(lore.Sources, memory.MessageRef{Channel: m.Channel, Message: m.ID})
	}
	lore.ID = 1
	lore.At = q.Now // of the one who agrees, later
	lore, err = lore.Checked()
	if err != nil {
		return Outcome{}, CallError(err.Error() + ".")
	}
	lore.ID = 0
	lore.At = time.Time{}
	return Outcome{
		Text:      "The asker is asked, below your answer, whether to remember it. It isn't remembered yet.",
		Summary:   "proposed, " + Plural(len(lore.Sources), "source"),
		Proposals: []memory.Lore{lore},
	}, nil
}

func (t *Turn) sourcesOf(numbers []int) ([]memory.Message, error) {
	var sources []memory.Message
	for _, n := range numbers {
		hit, there := t.Shown.Hit(n)
		if !there {
			return nil, callErrorf("There is no message with the number %d.", n)
		}
		sources = append(sources, hit.Message)
	}
	return sources, nil
}

// allShown returns all messages shown, if they are few enough to be sources of lore and nothing else was shown:
// what was made from messages has sources of its own.
func (t *Turn) allShown() ([]memory.Message, bool) {
	if len(t.Shown.Lore)+len(t.Shown.Summaries)+len(t.Talk.foreign) > 0 {
		return nil, false
	}
	for _, p := range t.Shown.People {
		if len(p.Person.Facts) > 0 {
			return nil, false
		}
	}
	all := slices.Clone(t.Shown.Messages)
	if slices.ContainsFunc(all, func(m memory.Message) bool { return m.Kind == memory.FromHark }) {
		return nil, false
	}
	slices.SortFunc(all, func(a, b memory.Message) int { return cmp.Compare(a.ID, b.ID) })
	return all, len(all) < memory.MaxLoreSources
}

// missingTerms returns lore's terms that neither the query nor sources have in what is said there, by whom, of whom
// and when.
func (t *Turn) missingTerms(lore memory.Lore, sources []memory.Message) (unknown []string) {
	said := map[string]bool{}
	hear := func(s string) {
		for _, term := range text.Terms(s) {
			said[term] = true
		}
	}
	q := t.Question
	hear(q.Text + " " + q.Name)
	named := slices.Clone(q.Mentions)
	times := []memory.MessageID{q.ID}
	for _, m := range sources {
		hear(m.Text())
		named = append(append(named, m.Author), m.Mentions...)
		times = append(times, m.ID)
	}
	for _, id := range named {
		hear(t.Answer.People().Name(id))
	}
	for _, id := range times {
		at := id.Time().In(t.Answer.Zone())
		hear(fmt.Sprint(at.Format("Monday 2 January 2006 2006-01-02 01-02 02.01.2006 15:04"), " ", at.Day(),
			" ", int(at.Month())))
	}
	for _, term := range text.Terms(strings.Join(append([]string{lore.Name, lore.Text}, lore.Own...), "\n")) {
		if !said[term] && !slices.Contains(unknown, term) {
			unknown = append(unknown, term)
		}
	}
	return unknown[:min(len(unknown), maxMissing)]
}

// maxMissing bounds the missing words that the model is told.
const maxMissing = 20

// recallLore shows the lore of a name, or which names there are.
func recallLore() Tool {
	t := NewTool(RecallLore, "What Hark was told to remember under a name (lore). Without a name: which "+
		"names there are.",
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
		in.Lore = append(in.Lore, t.Answer.Named(text))
	}
	in.Now = t.Question.Now.In(t.Answer.Zone())
	part := t.Builder.Part(in, t.Room)
	o := Outcome{
		Text:     part.Text,
		Summary:  Plural(part.Lore, "piece") + " of lore",
		Emission: manifest.Emission{Lore: called[:part.Lore], Said: said},
	}
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
