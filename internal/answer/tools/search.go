package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/pattern"
	"hark/memory"
	"hark/search"
)

const searchLimit = 10 // hits by default

func searchMemory() Tool {
	return NewTool(SearchMemory,
		"Search what was said here before, for what the history shown doesn't have. "+
			"Each result has a number to cite it by. What was shown already isn't shown again.",
		`{"type":"object","properties":{`+
			`"query":{"type":"string","minLength":1,"maxLength":300,"description":"what to look for, in words that `+
			`may have been used"},`+
			`"since":{"type":"string","format":"date","description":"the first day, such as 2024-06-01"},`+
			`"until":{"type":"string","format":"date","description":"the last day"},`+
			`"author":{"type":"string","minLength":1,"maxLength":100,"description":"only what this person said: a `+
			`name or a tag"},`+
			`"channel":{"type":"string","minLength":1,"maxLength":100,"description":"only there: a channel's name"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":25}},"required":["query"]}`,
		(*Turn).searchMemory)
}

type searchArguments struct {
	Query, Since, Until, Author, Channel string
	Limit                                int
}

func (t *Turn) searchMemory(ctx context.Context, a searchArguments) (Outcome, error) {
	scope, err := t.scope(ctx, a)
	if err != nil {
		return Outcome{}, err
	}
	known := t.known()
	q := t.Answer.Query(scope, known)
	q.Text = a.Query
	q.Mentions = nil
	q.Session = nil
	q.Limit = cmp.Or(a.Limit, searchLimit)
	result, err := t.Answer.Search(ctx, q)
	if err != nil {
		return Outcome{}, err
	}
	for i := range result.Hits {
		result.Hits[i].Excerpt = slices.DeleteFunc(slices.Clone(result.Hits[i].Excerpt), func(m memory.Message) bool {
			return slices.Contains(known, m.ID)
		})
	}
	return t.outcome(result.Hits), nil
}

func (t *Turn) scope(ctx context.Context, a searchArguments) (memory.Scope, error) {
	scope := t.Answer.Scope()
	day := func(date string) time.Time {
		at, _ := time.ParseInLocation(time.DateOnly, date, t.Answer.Zone())
		return at
	}
	if a.Since != "" && (scope.Since.IsZero() || day(a.Since).After(scope.Since)) {
		scope.Since = day(a.Since)
	}
	if a.Until != "" {
		if end := day(a.Until).AddDate(0, 0, 1); scope.Until.IsZero() || end.Before(scope.Until) {
			scope.Until = end
		}
	}
	if a.Since != "" && a.Until != "" && a.Until < a.Since {
		return scope, callErrorf(`"until" is before "since".`)
	}
	if a.Channel != "" {
		in := t.ChannelsCalled(a.Channel)
		if len(in) == 0 {
			return scope, callErrorf(`There is no channel of that name that everybody may read who reads the answer. ` +
				`Leave "channel" out to search all that may be used.`)
		}
		scope.Channels = t.Answer.In(scope.Channels, in)
	}
	if a.Author != "" {
		people, err := t.peopleCalled(ctx, a.Author)
		if err != nil {
			return scope, err
		}
		if len(people) == 0 {
			return scope, callErrorf(`Nobody of that name is known. Leave "author" out to search what anybody said.`)
		}
		var ids []memory.UserID
		for _, p := range people {
			if len(scope.Authors) == 0 || slices.Contains(scope.Authors, p.Person.ID) {
				ids = append(ids, p.Person.ID)
			}
		}
		scope.Authors = ids
		if len(ids) == 0 { // no authors would mean any
			scope.Channels = nil
		}
	}
	return scope, nil
}

var channelTag = pattern.Of(`^<?#(\d{1,20})>?$`)

// ChannelsCalled returns the channels in scope of a name, id or tag.
func (t *Turn) ChannelsCalled(name string) (ids []memory.ChannelID) {
	name = strings.TrimSpace(name)
	if m := channelTag().FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if _, title, isThread := strings.Cut(name, "›"); isThread {
		title, _, _ = strings.Cut(title, " |")
		name, _, _ = strings.Cut(title, " [tags: ")
		name = strings.TrimSpace(name)
	}
	name = strings.ReplaceAll(strings.TrimLeft(name, "# "), " ", "-") // as the prompt has it
	channels := t.Answer.Channels()
	for _, id := range t.Answer.Scope().Channels {
		if strings.EqualFold(strings.ReplaceAll(channels[id].Name, " ", "-"), name) || id.String() == name {
			ids = append(ids, id)
		}
	}
	return ids
}

// part lays hits out like the prompt, and continues its numbers.
func (t *Turn) part(hits []search.Hit) builder.Part {
	in := t.Answer.Input(search.Result{Hits: hits})
	in.FirstNumber = t.Shown.Next()
	in.Participants = t.strangers(in.History)
	return t.Builder.Part(in, t.Room)
}

// outcome shows hits, without neighbours if none fits with them.
func (t *Turn) outcome(hits []search.Hit) Outcome {
	part := t.part(hits)
	if len(part.Shown) == 0 {
		for i, h := range hits {
			hits[i].Excerpt = []memory.Message{h.Message}
		}
		part = t.part(hits)
	}
	o := Outcome{Text: part.Text}
	numbers := map[memory.MessageID]int{}
	shown := map[memory.MessageID]bool{}
	for _, n := range part.Numbers {
		numbers[n.Message] = n.N
	}
	for _, line := range part.Shown {
		shown[line.Message] = true
	}
	seen := map[memory.MessageID]bool{}
	for _, h := range hits {
		some := false
		for _, m := range h.Excerpt {
			if !shown[m.ID] {
				continue
			}
			some = true
			if !seen[m.ID] {
				seen[m.ID] = true
				o.Shown = append(o.Shown, m)
			}
		}
		if some {
			o.Hits = append(o.Hits, manifest.NumberedHit{Hit: h, Number: numbers[h.Message.ID]})
		}
	}
	switch {
	case len(hits) == 0:
		o.Text = "Nothing was found that isn't shown already."
	case len(o.Shown) == 0:
		o.Text = Plural(len(hits), "message") + " found, but there is no room to show any."
	}
	o.Summary = Plural(len(o.Shown), "message")
	return o
}

// strangers returns the authors of items whose names the model doesn't know. The plain layout shows names with the
// text.
func (t *Turn) strangers(items []builder.Item) (people []builder.Participant) {
	known := map[memory.UserID]bool{}
	if t.Prompt.Layout() != builder.LayoutPlain {
		for _, p := range t.Shown.People {
			known[p.Person.ID] = true
		}
		for _, m := range t.Shown.Emitted {
			known[m.Author] = true
		}
	}
	for _, item := range items {
		for _, line := range item.Lines {
			if p, there := t.Answer.People().Of(line.Author); there && !known[line.Author] {
				known[line.Author] = true
				people = append(people, builder.Participant{ID: p.ID, Name: p.DisplayName()})
			}
		}
	}
	return people
}
