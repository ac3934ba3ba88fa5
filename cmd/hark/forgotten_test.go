package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

func (w *world) onDisk(text string) bool {
	w.Helper()
	return holdsText(w, w.env["HARK_DATA"], text)
}

func holdsText(t testing.TB, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// keeps checks that Hark's files hold texts.
func (w *world) keeps(texts ...string) {
	w.Helper()
	for _, text := range texts {
		if !w.onDisk(text) {
			w.Fatalf("%q isn't on the disk", text)
		}
	}
}

// keepsNot checks that Hark's files hold none of texts.
func (w *world) keepsNot(texts ...string) {
	w.Helper()
	for _, text := range texts {
		if w.onDisk(text) {
			w.Errorf("%q is on the disk", text)
		}
	}
}

func (w *world) notice() discordtest.Sent {
	w.Helper()
	return w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool {
		return strings.Contains(m.Content, "May I remember")
	})
}

// click uses a button or a menu as the owner, and waits for text.
func (w *world) click(m discordtest.Message, text, id string, values ...string) discordtest.Sent {
	w.Helper()
	i := w.discord.Click(m, w.guild.Owner.ID, id, values...)
	return w.shown(i, text)
}

func (w *world) shown(i *discordtest.Interaction, text string) (m discordtest.Sent) {
	w.Helper()
	i.Wait()
	w.discord.WaitFor(text, func() bool {
		m = i.WaitMessage()
		return strings.Contains(m.Content, text)
	})
	return m
}

// use uses a command once Discord knows it.
func (w *world) use(who discordtest.ID, name, text string, options ...discordtest.Opt) discordtest.Sent {
	w.Helper()
	w.discord.WaitFor("the commands to be registered", func() bool { return len(w.discord.Commands(0)) > 0 })
	return w.shown(w.discord.Slash(w.general.ID, who, name, options...), text)
}

// settled waits until everything said is handled.
func (w *world) settled() {
	w.Helper()
	w.use(w.otto.ID, "context", "remember", discordtest.Opt{Name: "question", Value: "is all in?"})
}

func (w *world) restart() {
	w.Helper()
	w.stopWell()
	w.start()
}

// takenBack waits until an answer no longer has text.
func (w *world) takenBack(answer discordtest.Sent, text string) {
	w.Helper()
	w.discord.WaitFor("the answer to be taken back", func() bool {
		return !strings.Contains(w.now(answer.Message).Content, text)
	})
}

func TestNothingIsKeptUntilItIsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_MEMORY_START"] = "ask"
	w.start()
	notice := w.notice()
	w.later()
	before := w.discord.Say(w.general.ID, w.jane.ID, "canary-before is in the cage")
	w.ask(w.general, w.ana, "what is in the cage?")
	w.holds(w.prompt(), "canary-before") // of the session
	w.settled()
	w.keepsNot("canary-before")
	w.restart()
	w.restart()
	w.ask(w.general, w.ana, "and what is in the cage now?")
	w.lacks(w.prompt(), "canary-before")

	w.click(notice.Message, "I remember nothing", "nothing")
	w.discord.Say(w.general.ID, w.jane.ID, "canary-after is in the cage")
	w.settled()
	w.keepsNot("canary")
	w.click(w.use(w.guild.Owner.ID, "hark memory", "I remember nothing").Message, "everybody here can", "public")
	w.discord.Say(w.general.ID, w.jane.ID, "canary-agreed is in the cage")
	w.discord.Say(w.staff.ID, w.jane.ID, "canary-hidden is in the cage")
	w.settled()
	w.keeps("canary-agreed")
	w.keepsNot("canary-hidden", "canary-after")
	// Later changes don't bring in the old message.
	w.discord.Unfurl(w.general.ID, before.ID, `{"type":"link","url":"https://a.example","title":"canary-before"}`)
	w.discord.Edit(w.general.ID, before.ID, "canary-before is in the cage still")
	w.discord.EditBriefly(w.general.ID, before.ID, "canary-before is in the cage for good")
	w.settled()
	w.keepsNot("canary-before")
	asked := 0
	for _, m := range w.discord.Sent(w.general.ID) {
		if strings.Contains(m.Versions[0], "May I remember") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// The preview of a link is found as part of its message, and goes with it.
func TestLinksGoWithTheirMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	said := w.discord.Say(w.general.ID, w.ana.ID, "look at https://a.example")
	w.discord.Unfurl(w.general.ID, said.ID,
		`{"type":"link","url":"https://a.example","title":"canary-tides","description":"When the harbour falls dry"}`)
	w.settled()
	w.keeps("canary-tides")
	w.later()
	w.ask(w.general, w.jane, "when does the harbour fall dry?")
	w.holds(w.prompt(), "[link: canary-tides: When the harbour falls dry]")
	w.discord.Delete(w.general.ID, said.ID)
	w.settled()
	w.keepsNot("canary-tides", "falls dry")
}

func TestOptingOutForgetsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "jane-canary hides in the lighthouse")
	w.discord.Say(w.general.ID, w.ana.ID, "ana-canary hides in the barn")
	w.later()
	w.model.Queue(llmtest.Say("jane-canary is in the lighthouse [1]."))
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" who hides in the lighthouse?")
	answer := w.reply(w.general.ID, q.ID, "https://discord.com/channels/") // its last part
	w.settled()
	w.keeps("jane-canary")
	confirm := w.use(w.jane.ID, "memory optout", "")
	out := w.discord.Click(confirm.Message, w.jane.ID, "optout")
	w.discord.Say(w.general.ID, w.ana.ID, "ana-canary stays")
	w.shown(out, "**Forgotten: ")
	w.discord.Say(w.general.ID, w.jane.ID, "jane-canary is still here")
	w.takenBack(answer, "lighthouse")
	w.settled()
	w.keeps("ana-canary stays")
	w.keepsNot("jane-canary")
	w.use(w.jane.ID, "memory optin", "stays forgotten")
	w.ask(w.general, w.ana, "who hides in the lighthouse?")
	w.lacks(w.prompt(), "jane-canary")
	w.discord.Advance(time.Minute) // after the forgetting
	w.discord.Say(w.general.ID, w.jane.ID, "jane-returns to the lighthouse")
	w.settled()
	w.keeps("jane-returns")
	w.keepsNot("jane-canary")
}

func (w *world) forgetsThis(m discordtest.Message) discordtest.Sent {
	w.Helper()
	asked := w.shown(w.discord.MessageAction(m, m.Author.ID, "Forget this"), "")
	id := func(n discordtest.ID) string { return strconv.FormatInt(int64(n), 36) }
	return w.shown(w.discord.Click(asked.Message, m.Author.ID,
		strings.Join([]string{"forget-this", id(m.ChannelID), id(m.ID), id(m.Author.ID)}, ":")), "**Forgotten: ")
}

// The files hold nothing of a forgotten message or of what was made from it. Neither an edit nor catching up brings it
// back.
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
	w.keeps("jane-canary")
	done := w.forgetsThis(said)
	if n := strings.Count(done.Content, "\n- 1 "); n < 2 { // the message, and the answer
		t.Errorf("the receipt is %s", done.Content)
	}
	w.keeps("otto-canary")
	w.keepsNot("jane-canary")
	w.takenBack(answer, "lighthouse")
	w.discord.Edit(w.general.ID, said.ID, "the jane-canary hides in the lighthouse still")
	w.settled()
	w.stopWell()
	w.discord.EditBriefly(w.general.ID, said.ID, "the jane-canary was seen again")
	w.discord.Say(w.general.ID, w.otto.ID, "the otto-canary was away")
	w.hark(0, "backfill", "general")
	w.start() // which catches up, backfills and reconciles
	w.caughtUp(1)
	w.settled()
	w.keeps("otto-canary was away")
	w.keepsNot("jane-canary")
}

// condenseWords begin the prompt for condensing.
const condenseWords = "You condense"

