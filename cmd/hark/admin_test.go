package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/llmtest"
	"hark/memory"
)

// The time zone that a server set is that of what the model is told, of what it is quoted and of days in questions, and all
// that is known of the model is told in the status.
func TestAdminsLookAfterHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	owner := w.guild.Owner.ID
	w.discord.Say(w.general.ID, w.jane.ID, "The greenhouse opens at nine.")
	said := w.discord.Now()
	w.later()
	w.settled()
	w.use(owner, "hark set", "Asia/Tokyo", given("setting", "timezone"), given("value", "Asia/Tokyo"))
	w.holds(w.use(owner, "hark status", "").Content, "test-model")
	w.ask(w.general, w.ana, "when does the greenhouse open?")
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, m := range w.lastRequest().Messages {
		all += m.Content
	}
	w.holds(all, said.In(tokyo).Format("01-02 15:04"))
	m := w.discord.Slash(w.general.ID, owner, "hark status").WaitMessage()
	if n := strings.Count(m.Content, "✓ "); n != 7 { // all but the reranker, which there is none of
		t.Errorf("%d things are well:\n%s", n, m.Content)
	}
	if strings.Contains(m.Content, w.model.URL()) {
		t.Error("it tells where the model is")
	}
	i := w.discord.Slash(w.general.ID, owner, "hark context", given("question", "when does the greenhouse open?"))
	shown := i.WaitMessage()
	data, there := w.discord.File(shown.Attachments[0])
	if !there {
		t.Fatal("there is no file")
	}
	w.holds(string(data), "The greenhouse opens at nine.")
	w.holds(string(data), "when does the greenhouse open?")

	w.model.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Status: http.StatusUnauthorized, Body: `{"error":{"message":"no"}}`}
	})
	w.reply(w.general.ID, w.question(w.general, w.ana, "and who has the key?").ID, "") // told once the model has refused
	w.use(owner, "hark status", "✗ ")
}

// What nobody but the staff may read isn't in the prompt that somebody else is shown.
func TestContextHoldsOnlyWhatItsAskerMayRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.LetUse(w.guild.ID, w.guild.ID, "hark", true)
	w.discord.Say(w.staff.ID, w.jane.ID, "The greenhouse will be sold in May.")
	w.later()
	w.settled()
	for _, tt := range []struct {
		who  discordtest.User
		sees bool
	}{{w.jane, true}, {w.otto, false}} {
		m := w.discord.Slash(w.general.ID, tt.who.ID, "hark context", given("question", "when is the greenhouse sold?")).WaitMessage()
		data, there := w.discord.File(m.Attachments[0])
		if !there || strings.Contains(string(data), "sold in May") != tt.sees {
			t.Errorf("%s is shown %q", tt.who.Username, data)
		}
	}
}

func TestHealthOfAnEmbedderThatIsStoodInFor(t *testing.T) {
	t.Parallel()
	a := &app{embedder: embed.Builtin{}}
	if s := a.embedderHealth(); !s.BuiltIn || s.Failed != nil || s.Name == "" {
		t.Errorf("the built-in one: %+v", s)
	}
	a.standIn = errors.New("it can't be reached")
	if s := a.embedderHealth(); s.BuiltIn || s.Failed != a.standIn {
		t.Errorf("one that stands in: %+v", s)
	}
	a.embedder, a.standIn = embed.NewBreaker(embed.Builtin{}), nil
	if _, err := a.embedder.Embed(t.Context(), memory.ForSearch, []string{"hello"}); err != nil {
		t.Fatal(err)
	}
	if s := a.embedderHealth(); s.At.IsZero() || s.BuiltIn {
		t.Errorf("one that was asked: %+v", s)
	}
}
