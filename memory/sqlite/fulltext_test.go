package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hark/memory"
)

func TestOfVeryManyMessagesThoseWithTheRarestTermAreFound(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var events []memory.Event
	for n := range maxRanked {
		events = append(events, posted(general, n, []string{"plum", "pear"}[n%2]))
	}
	for n := range 5 {
		events = append(events, posted(general, maxRanked+n, "quince again, as always when it rains"))
	}
	both := maxRanked + 5
	apply(t, s, append(events, posted(general, both, "plum and pear"))...)
	hits, err := s.FullText(bg, in(general), []string{"quinc", "plum", "pear"}, 6)
	must(t, err)
	var found []memory.MessageID
	for _, h := range hits {
		found = append(found, h.ID)
	}
	want := []memory.MessageID{id(both)}
	for n := range 5 {
		want = append(want, id(maxRanked+n))
	}
	if slices.Sort(found); !slices.Equal(found, slices.Sorted(slices.Values(want))) {
		t.Errorf("%d are found, want those with the rarest term and the one with both others", found)
	}
	if hits, err = s.FullText(bg, in(general), []string{"quinc", "plum", "pear"}, 100); err != nil || len(hits) != 100 {
		t.Errorf("%d of 100 are found, %v", len(hits), err)
	}
}

// While full text has segments with removed terms, the file isn't marked as zeroed.
func TestNothingIsZeroedBeforeItIsMerged(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	must(t, s.engine.writing(bg, func(t *tx) error { t.Text = true; return t.RemoveInBulk() }))
	must(t, s.engine.writing(bg, (*tx).zeroAll))
	if s.engine.writer.zeroed {
		t.Error("it does")
	}
	var secure bool // for what is removed afterwards
	must(t, s.engine.read.QueryRow("SELECT v FROM fulltext_config WHERE k = 'secure-delete'").Scan(&secure))
	if !secure {
		t.Error("full text goes on without secure delete")
	}
	if must(t, s.engine.erase(bg)); !s.engine.writer.zeroed {
		t.Error("and not afterwards")
	}
}

// However full text is spread over segments and levels, a merge in small steps erases removed terms while
// others write and remove.
func TestTextRemovedFromAllParts(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	s.engine.writer.step = 0
	random := rand.New(rand.NewPCG(1, 2))
	var terms []string // longer than Hark's: full text leaves out what a term shares with the one before it
	add := func(n int) {
		must(t, s.engine.writing(bg, func(t *tx) (err error) {
			for range n {
				terms = append(terms, fmt.Sprintf("%016x", random.Uint64()))
				err = errors.Join(err, t.AddText(guild, int64(len(terms)), terms[len(terms)-1]))
			}
			return err
		}))
	}
	remove := func(from, end int) {
		must(t, s.engine.writing(bg, func(t *tx) error {
			err := t.RemoveInBulk()
			for n := from; n < end; n++ {
				err = errors.Join(err, t.RemoveText(guild, int64(n+1), terms[n]))
			}
			return err
		}))
	}
	for round := range 8 {
		first := len(terms)
		add(1 << random.IntN(11))
		add(1 << random.IntN(11))
		end := first + (len(terms)-first)*3/4
		some := (end-first)/(1+random.IntN(8)) + 1
		for from := first; from < end; from += some {
			remove(from, min(end, from+some))
		}
		all, during := len(terms), round%2 == 1
		must(t, s.engine.mergeText(bg, func(ctx context.Context, f func(*tx) error) error {
			err := s.engine.writing(ctx, f)
			if during && end < all { // once the merge has begun
				remove(end, all)
				end = all
			}
			if during {
				add(1)
			}
			return err
		}))
		for n := first; n < end; n++ {
			var left int
			must(t, s.engine.read.QueryRow("SELECT count(*) FROM fulltext_data WHERE instr(block, CAST(? AS BLOB))",
				terms[n][5:]).Scan(&left))
			if left > 0 {
				t.Fatalf("a removed term is there still after round %d, in which %d were removed at once", round, some)
			}
		}
	}
	var fillers int
	must(t, s.engine.read.QueryRow("SELECT count(*) FROM fulltext_docsize WHERE id < 0").Scan(&fillers))
	if fillers > 0 {
		t.Error("what a merge begins with is left")
	}
}
