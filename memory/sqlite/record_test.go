package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"hark/memory"
)

func records(t testing.TB, s *Store, channels ...memory.ChannelID) []memory.Record {
	t.Helper()
	all, err := s.Records(bg, memory.RecordQuery{Channels: channels, Oldest: true})
	must(t, err)
	return all
}

// A channel's newest records stay within their token limit, and deletion goes in steps.
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
	for looks := 2; err != nil; looks++ { // an interrupted run keeps its progress, and the next continues
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
