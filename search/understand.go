package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// understand analyses q: its terms with their weights, and the people and dates in it.
func (e *Engine) understand(ctx context.Context, q Query, known people) (question, error) {
	turns, after := earlier(q)
	asked := question{
		scope: q.Scope,
		text:  withEarlier(q.Text, turns),
		after: after,
		named: known.namedIn(q.Text),
		tags:  q.Named,
	}
	asked.dates = datesIn(q.Text, q.Now)
	asked.event = eventIn(q.Text, q.Now)
	asked.form = formOf(q.Text)
	terms := text.QueryTerms(withoutBid(q.Text))
	asked.pairs = map[string]string{}
	for i, t := range terms {
		asked.terms = append(asked.terms, weighted{term: t, share: 1})
		if i+1 < len(terms) {
			asked.pairs[t] = terms[i+1]
		}
	}
	asked.addEarlier(turns)
	there, err := e.titlesIn(ctx, q)
	if err != nil {
		return asked, err
	}
	n, err := e.weigh(ctx, q, there, asked.terms)
	if err != nil {
		return asked, err
	}
	if len(asked.named) == 0 {
		asked.named = known.namedEarlier(q.Text, turns)
	}
	if misspelt := known.misspelt(q.Text, asked.unheard()); len(misspelt) > 0 {
		asked.named = appendNew(asked.named, misspelt...)
		if err := e.addNames(ctx, q, there, &asked, known.terms(misspelt)); err != nil {
			return asked, err
		}
	}
	names := map[string]namedSet{} // the people whom each term names
	for i, id := range asked.named {
		for _, term := range known.terms([]memory.UserID{id}) {
			names[term] |= namedBit(i)
		}
	}
	for i := range asked.terms {
		t := &asked.terms[i]
		// https://en.wikipedia.org/wiki/Okapi_BM25, with the 1 that keeps it positive
		t.idf = t.share * math.Log(1+(float64(n)-float64(t.count)+0.5)/(float64(t.count)+0.5))
		t.names = names[t.term]
		if t.names != 0 {
			t.idf *= nameShare // a named person more often speaks than is spoken of
		} else if askingTerms[t.term] {
			t.idf *= askingShare
		}
	}
	asked.boundEarlier()
	slices.SortStableFunc(asked.terms, func(a, b weighted) int { return cmp.Compare(b.idf, a.idf) })
	asked.terms = asked.terms[:min(maxTerms, len(asked.terms))]
	for _, t := range asked.terms {
		asked.idf += t.idf
		asked.words = asked.words || t.names == 0
	}
	asked.titles = there
	asked.titled = there.matching(asked.terms)
	return asked, nil
}

// weigh sets how many messages and titles have each term, and returns how many there are.
func (e *Engine) weigh(ctx context.Context, q Query, there titles, terms []weighted) (all int, err error) {
	all, err = e.weighMessages(ctx, q, terms)
	for i := range terms {
		terms[i].count += there.count(terms[i].term)
	}
	return all + there.number(), err
}

// weighMessages sets each term's message count and returns the number of messages.
func (e *Engine) weighMessages(ctx context.Context, q Query, terms []weighted) (messages int, err error) {
	if q.Opened {
		return e.weighSince(ctx, q.Scope, terms)
	}
	var list []string
	for _, t := range terms {
		list = append(list, t.term)
	}
	limit := countLimit
	if len(terms) > 2*maxTerms { // counting is slow, and only the rare terms matter
		limit = countLimit * 2 * maxTerms / len(terms)
	}
	messages, counts, err := e.log.Frequencies(ctx, q.Scope, list, limit)
	for i := range counts {
		terms[i].count = counts[i]
	}
	return messages, err
}

// weighSince is weigh for a scope before which nothing may count.
func (e *Engine) weighSince(ctx context.Context, scope memory.Scope, terms []weighted) (messages int, err error) {
	scope.Authors = nil
	for i := range terms {
		hits, err := e.log.FullText(ctx, scope, []string{terms[i].term}, textCandidates)
		if err != nil {
			return 0, err
		}
		terms[i].count = len(hits)
	}
	for _, channel := range scope.Channels {
		latest, err := e.log.Around(ctx, channel, []memory.MessageID{endOf(scope)}, textCandidates, 0)
		if err != nil {
			return 0, err
		}
		for _, m := range latest {
			messages += int(bit(!m.Time().Before(scope.Since)))
		}
	}
	return messages, nil
}

// addNames adds the terms of the names that the question misspells.
func (e *Engine) addNames(ctx context.Context, q Query, there titles, asked *question, names []string) error {
	var terms []weighted
	for _, name := range names {
		if !slices.ContainsFunc(append(asked.terms, terms...), func(t weighted) bool { return t.term == name }) {
			terms = append(terms, weighted{term: name, share: 1})
		}
	}
	_, err := e.weigh(ctx, q, there, terms)
	asked.terms = append(asked.terms, terms...)
	return err
}
