package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// SummaryHit is a summary of an earlier session, ranked for a question.
type SummaryHit struct {
	Summary   memory.Summary
	Relevance float64  // in [0, 1], uncalibrated: the share of the question's weight in it, and its freshness
	Why       []string // "newest", "topic x" or "words"

	related float64 // share of the question's weight in it
}

// SummaryFilter selects summaries. The zero filter selects all.
type SummaryFilter struct {
	Topic string             // in any inflection; empty: any topic
	Kind  memory.SummaryKind // empty: any kind
}

// Ranking weights: shared terms first, then freshness.
const (
	relatedWeight = 0.75
	freshWeight   = 0.25
	freshHalf     = 30 * 24 * time.Hour // after which freshness halves
	topicWeight   = 1.5                 // factor on a term that is a topic
	// A summary precedes the newest only if it contains at least clearlyRelated of the question, and
	// clearlyMore times what the newest contains.
	clearlyRelated = 0.5
	clearlyMore    = 2
)

// RankSummaries ranks a channel's summaries for a question asked at now, by relevance, then newest first. It leaves
// out those that share neither a word nor a day with the question, except the newest. The newest is first, or
// second after one that contains most of the question and clearly more than it.
func RankSummaries(question string, now time.Time, all []memory.Summary) []SummaryHit {
	terms := text.QueryTerms(question)
	holds := make([]map[string]bool, len(all))
	among := map[string]int{}
	var batch text.Batch
	for i, s := range all {
		holds[i] = summaryTerms(s, &batch)
		for t := range holds[i] {
			among[t]++
		}
	}
	hits := make([]SummaryHit, len(all))
	for i, s := range all {
		hits[i] = rankSummary(s, terms, holds[i], now, func(t string) float64 {
			return math.Log(1 + float64(len(all))/float64(1+among[t]))
		})
	}
	said := datesIn(question, now)
	newest := slices.MaxFunc(append(hits, SummaryHit{}), byID)
	hits = slices.DeleteFunc(hits, func(h SummaryHit) bool {
		return h.related == 0 && h.Summary.ID != newest.Summary.ID && !slices.ContainsFunc(said, func(d dateRange) bool {
			return d.distance(h.Summary.From()) == 0 || d.distance(h.Summary.To()) == 0
		})
	})
	slices.SortFunc(hits, func(a, b SummaryHit) int {
		return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), cmp.Compare(b.Summary.ID, a.Summary.ID))
	})
	if len(hits) > 0 {
		newest := slices.IndexFunc(hits, func(h SummaryHit) bool { return h.Summary.ID == newest.Summary.ID })
		last := hits[newest]
		to := 0
		last.Why = append([]string{"newest"}, last.Why...)
		if best := hits[0].related; newest > 0 && best >= clearlyRelated && best >= clearlyMore*last.related {
			to = 1
		}
		copy(hits[to+1:newest+1], hits[to:newest])
		hits[to] = last
	}
	return hits
}

func byID(a, b SummaryHit) int { return cmp.Compare(a.Summary.ID, b.Summary.ID) }

// summaryTerms returns the terms of a summary and its topics.
func summaryTerms(s memory.Summary, batch *text.Batch) map[string]bool {
	return setOf(batch.Terms(s.Text + " " + strings.Join(s.Topics, " ")))
}

func rankSummary(s memory.Summary, asked []string, holds map[string]bool, now time.Time,
	weight func(string) float64) SummaryHit {
	hit := SummaryHit{Summary: s}
	sum := 0.0
	shared := 0.0
	words := false
	topics := map[string]string{}
	for _, topic := range s.Topics {
		for _, t := range text.Terms(topic) {
			topics[t] = topic
		}
	}
	for _, t := range asked {
		w := weight(t)
		switch sum += w; {
		case topics[t] != "":
			shared += topicWeight * w
			if why := "topic " + topics[t]; !slices.Contains(hit.Why, why) {
				hit.Why = append(hit.Why, why)
			}
		case holds[t]:
			shared = shared + w
			words = true
		}
	}
	if words {
		hit.Why = append(hit.Why, "words")
	}
	if sum > 0 {
		hit.related = min(1, shared/sum)
	}
	hit.Relevance = relatedWeight * hit.related
	age := max(0, now.Sub(s.To()))
	hit.Relevance += freshWeight * math.Exp2(-float64(age)/float64(freshHalf))
	return hit
}

// SummariesOf returns the summaries that the filter selects.
func (f SummaryFilter) SummariesOf(all []memory.Summary) []memory.Summary {
	if f == (SummaryFilter{}) {
		return all
	}
	wanted := text.Terms(f.Topic)
	return slices.DeleteFunc(slices.Clone(all), func(s memory.Summary) bool {
		return f.Kind != "" && s.Kind != f.Kind || f.Topic != "" &&
			!slices.ContainsFunc(s.Topics, func(topic string) bool { return isTopic(topic, f.Topic, wanted) })
	})
}

// isTopic reports whether all terms of called are among the topic's.
func isTopic(topic, called string, terms []string) bool {
	if len(terms) == 0 {
		return strings.EqualFold(topic, strings.TrimSpace(called))
	}
	own := text.Terms(topic)
	return !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(own, t) })
}

// Limits of SummariesToDrop: how many of the newest stay, and the overlap above which two are alike.
const (
	summariesSpared = 12
	summariesAlike  = 0.5
)

// SummariesToDrop returns the summaries of a channel to delete, so that most remain with fresh: the older of the
// most similar pair, repeatedly, or else the oldest. The current topic doesn't count, because it doesn't predict
// the next. fresh and the newest dozen always stay.
func SummariesToDrop(fresh memory.Summary, others []memory.Summary, most int) []memory.MessageID {
	all := append(slices.DeleteFunc(slices.Clone(others), func(s memory.Summary) bool {
		return s.ID == fresh.ID
	}), fresh)
	slices.SortFunc(all, func(a, b memory.Summary) int { return cmp.Compare(a.ID, b.ID) })
	held := map[memory.MessageID]map[string]bool{}
	var batch text.Batch
	for _, s := range all {
		held[s.ID] = summaryTerms(s, &batch)
	}
	var out []memory.MessageID
	for len(all) > most {
		goes := -1
		best := summariesAlike
		for i, old := range all[:len(all)-min(summariesSpared, most-1)] {
			if old.ID == fresh.ID {
				continue
			}
			if goes < 0 {
				goes = i
			}
			for _, newer := range all[i+1:] {
				if a := overlap(held[old.ID], held[newer.ID]); a > best {
					goes = i
					best = a
				}
			}
		}
		out = append(out, all[goes].ID)
		all = slices.Delete(all, goes, goes+1)
	}
	return out
}

// overlap returns the Jaccard index of two sets, in [0, 1].
func overlap(a, b map[string]bool) float64 {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}
