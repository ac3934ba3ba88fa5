package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/fixture"
	"hark/memory"
	"hark/memory/sqlite/pagefile"
)

// marked is a text that is recognisable on each page that holds part of it.
func marked(n, length int) string {
	mark := fmt.Sprintf("<%06d>", n)
	return strings.Repeat(mark, length/len(mark)+1)
}

// Messages of the file to damage; some are deleted.
const (
	salvaged    = 900
	outsMessage = 3 // of each ten, by somebody who has opted out
)

// salvageable returns the directory of a closed store with messages, some of them deleted, forgotten, or by
// somebody who has opted out. In the channel secret, a forgetting is unfinished.
func salvageable(t *testing.T) string {
	t.Helper()
	return fixture.Dir(t, "salvageable", func(dir string) {
		s := openOnce(t, dir)
		apply(t, s, memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: "Harbour", Channels: []memory.Channel{
			{ID: general, Guild: guild, Name: "general"}, {ID: secret, Guild: guild,
				Name: "secret"}, {ID: 3000, Guild: guild, Name: "harbour", Owner: 7},
		}}, At: id(0).Time()})
		var events []memory.Event
		for n := range salvaged {
			length := 40 + n*37%700
			if n%40 == 0 {
				length = 9000
			}
			m := posted([]memory.ChannelID{general, general, 3000, secret}[n%4], n, marked(n, length))
			m.Message.Author = memory.UserID(1 + n%10)
			events = append(events, m, memory.PersonSeen{Person: memory.Person{Guild: guild,
				ID: m.Message.Author, Username: fmt.Sprint("user", m.Message.Author)}})
		}
		apply(t, s, events...)
		apply(t, s, memory.FactTold{Guild: guild, User: 2, Fact: memory.Fact{ID: 1, Text: "sails", By: 2}},
			memory.FactTold{Guild: guild, User: 2, Fact: memory.Fact{ID: 2, Text: "of what is gone", By: 2,
				Channel: general, Message: id(4)}},
			memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: guild, Name: "the boat", Text: "is red", By: 2,
				At: id(1).Time(), Sources: []memory.MessageRef{{Channel: general, Message: id(0)}}}},
			memory.Chose{Guild: guild, Channel: 3000, Choice: memory.Ignore, At: id(1).Time()},
			memory.Opted{Guild: guild, User: 1 + outsMessage, Out: true, At: id(salvaged).Time()},
			deleted(general, 4))
		carryOutAll(t, s)
		forget(t, s, memory.Forgetting{Guild: guild, User: 9, Channel: general, Before: id(100).Time(),
			Why: memory.WhyPurge, At: id(salvaged).Time()})
		apply(t, s, memory.ChannelDeleted{Guild: guild, Channel: secret, At: id(salvaged).Time()})
		closed(t, s)
	})
}

// staysGone reports whether the nth message of salvageable must stay deleted.
func staysGone(n int) bool {
	return n%4 == 3 || n%10 == outsMessage || n == 4 || n%4 < 2 && n%10 == 8 && n < 100
}

func salvage(t rapid.TB, dir string) (s *Salvage, got map[memory.MessageID]memory.Message) {
	t.Helper()
	s, err := OpenSalvage(bg, dir, nil, id(salvaged).Time(), 0, nil)
	must(t, err)
	got = map[memory.MessageID]memory.Message{}
	err = s.Messages(bg, func(c memory.Channel, m memory.Message) error {
		got[m.ID] = m
		return nil
	})
	must(t, s.Close())
	must(t, err)
	return s, got
}

// pagesWith returns the pages that hold a text, except free ones.
func pagesWith(file []byte, what string) []int {
	var all []int
	for no := 0; no*pagefile.Size < len(file); no++ {
		if bytes.Contains(file[no*pagefile.Size:min(len(file), (no+1)*pagefile.Size)], []byte(what)) {
			all = append(all, no)
		}
	}
	return all
}

func TestSalvageOfASoundFile(t *testing.T) {
	t.Parallel()
	dir := salvageable(t)
	before := content(t, filepath.Join(dir, FileName))
	s, got := salvage(t, dir)
	for n := range salvaged {
		m, there := got[id(n)]
		if there == staysGone(n) {
			t.Errorf("message %d is there: %t", n, there)
		}
		if there && (!strings.HasPrefix(m.Content, marked(n, 1)) || m.Author != memory.UserID(1+n%10) ||
			m.Guild != guild) {
			t.Errorf("message %d is %+v", n, m)
		}
	}
	for table, pages := range s.Damaged {
		if pages > 0 {
			t.Errorf("%d damaged pages of %s", pages, table)
		}
	}
	if len(s.Unsure) > 0 || s.Left.Gone == 0 || s.Left.Expired+s.Left.Nowhere > 0 {
		t.Errorf("unsure of %q, left out %+v", s.Unsure, s.Left)
	}
	for _, p := range s.Places {
		if p.Recalled != p.Known {
			t.Errorf("of %s %d of %d", p.Channel.Name, p.Recalled, p.Known)
		}
	}
	if content(t, filepath.Join(dir, FileName)) != before {
		t.Error("the database isn't as it was")
	}
}

