package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"hark/memory"
	"hark/memory/vectors"
)

// The space of a store's vectors is readable without opening it for writing, so nobody must ask an
// embedding server.
func TestStoredSpaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := func(what string, use, next memory.Space) {
		t.Helper()
		if u, n := StoredSpaces(t.Context(), dir); u != use || n != next {
			t.Errorf("of %s: %v and %v", what, u, n)
		}
	}
	told("no store", memory.Space{}, memory.Space{})
	first := memory.Space{Name: `org/model:2 "passage: "`, Version: 3, Dimensions: 2}
	s := openIn(t, dir, first)
	told("an open store", first, memory.Space{})
	apply(t, s, posted(general, 1, "apples"))
	embedAll(t, s, pointing(1))
	second := memory.Space{Name: "other", Dimensions: 3}
	openIn(t, dir, second)
	told("one that is filled", first, second)
	conn := raw(t, dir)
	for _, name := range []string{"model/3/many", "model/three/4", "model"} {
		execute(t, conn, "UPDATE meta SET value = ? WHERE key = 'space'", name)
		told(name, memory.Space{}, second)
	}
	execute(t, conn, "DELETE FROM meta WHERE key IN ('space', 'next')")
	told("a store that doesn't tell", memory.Space{}, memory.Space{})
	execute(t, conn, "DROP TABLE meta")
	told("a file without the table", memory.Space{}, memory.Space{})
}

func openIn(t testing.TB, dir string, space memory.Space) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{Space: space, Tokens: words})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// pointing is an embedder whose vectors begin with a text's length and x.
type pointing float32

func (p pointing) vector(text string, dimensions int) []float32 {
	v := make([]float32, dimensions)
	v[0], v[1] = float32(len(text)), float32(p)
	return v
}

func embedAll(t testing.TB, s *Store, p pointing) {
	t.Helper()
	for embedSome(t, s, p, 3) {
	}
}

// embedSome embeds n of what is pending, and reports whether there was any.
func embedSome(t testing.TB, s *Store, p pointing, n int) bool {
	t.Helper()
	segments, err := s.Pending(bg, n)
	must(t, err)
	embedded := make([][]float32, len(segments))
	for i, segment := range segments {
		embedded[i] = p.vector(segment.Text(), s.engine.options.Space.Dimensions)
	}
	must(t, s.Embedded(bg, segments, embedded)) // and the process dies
	return len(segments) > 0
}

func wantSpace(t *testing.T, s *Store, use memory.Space, others ...memory.Space) {
	t.Helper()
	if space, err := s.Space(bg); err != nil || space != use {
		t.Errorf("in use is %v, %v; want %v", space, err, use)
	}
	if hits, err := s.Nearest(bg, in(general, secret), use, pointing(1).vector("apples", use.Dimensions),
		100); err != nil || len(hits) == 0 {
		t.Errorf("in %v: %v, %v", use, hits, err)
	}
	for _, other := range others {
		if hits, err := s.Nearest(bg, in(general, secret), other,
			pointing(1).vector("apples", other.Dimensions), 100); !errors.Is(err, memory.ErrNoVectors) {
			t.Errorf("in %v, which isn't in use: %v, %v", other, hits, err)
		}
	}
}

func wantFound(t *testing.T, s *Store, space memory.Space, want int) {
	t.Helper()
	vector := pointing(1).vector("x", space.Dimensions)
	if hits, err := s.Nearest(bg, in(general), space, vector, 100); err != nil || len(hits) != want {
		t.Errorf("%d of %d are found, %v", len(hits), want, err)
	}
}

func pendingIn(t *testing.T, s *Store, want int) []memory.Segment {
	t.Helper()
	segments, err := s.Pending(bg, 10)
	if err != nil || len(segments) != want {
		t.Fatalf("%d wait, %v; want %d", len(segments), err, want)
	}
	return segments
}

func wantWaiting(t *testing.T, s *Store, want int) {
	t.Helper()
	if n, err := s.Waiting(bg, memory.Everywhere); err != nil || n != want {
		t.Errorf("%d wait, %v; want %d", n, err, want)
	}
	if segments, err := s.Pending(bg, 1000); err != nil || len(segments) != want {
		t.Errorf("%d pending, %v; want %d", len(segments), err, want)
	}
}

func wantBeside(t *testing.T, s *Store, want int) {
	t.Helper()
	var n int
	if err := s.engine.read.QueryRow("SELECT count(*) FROM vector_next").Scan(&n); err != nil || n != want {
		t.Errorf("%d vectors lie beside those in use, %v; want %d", n, err, want)
	}
}

