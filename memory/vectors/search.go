package vectors

import (
	"context"

	"hark/memory"
)

// Search is a search in some guilds. Close it.
type Search struct {
	index  *Index
	scopes []Scope  // of guilds
	guilds []*guild // that aren't empty
}

// Search begins a search. It leaves out guilds that are empty or don't load in time.
func (x *Index) Search(ctx context.Context, space memory.Space, scopes []Scope) (*Search, error) {
	numbers := make([]int64, 0, len(scopes))
	for _, scope := range scopes {
		numbers = append(numbers, scope.Guild)
		if g := x.begin(scope.Guild, space); g != nil { // in parallel, so the wait is only for the longest
			defer x.release(g)
		}
	}
	waiting, cancel := x.patience(ctx, numbers)
	defer cancel()
	s := &Search{index: x}
	for _, scope := range scopes {
		g, err := x.loaded(waiting, scope.Guild, space)
		if err == nil && g == nil {
			err = ctx.Err()
		}
		if err != nil {
			s.Close()
			return nil, err
		}
		if g == nil {
			continue
		}
		if g.count.Load() == 0 && !g.changed.Load() {
			x.release(g)
			continue
		}
		s.guilds = append(s.guilds, g)
		s.scopes = append(s.scopes, scope)
	}
	return s, nil
}

// patience returns a context for waiting until guilds are loaded.
func (x *Index) patience(ctx context.Context, numbers []int64) (context.Context, context.CancelFunc) {
	patience := x.options.Patience
	if patience <= 0 {
		return ctx, func() {}
	}
	if x.wasEvicted(numbers) {
		patience = max(patience, x.evictedTimeout)
	}
	return context.WithTimeout(ctx, patience)
}

// Empty reports whether there is nothing to search in.
func (s *Search) Empty() bool { return len(s.guilds) == 0 }

// Exact reports whether all guilds are exact: then asking for more costs little.
func (s *Search) Exact() bool {
	for _, g := range s.guilds {
		if g.exact == nil {
			return false
		}
	}
	return true
}

// Beyond the rows that a search returns, all others are at most so near:
const (
	nothingLeft = -2 // there are no others
	anything    = 2  // it isn't known
)

// Nearest returns the rows of each guild that are nearest to vector, at most limit of each, nearest first. All others
// are at most as near as beyond; it is less than any similarity if there are none.
func (s *Search) Nearest(ctx context.Context, vector []float32, limit int) (found []Found, beyond float32, err error) {
	beyond = nothingLeft
	vector = unit(vector)
	for i, g := range s.guilds {
		some, more, err := g.nearest(ctx, s.index.source, vector, &s.scopes[i], limit)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case more && len(some) == limit:
			beyond = max(beyond, some[limit-1].Similarity)
		case more: // another process has just deleted some
			beyond = anything
		}
		found = append(found, some...)
	}
	sortFound(found)
	return found, beyond, nil
}

// NothingLeft reports whether beyond says that there are no other rows.
func NothingLeft(beyond float32) bool { return beyond == nothingLeft }

// Close ends the search.
func (s *Search) Close() {
	for _, g := range s.guilds {
		s.index.release(g)
	}
	s.guilds = nil
}
