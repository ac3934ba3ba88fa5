package bot

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/memory"
)

// formFact is the form in which a fact is changed, with its id.
const formFact = "fact-edit"

const (
	factUnknown = "I know nothing of the kind about you. Choose one of those that I show while you type; `/memory show` has them all."
	factChanged = "Changed. `/memory show` shows it. What it said before is forgotten, with those of my answers that used it."
	factEmpty   = "There is nothing in it. Please write what I should know, or take it back with `/memory remove`."
)

// factTexts are the facts about whoever types. What is given by them is their id.
func (c *commands) factTexts(ctx context.Context, x *exchange) ([]optionChoice, error) {
	m, err := c.member(ctx, x, x.who())
	var all []optionChoice
	for _, f := range m.person.Facts {
		all = append(all, optionChoice{labelOf(x.factText(f)), strconv.FormatInt(f.ID, 10)})
	}
	return all, err
}

// factText is a fact as it is shown in a line.
func (l locale) factText(f memory.Fact) string {
	if f.Alias {
		return l.text("also called %s", f.Text)
	}
	return f.Text
}

// factNamed is the fact about m that x names, by its id or its text, or whose id is in the form.
func (x *exchange) factNamed(m member) (memory.Fact, error) {
	name := x.words("fact")
	if args := x.args(); len(args) > 0 {
		name = args[0]
	}
	for _, f := range m.person.Facts {
		if strconv.FormatInt(f.ID, 10) == name || strings.EqualFold(f.Text, name) {
			return f, nil
		}
	}
	return memory.Fact{}, refusal(x.text(factUnknown))
}

// askFact is the form for a change of which nothing was told.
func (c *commands) askFact(ctx context.Context, x *exchange) (form, error) {
	if x.words("text") != "" {
		return form{}, errNoForm
	}
	m, err := c.member(ctx, x, x.who())
	if err != nil {
		return form{}, err
	}
	if why := c.keepsNothing(x, m); why != "" {
		return form{}, refusal(why)
	}
	f, err := x.factNamed(m)
	if err != nil {
		return form{}, err
	}
	return form{ID: id(formFact, f.ID), Title: x.text("What should I know instead?"), Fields: []field{
		{ID: "text", Label: x.text("About you"), Value: f.Text, Long: true, Needed: true, Most: longestOf(f)},
	}}, nil
}

// longestOf is how many characters a fact may have.
func longestOf(f memory.Fact) int {
	if f.Alias {
		return longestAlias
	}
	return longestFact
}

// editFact puts another fact in the place of one: that one is taken back, so that nothing is left of what it said, not even in
// answers. Where that was learned from a message, so is this: it is told only where the message may be read, and goes with it. Else
// it is told where it was changed.
func (c *commands) editFact(ctx context.Context, x *exchange, m member) (sheet, error) {
	if why := c.keepsNothing(x, m); why != "" {
		return sheet{}, refusal(why)
	}
	f, err := x.factNamed(m)
	if err != nil {
		return sheet{}, err
	}
	text := strings.Join(strings.Fields(cmp.Or(x.field("text"), x.words("text"))), " ")
	switch n := utf8.RuneCountInString(text); {
	case m.out:
		return sheet{Content: x.text(youAreOut)}, nil
	case n == 0:
		return sheet{Content: x.text(factEmpty)}, nil
	case n > longestOf(f):
		return sheet{Content: x.text("That is too long: there is room for %s characters, and it has %s.", x.locale.number(longestOf(f)), x.locale.number(n))}, nil
	case slices.ContainsFunc(m.person.Facts, func(o memory.Fact) bool { return o.Text == text && o.Alias == f.Alias }):
		return sheet{Content: x.text("I know that already, so I leave all as it is.")}, nil
	}
	changed := memory.Fact{ID: int64(x.ID), Text: text, Alias: f.Alias, By: x.who(), Channel: f.Channel, Message: f.Message}
	if f.Message == 0 {
		changed.Channel = memory.ChannelID(x.Channel) // where its words are told now
	}
	if err := c.apply(ctx, x, "change what was told", memory.FactGone{Guild: x.guild(), User: x.who(), Fact: f.ID},
		memory.FactTold{Guild: x.guild(), User: x.who(), Fact: changed}); err != nil {
		return sheet{}, err
	}
	return sheet{Content: x.text(factChanged) + "\n-# " + x.whoIsTold(changed, c.readable(x, m))}, nil
}
