package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// mostCompletions is how many choices Discord shows while somebody types.
const mostCompletions = 25

// complete shows what can be given for the option that is being typed. Whatever fails, there is an answer in time: nothing
// to choose from.
func (c *commands) complete(ctx context.Context, x *exchange) error {
	limit, cancel := context.WithTimeout(ctx, c.bot.timing.atOnce)
	defer cancel()
	offered := completions{Choices: []optionChoice{}}
	if t, known := c.tools[x.path()]; known && t.completes != nil && (t.refuse == nil || t.refuse(x) == "") {
		choices, err := c.offers(limit, t, x)
		if err != nil && ctx.Err() == nil {
			c.bot.log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg("couldn't complete what somebody typed")
		}
		typed := strings.ToLower(strings.TrimSpace(x.typed()))
		choices = slices.DeleteFunc(choices, func(o optionChoice) bool { return !t.chosen && !strings.Contains(strings.ToLower(o.Name), typed) })
		if !t.chosen { // what begins as it is typed comes first
			begins := func(o optionChoice) int { return strings.Index(strings.ToLower(o.Name), typed) }
			slices.SortStableFunc(choices, func(a, b optionChoice) int { return cmp.Compare(min(begins(a), 1), min(begins(b), 1)) })
		}
		offered.Choices = append(offered.Choices, choices[:min(len(choices), mostCompletions)]...)
	}
	return x.respond(ctx, response{respondChoices, offered})
}

type completions struct {
	Choices []optionChoice `json:"choices"`
}

func (c *commands) offers(ctx context.Context, t tool, x *exchange) (choices []optionChoice, err error) {
	defer recovered("completion", &err)
	return t.completes(ctx, x)
}

// typed is what has been typed so far of the option in focus.
func (i *wireInteraction) typed() string {
	for _, o := range i.options() {
		if o.Focused {
			text, _ := o.Value.(string)
			return text
		}
	}
	return ""
}
