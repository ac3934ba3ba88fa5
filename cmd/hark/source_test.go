package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

// condenseWords begin what the model is told that condenses.
const condenseWords = "You condense"

// A message that was answered from, by tools and without, that was condensed, and from which lore was made, is deleted: none of its
// words is left, neither in Hark's files nor in what Hark shows in Discord nor in the next prompt.
func TestADeletedSourceLeavesNoWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_MEMORY_SUMMARIES"], w.env["HARK_LOG_LEVEL"], w.env["HARK_LIMITS_MEMBER_MESSAGES"] = "model", "debug", "0"
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
		calls([2]string{"search_memory", `{"query":"` + word + `"}`}, [2]string{"conversation_history", `{"text":"` + word + `"}`}),
		calls([2]string{"remember", `{"name":"budget plan","text":"The ` + word + ` costs 480 euros.","aliases":["` + word + ` costs"]}`}),
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
	w.restart() // what a reader was in the way of is overwritten when the file is closed
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

// lore are the names of the lore in Hark's store.
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
		records, err := store.Records(w.Context(), memory.RecordQuery{Channels: []memory.ChannelID{memory.ChannelID(w.general.ID)}})
		b, bad := json.Marshal(records)
		all = string(b)
		return errors.Join(err, bad)
	})
	return all
}
