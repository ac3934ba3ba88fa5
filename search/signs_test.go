package search

import (
	"fmt"
	"strings"
	"testing"

	"hark/internal/text"
)

func TestFormOfAQuestion(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]form{
		"When did Ada paint it?": asksTime, "In what year was that?": asksTime, "which day": asksTime,
		"how many boats are there?": asksNumber, "How did it go?": asksAnything, "and how": asksAnything,
		"What book did he read?": asksName, "where's the spade": asksName, "where is the spade": asksName,
		"which boat?": asksAnything, "What did she paint?": asksAnything, "Who is the keeper?": asksAnything,
		"why though?": asksReason, "": asksAnything, "wann war das?": asksAnything,
	} {
		if got := formOf(question); got != want {
			t.Errorf("%q asks for %d, want %d", question, got, want)
		}
	}
}

func TestSignsOfAMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]signs{
		"":                                     {},
		"🎉 …!":                                 {},
		"is it there？":                         {asks: true},
		"it wasn’t, my boat":                   {self: true},
		"it left yesterday":                    {time: true},
		"since 2019":                           {time: true, number: true, reason: true},
		"on the 23rd":                          {time: true, number: true},
		"th and 2x":                            {number: true},
		"in 3019":                              {number: true},
		"two boats":                            {number: true},
		"we went to the Harbour":               {self: true, name: true},
		"They went. Then the ship left. Bye":   {},
		"it is in Ohio":                        {name: true},
		"so it is In":                          {},
		"THE BOAT IS HERE":                     {},
		"because of the tide":                  {reason: true},
		"he did it to help":                    {reason: true},
		"he went to sea so that it would pass": {reason: true},
	} {
		if got := signsOf(message, true); got != want {
			t.Errorf("%q: %s, want %s", message, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
		}
	}
}

func TestTermsThatBeginAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"paint", "paint", 1}, {"a", "a", 1}, {"photograph", "photo", 2.0 / 3}, {"photo", "photograph",
			2.0 / 3}, {"car", "cart", 0},
		{"interest", "international", 0}, {"volunt", "volunteer", 0.8}, {"", "x", 0},
		{"код", "кот", 0}, {"машина", "машину", 5.0 / 6}, {"東京都", "東京", 0}, {"zoë's", "zoë", 0}, {"nets\xff",
			"nets\xff\xfe", 10.0 / 11},
	} {
		if got := alike(c.a, c.b); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// A question is about what stands behind an article or belongs to somebody, and about its last word.
func TestSubjects(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"when did Anna buy the old sailboat?":      "old sailboat",
		"how many goldfish does Ben keep":          "goldfish keep",
		"what is Ben’s landlord called, I wonder":  "landlord call wonder",
		"who painted Anna's garage when it rained": "garag rain",
		"why?": "",
	} {
		var got []string
		for _, term := range text.QueryTerms(question) {
			if subjects(question)[term] {
				got = append(got, term)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is about %q, want %q", question, got, want)
		}
	}
}
