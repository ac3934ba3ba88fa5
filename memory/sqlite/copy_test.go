package sqlite

import (
	"testing"

	"hark/memory"
)

// No byte of a copy, nor of its full text, is left in the file once its original is gone.
func TestCopiesLeaveTheFileWithTheirOriginal(t *testing.T) {
	t.Parallel()
	original := memory.Message{ID: id(1), Guild: 100, Channel: 1000, Author: 1, Content: "originalium"}
	copied := memory.Message{
		ID: id(2), Guild: 100, Channel: 2000, Author: 2, Content: "copyphone",
		Files:    []memory.File{{Name: "filephone"}},
		Links:    []memory.Link{{Title: "linkphone"}},
		Original: memory.Original{Guild: 100, Channel: 1000, Message: original.ID},
	}
	for name, do := range map[string]func(*testing.T, *Store){
		"deleted": func(t *testing.T, s *Store) {
			apply(t, s, memory.Deleted{Guild: 100, Channel: 1000, IDs: []memory.MessageID{original.ID}})
			must(t, s.Erase(bg, true))
		},
		"edited": func(t *testing.T, s *Store) {
			apply(t, s, memory.Edited{Guild: 100, Channel: 1000, ID: original.ID, Content: "else", At: id(3).Time()})
			must(t, s.Erase(bg, true))
		},
		"its author opts out": func(t *testing.T, s *Store) {
			apply(t, s, memory.Opted{Guild: 100, User: 1, Out: true, At: id(900).Time()})
			must(t, s.Erase(bg, true))
		},
		"purged with its channel": func(t *testing.T, s *Store) {
			forget(t, s, memory.Forgetting{Guild: 100, Channel: 1000, Why: memory.WhyPurge, At: id(900).Time()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, emptyDir(t))
			apply(t, s, memory.Posted{Message: original}, memory.Posted{Message: copied})
			drain(t, s)
			leaves(t, s, do, "copyphone", "filephone", "linkphone")
		})
	}
}
