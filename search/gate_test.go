package search_test

import (
	"slices"
	"testing"
	"time"

	"hark/memory"
	"hark/search"
)

// Questions for nothing, or for what nobody mentioned, are declined. Names, topics and follow-ups aren't, however
// short.
func TestTheGate(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	spoken := memory.Message{ID: memory.FirstMessageID(dawn.AddDate(0, 1, 0)) - 5, Author: marta,
		Content: "who mends roofs?"}
	for text, declined := range map[string]bool{
		"who can mend the chapel roof?":                 false,
		"what did the goat eat?":                        false,
		"when does the harvest fair move to the meadow": false,
		"tell me about the bunting":                     false,
		"could you remind us of the goat?":              false,
		"please summarize the stout for me":             true, // it was said elsewhere
		"please summarize the chapel roof for me":       false,
		"gm":                        true,
		"goat?":                     false,
		"bunting":                   false,
		"Oswin":                     false,
		"Oswin's cousin":            false,
		"thanks!":                   true,
		"hello everybody":           true,
		"tell me a joke":            true,
		"how are you?":              true,
		"guten Morgen":              true,
		"😂":                         true,
		"how are you doing today?":  true,
		"what did Oswin say?":       false,
		"did Oswin buy a sailboat?": true,
		"what did the bishop pay for the new organ pipes?": true,
		"when is the zeppelin race?":                       true,
	} {
		q := ask(text, green)
		if r := k.search(t, q); r.Declined != declined {
			t.Errorf("%q: declined %t, by %v", text, r.Declined, r.Gate())
		}
		q.IsSearch = true // as where a person searches: a greeting is looked for like anything else
		if r := k.search(t, q); r.Declined && !declined {
			t.Errorf("%q: declined where it is searched for", text)
		}
	}
	q := ask("what about him?", green)
	q.Session, q.Skip = []memory.Message{spoken}, []memory.MessageID{spoken.ID}
	for _, text := range []string{"what about the second one?", "do you know him?"} {
		q.Text = text
		if r := k.search(t, q); r.Declined {
			t.Errorf("%q is declined, which goes on from what was said", text)
		}
	}
	q.Session[0].Content = "capital of Mongolia?"
	for _, text := range []string{"and its population?", "and when?"} {
		q.Text = text
		if r := k.search(t, q); !r.Declined {
			t.Errorf("%q isn't declined, which goes on from what nobody spoke of", text)
		}
	}
	q.Session[0].Content = spoken.Content
	q.Text = "thanks"
	if r := k.search(t, q); !r.Declined {
		t.Error("thanks go on from what was said")
	}
	q.Text = "what about him?"
	if r := k.search(t, q); r.Declined || len(r.Hits) == 0 || r.Hits[0].Message.ID != ids["roof"] {
		t.Errorf("what goes on from what was said finds %v, declined %t", hitIDs(r), r.Declined)
	}
}

// Declining reveals nothing outside the scope.
func TestTheGateKnowsNoMoreThanTheReaders(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	for _, text := range []string{"where is the chapel roof money hidden?", "who inspects the candles?", "money?",
		"liquorice", "and for what?", "and its pipes?"} {
		q := ask(text, green)
		if asked := turn(marta, "is the crypt money for the organ?"); search.RefersBack(text) {
			q.Session, q.Skip = []memory.Message{asked}, []memory.MessageID{asked.ID}
		}
		before := k.search(t, q)
		for _, said := range []string{text, "the crypt money is for the organ", "the crypt", "money for the organ"} {
			k.say(t, dawn, crypt, marta, said+" it was said here")
			k.say(t, dawn, pub, pim, said+" and here")
			k.say(t, q.Now.Add(time.Minute), green, pim, said+" and later")
		}
		k.index(t)
		after := k.search(t, q)
		if before.Declined != after.Declined || len(before.Hits) != len(after.Hits) {
			t.Errorf("%q: what was said elsewhere changes it from %t to %t", text, before.Declined, after.Declined)
		}
		for i, v := range before.Gate() {
			if after.Gate()[i] != v {
				t.Errorf("%q: %s was %v, and is %v", text, search.GateNames()[i], v, after.Gate()[i])
			}
		}
	}
}

// An earlier question with all of the words doesn't make the answer less relevant.
func TestWhatIsBehindIsNoMeasure(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	asked := k.say(t, dawn.Add(50*time.Hour), green, pim, "tell me who can mend the old chapel roof with slate")
	k.index(t)
	q := ask("who can mend the old chapel roof with slate?", green)
	q.Behind = func(m *memory.Message) bool { return m.ID == asked }
	there := k.search(t, q)
	q.Skip = []memory.MessageID{asked}
	gone := k.search(t, q)
	if len(there.Hits) == 0 || there.Hits[0].Relevance != gone.Hits[0].Relevance || there.Declined != gone.Declined {
		t.Errorf("found %+v, and without what was asked %+v", there.Hits[:1], gone.Hits[:1])
	}
}

// Messages that are Behind aren't found if others are.
func TestWhatIsBehindIsNotFound(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	q := ask("who can mend the chapel roof, for how much?", green)
	q.Behind = func(m *memory.Message) bool { return m.ID == ids["roof"] }
	for _, h := range k.search(t, q).Hits {
		if h.Message.ID == ids["roof"] {
			t.Error("it was found")
		}
	}
}

// A question with only names and dates is matched only by messages by or about those people, on those days.
func TestWhatSpeaksOfWhomOrWhen(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	idle := memory.Person{ID: 599, Guild: village, Nick: "Zelda"}
	k.apply(t, memory.PersonSeen{Person: idle})
	k.say(t, dawn.Add(40*time.Hour), green, marta, "good that you say it, October suits me")
	late := k.say(t, dawn.Add(15*24*time.Hour), green, pim, "Zelda has a boat")
	k.index(t)
	day := dawn.AddDate(0, 0, 1).Format(" on 2 January")
	for question, want := range map[string][]memory.MessageID{
		"what did Pim say?":              {ids["goat"], late},
		"Zelda?":                         {late},
		"what did Zelda say?":            {late},
		"what did Zelda say" + day + "?": nil,
		"what did Pim say" + day + "?":   {ids["goat"]},
		"what did Marta say yesterday?":  nil,
	} {
		var got []memory.MessageID
		r := k.search(t, ask(question, green))
		for _, h := range r.Hits {
			if r.MatchesWords(h) {
				got = append(got, h.Message.ID)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v speak of it, want %v", question, got, want)
		}
	}
}
