package answer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// tells has the guild told lore some time before noon.
func (w *world) tells(id int64, name, text string, by memory.UserID, channel memory.ChannelID, sources ...memory.Spot) memory.Lore {
	w.t.Helper()
	l := memory.Lore{ID: id, Guild: guild, Name: name, Text: text, By: by, Channel: channel, At: noon.Add(-day), Sources: sources}
	w.apply(memory.LoreTold{Lore: l})
	return l
}

func TestLoreIsToldWhereItsSourcesMayBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.alter(nil, Options{})
	openly, secretly := w.says(90*day, harbor, ben, "it is blue"), w.says(90*day, vault, ben, "it is safe")
	w.tells(1, "Project X", "the boat is blue", ben, harbor, memory.Spot{Channel: harbor, Message: openly})
	w.tells(2, "Project X safe", "the code is 1234", cleo, 0, memory.Spot{Channel: vault, Message: secretly})
	w.tells(3, "Project X vault", "is below the stairs", ben, vault)
	w.tells(4, "Project X budget", "ninety florins", 0, 0)
	w.tells(5, "Project X colour", "invented", ben, 0, memory.Spot{Channel: harbor, Message: openly + 1}) // never said
	w.tells(6, "Project X crew", "all of us", cleo, 0)
	q := w.asks(lobby, "What of the X project's vault, safe, budget, colour, crew: project X?")
	p := w.prompt(q)
	has(t, p, "📖 Lore\n", "Project X: the boat is blue", "Project X budget: ninety florins", "Project X crew: all of us")
	hasNot(t, p, "1234", "below the stairs", "invented")
	own := q
	own.OnlyAsker, own.Asker, own.Roles = true, cleo, []memory.RoleID{keepers}
	has(t, w.prompt(own), "1234", "below the stairs")
	a.out[cleo] = true
	hasNot(t, w.prompt(q), "all of us")
	a.guild = choose(harbor, memory.Ignore)
	hasNot(t, w.prompt(q), "blue")
	a.guild = choose(0, memory.Ignore)
	hasNot(t, w.prompt(q), "📖 Lore")
}

// What goes into an answer is in its trace, with what it was said in; the answer goes with the lore.
func TestAnswersGoWithTheirLore(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]func(w *world, source memory.MessageID) memory.Event{
		"removed": func(*world, memory.MessageID) memory.Event { return memory.LoreGone{Guild: guild, ID: 1} },
		"changed": func(w *world, _ memory.MessageID) memory.Event {
			return memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: guild, Name: "Project X", Text: "is red", At: noon}}
		},
		"without its source": func(_ *world, source memory.MessageID) memory.Event {
			return memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{source}}
		},
	} {
		for _, model := range []Model{nil, &scripted{pieces: []string{"It is blue."}}} {
			w := newWorld(t, model)
			source := w.says(90*day, harbor, ben, "it is blue")
			w.chatter()
			w.tells(1, "Project X", "the boat is blue", ben, 0, memory.Spot{Channel: harbor, Message: source})
			w.tells(2, "Florins", "are coins", ben, 0)
			q := w.asks(lobby, "Project X?")
			id := w.gives(q, -time.Minute)
			trace, err := w.store.Trace(t.Context(), lobby, id)
			used := slices.ContainsFunc(trace.Recalled, func(h memory.TraceHit) bool { return h.Channel == harbor && h.Message == source && h.Context })
			if err != nil || fmt.Sprint(trace.IDsOf(memory.SourceLore)) != "[1]" || !used {
				t.Fatalf("%s: the trace is %+v, %v", name, trace, err)
			}
			w.apply(undo(w, source))
			if left, err := w.store.Messages(t.Context(), lobby, []memory.MessageID{id}); err != nil || len(left) > 0 {
				t.Errorf("%s: %d messages of the answer are left, %v", name, len(left), err)
			}
		}
	}
}

// Of an answer that was made from lore only what may be told now is repeated.
func TestOwnAnswersFromLoreAreRepeatedOnlyWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.tells(1, "Project X", "is blue", ben, 0)
	w.tells(2, "Project Y", "is red", ben, vault)
	for i, text := range []string{"openly told", "secretly told"} {
		id := w.says(time.Duration(9-i)*time.Minute, lobby, oracle, text)
		trace := memory.Trace{Guild: guild, Channel: lobby, Answer: id, Asker: ann, Sources: []memory.Source{{Kind: memory.SourceLore, ID: int64(i + 1)}}}
		if err := w.store.KeepTrace(t.Context(), trace); err != nil {
			t.Fatal(err)
		}
	}
	p := w.prompt(w.asks(lobby, "So?"))
	has(t, p, "openly told")
	hasNot(t, p, "secretly told")
}

// While the model writes, lore may change, go, or be closed to somebody.
func TestAnswersAreTakenBackWithLoreThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(w *world, l memory.Lore)
		kept   bool
	}{
		"nothing": {func(*world, memory.Lore) {}, true},
		"removed": {func(w *world, l memory.Lore) { w.apply(memory.LoreGone{Guild: guild, ID: l.ID}) }, false},
		"changed": {func(w *world, l memory.Lore) { l.At = noon; l.Text = "is red"; w.apply(memory.LoreTold{Lore: l}) }, false},
		"closed":  {func(w *world, _ memory.Lore) { w.structure(memory.ViewChannel) }, false},
		"another": {func(w *world, _ memory.Lore) { w.tells(2, "Project Y", "is red", ben, 0) }, true},
	} {
		model := &scripted{pieces: []string{"It is blue."}}
		w := newWorld(t, model)
		l := w.tells(1, "Project X", "is blue", ben, harbor)
		model.before = func() { c.before(w, l) }
		if a := w.answer(w.asks(lobby, "Project X?")); (a.Text == "It is blue.") != c.kept {
			t.Errorf("%s: answered %q", name, a.Text)
		}
	}
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
	has(t, a.Text, "needs project paint\n— lore, 14 Jun 2024 12:00\n")
	a = w.answer(w.asks(lobby, "Zeppelins?"))
	has(t, a.Text, foundNone)
}