var (
	oldSpace = memory.Space{Name: "old", Version: 2, Dimensions: 5}
	newSpace = memory.Space{Name: "new", Dimensions: 2}
)

// storeInOldSpace is a directory with a store of n segments, embedded in oldSpace.
func storeInOldSpace(t *testing.T, n int) (string, *Store) {
	t.Helper()
	dir := t.TempDir()
	s := openIn(t, dir, oldSpace)
	for i := range n {
		apply(t, s, posted(general, 1000*i, fmt.Sprintf("apples number %d", i)))
	}
	wantWaiting(t, s, n)
	embedAll(t, s, 1)
	wantWaiting(t, s, 0)
	return dir, s
}

// What is left of a segment that was invalidated while another space is filled gets a vector there, too.
func TestForgettingWhileAnotherSpaceIsFilled(t *testing.T) {
	t.Parallel()
	dir, s := storeInOldSpace(t, 10)
	apply(t, s, posted(general, 1, "pears, right after"))
	embedAll(t, s, 1)
	closed(t, s)
	s = openIn(t, dir, newSpace)
	version := func() (version int) {
		must(t, s.engine.read.QueryRow("SELECT version FROM vector_version WHERE guild = 1").Scan(&version))
		return version
	}
	before := version()
	embedSome(t, s, 9, 4)
	wantBeside(t, s, 4)
	if version() != before {
		t.Error("vectors of another space came to those in use")
	}
	forgetting(memory.Forgetting{Guild: guild, Channel: general, Before: id(1).Time(), Why: memory.WhyPurge})(t, s)
	wantBeside(t, s, 4-1)
	checkSound(t, s)
	embedAll(t, s, 9)
	wantSpace(t, s, newSpace, oldSpace)
	checkSound(t, s)
}

// The active space stays while another is filled, through new messages, edits and deletions, until its last
// segment is embedded. Then it is replaced at once, and its vectors are erased.
func TestAnotherSpaceIsFilledBeside(t *testing.T) {
	t.Parallel()
	dir, s := storeInOldSpace(t, 10)
	closed(t, s)
	s = openIn(t, dir, newSpace)
	wantSpace(t, s, oldSpace, newSpace)
	wantWaiting(t, s, 10)
	embedSome(t, s, 9, 4)
	wantBeside(t, s, 4)
	apply(t, s, posted(general, 20_000, "pears"), edited(general, 0, "plums"), deleted(general, 1000, 9000),
		edited(general, 1000*5, "quinces"))
	wantBeside(t, s, 4-2) // what was torn is gone there as well
	checkSound(t, s)
	wantSpace(t, s, oldSpace, newSpace)
	wantWaiting(t, s, 10-4-1+1+1) // of those missing one is gone, of the four one was edited, and one is new
	closed(t, s)
	s = openIn(t, dir, newSpace) // goes on where it was
	wantWaiting(t, s, 7)
	embedSome(t, s, 9, 6)
	wantSpace(t, s, oldSpace, newSpace)
	// A segment with nothing to embed counts as embedded, even as the last.
	segments := pendingIn(t, s, 1)
	must(t, s.Embedded(bg, segments, make([][]float32, 1)))
	wantSpace(t, s, newSpace, oldSpace)
	wantFound(t, s, newSpace, 8)
	wantWaiting(t, s, 0)
	apply(t, s, deleted(general, 20_000)) // the one without a vector
	checkSound(t, s)
	wantBeside(t, s, 0)
	apply(t, s, posted(general, 30_000, "grapes"))
	wantWaiting(t, s, 1)
	embedAll(t, s, 9)
	wantSpace(t, s, newSpace, oldSpace)
}

// What is in neither table is nowhere in the files.
func TestVectorsOfTheOldSpaceAreGoneFromTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openIn(t, dir, memory.Space{Name: "old", Dimensions: 16})
	mark := []float32{101, -77, 55, -33, 11, 127, -99, 88, 66, -44, 22, 3, 5, -7, 111, 13} // as they are stored
	apply(t, s, posted(general, 1, "apples"), posted(general, 1000, "pears"))
	segments := pendingIn(t, s, 2)
	must(t, s.Embedded(bg, segments, [][]float32{mark, mark}))
	steps, sketch := new(vectors.Encoder).Encode(mark)
	if len(holding(t, dir, string(steps))) == 0 || len(holding(t, dir, string(sketch))) == 0 {
		t.Fatal("the vector or its sketch isn't in the files while it is in use")
	}
	closed(t, s)
	s = openIn(t, dir, newSpace)
	embedAll(t, s, 1)
	wantNowhere(t, dir, string(steps), string(sketch))
	checkSound(t, s)
}

