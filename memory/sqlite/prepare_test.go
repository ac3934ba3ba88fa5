package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"hark/memory"
)

func TestConcurrentHalves(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	tests := []struct {
		n, badFrom int // -1: none
		parts      []string
	}{
		{0, -1, []string{"0-0"}},
		{manyEvents - 1, -1, []string{"0-63"}},
		{manyEvents - 1, 0, []string{"0-63"}},
		{manyEvents + 1, -1, []string{"0-32", "32-65"}},
		{manyEvents + 1, 0, []string{"0-32", "32-65"}},
		{manyEvents + 1, 32, []string{"0-32", "32-65"}},
	}
	for _, test := range tests {
		var mu sync.Mutex
		var parts []string
		err := inHalves(test.n, func(from, to int) error {
			mu.Lock()
			defer mu.Unlock()
			parts = append(parts, fmt.Sprintf("%d-%d", from, to))
			if from == test.badFrom {
				return bad
			}
			return nil
		})
		slices.Sort(parts)
		if !slices.Equal(parts, test.parts) || errors.Is(err, bad) != (test.badFrom >= 0) {
			t.Errorf("%d: %v, %v", test.n, parts, err)
		}
	}
}

// Full text is written at the end of a transaction, but for what the transaction itself takes out again.
func TestFullTextOfWhatComesAndGoesAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general+1, 1, "walnut"), posted(general, 2, "walnut"), posted(general+1, 3, "walnut"), // the rows aren't in order
		deleted(general, 2), edited(general+1, 3, "chestnut"), posted(general, 4, "walnut"))
	scope := in(general, general+1)
	walnut, chestnut := find(t, s, scope, "walnut"), find(t, s, scope, "chestnut")
	slices.Sort(walnut)
	if !slices.Equal(walnut, []memory.MessageID{id(1), id(4)}) || !slices.Equal(chestnut, []memory.MessageID{id(3)}) {
		t.Errorf("found %v and %v", walnut, chestnut)
	}
	checkSound(t, s)
}
