package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

// nobody is an address where nobody listens.
const nobody = "http://127.0.0.1:9/v1"

// opens puts an app together that embeds with a model at address, or with the built-in embedder if model is empty.
func opens(t *testing.T, dir, model, address string) *app {
	t.Helper()
	c := config.Default()
	c.Data, c.Embedding.Model, c.Embedding.BaseURL = dir, model, address
	a, err := open(t.Context(), c, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.close() })
	return a
}

// says logs a message of the terminal's channel.
func says(t *testing.T, a *app, text string) {
	t.Helper()
	c := memory.Channel{ID: terminalChannel, Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: terminalName}
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(len(text)) * time.Hour)
	m := memory.Message{ID: memory.FirstMessageID(at), Guild: memory.LocalGuild, Channel: terminalChannel,
		Author: 7, Content: text}
	if err := a.store.Apply(t.Context(), memory.ChannelSeen{Channel: c}, memory.Posted{Message: m}); err != nil {
		t.Fatal(err)
	}
}

// recalls checks that an app recalls want messages of what was said, and whether meaning had a part in it.
func recalls(t *testing.T, a *app, want int, byMeaning bool) {
	t.Helper()
	q := answer.Question{Guild: memory.LocalGuild, Text: "which ferry?",
		Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Operator: true, Everywhere: true}
	r, err := a.answers.Recall(t.Context(), q)
	if err != nil || len(r.Result.Hits) != want || r.Result.TextOnly == byMeaning {
		t.Errorf("recalled %d of %d, text only %v, %v", len(r.Result.Hits), want, r.Result.TextOnly, err)
	}
}

// lies checks where a store's vectors lie and how many are to be made.
func lies(t *testing.T, a *app, use, next memory.Space, waiting int) {
	t.Helper()
	if u, n := sqlite.StoredSpaces(t.Context(), a.config.Data); u != use || n != next {
		t.Errorf("the vectors lie in %v and %v, want %v and %v", u, n, use, next)
	}
	if n, err := a.store.Waiting(t.Context(), memory.Everywhere); err != nil || n != waiting {
		t.Errorf("%d wait, want %d; %v", n, waiting, err)
	}
}

func indexes(t *testing.T, a *app) {
	t.Helper()
	if err := a.index(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

var (
	none    = memory.Space{}
	builtin = embed.Builtin{}.Space()
)

// With an embedder newly configured, the built-in one's vectors answer until its own are made, and those outlast its
// absence: at every start without it nothing is thrown away, and what is new waits or is embedded by who made the rest.
func TestEmbeddersComeAndGo(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), llmtest.New(t)
	var a *app
	opens := func(model, address string) {
		if a != nil {
			a.close()
		}
		a = opens(t, dir, model, address)
	}
	opens("", "")
	says(t, a, "the ferry leaves at noon")
	indexes(t, a)
	lies(t, a, builtin, none, 0)
	recalls(t, a, 1, true)

	opens("model", nobody) // it was never reached
	golden.Seen(t, fmt.Sprint(a.standIn))
	says(t, a, "the ferry was late once again")
	indexes(t, a)
	lies(t, a, builtin, none, 0)
	recalls(t, a, 2, true)

	opens("model", server.URL())
	model := a.embedder.Space()
	lies(t, a, builtin, model, 2)
	recalls(t, a, 2, true)

	opens("model", nobody) // half-way
	if a.standIn != nil {
		t.Errorf("it says %v", a.standIn)
	}
	lies(t, a, builtin, model, 2)
	recalls(t, a, 2, true)

	opens("another", nobody) // which isn't known to be worth giving up the other for
	lies(t, a, builtin, model, 0)
	recalls(t, a, 2, true)

	opens("model", server.URL())
	indexes(t, a)
	lies(t, a, model, none, 0)
	recalls(t, a, 2, true)

	opens("model", nobody) // complete
	recalls(t, a, 2, false)
	says(t, a, "no ferry runs on Sundays, they say")
	lies(t, a, model, none, 1)

	opens("another", nobody)
	golden.Seen(t, fmt.Sprint(a.standIn))
	lies(t, a, model, none, 1)
	recalls(t, a, 3, false)
	if err := a.index(t.Context(), nil); err == nil || !strings.Contains(err.Error(), a.standIn.Error()) {
		t.Errorf("it embeds with nobody: %v", err)
	}

	opens("model", server.URL())
	lies(t, a, model, none, 1)
	indexes(t, a)
	recalls(t, a, 3, true)

	opens("", "") // back to the built-in one
	lies(t, a, model, builtin, 3)
	recalls(t, a, 3, false)
	indexes(t, a)
	lies(t, a, builtin, none, 0)
	recalls(t, a, 3, true)
}

// A store without vectors is the stand-in's at once.
func TestAnEmbedderThatWasNeverThere(t *testing.T) {
	t.Parallel()
	a := opens(t, t.TempDir(), "model", nobody)
	if a.standIn == nil {
		t.Error("it says nothing")
	}
	says(t, a, "the ferry leaves at noon")
	lies(t, a, builtin, none, 1)
	indexes(t, a)
	recalls(t, a, 1, true)
}

// A command that is about to search doesn't make its user wait for thousands of vectors.
func TestCommandsLeaveALongFillToOthers(t *testing.T) {
	t.Parallel()
	a := opens(t, t.TempDir(), "", "")
	var events []memory.Event
	for n := range doctor.FewSegments + 1 {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
		events = append(events, memory.Posted{Message: memory.Message{
			ID: memory.FirstMessageID(at), Guild: memory.LocalGuild, Channel: terminalChannel, Author: 7, Content: "the ferry leaves at noon"}})
	}
	if err := a.store.Apply(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	err := a.indexFew(t.Context())
	if err == nil || !strings.Contains(err.Error(), "2001 segments wait") ||
		!strings.Contains(err.Error(), "hark run") {
		t.Errorf("got %v", err)
	}
	lies(t, a, builtin, none, doctor.FewSegments+1)
	indexes(t, a)
	if err := a.indexFew(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestReindexWithoutTheEmbedder makes words while the embedder is away, and the vectors once it is back.
func TestReindexWithoutTheEmbedder(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data, "HARK_EMBEDDING_MODEL": "test-embedder",
		"HARK_EMBEDDING_BASE_URL": model.URL()}}
	c.run(0, "import", writeFile(t,
		`{"type":"message","channel":"a","id":"1","author":"Ana","time":"2024-05-31T12:00:00Z","text":"the zebra is here"}`))
	c.env["HARK_EMBEDDING_BASE_URL"] = nobody
	c.run(1, "reindex")
	c.sees()
	c.run(0, "search", "zebra")
	c.sees()
	c.env["HARK_EMBEDDING_BASE_URL"] = model.URL()
	asked := len(model.Requests())
	c.run(0, "reindex")
	c.sees()
	c.run(0, "reindex")
	c.sees()
	if n := len(model.Requests()) - asked; n != 2 {
		t.Errorf("the embedder was asked %d times", n)
	}
}
