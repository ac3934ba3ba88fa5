package answer

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/builder"
	"hark/internal/embed"
	"hark/internal/guildtest"
	"hark/memory"
)

// tellLore adds lore to each channel, some from what was said in another.
func (c *castle) tellLore() {
	for i, ch := range c.Guild.Channels {
		from := rapid.SampledFrom(c.Guild.Channels).Draw(c.t, "from").ID
		here, there := c.anywhere(ch.ID), c.anywhere(from)
		known := func(a audience) bool { return here(a) && there(a) }
		c.serial++
		c.tell(memory.LoreTold{Lore: memory.Lore{
			ID: c.base + int64(c.serial), Guild: c.Guild.ID, Name: fmt.Sprintf("Lantern %d", i), Text: "is " +
				c.word("lore", ch.ID, known),
			By: c.speakers()[0], Channel: ch.ID, At: noon.Add(-day), Sources: []memory.Spot{{Channel: from,
				Message: c.old[from][0].id}},
		}})
	}
}

// toolCalls are drawn calls of all tools that look something up, for what is closed too.
func (c *castle) toolCalls() []string {
	closed := rapid.SampledFrom(c.Guild.Channels).Draw(c.t, "channel")
	who := rapid.SampledFrom([]string{"Speaker0", "Speaker1", "<@" + c.speakers()[0].String() + ">",
		c.People[0].DisplayName()}).Draw(c.t, "who")
	query := rapid.SampledFrom([]string{"password of the lighthouse", "lighthouse", "today's password",
		closed.Name}).Draw(c.t, "query")
	return []string{
		"search_memory", fmt.Sprintf(`{"query":%q,"limit":25}`, query),
		"search_memory", fmt.Sprintf(`{"query":%q,"channel":%q}`, query,
			rapid.SampledFrom([]string{closed.Name, "<#" + closed.ID.String() + ">"}).Draw(c.t, "name")),
		"search_memory", fmt.Sprintf(`{"query":%q,"author":%q}`, query, who),
		"get_participant", fmt.Sprintf(`{"name":%q}`, who),
		"recall_lore", rapid.SampledFrom([]string{`{}`, `{"name":"Lantern 0"}`, `{"name":"lantern"}`,
			`{"name":"Lantern 1"}`}).Draw(c.t, "lore"),
	}
}

// checkTools has tools called in an answer and looks at all that came of it.
func (c *castle) checkTools(e *Engine, m *caller, a audience, viewer *guildtest.Member, shown map[string]int) {
	c.t.Helper()
	pairs := c.toolCalls()
	m.got, m.steps = nil, []step{uses(pairs...)}
	answered, err := e.Answer(c.t.Context(), c.question(a.at, viewer), nil)
	if err != nil || answered.Text != "Done." {
		c.t.Fatalf("answered %q, %v", answered.Text, err)
	}
	outcomes := strings.Join(m.outcomes(), "\n")
	for _, word := range marked.FindAllString(outcomes, -1) {
		known, there := c.words[word]
		if !there {
			c.t.Fatalf("%q is nothing that was said, or a part of it", word)
		}
		if !known(a) {
			c.t.Fatalf("%q in channel %d, where may be known %v\n%q\n%s", word, a.at, a.may, pairs, outcomes)
		}
		shown[kindOf.FindStringSubmatch(word)[1]]++
	}
	// Whatever was told has its source among those of the answer.
	sources := map[memory.MessageID]bool{}
	for _, h := range answered.Trace.Recalled {
		if h.Context {
			sources[h.Message] = true
		}
	}
	for _, said := range c.said {
		if word := marked.FindString(said.Content); word != "" && strings.Contains(outcomes, word) &&
			!sources[said.ID] {
			c.t.Fatalf("%q isn't among the sources %v", word, sources)
		}
	}
}

// What tools tell in random guilds may be known by everybody who reads the answer.
func TestToolsTellNothingThatIsClosed(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, nil), &caller{}
	e := w.over(w.store, m, builder.Options{Citations: true, MaxTokens: 500}, Options{
		Policy: memory.Policy{AgeLimited: true, Direct: true}, ToolRounds: 2, ToolTokens: 20_000,
	})
	index := memory.Indexer{Queue: w.store, Embedder: embed.Builtin{}}
	shown, checks := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		c := newCastle(t, bases.Add(1)*1000)
		if err := w.store.Apply(t.Context(), c.events...); err != nil {
			t.Fatal(err)
		}
		if err := index.Drain(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		members := c.Everybody()
		for range 4 {
			at := rapid.SampledFrom(c.Guild.Channels).Draw(t, "at")
			viewer := rapid.SampledFrom([]*guildtest.Member{nil, nil, c.DrawViewer(t)}).Draw(t, "viewer")
			c.checkTools(e, m, c.audience(members, at, viewer), viewer, shown)
			checks++
		}
	})
	t.Logf("%d answers; shown by tools: %v", checks, shown)
	for _, kind := range []string{"past", "fact", "lore"} {
		if shown[kind] == 0 && long { // when few are drawn, none may have it
			t.Errorf("tools never showed words of the kind %q", kind)
		}
	}
}
