package main

import (
	"strconv"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
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
	w.start() // what was missed is fetched, and the past, and the newest are compared with Discord's
	w.caughtUp(1)
	w.settled()
	w.keeps("otto-canary was away")
	w.keepsNot("jane-canary")
}
