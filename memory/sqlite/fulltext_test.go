package sqlite

import (
	"slices"
	"testing"

	"hark/memory"
)

func TestOfVeryManyMessagesThoseWithTheRarestTermAreFound(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var events []memory.Event
	for n := range manyMatches {
		events = append(events, posted(general, n, []string{"plum", "pear"}[n%2]))
	}
	for n := range 5 {
		events = append(events, posted(general, manyMatches+n, "quince again, as always when it rains"))
	}
	both := manyMatches + 5
	apply(t, s, append(events, posted(general, both, "plum and pear"))...)
	hits, err := s.FullText(bg, in(general), []string{"quinc", "plum", "pear"}, 6)
	must(t, err)
	var found []memory.MessageID
	for _, h := range hits {
		found = append(found, h.ID)
	}
	want := []memory.MessageID{id(both)}
	for n := range 5 {
		want = append(want, id(manyMatches+n))
	}
	if slices.Sort(found); !slices.Equal(found, slices.Sorted(slices.Values(want))) {
		t.Errorf("%d are found, want those with the rarest term and the one with both others", found)
	}
	if hits, err = s.FullText(bg, in(general), []string{"quinc", "plum", "pear"}, 100); err != nil || len(hits) != 100 {
		t.Errorf("%d of 100 are found, %v", len(hits), err)
	}
}
