package search_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/search"
)

// A long message isn't found for what others say around it.
func TestLongMessagesSpeakForThemselves(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	long := strings.Repeat("nothing about that in this long report of mine ", 8)
	k.say(t, dawn, green, marta, "the unicorn")
	k.say(t, dawn.Add(time.Minute), green, marta, long)
	k.say(t, dawn.Add(2*time.Minute), green, marta, "is a unicorn")
	candidates, err := search.New(k.store, k.store).Candidates(t.Context(), ask("unicorn", green))
	if err != nil || len(candidates) != 3 {
		t.Fatal(candidates, err)
	}
	far := slices.Index(search.FeatureNames(), "far")
	if c := candidates[2]; c.Features[far] != 0 || candidates[0].Features[far] == 0 || candidates[0].Score < c.Score {
		t.Errorf("candidates %+v", candidates)
	}
}

func TestCandidatesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.say(t, dawn, green, marta, "the unicorn")
	k.say(t, dawn.Add(time.Minute), green, marta, "unicorn?")
	engine := search.New(k.store, k.store)
	candidates, err := engine.Candidates(t.Context(), ask("unicorn?", green))
	if err != nil || len(candidates) != 1 || len(candidates[0].Features) != len(search.FeatureNames()) {
		t.Errorf("what only asks the same is among %v, %v", candidates, err)
	}
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Candidates(t.Context(), ask("unicorn?", green)); err == nil ||
		!strings.HasPrefix(err.Error(), "search: ") {
		t.Error(err)
	}
}
