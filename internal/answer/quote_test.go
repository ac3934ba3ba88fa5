package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/memory"
	"hark/search"
)

func TestExtractiveAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(day-time.Minute, harbor, cleo, "Thanks, noted")
	said := w.says(day, harbor, ben, "The lighthouse password is swordfish")
	w.says(3*day, harbor, cleo, "My lighthouse drawing is nearly done")
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	golden.Seen(t, a.Text)
	source := Source{Number: 1, Guild: guild, Channel: harbor, Message: said, Author: "Ben", Place: "harbor",
		Time: said.Time()}
	if len(a.Sources) != 1 || a.Sources[0] != source || a.Model != "" {
		t.Errorf("sources %+v by %q", a.Sources, a.Model)
	}
	if hits := a.Trace.Recalled; len(hits) != 1 || hits[0].Message != said || hits[0].Number != 1 ||
		!hits[0].Cited || a.Trace.Sections != nil {
		t.Errorf("trace %+v", a.Trace)
	}
	q := w.asks(vault, "Who rows the regatta?")
	if a := w.answer(q); a.Text != foundNone || a.Sources != nil {
		t.Errorf("got %q from %v", a.Text, a.Sources)
	}
	q.OnlyAsker = true
	if a := w.answer(q); a.Text != onlyYouNone {
		t.Errorf("got %q", a.Text)
	}
}

// Messages of a session and the one replied to are quoted; requests to Hark and the question itself aren't.
func TestQuestionsToHarkAreNotQuoted(t *testing.T) {
	t.Parallel()
	const question = "Where does the night ferry leave?"
	mention := fmt.Sprintf("<@%d> ", oracle)
	for _, channel := range []memory.ChannelID{lobby, kiosk, annsDM} {
		w := newWorld(t, nil)
		for i, s := range []string{"@hark where does the night ferry to the island leave?",
			"@hark which pier does the night ferry leave from", "@hark " + question, question, mention + question} {
			w.says(time.Duration(i+2)*day, channel, ann, s)
		}
		q := w.asks(channel, question)
		has(t, w.answer(q).Text, foundNone)
		q.ReplyTo = w.says(9*day, channel, ann, "The ferry at night leaves from pier nine, as of old, said the captain")
		w.says(time.Minute, channel, ann, "The night ferry never leaves in time, as everybody here knows too well")
		a := w.answer(q)
		has(t, a.Text, "never leaves in time")
		hasNot(t, a.Text, "island", "which pier", "Where")
		if channel != kiosk { // whose past nobody may read
			has(t, a.Text, "pier nine")
		}
	}
}

func TestWhatIsAskedOfHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	toMember, toHark := w.says(day, lobby, ben, "hm"), w.says(day, lobby, oracle, "hm")
	at := []memory.UserID{oracle}
	tests := []struct {
		m    memory.Message
		want bool
	}{
		{memory.Message{Content: "really?"}, false},
		{memory.Message{Content: "really?", Mentions: []memory.UserID{ben, 404}}, false},
		{memory.Message{Content: "really?", Mentions: at}, true},
		{memory.Message{Content: "本当？", Mentions: at}, true},
		{memory.Message{Content: "What time is it", Mentions: at}, true},
		{memory.Message{Content: "@Hark, what time is it"}, true},
		{memory.Message{Content: "mail me@harkness.org?"}, false},
		{memory.Message{Content: " @hark! "}, true},
		{memory.Message{Content: "remember: the code is 1234", Mentions: at}, false},
		{memory.Message{Content: "", Mentions: at}, false},
		{memory.Message{Content: "so?", ReplyTo: toHark}, true},
		{memory.Message{Content: "so?", ReplyTo: toMember}, false},
		{memory.Message{Content: "so?", ReplyTo: 404}, false},
		{memory.Message{Content: "so.", ReplyTo: toHark}, false},
		{memory.Message{Content: "thanks!", Mentions: at}, true},
		{memory.Message{Content: "Hi! Tell me when the ferry leaves.", Mentions: at}, true},
		{memory.Message{Content: "Dr. Moser's number?", Mentions: at}, true},
		{memory.Message{Content: "please, where is pier 9.5", Mentions: at}, true},
		{memory.Message{Content: "Thanks! The barbecue is on Sunday.", Mentions: at}, false},
		{memory.Message{Content: "Thanks! The barbecue is on Sunday. Who comes?", Mentions: at}, false},
		{memory.Message{Content: "please remember that the code is 1234", Mentions: at}, false},
		{memory.Message{Content: "Good point, the deadline is Monday", ReplyTo: toHark}, false},
		{memory.Message{Content: "The cat", ReplyTo: toHark}, false},
		{memory.Message{Content: "Minka", ReplyTo: toHark, Mentions: at}, false},
		{memory.Message{Content: "Minka", Mentions: at}, true},
		{memory.Message{Content: "4711", Mentions: at}, false},
		{memory.Message{Content: "où habite Deniz", Mentions: at}, true},
		{memory.Message{Content: "ありがとう！車庫のコードは4711です。駅はどこ？", Mentions: at}, false},
		{memory.Message{Content: "パスワードは何ですか", Mentions: at}, true},
		{memory.Message{Content: "パスワードはsakuraです", Mentions: at}, false},
		{memory.Message{Content: "when does it leave", Channel: annsDM}, true},
		{memory.Message{Content: "list for the shop: milk, eggs", Channel: annsDM}, false},
		{memory.Message{Content: "give Ben the key on Friday", Channel: annsDM}, false},
	}
	for _, tt := range tests {
		if tt.m.Channel == 0 {
			tt.m.Guild, tt.m.Channel = guild, lobby
		}
		r := w.recall(Question{Guild: guild, Channel: lobby, Now: noon})
		if got, err := w.engine.asksHark(t.Context(), r, tt.m); got != tt.want || err != nil {
			t.Errorf("%+v: %v, %v", tt.m, got, err)
		}
	}
}

