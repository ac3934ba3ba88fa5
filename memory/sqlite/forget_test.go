package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/text"
	"hark/memory"
)

// holding are the files of a directory that hold a word.
func holding(t *testing.T, dir, word string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var found []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(word)) {
			found = append(found, filepath.Base(file))
		}
	}
	return found
}

// canaries are words that occur nowhere else, and their endings, since files may hold words without what they
// have in common with the one before.
func canaries(words ...string) []string {
	var all []string
	for _, word := range words {
		all = append(all, word, strings.ToLower(word), word[3:], strings.ToLower(word[3:]))
	}
	return all
}

// Everything that was deleted or written over is gone from the bytes of the files, at once when nobody reads,
// and so is it after closing.
func TestForgottenWordsLeaveTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for n := range 200 { // neighbours, on the same pages
		apply(t, s, posted(general, n, "the usual talk of apples and pears"))
	}
	long := strings.Repeat("Quetzalcoatl ", 800) // on overflow pages
	file := posted(general, 301, "see")
	file.Message.Files = []memory.File{{Name: "Xochimilco.png", Description: "Popocatepetl"}}
	apply(t, s, posted(general, 300, "Huitzilopochtli "+long), file, edited(general, 302, "Tlaltecuhtli"), posted(general, 303, "Mictlantecuhtli"),
		memory.Named{Channel: general, ID: id(300), Name: "Tezcatlipoca"})
	if err := s.KeepTrace(t.Context(), memory.Trace{Guild: guild, Channel: general, Answer: id(304), Question: id(300), Model: "Coyolxauhqui"}); err != nil {
		t.Fatal(err)
	}
	drain(t, s)
	removed := canaries("Huitzilopochtli", "Quetzalcoatl", "Xochimilco", "Popocatepetl", "Tlaltecuhtli", "Mictlantecuhtli", "Tezcatlipoca", "Coyolxauhqui")
	if len(holding(t, dir, removed[0])) == 0 {
		t.Fatal("the word isn't in the file in the first place")
	}
	// Full text's own trace of a word is its hash, of which the file may hold the ending only.
	hash := string(appendHash(nil, text.Terms("Huitzilopochtli")[0]))[3:]
	if len(holding(t, dir, hash)) == 0 {
		t.Fatal("the word isn't in full text in the first place")
	}
	removed = append(removed, hash)
	if got := holding(t, dir, "huitzilopochtli"); len(got) > 0 {
		t.Errorf("%v hold a word as full text has it", got)
	}

	apply(t, s, deleted(general, 300, 301, 302), edited(general, 303, "nothing much"))
	for _, word := range removed {
		if got := holding(t, dir, word); len(got) > 0 {
			t.Errorf("%v still hold %q", got, word)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, word := range removed {
		if got := holding(t, dir, word); len(got) > 0 {
			t.Errorf("after closing %v still hold %q", got, word)
		}
	}
	if len(holding(t, dir, "the usual talk")) == 0 {
		t.Error("what was to stay is gone")
	}
}

// While somebody reads, deleting doesn't wait: the next to write empties the log.
func TestForgettingDoesNotWaitForReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	apply(t, s, posted(general, 1, "Huitzilopochtli"))
	reader, err := s.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM message").Scan(&n); err != nil || n != 1 {
		t.Fatalf("%d messages: %v", n, err)
	}
	apply(t, s, deleted(general, 1))
	if len(holding(t, dir, "Huitzilopochtli")) == 0 {
		t.Error("the reader was in nobody's way")
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	apply(t, s, posted(general, 2, "apples"))
	if got := holding(t, dir, "Huitzilopochtli"); len(got) > 0 {
		t.Errorf("%v still hold the word", got)
	}
	if !s.writer.removed.IsZero() {
		t.Error("it goes on emptying the log")
	}
}

// Where nobody writes any more, asking for what is to be embedded empties the log that a reader kept.
func TestForgettingIsDoneWhenTheReaderIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	apply(t, s, posted(general, 1, "Huitzilopochtli"))
	reader, err := s.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM message").Scan(&n); err != nil {
		t.Fatal(err)
	}
	apply(t, s, deleted(general, 1))
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.writer.turn <- struct{}{}
	drain(t, s) // while somebody writes, it is for them to do
	if len(holding(t, dir, "Huitzilopochtli")) == 0 {
		t.Error("emptied the log out of turn")
	}
	<-s.writer.turn
	drain(t, s)
	if got := holding(t, dir, "Huitzilopochtli"); len(got) > 0 {
		t.Errorf("%v still hold the word", got)
	}
}

// Nobody is told that something is forgotten while a reader keeps it in the write-ahead log.
func TestForgettingBesideAReaderThatStays(t *testing.T) {
	t.Parallel()
	s, err := quick(t, written(t))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := s.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	if err := reader.QueryRow("SELECT count(*) FROM message").Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Forget(bg, memory.Forgetting{Guild: guild, User: 2, Why: memory.WhyMember, At: id(900).Time()}, nil)
	wantError(t, err, "carry out forgetting", "somebody has been reading the database for so long")
	unfinished, err := s.Unfinished(bg)
	if err != nil || len(unfinished) != 1 {
		t.Fatalf("unfinished are %v, %v", unfinished, err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CarryOut(bg, unfinished[0].ID, nil); err != nil {
		t.Error(err)
	}
	if unfinished, err := s.Unfinished(bg); err != nil || len(unfinished) > 0 {
		t.Errorf("unfinished are %v, %v", unfinished, err)
	}
}

// A process that died before it emptied the log leaves that to the next one.
func TestWhatADeadProcessForgotIsGone(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), t.TempDir()
	s := open(t, dir)
	apply(t, s, posted(general, 1, "Huitzilopochtli"))
	reader, err := s.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM message").Scan(&n); err != nil {
		t.Fatal(err)
	}
	apply(t, s, deleted(general, 1))
	for _, name := range []string{FileName, FileName + "-wal"} { // what a crash now would leave
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(image, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(holding(t, image, "Huitzilopochtli")) == 0 {
		t.Fatal("nothing is left to be forgotten")
	}
	next := open(t, image)
	for _, word := range canaries("Huitzilopochtli") {
		if found := holding(t, image, word); len(found) > 0 {
			t.Errorf("%q is still in %v", word, found)
		}
	}
	if !next.writer.removed.IsZero() {
		t.Error("it goes on emptying the log")
	}
}
