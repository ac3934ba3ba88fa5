package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

// holding are the files in a directory, and below it, that hold a word.
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

// wantNowhere checks that no file in a directory holds any of the words.
func wantNowhere(t *testing.T, dir string, words ...string) {
	t.Helper()
	for _, word := range words {
		if got := holding(t, dir, word); len(got) > 0 {
			t.Errorf("%v hold %q", got, word)
		}
	}
}

// leaves checks that words, which files hold before, leave them when something is done, and don't come back
// when the store is closed.
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
		memory.Named{Channel: general, ID: id(300), Name: "Tezcatlipoca"})
	if err := s.Apply(t.Context(),
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(304),
			Question: id(300), Sources: from(general, 300), Model: "Coyolxauhqui"}}); err != nil {
		t.Fatal(err)
	}
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

// While somebody reads, deleting doesn't wait: the next to write empties the log, or, where nobody writes any
// more, asking for what is to be embedded does.
func TestForgettingDoesNotWaitForReaders(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	for _, empty := range []func(){func() { drain(t, s) }, func() { apply(t, s, posted(general, 2, "apples")) }} {
		apply(t, s, posted(general, 1, "Huitzilopochtli"), posted(general, 3, "Huitzilopochtli"))
		end := reading(t, s)
		apply(t, s, deleted(general, 1, 3))
		end()
		s.engine.writer.turn <- struct{}{}
		drain(t, s) // while somebody writes, it is for them to do
		if len(holding(t, dir, "Huitzilopochtli")) == 0 {
			t.Error("the reader was in nobody's way, or the log was emptied out of turn")
		}
		<-s.engine.writer.turn
		empty()
		wantNowhere(t, dir, "Huitzilopochtli")
		if !s.engine.writer.removed.IsZero() {
			t.Error("it goes on emptying the log")
		}
		execute(t, s.engine.write, "DELETE FROM tombstone") // so that they may come again
		s.engine.writer.forget()
	}
}

// Nobody is told that something is forgotten while a reader keeps it in the write-ahead log.
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
	if _, err := s.Resume(bg, unfinished[0].Forgetting.ID, nil); err != nil {
		t.Error(err)
	}
	if unfinished, err := s.Forgettings(bg, memory.Everywhere, 0); err != nil || len(unfinished) > 0 {
		t.Errorf("unfinished are %v, %v", unfinished, err)
	}
}

// A process that died before it emptied the log leaves that to the next one.
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
	if !next.engine.writer.removed.IsZero() {
		t.Error("it goes on emptying the log")
	}
}

// leaveTheFile fails the test unless words, each with other letters after it, leave the file when gone is
// applied, and the word Coyolxauhqui, which last brings, when all that somebody said is forgotten.
func leaveTheFile(t *testing.T, s *Store, words []string, gone, last []memory.Event, by memory.UserID) {
	t.Helper()
	check := func(when string, words ...string) {
		t.Helper()
		for _, word := range canaries(words...) {
			if got := holding(t, s.engine.dir, word); len(got) > 0 {
				t.Errorf("%s %v hold %q", when, got, word)
			}
		}
	}
	if len(holding(t, s.engine.dir, "opocatepetl")) == 0 {
		t.Fatal("the words aren't in the file in the first place")
	}
	apply(t, s, gone...)
	check("afterwards", words...)
	apply(t, s, last...)
	f := memory.Forgetting{Guild: guild, User: by, Why: memory.WhyMember, At: idAt(950)}
	extent, err := s.Extent(bg, memory.ExtentQuery{Forgetting: f})
	if err != nil || extent.Lore+extent.Summaries == 0 {
		t.Errorf("%+v, %v", extent, err)
	}
	if r, err := s.Forget(bg, f, nil); err != nil || r.Lore != extent.Lore || r.Summaries != extent.Summaries {
		t.Errorf("%+v, %v; told before: %+v", r, err, extent)
	}
	check("after forgetting whoever said it", "Coyolxauhqui")
	checkSound(t, s)
	closed(t, s)
	check("after closing", words...)
}

