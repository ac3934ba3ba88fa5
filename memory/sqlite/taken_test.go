package sqlite

import (
	"testing"

	"hark/memory"
)

// Why answers are gone is known after a backup from before that was restored.
func TestRestoredAnswersThatWereTaken(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	answer := func(n, question int) []memory.Event {
		a := posted(general, n, "an answer")
		a.Message.Kind = memory.FromHark
		return []memory.Event{a, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(n), Asker: 8, Question: id(question), Sources: from(general, question)}}}
	}
	apply(t, s, posted(general, 1, "a question"), posted(general, 2, "another"), posted(general, 3, "a third"))
	for i := range 3 {
		apply(t, s, answer(5+i, 1+i)...)
	}
	backup := backUp(t, s)
	apply(t, s, deleted(general, 1), memory.Edited{Guild: guild, Channel: general, ID: id(2), Content: "another one", At: id(9).Time()}, deleted(general, 7))
	closed(t, s)
	s, _ = restored(t, s.dir, backup)
	if all, err := s.Withdrawn(bg, 9); err != nil || len(all) != 2 || all[0].Message != id(5) || !all[0].Unasked || !all[0].First ||
		all[1].Message != id(6) || all[1].Unasked {
		t.Errorf("withdrawn %+v, %v", all, err)
	}
	for i := range 3 {
		apply(t, s, memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{id(5 + i)}}, answer(5+i, 3)[0])
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
