package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

const (
	publicWords  = "The meeting is on Thursday at noon in the greenhouse."
	privateWords = "The meeting about Otto's dismissal is at midnight in the lighthouse."
	when         = "when and where is the meeting?"
)

func TestAnswerDrawsOnWhatAllHereCanRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	public := w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.discord.Say(w.staff.ID, w.jane.ID, privateWords)
	w.later()

	answer := w.ask(w.general, w.ana, when)
	w.holds(w.prompt(), "Thursday at noon")
	w.lacks(w.prompts(), "lighthouse")
	w.lacks(w.prompts(), "midnight")
	link := fmt.Sprintf("https://discord.com/channels/%d/%d/%d", w.guild.ID, w.general.ID, public.ID)
	w.reply(w.general.ID, answer.Reference.MessageID, link)

	w.ask(w.staff, w.ana, when)
	w.holds(w.prompt(), "midnight in the lighthouse")
	w.holds(w.prompt(), "Thursday at noon")
	w.stopWell()
	for _, secret := range []string{"Thursday", "lighthouse", "meeting", w.discord.Token} {
		w.lacks(w.log.String(), secret)
	}
}

// holdLog blocks writes to the memory until release.
func (w *world) holdLog() (release func()) {
	w.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.env["HARK_DATA"], sqlite.FileName)+
		"?_pragma=busy_timeout(60000)&_txlock=immediate")
	if err != nil {
		w.Fatal(err)
	}
	held, err := db.BeginTx(w.Context(), nil)
	if err != nil {
		w.Fatal(err)
	}
	return func() {
		if err := errors.Join(held.Rollback(), db.Close()); err != nil {
			w.Error(err)
		}
	}
}

func TestStoppingKeepsAllThatWasHeard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.start()
	w.ask(w.general, w.ana, "are you there?")
	w.model.Queue(llmtest.Reply{Hold: hold, Text: []string{"never said"}})
	w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" think hard")
	w.modelAsked(2) // rather than about the next question
	release := w.holdLog()
	for i := range 200 {
		w.discord.Say(w.staff.ID, w.jane.ID, fmt.Sprintf("line %d", i))
	}
	w.discord.WaitTakenIn()
	w.cancel()
	release()
	if code := w.ended(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	heard := w.logged(w.staff.ID)
	for _, m := range w.discord.Messages(w.staff.ID) {
		if heard[memory.MessageID(m.ID)] != m.Content {
			t.Errorf("%q is logged as %q", m.Content, heard[memory.MessageID(m.ID)])
		}
	}
	w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "restarted") })
	w.holds(w.log.String(), "stopped")
}

// canary is in every text of TestNoTextInLogs.
const canary = "canary-sings"

// TestNoTextInLogs sends texts everywhere, with failures, and logs at the lowest level.
func TestNoTextInLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_LOG_LEVEL"] = "debug"
	w.env["HARK_EMBEDDING_MODEL"], w.env["HARK_EMBEDDING_BASE_URL"] = "test-embedder", w.model.URL()
	w.env["HARK_MEMORY_DIRECT"] = "true"
	secret := canary + " of " + w.discord.Token
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("Noted", " "+canary+" [1].") })
	w.discord.Say(w.general.ID, w.jane.ID, canary+" long ago")
	w.later()
	w.start()

	// Messages, edits, deletions, and the names of files and members.
	said := w.discord.Say(w.general.ID, w.jane.ID, canary+" in the greenhouse",
		discordtest.WithFile(canary+".png", canary))
	w.discord.Say(w.general.ID, w.jane.ID, canary+" by a webhook", discordtest.ViaWebhook(canary))
	w.discord.Say(w.general.ID, w.jane.ID, "", discordtest.WithEmbed(`{"type":"rich","title":"`+canary+`"}`))
	w.discord.Say(w.general.ID, w.jane.ID, canary, discordtest.AsNotice(7))
	w.discord.Edit(w.general.ID, said.ID, canary+" in the barn")
	w.discord.EditBriefly(w.general.ID, said.ID, canary+" in the well")
	w.discord.Delete(w.general.ID, w.discord.Say(w.general.ID, w.jane.ID, canary+" no more").ID)
	w.discord.UpdateMember(w.guild.ID, w.otto.ID, func(m *discordtest.Member) { nick := canary; m.Nick = &nick })
	w.use(w.jane.ID, "memory add", "Saved", discordtest.Opt{Name: "text", Value: canary + " at noon"})
	w.use(w.jane.ID, "memory alias", "Saved", discordtest.Opt{Name: "name", Value: canary})
	w.shown(w.discord.MessageAction(said, w.ana.ID, "Remember ⭐"), "⭐ Marked")

	// Questions of all kinds.
	w.later()
	answer := w.ask(w.general, w.ana, "where is the "+secret+"?")
	direct := w.discord.DM(w.ana.ID, secret+"?")
	w.discord.WaitSent(direct.ChannelID, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "Noted") })
	w.use(w.otto.ID, "context", "remember", discordtest.Opt{Name: "question", Value: secret})

	// A model and an embedder that fail and quote the request, and a failing Discord.
	w.model.Queue(llmtest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":"too long: ` +
		canary + `"}}`})
	w.failing("and " + canary + " now?")
	w.model.Queue(llmtest.Reply{Text: []string{canary}, Cut: llmtest.NoFinish})
	w.failing("and " + canary + " then?")
	w.model.QueueEmbeddings(llmtest.Overloaded, llmtest.NullNumber, llmtest.Limited, llmtest.HTMLPage)
	w.discord.Say(w.staff.ID, w.jane.ID, canary+" in the lighthouse")
	w.waitLog(`"wait":\d`)
	w.discord.Advance(time.Hour)
	for _, fault := range []discordtest.Fault{discordtest.ServerError(), discordtest.Forbidden(),
		discordtest.Malformed(), discordtest.DoneButBadGateway()} {
		hits := w.discord.Inject("POST /channels/*/messages", 1, fault)
		w.discord.Say(w.staff.ID, w.ana.ID, w.discord.Bot.Mention()+" "+canary+"?")
		hits.WaitHits(1)
	}
	w.settled()

	// Catching up, forgetting, withdrawn answers.
	sessions := w.discord.Identifies()
	w.discord.RefuseResumes(1)
	w.discord.Drop()
	w.discord.Say(w.general.ID, w.otto.ID, canary+" while nobody listened")
	w.waitSession(sessions + 1)
	w.hark(0, "backfill", "general")
	w.settled()
	w.hark(0, "backup", filepath.Join(t.TempDir(), "all.hark"))
	_, told := w.hark(0, "forget", "--user", "jane", "--opt-out", "--yes")
	w.lacks(told, canary)
	w.takenBack(answer, canary)
	w.caughtUp(1)
	w.stopWell()
	if n := strings.Count(w.log.String(), `"level":"warn"`); n < 4 { // the model's failures, the embedder's, Discord's
		t.Errorf("%d failures are logged", n)
	}
	w.lacks(w.log.String(), canary)
	w.lacks(w.log.String(), w.discord.Token)
}

func (w *world) failing(text string) {
	w.Helper()
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" "+text)
	w.reply(w.general.ID, q.ID, "")
}
