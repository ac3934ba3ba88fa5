package answer

import (
	"testing"
	"time"

	"hark/memory"
)

// withRole adds a role to the guild's structure.
func (w *world) withRole(id memory.RoleID, name string) {
	w.t.Helper()
	g := w.structured(0).(memory.GuildSeen)
	g.Guild.Roles = append(g.Guild.Roles, memory.Role{ID: id, Name: name})
	w.apply(g)
}

func TestTagsHaveNamesForTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.withRole(960, "divers")
	w.engine.options.Zone = time.FixedZone("", 2*60*60)
	w.says(day, harbor, ben, "The lighthouse tour starts <t:1797102000:F>, see <#902>, with <@&960> and <:foghorn:970>")
	w.says(2*time.Minute, lobby, ben, "The lighthouse is beside <#903> since <t:1797102000:d>, <t:1797102000:T>")
	has(t, w.prompt(w.asks(lobby, "When is <@&960>, in <#901> at <t:1797102000>? It's <#903>.")),
		"When is ‹@&960› (@divers), in <#901> (#lobby) at <t:1797102000> (2026-12-12 21:00)? It's #unknown.")
	p := w.prompt(w.asks(lobby, "When does the tour of the lighthouse start?"))
	has(t, p,
		"starts <t:1797102000:F> (2026-12-12 21:00), see <#902> (#harbor), with ‹@&960› (@divers) and :foghorn:",
		"beside #unknown since <t:1797102000:d> (2026-12-12), <t:1797102000:T> (2026-12-12 21:00:00)")
	hasNot(t, p, "vault")
}

func TestEveryStyleOfATimeHasItsDate(t *testing.T) {
	t.Parallel()
	n := newNames()
	for style, want := range map[string]string{
		"": "2026-12-12 19:00", ":t": "2026-12-12 19:00", ":T": "2026-12-12 19:00:00", ":d": "2026-12-12",
		":D": "2026-12-12", ":f": "2026-12-12 19:00", ":F": "2026-12-12 19:00", ":R": "2026-12-12 19:00",
	} {
		tag := "<t:1797102000" + style + ">"
		if got := n.named("at " + tag + "."); got != "at "+tag+" ("+want+")." {
			t.Errorf("%s: %s", tag, got)
		}
	}
	for _, as := range []string{"<t:1797102000:x>", "<t:>", "<#>", "<#12345678901234567890123>", "<@&x>", "a < b"} {
		if got := n.named(as); got != as {
			t.Errorf("%s became %s", as, got)
		}
	}
}

func TestQuotesKeepTheirTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const said = "The lighthouse tour starts <t:1797102000:F> in <#902>"
	w.says(day, harbor, ben, said)
	has(t, w.answer(w.asks(lobby, "When does the lighthouse tour start?")).Text, said)
}

func TestAnAnswerThatNamesAChannelIsTakenBackIfThatIsClosed(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"In the harbor."}}
	w := newWorld(t, model)
	w.says(time.Minute, lobby, ben, "The tour begins in <#902>")
	model.before = func() { w.structure(memory.ViewChannel) }
	if got := w.answer(w.asks(lobby, "Where does the tour begin?")).Text; got == "In the harbor." {
		t.Error("the answer names a channel that was closed meanwhile")
	}
}

// A message that a search comes near is found by the names of its tags.
func TestTagsOfMessagesAreWordsForTheSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.withRole(960, "divers")
	w.says(3*day, harbor, cleo, "<@&960> come to the pier on <t:1797102000:D>")
	w.says(2*day, harbor, ben, "The pier is painted, come and look")
	w.says(day, harbor, ben, "Nobody may come to the pier on Sunday")
	has(t, w.answer(w.asks(lobby, "Where do the divers come?")).Text, "<@&960> come to the pier")
	has(t, w.answer(w.asks(lobby, "Where do the <@&960> come?")).Text, "<@&960> come to the pier")
}
