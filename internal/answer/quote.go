package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/internal/digest"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// What an extractive answer says of itself, and when it found nothing.
const (
	noModel     = "*No language model is configured, so I quote what was said.*"
	modelAway   = "*The language model isn't answering right now, so I quote what was said.*"
	noTokens    = "*There are no tokens left for the language model, so I quote what was said.*"
	foundNone   = "I found nothing about that in what everyone here may read."
	onlyYouNone = "I found nothing about that in what you may read."
)

const (
	maxQuotes     = 3
	maxLoreQuotes = 2
	// weak is the relevance below which nothing is worth quoting.
	weak = 0.05
	// odds is how many times likelier the best quote may be than another beside it. Odds rather than
	// probabilities are compared, since near 1 these have no room to differ: beside 0.95 stands 0.91 but not
	// 0.88, beside 0.3 also 0.18. On REALTALK's tuning half a factor of 1.5 quotes 1.3 messages, an answer
	// among them for 38 % of the questions; 2 quotes 1.9 for 43 %; 3 quotes 2.4 for 46 %.
	odds = 2.0
)

// quote is the answer that consists of the lore that the question names and the best messages themselves.
func (e *Engine) quote(ctx context.Context, q Question, r *recalled, note string) (Answer, error) {
	hits, err := e.quotable(ctx, q, r)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Unranked: r.result.RerankFailed, Trace: e.trace(q, r)}
	a.Trace.Mode = ""
	var b strings.Builder
	shown := newManifest() // the answer isn't made from the prompt
	e.quoteLore(&b, r, &shown)
	for i, hit := range hits {
		m := hit.Message
		s := r.source(i+1, m)
		a.Sources = append(a.Sources, s)
		shown.hits, shown.numbers[m.ID] = append(shown.hits, hit), s.Number
		shown.add(m)
		b.WriteString(quoted(m.Text()))
		fmt.Fprintf(&b, "— %s, %s [%d]\n\n", who(s, m.Author), s.Time.Format("2 Jan 2006 15:04"), s.Number)
	}
	switch {
	case len(hits)+len(shown.lore) > 0:
	case q.OnlyAsker:
		b.WriteString(r.voice.say(onlyYouNone) + "\n\n")
	default:
		b.WriteString(r.voice.say(foundNone) + "\n\n")
	}
	b.WriteString(r.voice.say(note))
	a.Text = b.String()
	e.trackSources(ctx, q, r, &a, &shown)
	for i := range a.Trace.Sources { // all of it is quoted
		a.Trace.Sources[i].Repeats = true
	}
	a.Trace.Total = r.elapsed()
	return a, nil
}

// quoteLore quotes the lore that the question names.
func (e *Engine) quoteLore(b *strings.Builder, r *recalled, shown *manifest) {
	for _, hit := range r.result.Lore {
		l := hit.Lore
		if hit.Why == "words" || len(shown.lore) == maxLoreQuotes {
			continue
		}
		shown.lore = append(shown.lore, l)
		b.WriteString(quoted(l.Name + ": " + l.Text))
		by := ""
		if l.By != 0 {
			by = ", told by " + who(Source{Author: r.names.of(l.By)}, l.By)
		}
		fmt.Fprintf(b, "— lore%s, %s\n\n", by, l.At.In(r.settings.Zone).Format("2 Jan 2006 15:04"))
	}
	shown.addOrigins(r.said, digest.Each(shown.lore, ofLore))
}

// quotable are the hits to quote: the best, and at most two that are hardly worse. A question that Hark was asked
// answers none.
func (e *Engine) quotable(ctx context.Context, q Question, r *recalled) ([]search.Hit, error) {
	hits, err := e.findQuotes(ctx, q, r)
	if err != nil {
		return nil, err
	}
	asked := text.Words(text.WithoutHark(q.Text))
	hits = slices.DeleteFunc(hits, func(h search.Hit) bool {
		return h.Relevance < weak || !speaksOfIt(h) ||
			slices.Equal(text.Words(text.WithoutHark(h.Message.Content)), asked)
	})
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Relevance, a.Relevance) })
	hits, err = digest.Keep(hits, func(h search.Hit) (bool, error) {
		put, err := e.putToHark(ctx, r, h.Message)
		return !put, err
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for n < len(hits) && n < maxQuotes && standsBeside(hits[n].Relevance, hits[0].Relevance) {
		n++
	}
	return hits[:n], nil
}

// findQuotes searches for what to quote. What is being said right now may be quoted to those present even where
// the channel's past can't be read by all of them.
func (e *Engine) findQuotes(ctx context.Context, q Question, r *recalled) ([]search.Hit, error) {
	if len(r.session) == 0 || r.unlogged {
		return slices.Clone(r.result.Hits), nil
	}
	skip := []memory.MessageID{q.ID}
	if slices.Contains(r.scope.Channels, q.Channel) {
		if !search.RefersBack(q.Text) {
			result, err := e.findAgain(ctx, q, r, skip)
			return result.Hits, err
		}
		result, err := e.find(ctx, q, r, r.asked, skip)
		if err == nil { // what is in r was found with the session's words, so that nothing of that was
			more := slices.DeleteFunc(result.Hits, func(h search.Hit) bool { return isHit(r.result.Hits, h.Message) })
			result.Hits = slices.Concat(r.result.Hits, more)
		}
		return result.Hits, err
	}
	scope := r.asked
	if scope.Channels = q.Filter.channels([]memory.ChannelID{q.Channel},
		r.channels); scope.Since.Before(r.from.Time()) {
		scope.Since = r.from.Time()
	}
	present, err := e.find(ctx, q, r, scope, skip)
	return slices.Concat(present.Hits, r.result.Hits), err
}

// speaksOfIt reports whether h was found by what it or the question before it says, rather than by who said it or
// when.
func speaksOfIt(h search.Hit) bool {
	return slices.ContainsFunc(h.Why, func(w search.Reason) bool { return w.Kind == "words" || w.Kind == "answers" })
}

// standsBeside reports whether what has relevance is likely enough the answer to be quoted beside the best.
func standsBeside(relevance, best float64) bool {
	return odds*relevance*(1-best) >= best*(1-relevance)
}

func reasonKinds(h search.Hit) []string {
	return digest.Each(h.Why, func(w search.Reason) string { return w.Kind })
}
