package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// recorded is a call that came of message n, or of none, asked by somebody a minute after that.
func recorded(call string, n int, asker memory.UserID) memory.Called {
	r := memory.Record{
		CallID: call, Timestamp: idAt(n + 6), Speaker: memory.SpeakerTool, Method: "search_memory", Outcome: "3 messages",
		Guild: guild, Channel: general, Asker: asker,
	}
	if n != 0 {
		r.Question = id(n)
	}
	return memory.Called{Record: r}
}

// recordAll keeps records in a transaction.
func recordAll(t *transaction, all ...memory.Called) error {
	for _, e := range all {
		r, err := t.store.prepareRecord(e.Record)
		if err == nil {
			err = t.keepRecord(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func records(t testing.TB, s *Store, channels ...memory.ChannelID) []memory.Record {
	t.Helper()
	all, err := s.Records(bg, memory.RecordQuery{Channels: channels, Oldest: true})
	must(t, err)
	return all
}

// recording is a store with an answer, number 20, to number 10, and the record of a call whose outcome holds a word that is
// nowhere else, as no record should.
func recording(t *testing.T, dir, word string) *Store {
	t.Helper()
	s := open(t, dir)
	answer := posted(general, 20, "so it is")
	answer.Message.Kind, answer.Message.Author = memory.FromHark, harks
	called := recorded("told", 10, 2)
	called.Record.Answer, called.Record.Outcome = id(20), word
	called.Record.Kwargs = map[string]any{"user": mentioned, "text": word + "b"}
	apply(t, s, posted(general, 1, "a source"), posted(secret, 2, "another source"), posted(general, 10, "a question"), answer,
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(20), Question: id(10), Asker: 2, Recalled: []memory.TraceHit{
			{Channel: general, Message: id(1), Number: 1}, {Channel: secret, Message: id(2), Context: true}}}}, called)
	for n := range 200 { // on the same pages
		beside := recorded(fmt.Sprintf("beside%d", n), 0, 77)
		beside.Record.Guild, beside.Record.Channel, beside.Record.Timestamp = 200, 2500, idAt(990)
		apply(t, s, beside)
	}
	if n := len(holding(t, dir, word)); n == 0 {
		t.Fatal("the word isn't in the file in the first place")
	}
	return s
}

// Whatever takes away what a record is about takes the record out of the file.
func TestForgottenRecordsLeaveTheFile(t *testing.T) {
	t.Parallel()
	forget, tell := forgetting, telling
	for name, do := range map[string]func(*testing.T, *Store){
		"the question is deleted":           tell(deleted(general, 10)),
		"the answer is deleted":             tell(deleted(general, 20)),
		"a source of the answer is deleted": tell(deleted(secret, 2)),
		"the question is edited":            tell(edited(general, 10, "another question")),
		"a source of the answer is edited":  tell(edited(general, 1, "another text")),
		"the asker opts out":                tell(memory.Opted{Guild: guild, User: 2, Out: true, At: idAt(900)}),
		"the asker is forgotten":            forget(memory.Forgetting{Guild: guild, User: 2, Why: memory.WhyMember}),
		"the asker is forgotten in a place": forget(memory.Forgetting{Guild: guild, Channel: general, User: 2, Why: memory.WhyPurge}),
		"who is named opts out":             tell(memory.Opted{Guild: guild, User: mentioned, Out: true, At: idAt(900)}),
		"who is named is forgotten":         forget(memory.Forgetting{Guild: memory.Everywhere, User: mentioned, Why: memory.WhyPurge}),
		"who answered is forgotten":         forget(memory.Forgetting{Guild: guild, User: harks, Why: memory.WhyPurge}),
		"the channel is deleted":            tell(memory.ChannelDeleted{Guild: guild, Channel: general, At: idAt(900)}),
		"the guild was left":                forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft}),
		"the question is too old":           forget(memory.Forgetting{Guild: guild, Before: idAt(11), Why: memory.WhyAge}),
		"it is too old": func(t *testing.T, s *Store) {
			if n, err := s.ForgetRecords(bg, memory.RecordLimits{Before: idAt(17)}); n != 1 || err != nil {
				t.Errorf("forgot %d, %v", n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const word = "Popocatepetl"
			dir := emptyDir(t)
			s := recording(t, dir, word)
			do(t, s)
			for _, when := range []string{"", "after closing "} {
				wantNowhere(t, dir, canaries(word)...)
				if when == "" {
					if got := records(t, s, general, 2500); len(got) != 200 {
						t.Errorf("%d records are left", len(got))
					}
					checkSound(t, s)
					closed(t, s)
				}
			}
		})
	}
}

// A channel's newest records stay as long as they cost no more than they may, and what goes goes in steps.
func TestRecordsAreBoundedByWhatTheyCost(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t)) // which counts a token for each word
	var events []memory.Event
	for n := range 2*forgetStep + 50 {
		e := recorded(fmt.Sprintf("%04d", n), 0, 1)
		e.Record.Timestamp, e.Record.Outcome = idAt(n), strings.Repeat("word ", 1+n%5)
		if n%10 == 0 {
			e.Record.Channel = secret
		}
		events = append(events, e)
	}
	apply(t, s, events...)
	all := records(t, s, general)
	want, cost := 0, 0
	for i := len(all) - 1; i >= 0; i-- {
		body, err := all[i].MarshalJSON()
		must(t, err)
		if cost += words(string(body)); cost > 100 {
			break
		}
		want++
	}
	if want < 10 {
		t.Fatalf("%d records fit", want)
	}
	n, err := s.ForgetRecords(bg, memory.RecordLimits{Tokens: 100})
	got, elsewhere := records(t, s, general), records(t, s, secret)
	if err != nil || len(got) != want || got[0].CallID != all[len(all)-want].CallID || n != len(events)-len(got)-len(elsewhere) {
		t.Errorf("forgot %d, %v; %d are left, want %d", n, err, len(got), want)
	}
	if len(elsewhere) < 10 {
		t.Errorf("%d of another channel are left", len(elsewhere))
	}
	if n, err := s.ForgetRecords(bg, memory.RecordLimits{Tokens: 100}); n != 0 || err != nil {
		t.Errorf("again forgot %d, %v", n, err)
	}
}

