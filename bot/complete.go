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
	if h := c.handlers[x.path()]; h.completes != nil && h.refuses(x) == "" {
		choices, err := c.offers(limit, h, x)
		if err != nil && ctx.Err() == nil {
			c.bot.log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg("couldn't complete what somebody typed")
		}
		offered.Choices = append(offered.Choices, matching(choices, func(o optionChoice) string { return o.Name }, x.typed())...)
	}
	return x.respond(ctx, response{respondChoices, offered})
}

// matching are as many as Discord shows of those whose name contains what is typed. Those that begin with it come first, then those in
// which it begins after a slash. Capitals don't count, and an underscore is a blank.
func matching[T any](all []T, name func(T) string, typed string) []T {
	fold := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", " ")) }
	typed = fold(strings.TrimSpace(typed))
	rank := func(one T) int {
		switch name := fold(name(one)); {
		case strings.HasPrefix(name, typed):
			return 0
		case strings.Contains(name, "/"+typed):
			return 1
		case strings.Contains(name, typed):
			return 2
		}
		return 3
	}
	all = slices.DeleteFunc(all, func(one T) bool { return rank(one) == 3 })
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(rank(a), rank(b)) })
	return all[:min(len(all), mostCompletions)]
}

type completions struct {
	Choices []optionChoice `json:"choices"`
}

func (c *commands) offers(ctx context.Context, h handler, x *exchange) (choices []optionChoice, err error) {
	defer recovered("completion", &err)
	if err := c.look(ctx, x); err != nil {
		return nil, err
	}
	return h.completes(ctx, x)
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
