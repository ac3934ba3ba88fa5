package sqlite

import (
	"context"
	"errors"
	"testing"

	"hark/internal/wait"
	"hark/memory"
	"hark/memory/memorytest"
)

// hurried is a store of two guilds with three segments each, whose searches never wait for vectors.
func hurried(t *testing.T) *Store {
	t.Helper()
	s := limited(t, 2, 3, 9)
	s.engine.options.Patience = 1
	return s
}

func wantTextOnly(t *testing.T, s *Store, channels ...memory.ChannelID) {
	t.Helper()
	if hits, err := s.Nearest(bg, in(channels...), s.engine.options.Space, unit(), 5); !errors.Is(err,
		memory.ErrNoVectors) {
		t.Errorf("found %v, %v while they were being loaded", hits, err)
	}
}

// Full text answers first: a search continues without vectors that aren't loaded in time; later ones have
// them.
func TestConcurrentSearchesDoNotWaitForVectors(t *testing.T) {
	t.Parallel()
	s := hurried(t)
	release := hold(s)
	for range 3 {
		wantTextOnly(t, s, 1)
	}
	apply(t, s, inGuild(1, 9000, "apples, late")) // while it is being loaded
	drain(t, s)
	if got := find(t, s, in(1), "apples"); len(got) != 4 {
		t.Errorf("full text finds %v", got)
	}
	release()
	load(t, s, 1)
	asked(t, s, 4, 1)
	defer hold(s)()
	if got := nearest(t, s, in(1, 2), "apples"); len(got) != 4 {
		t.Errorf("of a guild that is loaded and one that isn't, found %v", got)
	}
	wantTextOnly(t, s, 2)
}

// A caller that gives up doesn't affect others' waits.
func TestConcurrentLoadingGoesOnWhenOneGivesUp(t *testing.T) {
	t.Parallel()
	s := limited(t, 1, 3, 9)
	release := hold(s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for _, ctx := range []*waitingContext{waiting(ctx), waiting(t.Context())} {
		go func() {
			_, err := s.Nearest(ctx, in(1), s.engine.options.Space, unit(), 5)
			ended <- err
		}()
		wait.For(t, "a search to wait", ctx.waits)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up is told %v", err)
	}
	release()
	if err := <-ended; err != nil {
		t.Errorf("who waited is told %v", err)
	}
	asked(t, s, 3, 1)
}

// Closing the store ends loading and waits for it.
func TestConcurrentLoadingEndsWithTheStore(t *testing.T) {
	t.Parallel()
	s := hurried(t)
	hold(s)
	x := s.engine.startLoading(1, s.engine.options.Space)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-x.loaded:
		if !errors.Is(x.err, context.Canceled) {
			t.Errorf("loading ended with %v", x.err)
		}
	default:
		t.Error("it is still being loaded")
	}
	if x, err := s.engine.index(bg, 1, memory.Space{}); x != nil || err != nil {
		t.Errorf("a closed store loads %v, %v", x, err)
	}
}

// If loading fails while nobody waits, the next caller gets the error. Then it is tried again.
func TestLoadingThatFailsUnseen(t *testing.T) {
	t.Parallel()
	s := hurried(t)
	execute(t, s.engine.write, "ALTER TABLE vector RENAME TO away")
	x := s.engine.startLoading(1, s.engine.options.Space)
	<-x.loaded
	execute(t, s.engine.write, "ALTER TABLE away RENAME TO vector")
	_, err := s.Nearest(bg, in(1), s.engine.options.Space, unit(), 5)
	wantError(t, err)
	load(t, s, 1)
	asked(t, s, 3, 1)
}

// If another process's write drops vectors that a caller waits for, it gets those loaded next.
func TestConcurrentLoadingOfVectorsThatAreThrownAway(t *testing.T) {
	t.Parallel()
	s := limited(t, 1, 3, 9)
	release := hold(s)
	space := memorytest.Embedder{}.Space()
	loaded := make(chan *index)
	ctx := waiting(t.Context())
	go func() {
		x, err := s.engine.index(ctx, 1, space)
		if err != nil {
			t.Error(err)
		}
		loaded <- x
	}()
	wait.For(t, "somebody to wait for the vectors", ctx.waits)
	old := s.engine.startLoading(1, space)
	s.engine.vectors.reset(space) // as when another process has changed the space
	<-old.loaded
	release()
	if x := <-loaded; x == nil || x == old || x.count.Load() != 3 {
		t.Errorf("got %+v", x)
	}
}

// Guilds that don't fit together evict each other, and each is waited for when searched again.
func TestGuildsThatMadeRoomAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := limited(t, 2, 3, 1)
	s.engine.options.Patience, s.engine.vectors.evictedTimeout = 1, wait.Limit
	load(t, s, 1)
	load(t, s, 2) // which takes the first away
	wantLoaded(t, s, 2)
	for range 3 {
		asked(t, s, 3, 1, 2)
	}
}
