package search_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/search"
)

// Of two messages that differ in one thing the one that answers is first.
func TestWhatMakesAnAnswer(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ question, answer, other string }{
		"time":      {"When did the ferry leave?", "the ferry did leave yesterday, so", "the ferry did leave quietly, so"},
		"number":    {"How many goats are in the yard?", "there are seven goats about the yard", "there are brown goats about the yard"},
		"name":      {"Who is the keeper of the lighthouse?", "our lighthouse keeper is Zebedee there", "our lighthouse keeper is asleep there"},
		"reason":    {"Why was the fair moved?", "it moved, the fair, because it rains", "it moved, the fair, although it rains"},
		"pairs":     {"what of the harvest fair", "it was a harvest fair and market", "it was a fair market and harvest"},
		"beginning": {"photographs of the regatta", "a photograph at regatta time", "a sandwich at regatta time"},
		"date said": {"what was lost in April 2024?", "the anchor was lost on 3 April 2024 somewhere", "the anchor was lost this year of ours somewhere"},
		"reacts":    {"the new anchor", "they got the anchor new there", "wow got the anchor new there"},
	} {
		for _, first := range []bool{true, false} {
			k := newTalk(t)
			texts := []string{c.answer, c.other}
			if !first {
				slices.Reverse(texts)
			}
			ids := map[string]memory.MessageID{}
			for i, text := range texts {
				ids[text] = k.say(t, dawn.Add(time.Duration(i)*9*time.Hour), green, marta, text)
			}
			if r := k.search(t, ask(c.question, green)); len(r.Hits) != 2 || r.Hits[0].Message.ID != ids[c.answer] {
				t.Errorf("%s: first is %v", what, r.Hits)
			}
		}
	}
}

func TestWhoSpeaksOfWhom(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	other := k.say(t, dawn, green, oswin, "a goat was bought at market")
	of := k.say(t, dawn.Add(9*time.Hour), green, oswin, "pim bought a goat of his own")
	by := k.say(t, dawn.Add(18*time.Hour), green, pim, "a goat was bought at auction")
	self := k.say(t, dawn.Add(27*time.Hour), green, pim, "i bought a goat at once")
	got := hitIDs(k.search(t, ask("which goat was bought by pim", green)))
	rank := func(id memory.MessageID) int { return slices.Index(got, id) }
	if len(got) != 4 || rank(self) > rank(by) || rank(by) > rank(other) || rank(of) > rank(other) {
		t.Errorf("found %v, not %v before %v before %v, and %v before that", got, self, by, other, of)
	}
}

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
	if _, err := engine.Candidates(t.Context(), ask("unicorn?", green)); err == nil || !strings.HasPrefix(err.Error(), "search: ") {
		t.Error(err)
	}
}