// Decisions, forgettings, facts and lore come with the messages, so another store respects them.
func TestWhatIsSalvagedBesideMessages(t *testing.T) {
	t.Parallel()
	s, _ := salvage(t, salvageable(t))
	fresh := open(t, emptyDir(t))
	apply(t, fresh, s.Events...)
	apply(t, fresh, s.Events...)
	carryOutAll(t, fresh)
	if out, err := memory.HasOptedOut(bg, fresh, guild, 1+outsMessage); !out || err != nil {
		t.Errorf("opted out: %t, %v", out, err)
	}
	back := posted(general, 8, "of what was purged")
	back.Message.Author = 9
	apply(t, fresh, posted(secret, 3, "of the deleted channel"), posted(general, 4, "deleted"), back,
		posted(general, 5, "stays"))
	for channel, want := range map[memory.ChannelID]int{secret: 0, general: 1} {
		if log, err := fresh.Log(bg, channel, 0, id(salvaged), 10); err != nil || len(log) != want {
			t.Errorf("%d: %v, %v", channel, log, err)
		}
	}
	g, err := fresh.Guild(bg, guild)
	if err != nil || g.Name != "Harbour" {
		t.Errorf("the guild is %+v, %v", g, err)
	}
	if !slices.ContainsFunc(g.Channels, func(c memory.Channel) bool {
		return c.ID == 3000 && c.Choice == memory.Ignore && c.Owner == 7
	}) {
		t.Errorf("the channels are %+v", g.Channels)
	}
	people, err := fresh.People(bg, guild)
	facts := 0
	for _, p := range people {
		facts += len(p.Facts)
	}
	lore, loreErr := fresh.Lore(bg, guild)
	if err != nil || loreErr != nil || facts != 1 || len(lore) != 1 || len(lore[0].Sources) != 1 {
		t.Errorf("of people %+v, lore %+v, %v, %v", people, lore, err, loreErr)
	}
	for _, table := range []string{"derived", "source"} { // which tell what lore is from
		dir := salvageable(t)
		damage(t, dir, table)
		s, _ := salvage(t, dir)
		if slices.ContainsFunc(s.Events, func(e memory.Event) bool { _, ok := e.(memory.LoreTold); return ok }) {
			t.Errorf("lore comes out though %s is damaged", table)
		}
	}
}

// From a damaged file, every message on whole pages is read, and none that must stay deleted unless Salvage
// is unsure.
func TestSalvageOfADamagedFile(t *testing.T) {
	t.Parallel()
	from := salvageable(t)
	sound := []byte(content(t, filepath.Join(from, FileName)))
	on := make([][]int, salvaged)
	for n := range on {
		on[n] = pagesWith(sound, marked(n, 1))
	}
	places := pagesWith(sound, "harbour")
	rapid.Check(t, func(t *rapid.T) {
		file, hit := slices.Clone(sound), map[int]bool{}
		last := len(file)/pagefile.Size - 1
		for range rapid.IntRange(1, 12).Draw(t, "damages") {
			no := rapid.IntRange(0, last).Draw(t, "page")
			page := file[min(len(file), no*pagefile.Size):min(len(file), (no+1)*pagefile.Size)]
			if hit[no] = true; len(page) == 0 {
				continue
			}
			switch rapid.IntRange(0, 4).Draw(t, "damage") {
			case 0:
				clear(page)
			case 1:
				page[rapid.IntRange(0, len(page)-1).Draw(t, "at")] ^= byte(1 << rapid.IntRange(0, 7).Draw(t, "bit"))
			case 2: // where the page says what is on it
				page[min(len(page)-1, rapid.IntRange(0, 40).Draw(t, "at"))] = rapid.Byte().Draw(t, "byte")
			case 3:
				from := rapid.IntRange(0, last).Draw(t, "another page")
				copy(page, sound[from*pagefile.Size:(from+1)*pagefile.Size])
			case 4:
				cut := rapid.IntRange(len(file)*3/4, len(file)).Draw(t, "length")
				for no := cut / pagefile.Size; no <= last; no++ {
					hit[no] = true
				}
				file = file[:cut]
			}
		}
		dir, err := os.MkdirTemp("", "salvage")
		must(t, err)
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, FileName)
		must(t, os.WriteFile(path, file, 0o600))
		s, got := salvage(t, dir)
		isHit := func(no int) bool { return hit[no] }
		for n := range on {
			m, there := got[id(n)]
			switch whole := !slices.ContainsFunc(on[n], isHit); {
			case there && staysGone(n) && len(s.Unsure) == 0:
				t.Fatalf("message %d is back", n)
			case whole && !there && !staysGone(n) && !slices.ContainsFunc(places, isHit):
				t.Fatalf("message %d is missing, its pages %v are whole", n, on[n])
			case whole && there && m.Content != marked(n, len(m.Content)-1) &&
				!slices.ContainsFunc(pagesWith(file, marked(n, 1)), isHit): // where there is no second one
				t.Fatalf("message %d is %q", n, m.Content)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file) {
			t.Fatalf("the file was changed, %v", err)
		}
	})
}