// gods are words that nothing else holds.
var gods = []string{"Quetzalcoatl", "Xochimilco", "Popocatepetl", "Tlaltecuhtli", "Mictlantecuhtli"}

// Lore that is removed, changed, or goes with its source leaves the file as messages do.
func TestForgottenLoreLeavesTheFile(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	lore := func(id int64, n int, word string, sources ...memory.Spot) memory.Event {
		return memory.LoreTold{Lore: memory.Lore{ID: id, Guild: guild, Name: word + "a", Text: "about " +
			word + "b", Own: []string{word + "c"}, By: 1, At: idAt(n), Sources: sources}}
	}
	for n := range 40 { // neighbours, on the same pages
		apply(t, s, lore(int64(100+2*n), 1, "the usual"))
	}
	apply(t, s, posted(general, 1, "a source"), posted(general, 2, "another"), lore(121, 1, gods[0]),
		lore(123, 1, gods[1]),
		lore(125, 1, gods[2], memory.Spot{Channel: general, Message: id(1)}), lore(127, 1, gods[3],
			memory.Spot{Channel: general, Message: id(2)}),
		lore(129, 1, gods[4], memory.Spot{Channel: general, Message: id(2)}))
	gone := []memory.Event{memory.LoreGone{Guild: guild, ID: 121}, lore(123, 2, "Something else"),
		deleted(general, 1), edited(general, 2, "and changed")}
	leaveTheFile(t, s, gods, gone, []memory.Event{lore(131, 1, "Coyolxauhqui")}, 1)
}

// A summary that is taken away, made again or makes room, or goes with its source, leaves the file as messages do.
func TestForgottenSummariesLeaveTheFile(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	summary := func(n int, word string, sources ...int) memory.Summarised {
		e := summed(general, n)
		e.Summary.Text, e.Summary.Topics, e.Summary.Model, e.Summary.Sources = "about "+word+"a",
			[]string{word + "b"}, word+"c", nil
		for _, n := range sources {
			e.Summary.Sources = append(e.Summary.Sources, memory.SummarySource{Message: id(n)})
		}
		return e
	}
	for n := range 60 { // neighbours, on the same pages
		apply(t, s, posted(general, n+1, "one of many"), summary(n+1, "the usual", n+1))
	}
	for i, word := range gods {
		apply(t, s, posted(general, 100+i, "a source"), summary(100+i, word, 100+i, 7))
	}
	again := summary(101, "something else", 101)
	again.Summary.Made = idAt(999)
	gone := []memory.Event{deleted(general, 100), again, deleted(general, 102), edited(general, 103, "and changed"),
		memory.Summarised{Guild: guild, Channel: general, Until: id(900), Evicted: []memory.MessageID{id(104)}}}
	leaveTheFile(t, s, gods, gone, []memory.Event{posted(general, 901, "the last"),
		summary(901, "Coyolxauhqui", 8, 901)}, 1+8%3)
}

// What a session was condensed to leaves the file with the session, with its next version and with its sources.
func TestForgottenCondensationsLeaveTheFile(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	for n := 1; n <= 60; n++ {
		apply(t, s, posted(general, n, "one of many"), posted(1001, n, "one of many"),
			posted(1002, n, "one of many"), posted(1003, n, "one of many"))
	}
	apply(t, s, condensed(general, "about "+gods[0], 1, 2), condensed(1001, "about "+gods[1], 1, 3),
		condensed(1002, "about "+gods[2], 2, 4), condensed(1003, "about "+gods[3], 5))
	gone := []memory.Event{condensed(general, "something else", 1, 2, 9), deleted(1001, 1),
		edited(1002, 4, "changed"), memory.CondensedGone{Guild: guild, Channel: 1003, Until: id(5)}}
	leaveTheFile(t, s, gods[:4], gone, []memory.Event{condensed(general, "about Coyolxauhqui", 1, 8, 11)}, 1+8%3)
}

