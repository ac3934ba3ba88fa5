package sqlite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

func holding(t *testing.T, dir, word string) (found []string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(word)) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files: %v", files, err)
	}
	return found
}

func wantNowhere(t *testing.T, dir string, words ...string) {
	t.Helper()
	for _, word := range words {
		if got := holding(t, dir, word); len(got) > 0 {
			t.Errorf("%v hold %q", got, word)
		}
	}
}

// leaves checks that words, which files hold before, leave them when something is done, and don't come back
// on closing.
func leaves(t *testing.T, s *Store, do func(*testing.T, *Store), words ...string) {
	t.Helper()
	if len(holding(t, s.engine.dir, words[0])) == 0 {
		t.Fatal("the words aren't in the file in the first place")
	}
	do(t, s)
	wantNowhere(t, s.engine.dir, canaries(words...)...)
	checkSound(t, s)
	closed(t, s)
	wantNowhere(t, s.engine.dir, canaries(words...)...)
}

// canaries are unique words, and their endings, because files may omit what a word shares with the one
// before.
func canaries(words ...string) []string {
	var all []string
	for _, word := range words {
		all = append(all, word, strings.ToLower(word), word[3:], strings.ToLower(word[3:]))
	}
	return all
}

// Everything deleted or overwritten is gone from the files' bytes: at once when nobody reads, and after
// closing.
func TestForgottenWordsLeaveTheFile(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	for n := range 200 { // neighbours, on the same pages
		apply(t, s, posted(general, n, "the usual talk of apples and pears"))
	}
	long := strings.Repeat("Quetzalcoatl ", 800) // on overflow pages
	file := posted(general, 301, "see")
	file.Message.Files = []memory.File{{Name: "Xochimilco.png", Description: "Popocatepetl"}}
	apply(t, s, posted(general, 300, "Huitzilopochtli "+long), file, edited(general, 302, "Tlaltecuhtli"),
		posted(general, 303, "Mictlantecuhtli"),
		memory.ExternalIDSeen{Channel: general, ID: id(300), ExternalID: "Tezcatlipoca"})
	apply(t, s, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(304),
		Question: id(300), Sources: from(general, 300), Model: "Coyolxauhqui"}})
	drain(t, s)
	apply(t, s, memory.ChannelSeen{Channel: memory.Channel{ID: 3000, Guild: guild, Name: "Itzpapalotl"}},
		memory.ChannelSeen{Channel: memory.Channel{ID: 3001, Guild: guild, Parent: 3000,
			Kind: memory.PublicThread, Name: "Chalchiuhtlicue"}},
		memory.ChannelSeen{Channel: memory.Channel{ID: 3002, Guild: guild, Parent: general,
			Kind: memory.PublicThread, Name: "Xiuhtecuhtli", Owner: 77}})
	removed := canaries("Itzpapalotl", "Chalchiuhtlicue", "Xiuhtecuhtli", "Huitzilopochtli", "Quetzalcoatl",
		"Xochimilco", "Popocatepetl", "Tlaltecuhtli", "Mictlantecuhtli", "Tezcatlipoca", "Coyolxauhqui")
	if len(holding(t, dir, removed[0])) == 0 {
		t.Fatal("the word isn't in the file in the first place")
	}
	// Full text's own trace of a word is its hash, of which the file may hold the ending only.
	hash := sqlstore.Hashes(text.Terms("Huitzilopochtli"))[3:]
	if len(holding(t, dir, hash)) == 0 {
		t.Fatal("the word isn't in full text in the first place")
	}
	removed = append(removed, hash)
	wantNowhere(t, dir, "huitzilopochtli") // as full text would have it

	apply(t, s, deleted(general, 300, 301, 302), edited(general, 303, "nothing much"),
		memory.ChannelDeleted{Guild: guild, Channel: 3000, At: id(400).Time()}, memory.Opted{Guild: guild,
			User: 77, Out: true, At: id(400).Time()})
	wantNowhere(t, dir, removed...)
	closed(t, s)
	wantNowhere(t, dir, removed...)
	if len(holding(t, dir, "the usual talk")) == 0 {
		t.Error("what was to stay is gone")
	}
}

// reading begins to read all of a store, until end is called.
func reading(t *testing.T, s *Store) (end func()) {
	t.Helper()
	reader, err := s.engine.read.BeginTx(t.Context(), nil)
	if err == nil {
		err = reader.QueryRow("SELECT count(*) FROM message").Scan(new(int))
	}
	must(t, err)
	end = func() { _ = reader.Rollback() }
	t.Cleanup(end)
	return end
}

