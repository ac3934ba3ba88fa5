package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// onDisk reports whether any file of Hark's holds text.
func (w *world) onDisk(text string) bool {
	w.Helper()
	found := false
	err := filepath.WalkDir(w.env["HARK_DATA"], func(path string, d fs.DirEntry, err error) error {
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
		w.Fatal(err)
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

// notice waits for the notice that asks the guild.
func (w *world) notice() discordtest.Sent {
	w.Helper()
	return w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool {
		return strings.Contains(m.Content, "May I remember")
	})
}

// click uses a button or a menu as the guild's owner, and waits until what it changes says text.
func (w *world) click(m discordtest.Message, text, id string, values ...string) discordtest.Sent {
	w.Helper()
	i := w.discord.Click(m, w.guild.Owner.ID, id, values...)
	return w.shown(i, text)
}

// shown waits until what an interaction shows contains text.
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

// settled returns once all that was said is either logged or passed over.
func (w *world) settled() {
	w.Helper()
	w.use(w.otto.ID, "context", "remember", discordtest.Opt{Name: "question", Value: "is all in?"})
}

func (w *world) restart() {
	w.Helper()
	w.stopWell()
	w.start()
}

// takenBack waits until an answer doesn't say text any more.
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
	// What happens to it now doesn't bring in what was said before.
	w.discord.Unfurl(w.general.ID, before.ID, `{"title": "a cage"}`)
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

func TestOptingOutForgetsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "jane-canary hides in the lighthouse")
	w.discord.Say(w.general.ID, w.ana.ID, "ana-canary hides in the barn")
	w.later()
	w.model.Queue(llmtest.Say("jane-canary is in the lighthouse [1]."))
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" who hides in the lighthouse?")
	answer := w.reply(w.general.ID, q.ID, "https://discord.com/channels/") // its end: the links to its sources
	w.settled()
	w.keeps("jane-canary")
	confirm := w.use(w.jane.ID, "memory optout", "")
	out := w.discord.Click(confirm.Message, w.jane.ID, "optout")
	w.discord.Say(w.general.ID, w.ana.ID, "ana-canary stays")
	w.shown(out, "**Forgotten** on <t:")
	w.discord.Say(w.general.ID, w.jane.ID, "jane-canary is still here")
	w.takenBack(answer, "lighthouse")
	w.settled()
	w.keeps("ana-canary stays")
	w.keepsNot("jane-canary")
	w.use(w.jane.ID, "memory optin", "stays forgotten")
	w.ask(w.general, w.ana, "who hides in the lighthouse?")
	w.lacks(w.prompt(), "jane-canary")
	w.discord.Advance(time.Minute) // past the moment of the forgetting
	w.discord.Say(w.general.ID, w.jane.ID, "jane-returns to the lighthouse")
	w.settled()
	w.keeps("jane-returns")
	w.keepsNot("jane-canary")
}