// The write-ahead log counts. Without it nobody knows the last deletions.
func TestSalvageOfAFileThatWasNotClosed(t *testing.T) {
	t.Parallel()
	made := salvageable(t)
	s := openOnce(t, made)
	must(t, s.engine.erase(bg)) // so that the file says that it is open
	reader := raw(t, made)      // keeps the log from being emptied
	execute(t, reader, "BEGIN")
	execute(t, reader, "SELECT count(*) FROM message")
	apply(t, s, posted(general, salvaged, "written last"))
	copies := map[string][]byte{}
	for _, end := range []string{"", "-wal"} {
		copies[end] = []byte(content(t, filepath.Join(made, FileName+end)))
	}
	execute(t, reader, "ROLLBACK")
	closed(t, s)
	for _, c := range []struct {
		name   string
		damage func()
		there  bool
	}{
		{"whole", func() {}, true},
		{"its last write was cut short", func() {
			copies["-wal"] = append(copies["-wal"], copies["-wal"][32:132]...)
		}, true},
		{"its salt is damaged", func() { copies["-wal"][32+8] ^= 1 }, false},
		{"a page is damaged", func() { copies["-wal"][32+8] ^= 1; copies["-wal"][32+24+17] ^= 1 }, false},
		{"not a log", func() { copies["-wal"][0] ^= 1 }, false},
		{"missing", func() { delete(copies, "-wal") }, false},
	} {
		c.damage()
		dir := t.TempDir()
		for end, b := range copies {
			must(t, os.WriteFile(filepath.Join(dir, FileName+end), b, 0o600))
		}
		s, got := salvage(t, dir)
		if m := got[id(salvaged)]; (m.Content == "written last") != c.there ||
			slices.Contains(s.Unsure, FileName+"-wal") == c.there {
			t.Errorf("%s: got %q, unsure of %q", c.name, m.Content, s.Unsure)
		}
	}
}

type brokenAt struct {
	*bytes.Reader
	at int64
}

func (b brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.at {
		return 0, syscall.EIO
	}
	return b.Reader.ReadAt(p, off)
}