// Without vectors, there is no active space to keep.
func TestAFileWithoutVectorsTakesASpaceAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openIn(t, dir, oldSpace)
	apply(t, s, posted(general, 1, "apples"), posted(general, 1000, "…"))
	segments := pendingIn(t, s, 2)
	must(t, s.Embedded(bg, segments[1:], make([][]float32, 1)))
	s = openIn(t, dir, newSpace)
	if space, err := s.Space(bg); err != nil || space != newSpace {
		t.Errorf("in use is %v, %v", space, err)
	}
	wantWaiting(t, s, 2)
	embedAll(t, s, 1)
	wantSpace(t, s, newSpace, oldSpace)
	checkSound(t, s)
}

// Opening the file with the active space gives up the one being filled.
func TestGoingBackToTheOldSpace(t *testing.T) {
	t.Parallel()
	dir, _ := storeInOldSpace(t, 6)
	s := openIn(t, dir, newSpace)
	embedSome(t, s, 9, 4)
	apply(t, s, posted(general, 20_000, "pears"), edited(general, 0, "plums"))
	s = openIn(t, dir, oldSpace)
	wantSpace(t, s, oldSpace, newSpace)
	wantWaiting(t, s, 2) // what changed meanwhile
	embedAll(t, s, 1)
	checkSound(t, s)
	wantFound(t, s, oldSpace, 7)
	s = openIn(t, dir, newSpace) // all over again: nothing of the first attempt is used
	wantWaiting(t, s, 7)
	embedAll(t, s, 9)
	wantSpace(t, s, newSpace, oldSpace)
	checkSound(t, s)
}

// A half-filled space that is given up for a third leaves nothing in it.
func TestAThirdSpace(t *testing.T) {
	t.Parallel()
	dir, _ := storeInOldSpace(t, 6)
	third := memory.Space{Name: "third", Dimensions: 3}
	s := openIn(t, dir, newSpace)
	embedSome(t, s, 9, 4)
	s = openIn(t, dir, third)
	wantSpace(t, s, oldSpace, newSpace, third)
	// Vectors stored before the sweep don't mix with the second space's remains.
	segments := allSegments(t, s)
	if len(segments) != 6 {
		t.Fatal(len(segments))
	}
	wantBeside(t, s, 4)
	must(t, s.Embedded(bg, segments[5:], [][]float32{{1, 2, 3}}))
	wantBeside(t, s, 1)
	must(t, s.Embedded(bg, segments[:1], make([][]float32, 1))) // nothing to embed there; not so in use
	wantFound(t, s, oldSpace, 6)
	must(t, s.Embedded(bg, segments[:5], make([][]float32, 5)))
	wantFound(t, s, third, 1)
	wantWaiting(t, s, 0)
	wantSpace(t, s, third, oldSpace, newSpace)
}

// The last missing segment may be deleted instead of embedded.
func TestTheLastMissingSegmentIsDeleted(t *testing.T) {
	t.Parallel()
	dir, _ := storeInOldSpace(t, 3)
	s := openIn(t, dir, newSpace)
	embedSome(t, s, 9, 2)
	apply(t, s, deleted(general, 2000))
	wantSpace(t, s, oldSpace, newSpace)
	wantWaiting(t, s, 0)
	wantSpace(t, s, newSpace, oldSpace)
	checkSound(t, s)
}

// The zero space leaves a file as it is.
func TestOpeningWithoutASpace(t *testing.T) {
	t.Parallel()
	dir, s := storeInOldSpace(t, 3)
	openIn(t, dir, newSpace)
	before := dump(t, s)
	s = openIn(t, dir, memory.Space{})
	if dump(t, s) != before {
		t.Error("something has changed")
	}
	wantSpace(t, s, oldSpace, newSpace)
	apply(t, s, posted(general, 7000, "pears"))
	wantWaiting(t, s, 1)
}

