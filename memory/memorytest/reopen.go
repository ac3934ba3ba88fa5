package memorytest

import (
	"testing"

	"hark/memory"
)

// checkReopened says something of each kind, and looks for it after closing and opening.
func checkReopened(t *testing.T, open func(t testing.TB, dir string) memory.Store) {
	dir := t.TempDir()
	first := &trial{fataler: t, ctx: t.Context(), store: open(t, dir)}
	first.apply(memory.GuildSeen{Guild: town()}, memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}})
	first.topics()
	trace := first.answered()
	deleted, early := said(general, id(90_000), ada, "gone"), said(general, id(90_001), ada, "first")
	first.apply(memory.Named{Channel: general, ID: id(0), Name: "D1:1"},
		memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{deleted.ID}},
		memory.Edited{Guild: guild, Channel: general, ID: early.ID, Content: "second", At: began})
	pending := first.pending()
	near := first.nearest(in(general, staff), topics[3], 3)
	log := first.around(general, []memory.MessageID{id(0)}, 100, 100)
	if len(pending) == 0 || len(near) == 0 {
		t.Fatalf("%d segments pending, %d near", len(pending), len(near))
	}
	if err := first.store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}

	again := start(t, open(t, dir))
	again.same("the log", again.around(general, []memory.MessageID{id(0)}, 100, 100), log)
	again.same("the guild", normal(again.guild(guild)), normal(town()))
	again.same("the people", again.people(guild), []memory.Person{{ID: ada, Guild: guild, Username: "ada"}})
	again.same("a name", again.named(general, "D1:1"), id(0))
	again.same("found", again.find(in(staff), "printer cinnamon"), []memory.MessageID{id(3 * 3600)})
	again.same("pending", again.pending(), pending)
	again.same("near", again.nearest(in(general, staff), topics[3], 3), near)
	kept, _ := again.trace(general, trace.Answer)
	again.same("the trace", kept, trace)
	again.post(deleted, early)
	again.same("a delete and an edit that came early", again.messages(general, deleted.ID, early.ID), []memory.Message{edited(early, 0, "second")})
}
