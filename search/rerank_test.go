package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"hark/memory"
	"hark/search"
)

// judge is a reranker that scores by a rule and keeps what it was given.
type judge struct {
	score func(text string) float64
	err   error
	less  int // scores that it leaves out

	mu      sync.Mutex
	queries []string
	texts   [][]string
}

func (j *judge) Rerank(_ context.Context, query string, texts []string) ([]float64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queries, j.texts = append(j.queries, query), append(j.texts, texts)
	if j.err != nil {
		return nil, j.err
	}
	var scores []float64
	for _, text := range texts[j.less:] {
		scores = append(scores, j.score(text))
	}
	return scores, nil
}

// prefers scores texts by how early they hold one of words.
func prefers(words ...string) func(string) float64 {
	return func(text string) float64 {
		at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(text, w) })
		if at < 0 {
			return -10
		}
		return float64(-at)
	}
}

func TestHitsAreInTheRerankersOrder(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	q := ask("who mends the chapel roof?", green, pub)
	plain := k.search(t, q)
	j := &judge{score: prefers("liquorice", "bunting")}
	got, err := k.engine().WithReranker(j).Search(t.Context(), q)
	if err != nil || got.RerankFailed != nil || len(got.Hits) != len(plain.Hits) || len(got.Hits) < 5 {
		t.Fatalf("%v, %v, %v", hitIDs(got), got.RerankFailed, err)
	}
	was := hitIDs(plain)
	order := hitIDs(got)
	// The excerpts with the stout come first, then those with the goat, then the rest, each in the order they
	// had.
	want := slices.Clone(was)
	slices.SortStableFunc(want, func(a, b memory.MessageID) int {
		return class(plain.Hits[slices.Index(was, a)]) - class(plain.Hits[slices.Index(was, b)])
	})
	if !slices.Equal(order, want) || slices.Equal(order, was) || !slices.Contains(want[:3], ids["beer"]) {
		t.Errorf("order %v, want %v; it was %v", order, want, was)
	}
	for i, h := range got.Hits {
		if h.Relevance != plain.Hits[i].Relevance {
			t.Errorf("hit %d has relevance %g, and %g without a reranker", i, h.Relevance, plain.Hits[i].Relevance)
		}
		if isFor(h, "reranked") != (order[i] != was[i]) {
			t.Errorf("hit %d was %d: %v", i, slices.Index(was, order[i]), h.Why)
		}
	}
	if why := got.Hits[0].Why; why[len(why)-1].Detail != fmt.Sprint("from ", slices.Index(was, order[0])+1) {
		t.Errorf("the first says %v", why)
	}
	if len(j.queries) != 1 || j.queries[0] != q.Text {
		t.Errorf("it was asked %q", j.queries)
	}
	same, err := k.engine().WithReranker(&judge{score: prefers()}).Search(t.Context(), q)
	if err != nil || !reflect.DeepEqual(same, plain) {
		t.Errorf("where all are worth the same: %v, %v", same, err)
	}
}

// class is 0 of a hit whose excerpt tells of the stout, 1 of one that tells of the goat and the bunting, else
// 2.
func class(h search.Hit) int {
	for i, word := range []string{"liquorice", "bunting"} {
		if slices.ContainsFunc(h.Excerpt, func(m memory.Message) bool { return strings.Contains(m.Content, word) }) {
			return i
		}
	}
	return 2
}

// Nothing leaves but the question and excerpts within the scope, each with the names of its authors.
func TestRerankerReadsOnlyWhatTheAudienceMay(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	k.say(t, dawn.Add(90*time.Hour), green, 99, "a chapel needs a roof") // by a stranger
	j := &judge{score: prefers()}
	if _, err := k.engine().WithReranker(j).Search(t.Context(), ask("who mends the chapel roof?", green)); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(j.texts[0], "\n\n")
	if !strings.Contains(all, "\nOswin: my cousin Hale mends roofs") ||
		!strings.Contains(all, "\n\na chapel needs a roof") {
		t.Errorf("it reads\n%s", all)
	}
	for _, m := range k.all {
		if m.Channel != green && strings.Contains(all, m.Content) {
			t.Errorf("it reads %q of another channel", m.Content)
		}
	}
}

