package answer

import (
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

// Of an answer that was made from lore only what may be told now is repeated.
func TestOwnAnswersFromLoreAreRepeatedOnlyWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.tells(1, "Project X", "is blue", ben, 0)
	w.tells(2, "Project Y", "is red", ben, vault)
	for i, text := range []string{"openly told", "secretly told"} {
		id := w.says(time.Duration(9-i)*time.Minute, lobby, oracle, text)
		trace := memory.Trace{Guild: guild, Channel: lobby, Answer: id, Asker: ann, Lore: []int64{int64(i + 1)}}
		if err := w.store.KeepTrace(t.Context(), trace); err != nil {
			t.Fatal(err)
		}
	}
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
	if strings.Count(a.Text, "— lore") != maxLoreQuotes || len(a.Trace.Lore) != maxLoreQuotes {
		t.Errorf("answered %q", a.Text)
	}
	a = w.answer(w.asks(lobby, "What of project Y?"))
	has(t, a.Text, "needs project paint\n— lore, 14 Jun 2024 12:00\n")
	a = w.answer(w.asks(lobby, "Zeppelins?"))
	has(t, a.Text, foundNone)
}
