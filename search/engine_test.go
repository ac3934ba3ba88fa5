package search_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
	"hark/search"
)

func TestSearchFinds(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	for _, c := range []struct {
		question string
		in       []memory.ChannelID
		best     string
		why      string
	}{
		{"Who mends roofs?", []memory.ChannelID{green}, "roof", "words"},
		{"where is the harvest fair?", []memory.ChannelID{green, pub}, "fair", "words"},
		{"what flavour is in the stout", []memory.ChannelID{green, pub, crypt}, "beer", "words"},
		{"what did pim say about the chapel roof", []memory.ChannelID{green, pub}, "roof in pub", "author"},
		{"where is the money?", []memory.ChannelID{green, pub, crypt}, "secret", "words"},
		{"inspecting candles", []memory.ChannelID{crypt}, "bot", "meaning"},
		{"what happened to the bunting", []memory.ChannelID{green}, "goat", "around"},
	} {
		r := k.search(t, ask(c.question, c.in...))
		if len(r.Hits) == 0 || r.Hits[0].Message.ID != ids[c.best] {
			t.Errorf("%q: %v, want %q first", c.question, r.Hits, c.best)
			continue
		}
		h := r.Hits[0]
		if !isFor(h, c.why) {
			t.Errorf("%q: found for %v, want %q among it", c.question, h.Why, c.why)
		}
		if r.TextOnly {
			t.Errorf("%q: text only, though there are vectors", c.question)
		}
	}
	r := k.search(t, ask("who mends roofs", green))
	if got := r.Hits[0].Why[slices.IndexFunc(r.Hits[0].Why, func(y search.Reason) bool {
		return y.Kind == "words"
	})].Detail; got != "mends roofs" {
		t.Errorf("the words found are %q", got)
	}
	excerpt := r.Hits[0].Excerpt
	if len(excerpt) != 3 || excerpt[0].ID != ids["ask roof"] || excerpt[1].ID != ids["roof"] ||
		excerpt[2].ID != ids["thanks"] {
		t.Errorf("the excerpt is %v", excerpt)
	}
	if r := k.search(t, ask("bunting", green)); len(r.Hits[0].Excerpt) != 2 {
		t.Errorf("an excerpt goes on over a silence of hours: %v", r.Hits[0].Excerpt)
	}
	if r := k.search(t, ask("roof")); len(r.Hits) != 0 {
		t.Errorf("an empty scope holds %v", r.Hits)
	}
}

func TestSearchRanksAnswerBeforeQuestion(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	r := k.search(t, ask("Who can mend the chapel's roof?", green))
	if slices.Contains(hitIDs(r), ids["ask roof"]) {
		t.Error("a hit only repeats the question")
	}
	if r.Hits[0].Message.ID != ids["roof"] || !isFor(r.Hits[0], "answers") {
		t.Errorf("the answer isn't first, or not as one: %v", r.Hits[0])
	}
}

func TestSearchLeavesRepetitionsOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says string
		kept bool
	}{
		{"when is the harvest fair?", false},
		{"When's the FAIR?!", false},
		{"harvest fair when", false}, // word by word
		{"the harvest fair is when we say", true},
		{"is the harvest fair in May?", true}, // asks more
		{"?", false},
		{"the harvest fair", true}, // asks nothing
	} {
		k := newTalk(t)
		asked := k.say(t, dawn, green, marta, c.says)
		k.say(t, dawn.Add(time.Second), green, oswin, "the harvest fair is on Sunday")
		question := "When is the harvest fair?"
		if c.says == "harvest fair when" {
			question = "Harvest  fair when"
		}
		r := k.search(t, ask(question, green))
		if slices.Contains(hitIDs(r), asked) != c.kept {
			t.Errorf("%q is found: %v, want %v", c.says, !c.kept, c.kept)
		}
		if len(r.Hits) == 0 {
			t.Errorf("%q: the answer is gone too", c.says)
		}
	}
	k := newTalk(t)
	k.say(t, dawn, green, marta, "收穫祭はいつですか？")
	if r := k.search(t, ask("收穫祭はいつですか？", green)); len(r.Hits) != 0 {
		t.Errorf("a repeated question without spaces is found: %v", r.Hits)
	}
	said := k.say(t, dawn, green, marta, "quince number 4711")
	q := ask("Quince number 4711", green)
	if q.IsSearch = true; !slices.Contains(hitIDs(k.search(t, q)), said) {
		t.Error("who looks for the very words of a message doesn't find it")
	}
}

