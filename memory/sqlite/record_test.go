package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"hark/memory"
)

// recorded is a call that came of message n, or of none, asked by somebody a minute after that.
func recorded(call string, n int, asker memory.UserID) memory.Called {
	r := memory.Record{
		CallID: call, Timestamp: idAt(n +
			6), Speaker: memory.SpeakerTool, Method: "search_memory", Outcome: "3 messages",
		Guild: guild, Channel: general, Asker: asker,
	}
	if n != 0 {
		r.Question = id(n)
	}
	return memory.Called{Record: r}
}

func records(t testing.TB, s *Store, channels ...memory.ChannelID) []memory.Record {
	t.Helper()
	all, err := s.Records(bg, memory.RecordQuery{Channels: channels, Oldest: true})
	must(t, err)
	return all
}

// recording is a store with an answer, number 20, to number 10, and the record of a call whose outcome holds
// a word that is nowhere else, as no record should.
func recording(t *testing.T, dir, word string) *Store {
	t.Helper()
	s := open(t, dir)
	answer := posted(general, 20, "so it is")
	answer.Message.Kind, answer.Message.Author = memory.FromHark, harks
	called := recorded("told", 10, 2)
	called.Record.Answer, called.Record.Outcome = id(20), word
	called.Record.Kwargs = map[string]any{"user": mentioned, "text": word + "b"}
	apply(t, s, posted(general, 1, "a source"), posted(secret, 2, "another source"),
		posted(general, 10, "a question"), answer,
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(20), Question: id(10), Asker: 2,
			Sources: append(from(general, 10, 1), from(secret, 2)...)}}, called)
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
	const word = "Popocatepetl"
	for name, do := range map[string]func(*testing.T, *Store){
		"the question is deleted":          tell(deleted(general, 10)),
		"the answer is deleted":            tell(deleted(general, 20)),
		"a source of the answer is edited": tell(edited(general, 1, "another text")),
		"the asker opts out":               tell(memory.Opted{Guild: guild, User: 2, Out: true, At: idAt(900)}),
		"the asker is forgotten":           forget(memory.Forgetting{Guild: guild, User: 2, Why: memory.WhyMember}),
		"who is named is forgotten": forget(memory.Forgetting{Guild: memory.Everywhere,
			User: mentioned, Why: memory.WhyPurge}),
		"who answered is forgotten": forget(memory.Forgetting{Guild: guild, User: harks, Why: memory.WhyPurge}),
		"the channel is deleted":    tell(memory.ChannelDeleted{Guild: guild, Channel: general, At: idAt(900)}),
		"the guild was left":        forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft}),
		"the question is too old":   forget(memory.Forgetting{Guild: guild, Before: idAt(11), Why: memory.WhyAge}),
		"it is too old": func(t *testing.T, s *Store) {
			must(t, s.Expire(bg, memory.Expiry{Records: memory.RecordLimits{Before: idAt(17)}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := recording(t, emptyDir(t), word)
			leaves(t, s, do, word)
			if got := records(t, open(t, s.engine.dir), general, 2500); len(got) != 200 {
				t.Errorf("%d records are left", len(got))
			}
		})
	}
}

// A channel's newest records stay as long as they cost no more than they may, and what goes goes in steps.
func TestRecordsAreBoundedByWhatTheyCost(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t)) // which counts a token for each word
	var events []memory.Event
	for n := range 450 {
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
	err := context.Canceled
	for looks := 2; err != nil; looks++ { // broken off, it has gone as far as it came, and goes on where it was
		ctx, cancel := context.WithCancel(bg)
		err = s.Expire(&stepping{Context: ctx, cancel: cancel, left: looks},
			memory.Expiry{Records: memory.RecordLimits{Tokens: 100}})
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
	}
	got, elsewhere := records(t, s, general), records(t, s, secret)
	if err != nil || len(got) != want || got[0].CallID != all[len(all)-want].CallID {
		t.Errorf("%v; %d are left, want %d", err, len(got), want)
	}
	if len(elsewhere) < 10 {
		t.Errorf("%d of another channel are left", len(elsewhere))
	}
	must(t, s.Expire(bg, memory.Expiry{Records: memory.RecordLimits{Tokens: 100}}))
	if again := records(t, s, general); len(again) != want {
		t.Errorf("afterwards %d are left, want %d", len(again), want)
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
}

// Backups hold records and their key, and bring back none that was taken away since.
func TestRestoredRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		since func(*testing.T, *Store)
		stays bool
	}{
		"nothing":                 {telling(), true},
		"the question was edited": {telling(edited(general, 10, "another question")), false},
		"a source was deleted":    {telling(deleted(secret, 2)), false},
		"the asker opted out":     {telling(memory.Opted{Guild: guild, User: 2, Out: true, At: idAt(900)}), false},
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