// Of two stores with different spaces, the one with the active space continues. After the exchange it gets
// an error, and compares in neither.
func TestStoresOfTwoSpaces(t *testing.T) {
	t.Parallel()
	dir, a := storeInOldSpace(t, 4)
	b := openIn(t, dir, newSpace)
	apply(t, a, posted(general, 7000, "pears"))
	apply(t, b, posted(general, 8000, "plums"))
	wantWaiting(t, a, 2)
	wantWaiting(t, b, 6)
	embedSome(t, b, 9, 3)
	embedAll(t, a, 1)
	for _, s := range []*Store{a, b} {
		wantSpace(t, s, oldSpace, newSpace)
		checkSound(t, s)
	}
	wantFound(t, b, oldSpace, 6)
	pendingIn(t, a, 0)
	embedAll(t, b, 9)
	for _, s := range []*Store{a, b} {
		wantSpace(t, s, newSpace, oldSpace)
	}
	apply(t, a, posted(general, 9000, "cherries"))
	_, err := a.Pending(bg, 10)
	wantError(t, err)
	_, err = a.Waiting(bg, memory.Everywhere)
	wantError(t, err)
	segments := pendingIn(t, b, 1)
	wantError(t, a.Embedded(bg, segments, [][]float32{pointing(1).vector("x", 5)}))
	if err := b.Embedded(bg, segments, [][]float32{{1, 0}}); err != nil {
		t.Error(err)
	}
	wantSpace(t, a, newSpace, oldSpace)
	checkSound(t, b)
}

// The space of new vectors changes while the store is open, as it does when one is opened for another.
func TestUseSpace(t *testing.T) {
	t.Parallel()
	_, s := storeInOldSpace(t, 3)
	apply(t, s, posted(general, 8000, "plums"))
	wantWaiting(t, s, 1)
	ended, cancel := context.WithCancel(bg)
	cancel()
	wantError(t, s.UseSpace(ended, newSpace))
	wantWaiting(t, s, 1) // for vectors of the space before
	must(t, s.UseSpace(bg, newSpace))
	must(t, s.UseSpace(bg, newSpace))
	segments := pendingIn(t, s, 4)
	wantError(t, s.Embedded(bg, segments, vectorsOf(len(segments), oldSpace.Dimensions)))
	wantSpace(t, s, oldSpace, newSpace)
	must(t, s.Embedded(bg, segments, vectorsOf(len(segments), newSpace.Dimensions)))
	wantSpace(t, s, newSpace, oldSpace)
	checkSound(t, s)
}

// vectorsOf returns n vectors.
func vectorsOf(n, dimensions int) (vectors [][]float32) {
	for range n {
		vectors = append(vectors, pointing(1).vector("x", dimensions))
	}
	return vectors
}

// The last process to open a file decides which space is filled; the earlier one gets an error.
func TestTwoStoresFillTwoSpaces(t *testing.T) {
	t.Parallel()
	dir, _ := storeInOldSpace(t, 4)
	b := openIn(t, dir, newSpace)
	segments, err := b.Pending(bg, 2)
	must(t, err)
	c := openIn(t, dir, memory.Space{Name: "third", Dimensions: 3})
	wantError(t, b.Embedded(bg, segments, [][]float32{{1, 0}, {1, 0}}))
	_, err = b.Pending(bg, 2)
	wantError(t, err)
	embedAll(t, c, 1)
	wantSpace(t, b, c.engine.options.Space, oldSpace, newSpace)
	checkSound(t, c)
}

// Searches continue during the exchange, and each compares in one space.
func TestConcurrentSearchesDuringTheSwitch(t *testing.T) {
	t.Parallel()
	dir, s := storeInOldSpace(t, 40)
	s = openIn(t, dir, newSpace)
	ended, cancel := context.WithCancel(bg)
	searched := make(chan error, 1)
	go func() {
		for ended.Err() == nil {
			space, err := s.Space(bg)
			if err == nil {
				_, err = s.Nearest(bg, in(general), space, pointing(1).vector("x", space.Dimensions), 10)
			}
			if err != nil && !errors.Is(err, memory.ErrNoVectors) {
				searched <- err
				return
			}
		}
		searched <- nil
	}()
	embedAll(t, s, 9)
	cancel()
	if err := <-searched; err != nil {
		t.Error(err)
	}
	wantSpace(t, s, newSpace, oldSpace)
}

// In whatever order segments change and are embedded, searches find the active ones.
func TestSweepingIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	dir, _ := storeInOldSpace(t, 5)
	s := openIn(t, dir, newSpace)
	segments, err := s.Pending(bg, 10)
	must(t, err)
	vectors := make([][]float32, len(segments))
	for i := range vectors {
		vectors[i] = []float32{1, float32(i)}
	}
	must(t, s.Embedded(bg, segments, vectors))
	s = openIn(t, dir, newSpace)
	wantBeside(t, s, 5)
	wantWaiting(t, s, 0)
	wantBeside(t, s, 0)
	checkSound(t, s)
}