// What is broken off has gone as far as it came, and goes on where it was.
func TestConcurrentForgettingOfRecordsBrokenOff(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	for n := range 3 * forgetStep {
		apply(t, s, recorded(fmt.Sprint(n), 0, 1))
	}
	ctx, cancel := context.WithCancel(bg)
	seen := make(chan error, 1)
	go func() { // whoever reads sees whole steps only, and ends it all after the first
		defer cancel()
		for {
			all, err := s.Records(bg, memory.RecordQuery{Channels: []memory.ChannelID{general}})
			if err == nil && len(all)%forgetStep != 0 {
				err = fmt.Errorf("%d are left in between", len(all))
			}
			if err != nil || len(all) < 3*forgetStep {
				seen <- err
				return
			}
		}
	}()
	n, err := s.ForgetRecords(ctx, memory.RecordLimits{Count: forgetStep})
	if err := <-seen; err != nil {
		t.Error(err)
	}
	left := len(records(t, s, general))
	if err == nil && left != forgetStep || err != nil && n != 3*forgetStep-left {
		t.Errorf("forgot %d, %v; %d are left", n, err, left)
	}
	if _, err := s.ForgetRecords(bg, memory.RecordLimits{Count: forgetStep}); err != nil || len(records(t, s, general)) != forgetStep {
		t.Errorf("%v; %d are left", err, len(records(t, s, general)))
	}
}

