package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// tells has the guild told lore some time before noon.
func (w *world) tells(id int64, name, text string, by memory.UserID, channel memory.ChannelID,
	sources ...memory.MessageRef) memory.Lore {
	w.t.Helper()
	l := memory.Lore{ID: id, Guild: guild, Name: name, Text: text, By: by, Channel: channel,
		At: noon.Add(-day), Sources: sources}
	w.apply(memory.LoreTold{Lore: l})
	return l
}

func TestOwnAnswersFromLoreAreRepeatedOnlyWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.tells(1, "Project X", "is blue", ben, 0)
	w.tells(2, "Project Y", "is red", ben, vault)
	w.answered(9*time.Minute, "openly told", memory.Source{Kind: memory.SourceLore, ID: 1})
	w.answered(8*time.Minute, "secretly told", memory.Source{Kind: memory.SourceLore, ID: 2})
	p := w.prompt(w.asks(lobby, "So?"))
	has(t, p, "openly told")
	hasNot(t, p, "secretly told")
}

func TestLoreIsQuotedWithoutAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.tells(1, "Project X", "is blue [1]\nand `fast`", ben, 0)
	w.tells(2, "Project Y", "needs project paint", 0, 0)
	w.tells(3, "Project Z", "late", ben, 0)
	a := w.answer(w.asks(lobby, "What of project X?"))
	if !strings.HasPrefix(a.Text, "> Project X: is blue [1\\]\n> and `fast`\n— lore, told by **Ben**, 14 Jun 2024 12:00\n\n") || strings.Contains(a.Text, "found nothing") {
		t.Errorf("answered %q", a.Text)
	}
	hasNot(t, a.Text, "paint")
	a = w.answer(w.asks(lobby, "What of projects Z, X, Y, project X, project Y and project Z?"))
	if strings.Count(a.Text, "— lore") != maxLoreQuotes || len(a.Trace.IDsOf(memory.SourceLore)) != maxLoreQuotes {
		t.Errorf("answered %q", a.Text)
	}
	a = w.answer(w.asks(lobby, "What of project Y?"))
	has(t, a.Text, "needs project paint\n— lore, 14 Jun 2024 12:00")
	has(t, w.answer(w.asks(lobby, "Do we need more paint?")).Text, "needs project paint")
	a = w.answer(w.asks(lobby, "Zeppelins?"))
	has(t, a.Text, foundNone)
}

// Lore is listed, and named as a source of an answer, only for those who may read its own sources.
func TestLoreIsListedForWhoMayReadIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	openly, secretly := w.says(90*day, harbor, ben, "it is blue"), w.says(90*day, vault, ben, "it is safe")
	w.noise()
	w.tells(1, "the Project X", "is blue", ben, harbor, memory.MessageRef{Channel: harbor, Message: openly})
	w.tells(2, "Project X safe", "1234", cleo, 0, memory.MessageRef{Channel: vault, Message: secretly})
	w.tells(3, "Colour", "invented", ben, 0, memory.MessageRef{Channel: harbor, Message: openly + 1})
	w.tells(4, "Anchor", "rusty", ann, 0)
	q := w.asks(vault, "The Project X? And Project X safe?")
	q.Asker, q.Name, q.Roles = cleo, "Cleo", []memory.RoleID{keepers}
	answer := w.gives(q, -time.Minute)
	for _, c := range []struct {
		who             memory.UserID
		roles           []memory.RoleID
		listed, answers string
	}{
		{cleo, []memory.RoleID{keepers}, "[Anchor Project X safe the Project X]", "[Project X safe the Project X]"},
		{ann, []memory.RoleID{}, "[Anchor the Project X]", "[the Project X]"},
	} {
		all, err := w.engine.Lore(t.Context(), Question{Guild: guild, Channel: lobby, Asker: c.who,
			OnlyAsker: true, Roles: c.roles, Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(loreNames(all)); got != c.listed {
			t.Errorf("%d is told %s", c.who, got)
		}
		if got := fmt.Sprint(loreNames(w.explainedTo(vault, answer, c.who, c.roles...).Lore)); got != c.answers {
			t.Errorf("%d is told that the answer is from %s", c.who, got)
		}
	}
}

func loreNames(all []memory.Lore) (names []string) {
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}

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
		{ID: 8, By: ben, Text: "Keeps bees", Channel: harbor}, // told by a command
		{ID: 9, By: ben, Text: "Is broke", Channel: vault},
	}
	q := w.asks(lobby, "Who is Ben?")
	has(t, w.prompt(q), "Data: also called Captain; Collects barnacles; Never late (said by Cleo); Sings (said by ‹@404›); Has a canoe; Keeps bees\n")
	hasNot(t, w.prompt(q), "debt", "Said nothing", "broke")
	q.OnlyAsker, q.Asker, q.Roles = true, cleo, []memory.RoleID{keepers}
	has(t, w.prompt(q), "Has a canoe; Is in debt; Keeps bees; Is broke\n")
}

// An answer made from a told fact is repeated where that may be read.
func TestAnswersFromFactsThatWereTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	writes := &scripted{pieces: []string{"It is swordfish [1]."}}
	w.alter(writes, Options{}).facts[ben] = []memory.Fact{{ID: 1, By: ben, Text: "Collects barnacles", Channel: harbor}}
	q := w.asks(lobby, "Who is Ben?")
	w.gives(q, -time.Minute)
	later := w.asksAt(2*time.Minute, lobby, "And who is Cleo?")
	has(t, w.prompt(later), "swordfish")
	writes.before = func() { w.structure(memory.ViewChannel) }
	hasNot(t, w.answer(q).Text, "swordfish") // which was made from what is closed now
	hasNot(t, w.prompt(q), "barnacles")
	hasNot(t, w.prompt(later), "swordfish")
}

func TestHistoryWithoutNamesTellsWhoseWordAFactIs(t *testing.T) {
	t.Parallel()
	p := memory.Person{ID: ben, Facts: []memory.Fact{{Text: "Sings", By: cleo}, {Text: "Dances"}}}
	if got := personData(p, time.UTC, nil); got != "Sings (said by <@23>); Dances" {
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
