package main

import (
	"strings"
	"testing"
)

// What a member tells by /lore is found by any of its names in an answer, told only where it may be, told as it was
// changed, and no more once it is taken back.
func TestLoreOfMembersIsToldUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.later()
	told := w.use(w.jane.ID, "lore add", "Noted.", given("name", "Migration plan"), given("text", "Move the roses in xylo-April."), given("aliases", "rose move, RM"))
	w.holds(told.Content, "Found by: plan migration")
	w.private()
	for _, question := range []string{"what of my migration plan?", "what about the plan migration?", "when is the rose move?"} {
		w.ask(w.general, w.otto, question)
		w.holds(w.prompt(), "Migration plan: Move the roses in xylo-April.")
	}
	w.ask(w.general, w.otto, "is it going to rain?")
	w.lacks(w.lastRequest().Messages[1].Content[strings.LastIndex(w.lastRequest().Messages[1].Content, "=== CURRENT QUERY"):], "xylo-April")

	// Of what was told among the staff otto learns nothing, neither by a list nor while he types nor in an answer.
	secret := w.discord.Slash(w.staff.ID, w.jane.ID, "lore add", given("name", "Party plan"), given("text", "The canary sings at ten."))
	w.shown(secret, "Noted.")
	w.holds(w.shown(w.discord.Slash(w.staff.ID, w.ana.ID, "lore list"), "Party plan").Content, "canary")
	list := w.use(w.otto.ID, "lore list", "Migration plan")
	w.lacks(list.Content, "Party")
	if offered := w.discord.Complete(w.general.ID, w.otto.ID, "lore show", given("name", "")).Wait().Choices(); len(offered) != 1 || offered["Migration plan"] == "" {
		t.Errorf("otto is offered %v", offered)
	}
	w.lacks(w.use(w.otto.ID, "lore show", "", given("name", "party plan")).Content, "canary")
	w.ask(w.general, w.ana, "what is the party plan?")
	w.lacks(w.prompt(), "canary")
	w.ask(w.staff, w.ana, "what is the party plan?")
	w.holds(w.prompt(), "Party plan: The canary sings at ten.")

	w.use(w.otto.ID, "lore edit", "", given("name", "RM"), given("text", "mine"))
	w.use(w.jane.ID, "lore edit", "Changed.", given("name", "RM"), given("text", "Move the roses in zebra-May."))
	w.ask(w.general, w.otto, "what does the migration plan say now?")
	w.holds(w.prompt(), "Migration plan: Move the roses in zebra-May.")
	w.lacks(w.lastRequest().Messages[1].Content, "Migration plan: Move the roses in xylo-April.")

	asked := w.use(w.jane.ID, "lore remove", "Forget this?", given("name", "rose move"))
	id := w.discord.Complete(w.general.ID, w.jane.ID, "lore show", given("name", "mig")).Wait().Choices()["Migration plan"]
	w.shown(w.discord.Click(asked.Message, w.jane.ID, "lore-off:"+id), "Forgotten.")
	w.later()
	w.ask(w.general, w.otto, "what does the migration plan say?")
	w.lacks(w.prompt(), "zebra-May")
	w.lacks(w.use(w.otto.ID, "lore list", "").Content, "plan")
	if code := w.stop(); code != 0 {
		t.Errorf("stopped with %d", code)
	}
	if w.onDisk("zebra-May") || w.onDisk("xylo-April") {
		t.Error("what was taken back is still on the disk")
	}
}
