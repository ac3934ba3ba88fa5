package sqlite

import (
	"slices"
	"testing"
	"time"

	"hark/memory"
)

// Why answers are gone is known after a backup from before that was restored.
func TestRestoredAnswersThatWereTaken(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	answer := func(n, question int) []memory.Event {
		a := posted(general, n, "an answer")
		a.Message.Kind = memory.FromHark
		return []memory.Event{a, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general,
			Answer: id(n), Asker: 8, Question: id(question), Sources: from(general, question)}}}
	}
	apply(t, s, posted(general, 1, "a question"), posted(general, 2, "another"), posted(general, 3, "a third"))
	for i := range 3 {
		apply(t, s, answer(5+i, 1+i)...)
	}
	backup := backUp(t, s)
	apply(t, s, deleted(general, 1), memory.Edited{Guild: guild, Channel: general, ID: id(2),
		Content: "another one", At: id(9).Time()}, deleted(general, 7))
	closed(t, s)
	s, _ = restored(t, s.engine.dir, backup)
	if all, err := s.Withdrawn(bg, 9); err != nil || len(all) != 2 || all[0].Message != id(5) ||
		!all[0].Unasked || !all[0].First ||
		all[1].Message != id(6) || all[1].Unasked {
		t.Errorf("withdrawn %+v, %v", all, err)
	}
	for i := range 3 {
		apply(t, s, memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{id(5 + i)}},
			answer(5+i, 3)[0])
	}
	log, err := s.Log(bg, general, 0, id(100), 10)
	var ids []memory.MessageID
	for _, m := range log {
		ids = append(ids, m.ID)
	}
	if err != nil || len(ids) != 4 || ids[2] != id(5) || ids[3] != id(6) {
		t.Errorf("the log is %v, %v: what was deleted itself stays so, and nothing else", ids, err)
	}
	checkSound(t, s)
}

// answerFrom are the events of an answer made from messages of general.
func answerFrom(n int, text string, sources ...memory.Source) []memory.Event {
	a := posted(general, n, text)
	a.Message.Kind = memory.FromHark
	for i := range sources {
		sources[i].Kind, sources[i].Channel, sources[i].ID = memory.SourceMessage, general,
			int64(id(int(sources[i].ID)))
	}
	return []memory.Event{a, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general,
		Answer: id(n), Asker: 8, Sources: sources}}}
}

// reopened restores a backup in the place of a store.
func reopened(t *testing.T, s *Store, backup string) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = restored(t, s.engine.dir, backup)
	checkSound(t, s)
	return s
}

// withdraws fails the test unless Discord is to show these messages no more, and no others.
func withdraws(t *testing.T, s *Store, when string, want ...memory.MessageID) {
	t.Helper()
	var got []memory.MessageID
	all, err := s.Withdrawn(bg, 99)
	for _, w := range all {
		got = append(got, w.Message)
	}
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: withdrawn %v, %v; want %v", when, got, err, want)
	}
}

// An answer that was written anew since a backup doesn't come back with its new text and its old sources.
func TestRestoredAnswerThatWasWrittenAnew(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "first source"), posted(general, 2, "second source"))
	apply(t, s, answerFrom(5, "from the first", memory.Source{ID: 1, Repeats: true})...)
	apply(t, s, answerFrom(6, "the first, as I said", memory.Source{ID: 5, Repeats: true})...)
	backup := backUp(t, s)
	anew := answerFrom(5, "the code is 4711", memory.Source{ID: 2, Repeats: true})
	post := anew[0].(memory.Posted)
	post.Message.Edited = id(5).Time().Add(time.Minute)
	apply(t, s, memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{id(5)}}, post, anew[1])
	s = reopened(t, s, backup)
	if all, err := s.Around(bg, general, []memory.MessageID{id(5)}, 0, 0); err != nil || len(all) > 0 {
		t.Errorf("still there: %v, %v", all, err)
	}
	withdraws(t, s, "restored", id(5))
	apply(t, s, deleted(general, 1))
	withdraws(t, s, "once what both were made from is deleted", id(5), id(6))
}

// Answers that went with what they were only shown stay in Discord when a backup is restored, and are found
// still when something goes that they repeat.
func TestRestoredAnswersThatDiscordShows(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "tpyo"), posted(general, 2, "the code is 4711"))
	apply(t, s, answerFrom(5, "4711", memory.Source{ID: 1}, memory.Source{ID: 2, Repeats: true})...)
	apply(t, s, answerFrom(6, "4711 it was", memory.Source{ID: 5, Repeats: true})...)
	backup := backUp(t, s)
	apply(t, s, answerFrom(7, "4711", memory.Source{ID: 1}, memory.Source{ID: 2, Repeats: true})...)
	apply(t, s, memory.Edited{Guild: guild, Channel: general, ID: id(1), Content: "typo", At: id(50).Time()})
	withdraws(t, s, "before")
	s = reopened(t, s, backup)
	withdraws(t, s, "restored")
	apply(t, s, deleted(general, 2))
	withdraws(t, s, "once what they repeat is deleted", id(5), id(6), id(7))
}