func TestSearchRaisesTheDayAskedFor(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	var ids []memory.MessageID
	for day := range 10 {
		ids = append(ids, k.say(t, dawn.AddDate(0, 0, 3*day), green, marta,
			fmt.Sprintf("soup number %d was served", day)))
	}
	for question, want := range map[string]memory.MessageID{
		"which soup on 10 March 2024?": ids[2], "which soup on 2024-03-19?": ids[5],
		"which soup was served March 28th": ids[8],
	} {
		r := k.search(t, ask(question, green))
		if r.Hits[0].Message.ID != want || r.Hits[0].Why[0].Kind != "time" {
			t.Errorf("%q: first is %v", question, r.Hits[0])
		}
	}
}

// Empty messages are never found, and repetitions only with Query.Repeats, last.
func TestSearchRanksRepetitionsLast(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	first := k.say(t, dawn, green, marta, "the goat ate the bunting")
	again := k.say(t, dawn.Add(time.Hour), green, pim, "The goat ate the bunting.")
	k.say(t, dawn.Add(2*time.Hour), green, pim, " ")
	q := ask("what did the goat eat?", green)
	if got := hitIDs(k.search(t, q)); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	q.Repeats = true
	got := hitIDs(k.search(t, q))
	slices.Sort(got)
	if !slices.Equal(got, []memory.MessageID{first, again}) {
		t.Errorf("with repetitions, found %v", got)
	}
}

// A question without search terms gets the latest messages before it.
func TestSearchTurnsToTheLatest(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	q := ask("what is it?", green)
	if r := k.search(t, q); len(r.Hits) != 5 {
		t.Errorf("found %d of the channel's 5 messages", len(r.Hits))
	}
	q.Now = k.all[ids["goat"]].Time()
	if got := hitIDs(k.search(t, q)); len(got) != 3 || slices.Contains(got, ids["goat"]) {
		t.Errorf("found %v before the goat came", got)
	}
	q.Now = time.Time{}
	if r := k.search(t, q); len(r.Hits) != 5 {
		t.Errorf("without a time, found %d of the channel's 5 messages", len(r.Hits))
	}
}

func TestSearchLimitsAndOrders(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	for i := range 60 { // in fifteen segments, all of which are near enough
		k.say(t, dawn.Add(time.Duration(i/4)*4*time.Hour+time.Duration(i%4)*time.Minute),
			memory.ChannelID(1+i/4%3), marta, fmt.Sprintf("barrel %c%c stands here", 'a'+i%26, 'a'+i/26))
	}
	k.index(t)
	q := ask("barrel", green, pub, crypt)
	whole := k.search(t, q)
	if len(whole.Hits) != search.DefaultLimit {
		t.Errorf("%d hits by default", len(whole.Hits))
	}
	for range 5 {
		if again := k.search(t, q); !reflect.DeepEqual(whole, again) {
			t.Fatal("the same question is answered in another way")
		}
	}
	for _, limit := range []int{1, 5, 12, 50} {
		q.Limit = limit
		r := k.search(t, q)
		if len(r.Hits) != limit || !reflect.DeepEqual(r.Hits[:min(limit, 12)], whole.Hits[:min(limit, 12)]) {
			t.Errorf("%d hits of %d: they are others", len(r.Hits), limit)
		}
	}
}