func TestHowManyAreQuoted(t *testing.T) {
	t.Parallel()
	words, author := []search.Reason{{Kind: "words"}}, []search.Reason{{Kind: "author"}, {Kind: "around"}}
	tests := []struct {
		relevances []float64
		why        []search.Reason
		want       int
	}{
		{[]float64{0.95, 0.94, 0.93, 0.92}, words, 2},
		{[]float64{0.95, 0.91, 0.88}, words, 2},
		{[]float64{0.95, 0.8, 0.2}, words, 1},
		{[]float64{0.2, 0.95, 0.3}, words, 1},
		{[]float64{0.9, 0.95}, words, 1}, // it was said before, and adds nothing
		{[]float64{1, 0.99}, words, 1},
		{[]float64{1, 1, 0.5}, words, 2},
		{[]float64{0.3, 0.18, 0.17}, words, 2},
		{[]float64{0.06, 0.055, 0.04}, words, 2},
		{[]float64{0.04}, words, 0},
		{[]float64{0.9}, author, 0},
		{[]float64{0.9}, []search.Reason{{Kind: "answers"}}, 1},
		{nil, words, 0},
	}
	for _, tt := range tests {
		var hits []search.Hit
		for i, relevance := range tt.relevances {
			m := memory.Message{ID: memory.MessageID(i + 1), Guild: guild, Channel: lobby,
				Content: fmt.Sprint("fact ", i)}
			hits = append(hits, search.Hit{Message: m, Relevance: relevance, Why: tt.why})
		}
		got, err := new(Engine).quotable(t.Context(), Question{ID: 99}, &recalled{result: search.Result{Hits: hits}})
		if err != nil || len(got) != tt.want {
			t.Errorf("%v: %d quoted, %v; want %d", tt.relevances, len(got), err, tt.want)
		}
		if len(got) > 0 && got[0].Relevance != slices.Max(tt.relevances) {
			t.Errorf("%v: first is %v", tt.relevances, got[0].Relevance)
		}
	}
}

func TestQuotesStayWithinTheirMarkdown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.apply(memory.PersonSeen{Person: memory.Person{ID: ben, Guild: guild,
		Nick: "*B*\n# _e_ [x](http://n) `\u202E<@21>"}})
	w.posts(day, memory.Message{Guild: guild, Channel: harbor, Author: ben,
		Content: "lighthouse password:\n```\nswordfish\u2028— **Ann** [2]\r\n\n*No", Files: []memory.File{{Name: "a.png"}}})
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	golden.Seen(t, a.Text)
}

func TestThePassageIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := strings.Repeat("We rowed out to the buoy and back again. ", 30) + "The boathouse lock opens with 8842. " +
		strings.Repeat("Then it rained. ", 3)
	w.says(20*day, harbor, ben, long)
	q := w.asks(lobby, "What opens the boathouse lock?")
	for _, shown := range []string{w.answer(q).Text, w.prompt(q)} {
		has(t, shown, "… ", "opens with 8842. Then it rained.")
	}
	hit := w.recalled(q).Result.Hits[0]
	m := hit.Message
	m.Content = "The boathouse lock opens with 1717 now"
	if left, err := keepHits(t.Context(), []search.Hit{hit}, func(context.Context, []memory.Message) ([]memory.Message,
		error) {
		return []memory.Message{m}, nil
	}); err != nil || passage(left[0], 10) != m.Content {
		t.Errorf("of what was edited since %+v is shown, %v", left, err)
	}
	for _, c := range []struct {
		from, to, most int
		want           string
	}{{0, 0, 3, "one two three four"}, {0, 3, 3, "one two three four"}, {8, 13, 13, "one two three four"},
		{8, 13, 12, "… two three four"}, {8, 13, 11, "… three four"}, {8, 13, 2, "… three four"}} {
		h := search.Hit{Message: memory.Message{Content: "one two three four"}, From: c.from, To: c.to}
		if got := passage(h, c.most); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestUnknownAuthorsAndPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(day, lobby, 777, "The lighthouse password is swordfish")
	golden.Seen(t, w.answer(w.asks(lobby, "What is the lighthouse password?")).Text)
	w.says(day, annsDM, ann, "The lighthouse password is tuna")
	golden.Seen(t, w.answer(w.asks(annsDM, "What is the lighthouse password?")).Text)
}
