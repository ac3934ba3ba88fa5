package answer

import (
	"fmt"
	"testing"
	"time"

	"hark/memory"
)

func TestFactsAreToldWhereTheirSourceMayBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.alter(nil, Options{})
	openly, secretly := w.says(90*day, harbor, ben, "I have a canoe"), w.says(90*day, vault, ben, "I owe the bank")
	a.facts[ben] = []memory.Fact{
		{ID: 1, By: ben, Text: "Collects barnacles"},
		{ID: 2, By: cleo, Text: "Never late"},
		{ID: 3, By: 404, Text: "Sings"},
		{ID: 4, By: ben, Text: "Captain", Alias: true},
		{ID: 5, By: ben, Text: "Has a canoe", Channel: harbor, Message: openly},
		{ID: 6, By: ben, Text: "Is in debt", Channel: vault, Message: secretly},
		{ID: 7, By: ben, Text: "Said nothing", Channel: harbor, Message: openly + 1},
	}
	q := w.asks(lobby, "Who is Ben?")
	has(t, w.prompt(q), "Data: also called Captain; Collects barnacles; Never late (said by Cleo); Sings (said by ‹@404›); Has a canoe\n")
	hasNot(t, w.prompt(q), "debt", "Said nothing")
	q.OnlyAsker, q.Asker, q.Roles = true, cleo, []memory.RoleID{keepers}
	has(t, w.prompt(q), "Has a canoe; Is in debt\n")
}

// What was told by a command is told where the channel may be read that it was told in, also once Hark has said it.
func TestFactsAreToldWhereTheyWereTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	writes := &scripted{pieces: []string{"It is swordfish [1]."}}
	a := w.alter(writes, Options{})
	a.facts[ben] = []memory.Fact{{ID: 1, By: ben, Text: "Collects barnacles", Channel: harbor},
		{ID: 2, By: ben, Text: "Is in debt", Channel: vault}}
	q := w.asks(lobby, "Who is Ben?")
	has(t, w.prompt(q), "Collects barnacles\n")
	hasNot(t, w.prompt(q), "debt")
	inVault := w.asks(vault, "Who is Ben?")
	has(t, w.prompt(inVault), "Collects barnacles; Is in debt\n")

	w.gives(q, -time.Minute)
	later := w.asks(lobby, "And who is Cleo?")
	later.ID, later.Now = memory.FirstMessageID(noon.Add(2*time.Minute)), noon.Add(2*time.Minute)
	has(t, w.prompt(later), "swordfish")
	writes.before = func() { w.structure(memory.ViewChannel) }
	hasNot(t, w.answer(q).Text, "swordfish") // which was made from what is closed now
	hasNot(t, w.prompt(q), "barnacles")
	hasNot(t, w.prompt(later), "swordfish")
}

// chatter is so much talk about the lighthouse that nothing else is recalled of it.
func (w *world) chatter() {
	w.t.Helper()
	for i := range 60 {
		w.says(time.Duration(i+2)*day, lobby, ben, fmt.Sprintf("The lighthouse is lit %d", i))
	}
}

func TestHistoryWithoutNamesTellsWhoseWordAFactIs(t *testing.T) {
	t.Parallel()
	p := memory.Person{ID: ben, Facts: []memory.Fact{{Text: "Sings", By: cleo}, {Text: "Dances"}}}
	if got := told(p, nil); got != "Sings (said by <@23>); Dances" {
		t.Error(got)
	}
}

func TestAliasesCallPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.alter(nil, Options{})
	inVault := w.says(90*day, vault, ben, "call me Barnacle")
	q := w.asks(lobby, "What does the Captain like?")
	hasNot(t, w.prompt(q), "(Ben)")
	a.facts[ben] = []memory.Fact{{ID: 4, By: ben, Text: "Captain", Alias: true},
		{ID: 5, By: ben, Text: "Barnacle", Alias: true, Channel: vault, Message: inVault}}
	has(t, w.prompt(q), "(Ben)")
	q.Text = "What does Barnacle like?"
	hasNot(t, w.prompt(q), "(Ben)")
	q.OnlyAsker, q.Asker, q.Roles = true, cleo, []memory.RoleID{keepers}
	has(t, w.prompt(q), "(Ben)")
}