// Rerank with other messages skipped returns what a search that skips them finds.
func TestAgainIsAsSearchedAnew(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	for _, question := range []string{"who mends roofs", "chapel roof goat", "harvest fair", "the", ""} {
		q := ask(question, green, pub, crypt)
		hits := k.search(t, q).Hits
		all := func(_ context.Context, hits []search.Hit) ([]search.Hit, error) { return hits, nil }
		for first := range hits {
			for _, then := range []int{first, len(hits)} {
				q.Skip = hitIDs(search.Result{Hits: hits[:first]})
				r := k.search(t, q)
				q.Skip = hitIDs(search.Result{Hits: hits[then:]})
				want := k.search(t, q)
				got, err := k.engine().Rerank(t.Context(), r, q.Skip, all)
				if err != nil || !reflect.DeepEqual(got.Only(), want.Only()) {
					t.Fatalf("%q: found %v again, %v, not %v", question, got.Hits, err, want.Hits)
				}
			}
		}
	}
}

// SearchOutside finds only messages of other channels, leaves out skipped ones, and sends no text to a server.
func TestBeside(t *testing.T) {
	t.Parallel()
	k, id := gossip(t)
	asked := 0
	engine := search.New(k.store, k.store, embeds(func(string) ([][]float32, error) { asked++; return nil, errDown }))
	q := ask("chapel roof", green)
	for _, skip := range []string{"", "secret"} {
		q.Skip = []memory.MessageID{id[skip]}
		r, err := engine.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := engine.SearchOutside(t.Context(), r, []memory.ChannelID{pub, crypt}, 10)
		got := hitIDs(search.Result{Hits: hits})
		if err != nil || !slices.Contains(got, id["roof in pub"]) || slices.Contains(got, id["secret"]) != (skip == "") ||
			slices.Contains(got, id["roof"]) {
			t.Errorf("without %q: %v, %v", skip, got, err)
		}
	}
	if asked != 2 {
		t.Errorf("the server was asked %d times by 2 searches", asked)
	}
}

func TestRelevanceFallsWithRank(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	for _, question := range []string{"who mends roofs", "chapel roof goat", "harvest fair", "zebra", "the", ""} {
		last := 1.0
		for _, h := range k.search(t, ask(question, green, pub, crypt)).Hits {
			if h.Relevance < 0 || h.Relevance > last || math.IsNaN(h.Relevance) {
				t.Errorf("%q: relevance %v after %v", question, h.Relevance, last)
			}
			last = h.Relevance
		}
	}
	if r := k.search(t, ask("which harvest fair moves to the lower meadow", green)); r.Hits[0].Relevance < 0.8 {
		t.Errorf("what answers has relevance %v", r.Hits[0].Relevance)
	}
	if r := k.search(t, ask("goats, fairs, submarines, opera, tariffs, volcanoes?", pub)); r.Hits[0].Relevance > 0.3 {
		t.Errorf("what hardly matches has relevance %v", r.Hits[0].Relevance)
	}
}

func TestParticipants(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	q := ask("what did Oswin say about the chapel roof?", green)
	q.Asker, q.Mentions = marta, []memory.UserID{bell, 4711}
	r := k.search(t, q)
	var got []string
	for _, p := range r.People {
		got = append(got, fmt.Sprintf("%s %v %d", p.Person.Username, p.Main, p.Presence.Messages))
	}
	want := []string{"bellbot true 0", "oz true 2", "marta true 2", "pim false 1"}
	if !slices.Equal(got, want) { // of the green only, and nobody unknown
		t.Errorf("participants %v, want %v", got, want)
	}
	for i := range 20 {
		id := memory.UserID(600 + i)
		k.apply(t, memory.PersonSeen{Person: memory.Person{ID: id, Guild: village,
			Username: fmt.Sprintf("guest%d", i), Nick: "Smith"}})
		k.say(t, dawn.Add(time.Duration(50+i)*time.Hour), green, id, fmt.Sprintf("roof talk of mine, part %d", i))
	}
	r = k.search(t, ask("what does Smith say of the roof", green))
	if len(r.People) != search.MaxPeople || r.People[0].Main {
		t.Errorf("%d participants, the first %+v: a name of many names nobody", len(r.People), r.People[0])
	}
}

