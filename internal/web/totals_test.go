package web

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

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