// Damage anywhere in the current part of the write-ahead log is noticed. What lies behind is older and
// ignored.
func TestSalvageOfADamagedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openOnce(t, dir)
	var events []memory.Event
	for n := range 90 {
		events = append(events, posted(general, n, marked(n, 2000)))
	}
	apply(t, s, events...)
	conn := raw(t, dir)
	execute(t, conn, "SELECT count(*) FROM message")   // only then does it know of the log
	execute(t, conn, "PRAGMA wal_checkpoint(PASSIVE)") // the next write begins the log anew
	for n := range 2 {
		apply(t, s, posted(general, 90+n, "written since"))
	}
	log := []byte(content(t, filepath.Join(dir, FileName+"-wal")))
	closed(t, s)
	const frame = 24 + pagefile.Size
	end := 32
	for end < len(log) && bytes.Equal(log[end+8:end+16], log[16:24]) {
		end += frame
	}
	if end == 32 || end == len(log) {
		t.Fatalf("of %d bytes %d were written since the log was begun anew", len(log), end)
	}
	isLost := func(log io.ReaderAt) bool {
		f := pagefile.File{}
		f.ReadLog(log)
		return f.LogLost
	}
	for name, sound := range map[string][]byte{"whole": log, "without what was there before": log[:end],
		"cut short": log[:end+frame/2]} {
		if isLost(bytes.NewReader(sound)) {
			t.Errorf("%s: it is taken to be damaged", name)
		}
	}
	for at := 32; at < end; at += frame {
		for bit := range 24 * 8 { // of what stands before the page
			damaged := slices.Clone(log)
			if damaged[at+bit/8] ^= 1 << (bit % 8); !isLost(bytes.NewReader(damaged)) ||
				!isLost(bytes.NewReader(damaged[:end])) {
				t.Errorf("bit %d of the frame at %d: nobody notices", bit, at)
			}
		}
		if !isLost(brokenAt{bytes.NewReader(log), int64(at)}) {
			t.Errorf("nobody notices that what is at %d can't be read", at)
		}
	}
	if !isLost(brokenAt{bytes.NewReader(log), 0}) {
		t.Error("nobody notices that the head can't be read")
	}
	rapid.Check(t, func(t *rapid.T) {
		damaged := slices.Clone(log[:rapid.SampledFrom([]int{end, len(log)}).Draw(t, "length")])
		from := rapid.IntRange(0, end-1).Draw(t, "from")
		part := damaged[from:rapid.IntRange(from+1, min(end, from+3*pagefile.Size)).Draw(t, "to")]
		with := rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "with")
		for i := range part {
			part[i] = with[i%len(with)]
		}
		if !bytes.Equal(damaged[:end], log[:end]) && !isLost(bytes.NewReader(damaged)) {
			t.Fatal("nobody notices")
		}
	})
}

func TestWhatIsTooOldIsNotSalvaged(t *testing.T) {
	t.Parallel()
	s, err := OpenSalvage(bg, salvageable(t), nil, id(salvaged).Time().Add(48*time.Hour), 48*time.Hour, nil)
	must(t, err)
	defer s.Close()
	n := 0
	if err := s.Messages(bg, func(memory.Channel, memory.Message) error { n++; return nil }); err != nil ||
		n == 0 || s.Left.Expired == 0 {
		t.Errorf("%d messages, left out %+v, %v", n, s.Left, err)
	}
}

// An interrupted read returns an error, wherever it stopped, and no further messages.
func TestSalvageThatIsCutShort(t *testing.T) {
	t.Parallel()
	s, err := OpenSalvage(bg, salvageable(t), nil, id(salvaged).Time(), 0, nil)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	full := errors.New("the disk is full")
	for at := 1; at < salvaged; at += 8 {
		ctx, cancel := context.WithCancel(bg)
		n := 0
		err := s.Messages(ctx, func(memory.Channel, memory.Message) error {
			if n++; n == at {
				cancel()
			}
			return nil
		})
		if n >= at && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d, it ends with %v", at, err)
		}
		cancel()
		n = 0
		if err := s.Messages(bg, func(memory.Channel, memory.Message) error { n++; return full }); n != 1 ||
			err != full {
			t.Errorf("after %d messages it ends with %v", n, err)
		}
	}
}

func TestNothingIsSalvagedWhereHarkRuns(t *testing.T) {
	t.Parallel()
	dir := salvageable(t)
	open(t, dir)
	_, err := OpenSalvage(bg, dir, nil, id(0).Time(), 0, nil)
	wantError(t, err)
}

// If damage gives two rows the same number, both messages are read.
func TestSalvageOfTwoRowsWithOneNumber(t *testing.T) {
	t.Parallel()
	from, dir := salvageable(t), t.TempDir()
	sound := []byte(content(t, filepath.Join(from, FileName)))
	conn := raw(t, from)
	number := func(n int) (b []byte) {
		var row int64
		must(t, conn.QueryRowContext(bg, "SELECT row FROM message WHERE id = ?",
			int64(id(n))).Scan(&row))
		for shift := 42; shift >= 0; shift -= 7 {
			b = append(b, byte(row>>shift)|0x80)
		}
		b[6] &= 0x7f
		return b
	}
	leaf := pagesWith(sound, marked(192, 1))[0] * pagefile.Size
	copy(sound[leaf+bytes.Index(sound[leaf:leaf+pagefile.Size], number(192)):], number(224))
	// So that it is known to be damaged.
	clear(sound[pagesWith(sound, marked(720, 1))[0]*pagefile.Size:][:pagefile.Size])
	must(t, os.WriteFile(filepath.Join(dir, FileName), sound, 0o600))
	_, got := salvage(t, dir)
	for _, n := range []int{192, 224} {
		if m := got[id(n)]; !strings.HasPrefix(m.Content, marked(n, 1)) {
			t.Errorf("message %d is %+v", n, m)
		}
	}
}