// TestSearchStaysInScope checks the whole result for any scope and question.
func TestSearchStaysInScope(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	words := []string{"roof", "chapel", "goat", "stout", "money", "crypt", "pim", "Oswin", "yesterday",
		"4 March", "?", "the", "fair", "<@501>"}
	rapid.Check(t, func(rt *rapid.T) {
		q := ask(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(rt, "words"), " "))
		q.Scope.Channels = rapid.SliceOfDistinct(rapid.SampledFrom([]memory.ChannelID{green, pub, crypt, 99}),
			func(c memory.ChannelID) memory.ChannelID { return c }).Draw(rt, "channels")
		q.Now = dawn.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "now")) * time.Minute)
		if rapid.Bool().Draw(rt, "since") {
			q.Scope.Since = dawn.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "from")) * time.Minute)
		}
		if rapid.Bool().Draw(rt, "until") {
			q.Scope.Until = dawn.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "to")) * time.Minute)
		}
		if rapid.IntRange(0, 3).Draw(rt, "of some") == 0 {
			q.Scope.Authors = rapid.SliceOfNDistinct(rapid.SampledFrom([]memory.UserID{marta, oswin, pim}), 1,
				2, rapid.ID).Draw(rt, "authors")
		}
		q.Limit = rapid.IntRange(0, 5).Draw(rt, "limit")
		for id := range k.all {
			if rapid.IntRange(0, 4).Draw(rt, "skip") == 0 {
				q.Skip = append(q.Skip, id)
			}
		}
		q.Asker = pim
		inScope(rt, k, q, k.search(t, q))
	})
}

// inScope checks that all of a result lies in the query's scope.
func inScope(t rapid.TB, k *talk, q search.Query, r search.Result) {
	t.Helper()
	for _, m := range shown(r) {
		said := k.all[m.ID]
		if m.Content != said.Content || !m.Kind.Recalled() ||
			!slices.Contains(q.Scope.Channels, said.Channel) || slices.Contains(q.Skip, m.ID) ||
			!m.Time().Before(q.Now) || m.Time().Before(q.Scope.Since) || !q.Scope.Until.IsZero() &&
			!m.Time().Before(q.Scope.Until) {
			t.Errorf("%+v shows %q", q, m.Content)
		}
	}
	for _, h := range r.Hits {
		if len(q.Scope.Authors) > 0 && !slices.Contains(q.Scope.Authors, h.Message.Author) {
			t.Errorf("of %v, %q is another's", q.Scope.Authors, h.Message.Content)
		}
		if !slices.ContainsFunc(h.Excerpt, func(m memory.Message) bool { return m.ID == h.Message.ID }) {
			t.Errorf("an excerpt without its message")
		}
	}
	for _, p := range r.People {
		count := 0
		for _, m := range k.all {
			if m.Author == p.Person.ID && slices.Contains(q.Scope.Channels, m.Channel) {
				count++
			}
		}
		if p.Presence.Messages > count {
			t.Errorf("%d messages of %s are told of, %d are in scope", p.Presence.Messages, p.Person.Username, count)
		}
	}
}

func FuzzSearch(f *testing.F) {
	k, _ := gossip(f)
	for _, s := range []string{"", strings.Repeat("roof", 1000), "the of and", "🎉🎉", "\" OR NEAR( *",
		"'; DROP TABLE messages; --", "(.*)+$[", "ro\x00of",
		"roof \xff\xfe", "\u202eroof\u2066", "roo" +
			strings.Repeat("\u0301", 100_000), "*", "NOT roof", "chapel AND (", "col:roof", "屋根は誰が", "2024-03-04 31 February",
		"<@1> <:roof:12> <t:1:R>", strings.Repeat("chapel roof ", 3000), "?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := ask(s, green, pub)
		inScope(t, k, q, k.search(t, q))
	})
}