func TestFingerprintKeyIsTheFiles(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	first, second := open(t, dir), open(t, dir)
	keyOf := func(s *Store) []byte {
		t.Helper()
		key, err := s.FingerprintKey(bg)
		must(t, err)
		return key
	}
	key := keyOf(first)
	if !bytes.Equal(keyOf(second), key) || !bytes.Equal(keyOf(first), key) || len(key) != memory.FingerprintKeyBytes {
		t.Errorf("the key is %x, %x", key, keyOf(second))
	}
	if bytes.Equal(keyOf(open(t, emptyDir(t))), key) {
		t.Error("another file has the same key")
	}
	execute(t, first.write, "UPDATE meta SET value = 'ab' WHERE key = ?", fingerprintKey)
	if _, err := first.FingerprintKey(bg); err == nil {
		t.Errorf("a damaged key: %v", err)
	}
	execute(t, first.write, "UPDATE meta SET value = 'no' WHERE key = ?", fingerprintKey)
	if _, err := first.FingerprintKey(bg); err == nil {
		t.Error("a key that isn't one is taken")
	}
}

// Backups hold records and their key, and bring back none that was taken away since.
func TestRestoredRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		since func(*testing.T, *Store)
		stays bool
	}{
		"nothing":                 {func(*testing.T, *Store) {}, true},
		"the question was edited": {func(t *testing.T, s *Store) { apply(t, s, edited(general, 10, "another question")) }, false},
		"a source was deleted":    {func(t *testing.T, s *Store) { apply(t, s, deleted(secret, 2)) }, false},
		"the asker opted out": {func(t *testing.T, s *Store) {
			apply(t, s, memory.Opted{Guild: guild, User: 2, Out: true, At: idAt(900)})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := emptyDir(t)
			s := recording(t, dir, "Iztaccihuatl")
			key, err := s.FingerprintKey(bg)
			must(t, err)
			backup := backUp(t, s)
			c.since(t, s)
			closed(t, s)
			if _, err := Restore(bg, dir, backup, nil); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
			if got := records(t, s, general); len(got) == 1 != c.stays {
				t.Errorf("the records are %+v", got)
			}
			if again, err := s.FingerprintKey(bg); err != nil || !bytes.Equal(again, key) {
				t.Errorf("the key is %x, was %x, %v", again, key, err)
			}
			checkSound(t, s)
		})
	}
}

func TestReadingDamagedRecords(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, recorded("one", 0, 1))
	execute(t, s.write, "UPDATE record SET body = '{'")
	if _, err := s.Records(bg, memory.RecordQuery{Channels: []memory.ChannelID{general}}); err == nil {
		t.Errorf("read damaged records: %v", err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	for what, err := range map[string]error{
		"Records":        func() error { _, err := s.Records(ctx, memory.RecordQuery{}); return err }(),
		"ForgetRecords":  func() error { _, err := s.ForgetRecords(ctx, memory.RecordLimits{Count: 1}); return err }(),
		"FingerprintKey": func() error { _, err := s.FingerprintKey(ctx); return err }(),
	} {
		if err == nil {
			t.Errorf("%s with an ended context", what)
		}
	}
}

// What is kept of records stays small, and finding a channel's newest takes no look at the others.
func BenchmarkRecords(b *testing.B) {
	s := open(b, b.TempDir())
	var events []memory.Event
	for n := range 20_000 {
		e := recorded(fmt.Sprint(n), 0, 1)
		e.Record.Channel, e.Record.Timestamp = memory.ChannelID(1000+n%50), idAt(n)
		if events = append(events, e); len(events) == 1000 {
			apply(b, s, events...)
			events = nil
		}
	}
	for b.Loop() {
		got, err := s.Records(bg, memory.RecordQuery{Channels: []memory.ChannelID{general}, Since: idAt(0), Until: idAt(0).Add(1e6 * time.Hour), Limit: 200})
		if err != nil || len(got) != 200 {
			b.Fatal(len(got), err)
		}
	}
}