// A message that answers, tools, a condensed session and lore used is deleted. None of its words is left in Hark's
// files, in Discord or in the next prompt.
func TestADeletedSourceLeavesNoWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_MEMORY_SUMMARIES"], w.env["HARK_LOG_LEVEL"], w.env["HARK_LIMITS_MEMBER_MESSAGES"] = "model",
		"debug", "0"
	w.env["HARK_LIMITS_GUILD_MESSAGES"] = "0"
	const word, stem = "xylophonecanary", "xylophon"
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		if strings.HasPrefix(r.Messages[0].Content, condenseWords) {
			return llmtest.Say("jane: the ", word, " costs 480 euros")
		}
		if strings.Contains(r.Last(), word) {
			return llmtest.Say("I say that the ", word, " costs 480 euros.")
		}
		return llmtest.Say("Noted.")
	})
	w.later()
	w.start()
	source := w.discord.Say(w.general.ID, w.jane.ID, "The "+word+" costs 480 euros.")
	w.settled()
	w.model.Queue(
		calls([2]string{"search_memory", `{"query":"` + word + `"}`},
			[2]string{"conversation_history", `{"text":"` + word + `"}`}),
		calls([2]string{"remember", `{"name":"budget plan","text":"The ` + word +
			` costs 480 euros.","aliases":["` + word + ` costs"]}`}),
		llmtest.Say("Noted: the ", word, " costs 480 euros [1]."))
	first := w.ask(w.general, w.ana, "how much is it? Remember it as the budget plan!")
	w.traced(first)
	shown, _ := w.hark(0, "trace", first.ID.String())
	w.holds(shown, "search_memory, ok")
	w.holds(shown, `remember{`)
	proposal := w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool { return buttonOf(m, "Remember") != "" })
	w.press(proposal.Message, w.ana, "Remember").Wait()
	w.discord.WaitFor("the lore to be told", func() bool {
		return slices.Contains(w.lore(), "budget plan")
	})
	for i := 0; !strings.Contains(w.log.String(), "condensed a "); i++ {
		if i == 60 {
			t.Fatal("the session wasn't condensed")
		}
		q := w.question(w.general, w.ana, "and the "+strings.Repeat("o", i+1)+"kra, who is going to water it?")
		w.traced(w.reply(w.general.ID, q.ID, ""))
	}
	q := w.question(w.general, w.otto, "what did we agree on?")
	second := w.reply(w.general.ID, q.ID, word)
	w.traced(second)
	prompt, _ := w.hark(0, "trace", second.ID.String(), "--prompt")
	w.holds(prompt, "\n  jane: the "+word)
	records := w.records()
	w.holds(records, `"conversation_history"`)
	w.lacks(records, word)
	w.keeps(word)

	w.discord.Delete(w.general.ID, source.ID)
	w.discord.WaitFor("the answers to be taken back", func() bool {
		for _, m := range w.discord.Sent(w.general.ID) {
			if !m.Deleted && strings.Contains(m.Content, word) {
				return false
			}
		}
		return true
	})
	w.restart() // closing erases what a reader had blocked
	w.keepsNot(stem)
	w.lacks(w.records(), "search_memory")
	if lore := w.lore(); len(lore) > 0 {
		t.Errorf("the lore is there: %q", lore)
	}
	w.hark(1, "trace", first.ID.String(), "--prompt")
	w.hark(1, "trace", second.ID.String(), "--prompt")
	q = w.question(w.general, w.otto, "and what is the budget plan?")
	w.reply(w.general.ID, q.ID, "Noted")
	w.lacks(w.prompt(), word)
	w.lacks(w.prompt(), "480 euros")
	w.stopWell()
	if w.onDisk(stem) || strings.Contains(w.log.String(), stem) {
		t.Error("its words are there again")
	}
}

func (w *world) lore() (names []string) {
	w.Helper()
	opened(w, w.env["HARK_DATA"], func(store *sqlite.Store) error {
		all, err := store.Lore(w.Context(), memory.GuildID(w.guild.ID))
		for _, l := range all {
			names = append(names, l.Name)
		}
		return err
	})
	return names
}

// records are the records of calls in Hark's store, as JSON.
func (w *world) records() (all string) {
	w.Helper()
	opened(w, w.env["HARK_DATA"], func(store *sqlite.Store) error {
		records, err := store.Records(w.Context(),
			memory.RecordQuery{Channels: []memory.ChannelID{memory.ChannelID(w.general.ID)}})
		b, bad := json.Marshal(records)
		all = string(b)
		return errors.Join(err, bad)
	})
	return all
}