// Deleting doesn't wait for a reader: the next write truncates the log, or else Pending does.
func TestForgettingDoesNotWaitForReaders(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	for _, empty := range []func(){func() { drain(t, s) }, func() { apply(t, s, posted(general, 2, "apples")) }} {
		apply(t, s, posted(general, 1, "Huitzilopochtli"), posted(general, 3, "Huitzilopochtli"))
		end := reading(t, s)
		apply(t, s, deleted(general, 1, 3))
		end()
		s.engine.writer.lock <- struct{}{}
		drain(t, s) // while somebody writes, it is for them to do
		if len(holding(t, dir, "Huitzilopochtli")) == 0 {
			t.Error("the reader was in nobody's way, or the log was emptied out of turn")
		}
		<-s.engine.writer.lock
		empty()
		wantNowhere(t, dir, "Huitzilopochtli")
		if !s.engine.writer.removed.IsZero() {
			t.Error("it goes on emptying the log")
		}
		execute(t, s.engine.write, "DELETE FROM tombstone") // so that they may come again
		s.engine.writer.forget()
	}
}

// A forgetting isn't reported as done while a reader keeps its text in the write-ahead log.
func TestForgettingBesideAReaderThatStays(t *testing.T) {
	t.Parallel()
	s, err := quick(t, written(t))
	must(t, err)
	end := reading(t, s)
	_, err = s.Forget(bg, memory.Forgetting{Guild: guild, User: 2, Why: memory.WhyMember, At: id(900).Time()}, nil)
	wantError(t, err)
	unfinished, err := s.Forgettings(bg, memory.Everywhere, 0)
	if err != nil || len(unfinished) != 1 {
		t.Fatalf("unfinished are %v, %v", unfinished, err)
	}
	end()
	if _, err := s.Forget(bg, unfinished[0].Forgetting, nil); err != nil {
		t.Error(err)
	}
	if unfinished, err := s.Forgettings(bg, memory.Everywhere, 0); err != nil || len(unfinished) > 0 {
		t.Errorf("unfinished are %v, %v", unfinished, err)
	}
}

// The next process truncates the log that a killed one left.
func TestWhatADeadProcessForgotIsGone(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), t.TempDir()
	s := open(t, dir)
	apply(t, s, posted(general, 1, "Huitzilopochtli"))
	reading(t, s)
	apply(t, s, deleted(general, 1))
	for _, name := range []string{FileName, FileName + "-wal"} { // what a crash now would leave
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(image, name), b, 0o600))
	}
	if len(holding(t, image, "Huitzilopochtli")) == 0 {
		t.Fatal("nothing is left to be forgotten")
	}
	next := open(t, image)
	wantNowhere(t, image, canaries("Huitzilopochtli")...)
	must(t, next.Checked(bg))
	must(t, next.engine.withWriteLock(bg, func(w *writer) error {
		if !w.removed.IsZero() {
			t.Error("it goes on emptying the log")
		}
		return nil
	}))
}

// hooked is an engine that calls something once, after the next snapshot.
type hooked struct {
	*engine
	then func()
}

func (h *hooked) Snapshot(ctx context.Context, read func(sqlstore.Querier) error) error {
	err := h.engine.Snapshot(ctx, read)
	if then := h.then; then != nil {
		h.then = nil
		then()
	}
	return err
}

func openHooked(t *testing.T) (*Store, *hooked) {
	t.Helper()
	s := open(t, emptyDir(t))
	h := &hooked{engine: s.engine}
	s.Store = sqlstore.New(h, sqlstore.Options{Space: s.engine.options.Space, Tokens: s.engine.options.Tokens})
	return s, h
}

