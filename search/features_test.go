package search_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/search"
)

// A long message isn't found by its neighbours' words.
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

// A long message is found once, by one passage, with its neighbours.
func TestLongMessagesAreFoundByAPassage(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	filler := strings.Repeat("this is about the weather and the boats of the town. ", 20)
	k.say(t, dawn, green, oswin, "tell me all")
	k.say(t, dawn.Add(time.Minute), green, marta, filler+"The unicorn eats bluebells. "+filler)
	k.say(t, dawn.Add(2*time.Minute), green, oswin, "no unicorn here, and it eats nothing but flowers")
	result := k.search(t, ask("what does the unicorn eat? bluebells?", green))
	if len(result.Hits) != 3 || result.Hits[0].Message.Author != marta {
		t.Fatalf("found %+v", result.Hits)
	}
	var said []string
	for _, m := range result.Hits[0].Excerpt {
		said = append(said, m.Content)
	}
	if want := []string{"tell me all", filler + "The unicorn eats bluebells. " + filler,
		"no unicorn here, and it eats nothing but flowers"}; !slices.Equal(said, want) {
		t.Errorf("the excerpt is %q", said)
	}
}

// An excerpt has the message that the hit replies to, and the one that answers it, even if others speak between.
func TestExcerptsHoldTheReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to, names bool // the answer replies to the question, or mentions who asked
		again     bool // they speak again before it
		aside     bool // it is asked of Hark
		want      string
	}{
		"replies":               {to: true, again: true, want: "slide the cover open"},
		"mentions":              {names: true, want: "slide the cover open"},
		"asks Hark of it":       {to: true, names: true, aside: true, want: "who wants soup"},
		"mentions Hark, too":    {names: true, aside: true, want: "who wants soup"},
		"mentions, but not now": {names: true, again: true, want: "who wants soup"},
		"neither":               {want: "who wants soup"},
	} {
		k := newTalk(t)
		k.say(t, dawn, green, pim, "good morning")
		asked := k.say(t, dawn.Add(time.Minute), green, marta, "the lantern shows only black")
		k.say(t, dawn.Add(2*time.Minute), green, oswin, "who wants soup")
		if c.again {
			k.say(t, dawn.Add(3*time.Minute), green, marta, "not me")
		}
		k.say(t, dawn.Add(4*time.Minute), green, pim, "slide the cover open", func(m *memory.Message) {
			if c.to {
				m.ReplyTo = asked
			}
			if c.names {
				m.Mentions = []memory.UserID{marta}
			}
		})
		q := ask("lantern black", green)
		q.Behind = func(m *memory.Message) bool { return c.aside && m.Content == "slide the cover open" }
		excerpt := k.search(t, q).Hits[0].Excerpt
		if len(excerpt) != 3 || excerpt[0].Content != "good morning" || excerpt[1].ID != asked ||
			excerpt[2].Content != c.want {
			t.Errorf("%s: the excerpt is %+v", name, excerpt)
		}
		if found := k.search(t, ask("slide cover", green)).Hits[0].Excerpt; c.to && found[0].ID != asked {
			t.Errorf("the reply is shown with %q", found[0].Content)
		}
	}
}

// Words that only ask hardly count, however rare they are.
func TestWordsThatAskSayLittle(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	for i := range 12 {
		k.say(t, dawn.Add(time.Duration(i)*24*time.Hour), green, marta,
			"the boats of the town, number "+strings.Repeat("I", i))
	}
	k.say(t, dawn.Add(15*24*time.Hour), green, marta, "anyone at the harbour tonight")
	k.say(t, dawn.Add(16*24*time.Hour), green, oswin, "my dog sleeps all day")
	k.say(t, dawn.Add(17*24*time.Hour), green, marta, "a dog barked at noon")
	hits := k.search(t, ask("does anyone have a dog?", green)).Hits
	if len(hits) < 3 || !strings.Contains(hits[0].Message.Content, "dog") ||
		!strings.Contains(hits[1].Message.Content, "dog") {
		t.Errorf("found %+v", hits)
	}
}

// Messages near those of a named person rank above the same words elsewhere.
func TestWhoIsNamedIsSoughtNearby(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.say(t, dawn, green, oswin, "the lamp broke")
	k.say(t, dawn.Add(time.Minute), green, oswin, "what a pity")
	k.say(t, dawn.Add(24*time.Hour), green, oswin, "the lamp broke!")
	k.say(t, dawn.Add(24*time.Hour+time.Minute), green, marta, "what a pity")
	hits := k.search(t, ask("which lamp broke when Marta was there?", green)).Hits
	if len(hits) == 0 || hits[0].Message.Content != "the lamp broke!" {
		t.Errorf("found %+v", hits)
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

func TestIngredientsMakeTheScore(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	candidates, err := k.engine().Candidates(t.Context(), ask("who mends the chapel roof?", green))
	if err != nil || len(candidates) < 3 {
		t.Fatal(candidates, err)
	}
	times := make([]int, len(search.FeatureNames()))
	var names []string
	for _, in := range search.Ingredients() {
		names = append(names, in.Name)
		for _, f := range in.Features {
			times[f]++
		}
	}
	if slices.Min(times) != 1 || slices.Max(times) != 1 || !slices.Contains(names, "meaning") ||
		!slices.Contains(names, "length") {
		t.Errorf("%q have the features %v times", names, times)
	}
	for _, c := range candidates {
		parts := 0.0
		for _, in := range search.Ingredients() {
			parts += c.Score - c.Without(in)
		}
		if math.Abs(parts-c.Score) > 1e-9 || math.Abs(c.Without(search.Ingredient{})-c.Score) > 1e-9 {
			t.Errorf("the parts are %g of %g", parts, c.Score)
		}
	}
	words := slices.IndexFunc(search.Ingredients(), func(in search.Ingredient) bool { return in.Name == "words" })
	if c := candidates[0]; c.Without(search.Ingredients()[words]) > c.Score-0.1 {
		t.Errorf("the best has %g, and %g without its words", c.Score, c.Without(search.Ingredients()[words]))
	}
}
