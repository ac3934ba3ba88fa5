package search

import (
	"container/list"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"hark/internal/metrics"
	"hark/internal/text"
	"hark/memory"
)

const (
	cacheTTL  = 5 * time.Minute
	cacheSize = 256 // results
)

// cache remembers which messages questions found. It holds ids and numbers, but nothing that was said, so that there is
// nothing in it to forget: the messages are read again, and what has changed since makes it useless.
type cache struct {
	now func() time.Time

	metrics *metrics.Metrics

	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	used    list.List // of *cached, the last used first
}

// cacheKey is the hash of all that a result depends on beside what is remembered.
type cacheKey [sha256.Size]byte

// cached is what was found.
type cached struct {
	key     cacheKey
	version int64
	at      time.Time
	asked   time.Time // the query's Now: what was said after it isn't among the hits, nor looked for
	hits    []cachedHit
	lore    []cachedLore
	named   []memory.UserID
}

type cachedLore struct {
	id        int64
	why       string
	relevance float64
}

type cachedHit struct {
	channel   memory.ChannelID
	message   memory.MessageID
	excerpt   []memory.MessageID
	relevance float64
	why       []Reason // without words
}

func newCache() *cache {
	return &cache{now: time.Now, metrics: metrics.New(), entries: map[cacheKey]*list.Element{}}
}

// keyOf is the key of a query, of which the audience is part. Of when it is asked five minutes count as one moment, if they
// come in order.
func keyOf(q Query) cacheKey {
	h := sha256.New()
	// Times as numbers: every time has one, and each another.
	fmt.Fprintf(h, "%q %d %d %d %d %d %d %t", q.Text, q.Guilds, q.Scope.Channels, momentOf(q.Scope.Since), momentOf(q.Scope.Until), q.Scope.Authors, q.Limit, q.Repeats)
	if !q.Now.IsZero() {
		_, offset := q.Now.Zone()
		fmt.Fprintf(h, " %d %d", q.Now.Unix()/int64(cacheTTL.Seconds()), offset)
	}
	fmt.Fprintf(h, " %d", q.Skip)
	for _, m := range q.Session {
		fmt.Fprintf(h, " %d %q", m.ID, m.Text())
	}
	return cacheKey(h.Sum(nil))
}

func momentOf(t time.Time) [2]int64 { return [2]int64{t.Unix(), int64(t.Nanosecond())} }

// get is what was found for key when the memory was as it is at version and not later than now; nil if that isn't known.
func (c *cache) get(key cacheKey, version int64, now time.Time) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.entries[key]
	if ok && (at.Value.(*cached).version != version || now.Before(at.Value.(*cached).asked) || c.now().Sub(at.Value.(*cached).at) > cacheTTL) {
		c.drop(at)
		ok = false
	}
	if !ok {
		c.metrics.SearchCacheMisses.Inc()
		return nil
	}
	c.metrics.SearchCacheHits.Inc()
	c.used.MoveToFront(at)
	return at.Value.(*cached)
}

func (c *cache) put(found *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[found.key]; ok {
		c.drop(old)
	}
	found.at = c.now()
	c.entries[found.key] = c.used.PushFront(found)
	for c.used.Len() > cacheSize {
		c.drop(c.used.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	delete(c.entries, e.Value.(*cached).key)
	c.used.Remove(e)
}

// remember keeps what was found.
func (c *cache) remember(key cacheKey, version int64, now time.Time, result Result, named []memory.UserID) {
	found := &cached{key: key, version: version, asked: now, named: named}
	for _, l := range result.Lore {
		found.lore = append(found.lore, cachedLore{l.Lore.ID, l.Why, l.Relevance})
	}
	for _, h := range result.Hits {
		kept := cachedHit{channel: h.Message.Channel, message: h.Message.ID, relevance: h.Relevance, why: slices.Clone(h.Why)}
		for i := range kept.why {
			if kept.why[i].Kind == "words" {
				kept.why[i].Detail = ""
			}
		}
		for _, m := range h.Excerpt {
			kept.excerpt = append(kept.excerpt, m.ID)
		}
		found.hits = append(found.hits, kept)
	}
	c.put(found)
}

// recall reads the messages that were found; false if they aren't all there.
func (f *cached) recall(ctx context.Context, log Log) ([]Hit, bool, error) {
	wanted := map[memory.ChannelID][]memory.MessageID{}
	for _, h := range f.hits {
		wanted[h.channel] = append(append(wanted[h.channel], h.message), h.excerpt...)
	}
	type spot struct {
		channel memory.ChannelID
		id      memory.MessageID
	}
	read := map[spot]memory.Message{}
	for channel, ids := range wanted {
		slices.Sort(ids)
		messages, err := log.Around(ctx, channel, slices.Compact(ids), 0, 0)
		if err != nil {
			return nil, false, err
		}
		for _, m := range messages {
			read[spot{channel, m.ID}] = m
		}
	}
	var hits []Hit
	for _, h := range f.hits {
		hit := Hit{Message: read[spot{h.channel, h.message}], Relevance: h.relevance, Why: slices.Clone(h.why)}
		for _, id := range h.excerpt {
			m, ok := read[spot{h.channel, id}]
			if !ok {
				return nil, false, nil
			}
			hit.Excerpt = append(hit.Excerpt, m)
		}
		hits = append(hits, hit)
	}
	return hits, true, nil
}

// tellWords adds to the reasons of hits which words of the question, and of what it refers back to, they hold, as they are written
// there.
func tellWords(q Query, hits []Hit) {
	var asked []string
	written := map[string]string{} // a stem is nobody's word
	for _, s := range append([]string{q.Text}, earlier(q)...) {
		for _, t := range text.QueryTerms(s) {
			if !slices.Contains(asked, t) {
				asked = append(asked, t)
				written[t] = t
			}
		}
		for word := range strings.FieldsSeq(s) {
			word = strings.TrimFunc(word, unicode.IsPunct)
			if terms := text.QueryTerms(word); len(terms) == 1 && written[terms[0]] == terms[0] {
				written[terms[0]] = strings.ToLower(word)
			}
		}
	}
	var batch text.Batch
	for _, h := range hits {
		i := slices.IndexFunc(h.Why, func(r Reason) bool { return r.Kind == "words" })
		if i < 0 {
			continue
		}
		held := map[string]bool{}
		for _, t := range batch.Terms(h.Message.Text()) {
			held[t] = true
		}
		var words []string
		for _, t := range asked {
			if held[t] {
				words = append(words, written[t])
			}
		}
		h.Why[i].Detail = strings.Join(words, " ")
	}
}