func TestRerankersWorkIsBounded(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	long := strings.Repeat("語 very long roof ", 100)
	for i := range 120 {
		text := fmt.Sprint("the roof, part ", i)
		switch i % 4 {
		case 1:
			text += long[:600]
		case 2:
			text += long
		}
		k.say(t, dawn.Add(time.Duration(i)*time.Minute), green, marta, text)
	}
	k.index(t)
	j := &judge{score: prefers("part 117")}
	q := ask("roof? "+strings.Repeat("Roof. ", 400), green)
	q.Limit = 3
	got, err := k.engine().WithReranker(j).Search(t.Context(), q)
	if err != nil || len(got.Hits) != 3 {
		t.Fatal(hitIDs(got), err)
	}
	if n := len(j.texts[0]); n != 50 || utf8.RuneCountInString(j.queries[0]) != 1000 {
		t.Errorf("it was given %d texts and a question of %d bytes", n, len(j.queries[0]))
	}
	for _, text := range j.texts[0] {
		if n := utf8.RuneCountInString(text); n > 1000 || n < 10 || !utf8.ValidString(text) ||
			!strings.Contains(text, "roof") {
			t.Errorf("it was given %d characters: %.50q", n, text)
		}
	}
	q.Limit = 60
	all, err := k.engine().WithReranker(j).Search(t.Context(), q)
	if err != nil || len(all.Hits) != 60 || len(j.texts[1]) != 50 {
		t.Errorf("%d hits, %v", len(all.Hits), err)
	}
	for i := range all.Hits[1:] {
		if all.Hits[i+1].Relevance > all.Hits[i].Relevance {
			t.Errorf("relevance rises at %d", i+1)
		}
	}
}

func TestRepeatsStayBehind(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	again := k.say(t, dawn.Add(50*time.Hour), green, pim, "who can mend the chapel roof?")
	k.index(t)
	q := ask("who can mend the chapel roof?", green)
	q.Repeats = true
	j := &judge{score: prefers("who can mend")}
	got, err := k.engine().WithReranker(j).Search(t.Context(), q)
	order := hitIDs(got)
	if err != nil || slices.Index(order, again) < len(order)-2 || slices.Index(order, ids["ask roof"]) < len(order)-2 {
		t.Errorf("%v of %v and %v, %v", order, again, ids["ask roof"], err)
	}
}

func TestNothingToRerank(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	j := &judge{score: prefers()}
	engine := k.engine().WithReranker(j)
	for _, q := range []search.Query{ask("", green), ask(" \n", green), ask("roof", 77)} {
		if r, err := engine.Search(t.Context(), q); err != nil || r.RerankFailed != nil || len(j.queries) > 0 {
			t.Errorf("%q: %v, %v, asked %q", q.Text, r.RerankFailed, err, j.queries)
		}
	}
}

// What a reranker does wrong costs its order and nothing else, and is told.
func TestHitsStayWhenTheRerankerFails(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	q := ask("who mends the chapel roof?", green, pub)
	plain := k.search(t, q)
	for name, j := range map[string]*judge{
		"down":     {err: errDown},
		"too few":  {score: prefers("bunting"), less: 1},
		"NaN":      {score: func(string) float64 { return math.NaN() }},
		"infinite": {score: func(string) float64 { return math.Inf(-1) }},
	} {
		got, err := k.engine().WithReranker(j).Search(t.Context(), q)
		if err != nil || got.RerankFailed == nil || j.err != nil && !errors.Is(got.RerankFailed, j.err) {
			t.Errorf("%s: %v, %v", name, got.RerankFailed, err)
		}
		got.RerankFailed = nil
		if !reflect.DeepEqual(got, plain) {
			t.Errorf("%s: %v, and without a reranker %v", name, got, plain)
		}
	}
}

// leaver is a reranker whose caller goes away meanwhile.
type leaver struct{ cancel context.CancelFunc }

func (l leaver) Rerank(ctx context.Context, _ string, _ []string) ([]float64, error) {
	l.cancel()
	return nil, ctx.Err()
}

func TestWhoeverAsksMayLeaveWhileItReranks(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := k.engine().WithReranker(leaver{cancel}).Search(ctx, ask("who mends the chapel roof?", green))
	if !errors.Is(err, context.Canceled) || len(r.Hits) > 0 {
		t.Errorf("%v, %v", hitIDs(r), err)
	}
}