// A backup brings no summary back of which a source was taken away.
func TestRestoredSummaries(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	answer := posted(general, 20, "an answer")
	answer.Message.Kind = memory.FromHark
	for n := 1; n <= 5; n++ {
		apply(t, s, posted(general, n, "one of many"), summed(general, n))
	}
	two := summed(general, 7)
	two.After, two.Summary.Sources = id(5), []memory.SummarySource{{Message: id(6)}, {Message: id(7)}}
	apply(t, s, posted(general, 6, "one of two"), posted(general, 7, "the other"), two)
	apply(t, s, answer, usedSummary(id(20), id(1)))
	backup := backUp(t, s)
	apply(t, s, deleted(general, 1), deleted(general, 7), deleted(general, 2), edited(general, 3, "other"))
	forget(t, s, memory.Forgetting{Guild: guild, User: 1 + 4%3, Before: idAt(5), Why: memory.WhyMember, At: idAt(900)})
	closed(t, s)
	got, _ := restored(t, s.engine.dir, backup)
	all, err := got.Summaries(bg, general)
	if err != nil || len(all) != 1 || all[0].ID != id(5) {
		t.Errorf("the summaries are %+v, %v", all, err)
	}
	if _, err := memory.TraceOf(bg, got, general, id(20)); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the answer is still there: %v", err)
	}
	for _, n := range []int{1, 2, 3, 4, 6, 7} {
		wantNowhere(t, s.engine.dir, fmt.Sprintf("summary%dq", n))
	}
	checkSound(t, got)
}

// A backup brings neither back what was removed nor what was said before a change.
func TestRestoredLore(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	lore := func(id int64, n int, word string, by memory.UserID) memory.LoreTold {
		return memory.LoreTold{Lore: memory.Lore{ID: id, Guild: guild, Name: word + "a", Text: "about " +
			word + "b", By: by, At: idAt(n)}}
	}
	answer := posted(general, 5, "an answer")
	answer.Message.Kind = memory.FromHark
	apply(t, s, posted(general, 1, "hello"), lore(1, 1, "Quetzalcoatl", 1), lore(2, 1, "Xochimilco", 1),
		lore(3, 1, "Popocatepetl", 2), lore(4, 1, "stays", 1), lore(6, 1, "Mictlantecuhtli", 1),
		posted(general, 2, "another"), posted(general, 3, "a third"),
		answer, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(5), Asker: 8,
			Sources: fromLore(1)}})
	backup := backUp(t, s)
	changed := lore(2, 2, "different", 1)
	changed.Lore.Own, changed.Lore.Sources = []string{"other"}, []memory.Spot{{Channel: general, Message: id(3)}}
	sourced := lore(6, 2, "Tlaltecuhtli", 1)
	sourced.Lore.Sources = []memory.Spot{{Channel: general, Message: id(2)}} // by user 3
	apply(t, s, memory.LoreGone{Guild: guild, ID: 1}, changed, sourced, lore(5, 2, "new", 1))
	for _, user := range []memory.UserID{2, 3} {
		forget(t, s, memory.Forgetting{Guild: guild, User: user, Why: memory.WhyMember, At: idAt(900)})
	}
	closed(t, s)
	got, r := restored(t, s.engine.dir, backup)
	if !r.Known || r.Lore != 3 || len(r.Forgettings) != 2 || r.Forgettings[0].Lore != 1 {
		t.Errorf("%+v", r)
	}
	all, err := got.Lore(bg, guild)
	if err != nil || len(all) != 2 || !reflect.DeepEqual(all[0], changed.Lore) || all[1].ID != 4 {
		t.Errorf("the lore is %+v, %v", all, err)
	}
	if _, err := memory.TraceOf(bg, got, general, id(5)); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the answer is still there: %v", err)
	}
	for _, word := range []string{"etzalcoatl", "ochimilco", "pocatepetl", "ltecuhtli", "lantecuhtli"} {
		wantNowhere(t, s.engine.dir, word)
	}
}
