package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/internal/portrait"
	"hark/memory"
	"hark/memory/sqlite"
)

// forgetsThis has Hark forget a message, as its author does.
func (w *world) forgetsThis(m discordtest.Message) discordtest.Sent {
	w.Helper()
	asked := w.shown(w.discord.MessageAction(m, m.Author.ID, "Forget this"), "")
	id := func(n discordtest.ID) string { return strconv.FormatInt(int64(n), 36) }
	return w.shown(w.discord.Click(asked.Message, m.Author.ID, strings.Join([]string{"forget-this", id(m.ChannelID), id(m.ID), id(m.Author.ID)}, ":")), "**Forgotten** on <t:")
}

// Nothing is left in the files of a message that was forgotten by itself, or of what was made of it, and neither an edit nor
// what Hark fetches after it was away brings it back.
func TestAForgottenMessageIsGoneForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	said := w.discord.Say(w.general.ID, w.jane.ID, "the jane-canary hides in the lighthouse")
	w.discord.Say(w.general.ID, w.otto.ID, "the otto-canary stays")
	w.later()
	w.model.Queue(llmtest.Say("In the lighthouse, says jane-canary [1]."))
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" who hides in the lighthouse?")
	answer := w.reply(w.general.ID, q.ID, "https://discord.com/channels/")
	w.settled()
	if !w.onDisk("jane-canary") {
		t.Fatal("nothing was logged")
	}
	done := w.forgetsThis(said)
	if n := strings.Count(done.Content, "\n- 1 "); n < 2 { // the message, and the answer
		t.Errorf("the receipt is %s", done.Content)
	}
	if w.onDisk("jane-canary") || !w.onDisk("otto-canary") {
		t.Errorf("on disk of jane: %t, of otto: %t", w.onDisk("jane-canary"), w.onDisk("otto-canary"))
	}
	w.discord.WaitFor("the answer to be taken back", func() bool {
		for _, m := range w.discord.Sent(w.general.ID) {
			if m.ID == answer.ID {
				return !strings.Contains(m.Content, "lighthouse")
			}
		}
		return false
	})
	w.discord.Edit(w.general.ID, said.ID, "the jane-canary hides in the lighthouse still")
	w.settled()
	if code := w.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	w.discord.EditBriefly(w.general.ID, said.ID, "the jane-canary was seen again")
	w.discord.Say(w.general.ID, w.otto.ID, "the otto-canary was away")
	w.hark(0, "backfill", "general")
	w.start() // what was missed is fetched, and the past, and the newest are compared with Discord's
	w.caughtUp(1)
	w.settled()
	if !w.onDisk("otto-canary was away") {
		t.Error("what was missed isn't there")
	}
	if w.onDisk("jane-canary") {
		t.Error("it came back")
	}
}

// What a member is given is what the operator is.
func TestExportsAreAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[discord]\noperator = \"Ann of the harbour\"\n")
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, publicWords, discordtest.WithFile("map.png", "the way"))
	w.discord.Say(w.general.ID, w.ana.ID, "Ana's words are not Jane's.")
	w.use(w.jane.ID, "memory add", "Noted", discordtest.Opt{Name: "text", Value: "waters the orchids"})
	w.later()
	w.traced(w.ask(w.general, w.jane, when))
	m := w.use(w.jane.ID, "memory export", "")
	if len(m.Attachments) != 1 {
		t.Fatalf("%d files", len(m.Attachments))
	}
	file, _ := w.discord.File(m.Attachments[0])
	w.lacks(string(file), "Ana's words")
	text, _ := w.hark(0, "export", "--user", "jane")
	var own, operators portrait.Person
	if err := json.Unmarshal(file, &own); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &operators); err != nil {
		t.Fatal(err)
	}
	own.Exported = operators.Exported
	own.Servers[0].Tokens, operators.Servers[0].Tokens = nil, nil // what an answer took may be known a moment later
	if fmt.Sprintf("%+v", own) != fmt.Sprintf("%+v", operators) || len(own.Messages) != 2 || len(own.Questions) != 1 {
		t.Errorf("a member is given\n%+v, the operator\n%+v", own, operators)
	}
	told := w.use(w.jane.ID, "privacy", "")
	host := strings.TrimPrefix(w.model.URL(), "http://")
	host, _, _ = strings.Cut(host, "/")
	w.holds(told.Content, "`"+host+"`")
	w.holds(told.Content, "Ann of the harbour")
	w.lacks(told.Content, w.discord.Token)
}

// A receipt is there also if the process ended before the forgetting did.
func TestReceiptAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "the jane-canary hides in the lighthouse")
	w.settled()
	if code := w.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	store, err := sqlite.Open(t.Context(), w.env["HARK_DATA"], sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := memory.Opted{Guild: memory.GuildID(w.guild.ID), User: memory.UserID(w.jane.ID), Out: true, At: w.discord.Now()}
	if err := store.Apply(t.Context(), out); err != nil { // which begins a forgetting
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.waitLog(`"why":"opt-out","messages":(1),`)
	shown := w.use(w.jane.ID, "memory show", "")
	w.holds(shown.Content, "**Forgotten** on <t:")
	w.holds(shown.Content, "- 1 message")
	if w.onDisk("jane-canary") {
		t.Error("it is on disk still")
	}
}
