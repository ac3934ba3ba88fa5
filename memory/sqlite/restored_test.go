package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

func withdraws(t *testing.T, s *Store, when string, want ...memory.MessageID) {
	t.Helper()
	all, err := s.Withdrawn(bg, 99)
	must(t, err)
	var got []memory.MessageID
	for _, w := range all {
		got = append(got, w.Message)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s: withdrawn %v, want %v", when, got, want)
	}
}

func logged(t *testing.T, s *Store) (ids []memory.MessageID) {
	t.Helper()
	log, err := s.Log(bg, general, 0, id(100), 10)
	must(t, err)
	for _, m := range log {
		ids = append(ids, m.ID)
	}
	return ids
}

func wantNoTrace(t *testing.T, s *Store, n int) {
	t.Helper()
	if _, err := memory.TraceOf(bg, s, general, id(n)); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("answer %d is still there: %v", n, err)
	}
}

// shownOf are sources that an answer was shown and doesn't repeat.
func shownOf(ns ...int) []memory.Source {
	all := from(general, ns...)
	for i := range all {
		all[i].Repeats = false
	}
	return all
}

// What was deleted, changed or decided since a backup is so after the restore.
func TestRestoredDerivedData(t *testing.T) {
	t.Parallel()
	opted := telling(memory.Opted{Guild: guild, User: mentioned, Out: true, At: idAt(900)})
	prompts := func(stays bool) func(*testing.T, *Store, Restored) {
		return func(t *testing.T, s *Store, _ Restored) {
			p, err := promptOf(s, general, id(20))
			if err == nil != stays || stays && !strings.Contains(p.Messages[0].Content, canary) {
				t.Errorf("the prompt is %v, %v", p, err)
			}
			if !stays {
				wantNowhere(t, s.engine.dir, canaries(canary)...)
			}
			if _, err := promptOf(s, 2500, id(31)); err != nil {
				t.Errorf("a prompt beside it: %v", err)
			}
		}
	}
	recorded := func(stays bool) func(*testing.T, *Store, Restored) {
		return func(t *testing.T, s *Store, _ Restored) {
			if got := records(t, s, general); len(got) == 1 != stays {
				t.Errorf("the records are %+v", got)
			}
		}
	}
	var summaries []memory.Event
	for n := 1; n <= 5; n++ {
		summaries = append(summaries, posted(general, n, "one of many"), summed(general, n))
	}
	two := summed(general, 7)
	two.After, two.Summary.Sources = id(5), []memory.SummarySource{{Message: id(6)}, {Message: id(7)}}
	summaries = append(summaries, posted(general, 6, "one of two"), posted(general, 7, "the other"), two,
		ofHark(20), usedSummary(id(20), id(1)))
	changed, sourced := loreOf(2, 2, "different", memory.MessageRef{Channel: general, Message: id(3)}),
		loreOf(6, 2, "Tlaltecuhtli", memory.MessageRef{Channel: general, Message: id(2)})
	theirs := loreOf(3, 1, "Popocatepetl")
	theirs.Lore.By = 4
	rewritten := answered(5, memory.Trace{Asker: 8, Sources: from(general, 2)})
	again := rewritten[0].(memory.Posted)
	again.Message.Content, again.Message.Edited = "the code is 4711", idAt(5).Add(time.Minute)
	repeats := func(n int, sources ...memory.Source) []memory.Event {
		return answered(n, memory.Trace{Asker: 8, Sources: sources})
	}
	var asked []memory.Event
	for i := range 3 {
		asked = append(asked, posted(general, 1+i, "a question"))
		asked = append(asked, answered(5+i, memory.Trace{Asker: 8, Question: id(1 + i),
			Sources: from(general, 1+i)})...)
	}
	for name, c := range map[string]struct {
		given []memory.Event
		since func(*testing.T, *Store)
		then  func(*testing.T, *Store, Restored)
	}{
		"a prompt, of nothing":      {prompting(), telling(), prompts(true)},
		"a prompt, a source edited": {prompting(), telling(edited(general, 1, "other")), prompts(false)},
		"a prompt, Hark's answer grown": {prompting(), telling(edited(general, 3, "and more")),
			prompts(false)},
		"a prompt, a source deleted":   {prompting(), telling(deleted(secret, 2)), prompts(false)},
		"a prompt, somebody opted out": {prompting(), opted, prompts(false)},
		"a prompt, somebody forgotten": {prompting(),
			forgetting(memory.Forgetting{Guild: guild, User: mentioned, Why: memory.WhyMember}), prompts(false)},
		"a record, of nothing": {recording(), telling(), recorded(true)},
		"a record, its question edited": {recording(), telling(edited(general, 10, "other")),
			recorded(false)},
		"a record, a source deleted":           {recording(), telling(deleted(secret, 2)), recorded(false)},
		"a record, whom it names is forgotten": {recording(), opted, recorded(false)},
		"summaries": {summaries, func(t *testing.T, s *Store) {
			apply(t, s, deleted(general, 1), deleted(general, 7), deleted(general, 2), edited(general, 3, "other"))
			forgetting(memory.Forgetting{Guild: guild, User: 1 + 4%3, Before: idAt(5), Why: memory.WhyMember})(t, s)
		}, func(t *testing.T, s *Store, _ Restored) {
			all, err := s.Summaries(bg, general)
			if err != nil || len(all) != 1 || all[0].ID != id(5) {
				t.Errorf("the summaries are %+v, %v", all, err)
			}
			wantNoTrace(t, s, 20)
			for _, n := range []int{1, 2, 3, 4, 6, 7} {
				wantNowhere(t, s.engine.dir, fmt.Sprintf("summary%dq", n))
			}
		}},
		"lore": {append([]memory.Event{posted(general, 1, "hello"), posted(general, 2, "another"),
			posted(general, 3, "a third"),
			loreOf(1, 1, canary), loreOf(2, 1, "Xochimilco"), theirs, loreOf(4, 1, "stays"),
			loreOf(6, 1, "Mictlantecuhtli")},
			answered(5, memory.Trace{Asker: 8, Sources: fromLore(1)})...), func(t *testing.T, s *Store) {
			apply(t, s, memory.LoreGone{Guild: guild, ID: 1}, changed, sourced, loreOf(5, 2, "new"))
			for _, user := range []memory.UserID{4, 3} { // who said what lore 6 is from
				forgetting(memory.Forgetting{Guild: guild, User: user, Why: memory.WhyMember})(t, s)
			}
		}, func(t *testing.T, s *Store, r Restored) {
			if !r.Known || r.Lore != 3 || len(r.Forgettings) != 2 || r.Forgettings[0].Lore != 1 {
				t.Errorf("%+v", r)
			}
			all, err := s.Lore(bg, guild)
			if err != nil || len(all) != 2 || !reflect.DeepEqual(all[0], changed.Lore) || all[1].ID != 4 {
				t.Errorf("the lore is %+v, %v", all, err)
			}
			wantNoTrace(t, s, 5)
			wantNowhere(t, s.engine.dir, "etzalcoatl", "ochimilco", "pocatepetl", "ltecuhtli", "lantecuhtli")
		}},
		"an answer from a fact": {slices.Concat([]memory.Event{posted(general, 1, "hello"),
			memory.FactTold{Guild: guild,
				User: 7, Fact: memory.Fact{ID: 3, Text: "sails", By: 7}}}, repeats(5, fromFacts(3)...)),
			telling(memory.FactGone{Guild: guild, User: 7, Fact: 3}), func(t *testing.T, s *Store, r Restored) {
				if log := logged(t, s); r.Facts != 1 || len(log) != 1 {
					t.Errorf("took over %+v; the log is %v", r, log)
				}
			}},
		// Why answers are gone is known.
		"answers that were taken": {asked, telling(deleted(general, 1), edited(general, 2, "another one"),
			deleted(general, 7)),
			func(t *testing.T, s *Store, _ Restored) {
				if all, err := s.Withdrawn(bg, 9); err != nil || len(all) != 2 || all[0].Message != id(5) ||
					!all[0].Unasked || !all[0].First || all[1].Message != id(6) || all[1].Unasked {
					t.Errorf("withdrawn %+v, %v", all, err)
				}
				for i := range 3 {
					apply(t, s, memory.Rewritten{Guild: guild, Channel: general,
						IDs: []memory.MessageID{id(5 + i)}}, ofHark(5+i))
				}
				if ids := logged(t, s); len(ids) != 4 || ids[2] != id(5) || ids[3] != id(6) {
					t.Errorf("the log is %v: what was deleted itself stays so, and nothing else", ids)
				}
			}},
		// It doesn't come back with its new text and its old sources.
		"an answer that was written anew": {slices.Concat([]memory.Event{posted(general, 1, "first source"),
			posted(general, 2, "second source")}, repeats(5, from(general, 1)...), repeats(6, from(general, 5)...)),
			telling(memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{id(5)}}, again,
				rewritten[1]),
			func(t *testing.T, s *Store, _ Restored) {
				if log := logged(t, s); slices.Contains(log, id(5)) {
					t.Errorf("still there: %v", log)
				}
				withdraws(t, s, "restored", id(5))
				apply(t, s, deleted(general, 1))
				withdraws(t, s, "once what both were made from is deleted", id(5), id(6))
			}},
		// They stay in Discord, and are still found when something that they repeat goes.
		"answers that went with what they were only shown": {slices.Concat([]memory.Event{
			posted(general, 1, "tpyo"), posted(general, 2, "the code is 4711")},
			repeats(5, append(shownOf(1), from(general, 2)...)...),
			repeats(6, from(general, 5)...)), func(t *testing.T, s *Store) {
			apply(t, s, repeats(7, append(shownOf(1), from(general, 2)...)...)...)
			apply(t, s, edited(general, 1, "typo"))
			withdraws(t, s, "before")
		}, func(t *testing.T, s *Store, _ Restored) {
			withdraws(t, s, "restored")
			apply(t, s, deleted(general, 2))
			withdraws(t, s, "once what they repeat is deleted", id(5), id(6), id(7))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, emptyDir(t))
			for _, e := range c.given {
				apply(t, s, e)
			}
			key, err := s.FingerprintKey(bg)
			must(t, err)
			backup := backUp(t, s)
			c.since(t, s)
			closed(t, s)
			s, r := restored(t, s.engine.dir, backup)
			if c.then(t, s, r); t.Failed() {
				return
			}
			checkSound(t, s)
			if again, err := s.FingerprintKey(bg); err != nil || !bytes.Equal(again, key) {
				t.Errorf("the key is %x, was %x, %v", again, key, err)
			}
		})
	}
}

// A restored copy has no token that was taken back since, and counts the uses since.
func TestRestoredTokens(t *testing.T) {
	t.Parallel()
	s := populated(t)
	for user := memory.UserID(7); user <= 9; user++ {
		apply(t, s, memory.Connected{Guild: guild, User: user, Hash: memory.TokenHash{1}, At: id(390).Time()})
	}
	drain(t, s)
	backup := backUp(t, s)
	apply(t, s, memory.PersonLeft{Guild: guild, User: 8}, memory.Opted{Guild: guild, User: 9, Out: true, At: id(400).Time()},
		memory.ConnectionUsed{Guild: guild, User: 7, Hash: memory.TokenHash{1}, Uses: 12, At: id(400).Time()})
	closed(t, s)
	got, _ := restored(t, s.engine.dir, backup)
	for user, uses := range map[memory.UserID]int{7: 12, 8: 0, 9: 0} {
		m, err := got.Member(bg, guild, user)
		c := m.Connection
		must(t, err)
		if c.IsOpen() != (user == 7) || c.Uses != uses {
			t.Errorf("user %d: %+v", user, c)
		}
	}
}
