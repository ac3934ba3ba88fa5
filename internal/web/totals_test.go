package web

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/sqlite"
)

var anyTag = regexp.MustCompile(`<[^>]*>`)

// words is what a part of a page says, with a space for each tag.
func (w *world) words(page, from, to string) string {
	w.Helper()
	_, rest, is := strings.Cut(page, from)
	part, _, ends := strings.Cut(rest, to)
	if !is || !ends {
		w.Fatalf("nothing between %q and %q:\n%s", from, to, page)
	}
	return strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(part, " "))), " ")
}

// All that the overview counts adds up: to what doctor counts, too.
func TestTotalsAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk() // 20 messages of members, and one of Hark's
	const direct memory.ChannelID = 9_000_401
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: direct, Kind: memory.DirectChannel}},
		memory.ChannelSeen{Channel: memory.Channel{ID: 9_000_402, Guild: garden, Kind: memory.CategoryChannel, Name: "Beds"}})
	for i := range 3 {
		w.ids++
		w.apply(memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(w.last) + w.ids, Channel: direct, Author: zoe,
			Content: fmt.Sprint("just for you ", i)}})
	}
	w.ids++
	w.apply(memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(w.last) + w.ids, Guild: garden, Channel: general,
		Author: tom, Kind: memory.FromSystem, Content: "Tom pinned a message"}},
		memory.LoreTold{Lore: memory.Lore{ID: 9_000_403, Channel: direct, Name: "Shed", Text: "It has a key", By: zoe, At: w.last}})
	seen, err := sqlite.Inspect(t.Context(), w.app.Config.Data)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Messages != 25 || seen.Channels != 4 {
		t.Errorf("doctor counts %d messages in %d channels", seen.Messages, seen.Channels)
	}
	in := w.client()
	page := w.get(in, http.StatusOK, "/")
	for _, c := range []struct{ from, to, want string }{
		{"<h2>What is kept</h2>", "<dl", "25 messages: 23 of members and bots, and 2 of Hark or Discord, or being forgotten."},
		{"<tbody>", "</tfoot>", "Garden 20 3 3 1 direct messages 3 1 1 together 23 4 2"},
		{"<figcaption>Messages", "</figcaption>", "a day, of all kinds: 25"},
		{"<dt>lore</dt>", "</dl>", "2"},
	} {
		if got := w.words(page, c.from, c.to); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
	server := w.get(in, http.StatusOK, "/memory/%d", garden)
	if got := w.words(server, "<figcaption>", "</figcaption>"); got != "Messages a day, of all kinds: 22" {
		t.Error(got)
	}
	if strings.Contains(page, "just for you") || strings.Contains(page, `"/memory/0`) {
		t.Error("direct messages are shown")
	}
}

// An answer's page says what a quoting answer quotes, and why too little was found.
func TestAnswersSayWhatTheyQuote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	source := w.say(general, ana, time.Minute, "The deadline is Friday")
	lore := memory.Lore{ID: 9_000_501, Guild: garden, Name: "Shed", Text: "It has a key", By: zoe, Channel: general, At: w.last}
	w.apply(memory.LoreTold{Lore: lore})
	shown := memory.TraceHit{Channel: general, Message: source, Relevance: 0.9, Why: []string{"words"}}
	cited := shown
	cited.Number, cited.Cited = 1, true
	in := w.client()
	for _, c := range []struct {
		trace     memory.Trace
		want, row string
	}{
		{memory.Trace{Recalled: []memory.TraceHit{cited}}, "No model wrote it: Hark quoted 1 message. It took 0 ms.", "quoted"},
		{memory.Trace{Recalled: []memory.TraceHit{cited}, Sources: []memory.Source{lore.AsSource(true)}},
			"No model wrote it: Hark quoted 1 message and 1 piece of lore. It took 0 ms.", "quoted"},
		{memory.Trace{Recalled: []memory.TraceHit{shown}}, "No model wrote it, and Hark quoted nothing. It took 0 ms.",
			"nothing quoted"},
		{memory.Trace{Declined: memory.DeclinedSmallTalk}, "No model wrote it, and Hark quoted nothing. It took 0 ms. " +
			"The question asks for nothing that could have been said. Nothing of the history is used.", "nothing quoted small talk"},
		{memory.Trace{Declined: memory.DeclinedLittle, Model: "toy", Mode: "search"}, "Written by toy in the mode search. It took " +
			"0 ms. Too little of the question was found. A model sees only the best of it, and without a model nothing is quoted.",
			"toy little found"},
	} {
		asked := w.say(general, zoe, time.Minute, "when?")
		w.ids++
		m := memory.Message{ID: asked + 1<<22 + w.ids, Guild: garden, Channel: general, Author: harkUser, Kind: memory.FromHark,
			Content: "**Friday** [1]", ReplyTo: asked}
		c.trace.Guild, c.trace.Channel, c.trace.Question, c.trace.Answer, c.trace.Asker = garden, general, asked, m.ID, zoe
		c.trace.Sources = append(c.trace.Sources, memory.Message{Channel: general, ID: asked}.AsSource(true))
		w.apply(memory.Posted{Message: m}, memory.Answered{Trace: c.trace})
		page := w.get(in, http.StatusOK, "/answers/%d/%d", general, m.ID)
		if got := w.words(page, "<h2>How it came about</h2>", "<svg"); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
		if !strings.Contains(page, `<div class="text" dir="auto"><strong>Friday</strong> [1]</div>`) {
			t.Error("the answer isn't drawn as in Discord", page)
		}
		list := w.get(in, http.StatusOK, "/answers")
		if got := w.words(list, "<tbody>", "</tr>"); !strings.Contains(got, "#general Garden "+c.row+" ") {
			t.Errorf("%q has no %q", got, c.row)
		}
	}
}
