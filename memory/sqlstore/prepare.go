package sqlstore

import (
	"cmp"
	"slices"
	"sync"
)

// manyEvents are so many that preparing them in two goroutines is faster.
const manyEvents = 64

// inHalves has f work on the parts of n things, at once if there are many, and returns the first part's error first.
func inHalves(n int, f func(from, to int) error) error {
	if n < manyEvents {
		return f(0, n)
	}
	var second error
	var wg sync.WaitGroup
	wg.Go(func() { second = f(n/2, n) })
	first := f(0, n/2)
	wg.Wait()
	return cmp.Or(first, second)
}

// rowTerms is what full text is to hold of a message.
type rowTerms struct {
	row   int64
	terms string
}

// index has full text hold terms, once flushTerms is called.
func (t *transaction) index(row int64, terms string) {
	if terms != "" {
		t.terms = append(t.terms, rowTerms{row, terms})
	}
}

// flushTerms brings full text up to date. It is given its rows in order: a smaller one after a greater has FTS5 write
// all that it has gathered, which takes most of the time where many channels' messages come together.
func (t *transaction) flushTerms() {
	slices.SortFunc(t.terms, func(a, b rowTerms) int { return cmp.Compare(a.row, b.row) })
	for _, r := range t.terms {
		ensure(t.AddText(r.row, r.terms))
	}
	t.terms = nil
}