// What others do between finding the messages and hiding them counts.
func TestWhatHappensWhileAForgettingBegins(t *testing.T) {
	t.Parallel()
	const newcomer = general + 77
	says := func(events ...memory.Event) func(*Store) { return func(s *Store) { apply(t, s, events...) } }
	answered := memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(66), Question: id(57),
		Sources: from(general, 57), Model: "quinces"}}
	gone := func(s *Store) {
		forget(t, s, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyPurge, At: id(30).Time()})
	}
	for name, c := range map[string]struct {
		meanwhile func(*Store)
		messages  int // of 20 that were there
	}{
		"nothing":          {says(), 20},
		"more is said":     {says(posted(general, 63, "quinces"), posted(general, 64, "stays")), 20},
		"one comes late":   {says(posted(general, -3, "quinces")), 20},
		"a channel is new": {says(posted(newcomer, 63, "quinces"), posted(newcomer, 64, "stays")), 20},
		"one is edited":    {says(edited(general, 57, "quinces")), 20},
		"one is named":     {says(memory.ExternalIDSeen{Channel: general, ID: id(57), ExternalID: "quinces"}), 20},
		"one is answered":  {says(answered), 20},
		"one is deleted":   {says(deleted(general, 57)), 19},
		"the last go, and others come in their rows": {says(deleted(general, 57, 58, 59), posted(general, 65, "stays"),
			posted(general, 67, "stays"), posted(general, 68, "stays")), 19},
		"another's goes": {says(deleted(general, 58)), 20},
		// Any forgetting hides everything that has begun.
		"all are hidden": {says(memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyPurge,
			At: id(30).Time()}), 20},
		"half are forgotten": {gone, 10},
		"vectors are made":   {func(s *Store) { drain(t, s) }, 20},
	} {
		s, h := openHooked(t)
		for n := range 60 {
			apply(t, s, posted(general, n, "apples and pears"))
		}
		h.then = func() { c.meanwhile(s) }
		r, err := s.Forget(bg, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyMember, At: id(900).Time()},
			nil)
		if err != nil || h.then != nil || r.Messages != c.messages {
			t.Errorf("%s: %d messages are forgotten, %v", name, r.Messages, err)
		}
		must(t, s.MessagesBy(bg, guild, 1, func(m memory.Message) error {
			t.Errorf("%s: %q is left", name, m.Content)
			return nil
		}))
		if got := find(t, s, in(general, newcomer), "quinces"); len(got) > 0 {
			t.Errorf("%s: found %v", name, got)
		}
		wantNowhere(t, s.engine.dir, "quinces")
		checkSound(t, s)
	}
}

// The next open hides what a killed process was hiding.
func TestWhatADeadProcessWasHidingIsHidden(t *testing.T) {
	t.Parallel()
	s := populated(t)
	breakStatement(t, s, "INSERT INTO pending_deletion (guild, row, forgetting) SELECT ?, value, ? FROM json_each(?)")
	wantError(t, s.Apply(bg, memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge,
		At: id(900).Time()}))
	closed(t, s)
	s = open(t, s.engine.dir)
	log, err := s.Log(bg, general, 0, 1<<62, 100)
	if err != nil || len(log) > 0 || len(find(t, s, in(general), "number")) > 0 {
		t.Errorf("%d messages are read still, %v", len(log), err)
	}
	must(t, goOn(s))
	checkSound(t, s)
}

// Answers that go with their sources are counted down once, whether the rule covers them or not, and
// whatever came late.
func TestAnswersThatGoAreCountedOnce(t *testing.T) {
	t.Parallel()
	const elsewhere = general + 1
	said := []int{2, 4, 6, 8, 10, 12, 14, 16, 18}
	for range 2 {
		slices.Reverse(said)
		s := open(t, emptyDir(t))
		for _, n := range said {
			apply(t, s, posted(general, n, "pears"))
		}
		apply(t, s, posted(elsewhere, 20, "apples?"), posted(elsewhere, 21, "pears"))
		for channel, answer := range map[memory.ChannelID]int{general: 10, elsewhere: 21} {
			apply(t, s, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: channel, Answer: id(answer),
				Sources: from(general, 2)}})
		}
		r, err := s.Forget(bg, memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyMember,
			Before: id(17).Time(), At: id(900).Time()}, nil)
		if err != nil || r.Messages != 7 || r.Answers != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		checkSound(t, s)
	}
}

// A message that gets a deleted answer's row is forgotten like any other, also at once.
func TestRowsThatAreTakenAgainAreForgotten(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "pears"), posted(general, 2, "pears"), memory.Answered{Trace: memory.Trace{
		Guild: guild, Channel: general, Answer: id(2), Sources: from(general, 1)}})
	apply(t, s, memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyMember, At: id(30).Time()},
		posted(general, 40, "quinces"), memory.Opted{Guild: guild, User: 2, Out: true, At: id(50).Time()})
	must(t, s.MessagesBy(bg, guild, 2, func(m memory.Message) error {
		t.Errorf("%q is left", m.Content)
		return nil
	}))
	must(t, goOn(s))
	wantNowhere(t, s.engine.dir, "quinces")
	checkSound(t, s)
}
