package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"hark/memory"
)

const (
	titledThreads = 8   // threads whose messages are candidates by their title, the best
	titledText    = 40  // messages from full text in those
	titledEnds    = 6   // messages at the beginning and the end of each of those
	leastTitled   = 0.2 // share of the question's weight that such a title has
)

// titlesIn returns the titles of the threads in q's scope.
func (e *Engine) titlesIn(ctx context.Context, q Query) (titles, error) {
	var all titles
	if q.Opened { // some readers may not know of earlier threads
		all.since = memory.FirstMessageID(q.Scope.Since)
	}
	for _, id := range q.Guilds {
		g, err := e.people.Guild(ctx, id)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return titles{}, err
		}
		x := e.titles.of(id, g.Channels)
		if len(x.titles) > 0 {
			all.indexes = append(all.indexes, x)
		}
	}
	if len(all.indexes) > 0 {
		all.scope = setOf(q.Scope.Channels)
	}
	return all, nil
}

func (t titles) has(thread memory.ChannelID) bool {
	return t.scope[thread] && memory.MessageID(thread) >= t.since
}

// name returns the title of a thread; empty if it has none, or none that counts.
func (t titles) name(thread memory.ChannelID) string {
	for _, x := range t.indexes {
		at, known := x.of[thread]
		if known && t.has(thread) {
			return x.titles[at].name
		}
	}
	return ""
}

// number returns how many titles there are.
func (t titles) number() int {
	n := 0
	for _, x := range t.indexes {
		for _, title := range x.titles {
			if t.has(title.thread) {
				n++
			}
		}
	}
	return n
}

// count returns how many titles have a term.
func (t titles) count(term string) int {
	n := 0
	for _, x := range t.indexes {
		for _, at := range x.with[term] {
			if t.has(x.titles[at].thread) {
				n++
			}
		}
	}
	return n
}

// matching returns, by thread, the titles that have any of the question's terms.
func (t titles) matching(asked []weighted) map[memory.ChannelID]*titled {
	found := map[memory.ChannelID]*titled{}
	for _, x := range t.indexes {
		for i, term := range asked {
			for _, at := range x.with[term.term] {
				title := &x.titles[at]
				if !t.has(title.thread) {
					continue
				}
				match := found[title.thread]
				if match == nil {
					match = title.match(len(asked))
					found[title.thread] = match
				}
				match.held[i] = 1
				match.weighed[i] = match.share
			}
		}
	}
	return found
}

// bestTitled returns the threads whose titles have most of the question, best first, then newest first.
func (q question) bestTitled() []memory.ChannelID {
	shares := map[memory.ChannelID]float64{}
	for thread, title := range q.titled {
		share := q.share(title.held)
		if share >= leastTitled {
			shares[thread] = share * title.share
		}
	}
	best := slices.SortedFunc(maps.Keys(shares), func(a, b memory.ChannelID) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(b, a))
	})
	return best[:min(titledThreads, len(best))]
}
