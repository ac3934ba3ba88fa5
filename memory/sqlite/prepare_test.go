package sqlite

import (
	"slices"
	"testing"

	"hark/memory"
)

// Full text is written at the end of a transaction, without what the transaction removed again.
func TestFullTextOfWhatComesAndGoesAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	// the rows aren't in order
	apply(t, s, posted(general+1, 1, "walnut"), posted(general, 2, "walnut"), posted(general+1, 3, "walnut"),
		deleted(general, 2), edited(general+1, 3, "chestnut"), posted(general, 4, "walnut"))
	scope := in(general, general+1)
	walnut, chestnut := find(t, s, scope, "walnut"), find(t, s, scope, "chestnut")
	slices.Sort(walnut)
	if !slices.Equal(walnut, []memory.MessageID{id(1), id(4)}) || !slices.Equal(chestnut, []memory.MessageID{id(3)}) {
		t.Errorf("found %v and %v", walnut, chestnut)
	}
	checkSound(t, s)
}
