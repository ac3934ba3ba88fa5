package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// Deleting rows has SQLite move others from page to page, and it leaves copies behind where they were. Nothing of them
// is left when they are deleted as well.
func TestCopiesThatMovedCellsLeaveBehindAreOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	const messages = 2000
	r := rand.New(rand.NewPCG(1, 2))
	canary := func(n int) string { return fmt.Sprintf("canary%dq", n) }
	for n := range messages {
		apply(t, s, posted(general, n, canary(n)+strings.Repeat(" sails", r.IntN(40))))
	}
	drain(t, s)
	order := r.Perm(messages)
	for i, n := range order[:messages/2] {
		s.writer.rest = time.Now().Add(time.Hour) // so that copies stay
		if apply(t, s, deleted(general, n)); i == messages/4 {
			if stained := stains(t, s); stained == 0 {
				t.Fatal("no copies were left behind: this test shows nothing")
			}
		}
	}
	scrubbed(t, s)
	checkSound(t, s)
	if stained := stains(t, s); stained != 0 {
		t.Errorf("%d pages hold something in their unused parts", stained)
	}
	content, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range order {
		if got := bytes.Contains(content, []byte(canary(n))); got != (i >= messages/2) {
			t.Fatalf("%s is in the file: %t", canary(n), got)
		}
	}
	for _, n := range order[messages/2:] {
		got, err := s.Messages(bg, general, []memory.MessageID{id(n)})
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Content, canary(n)) {
			t.Fatalf("message %d is %v, %v", n, got, err)
		}
	}
}

// stains counts the pages that hold something in their unused parts, the write-ahead log being empty.
func stains(t *testing.T, s *Store) int {
	t.Helper()
	s.writer.turn <- struct{}{}
	defer func() { <-s.writer.turn }()
	if err := s.truncateLog(bg); err != nil {
		t.Fatal(err)
	}
	stained, err := stainedPages(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return len(stained)
}
