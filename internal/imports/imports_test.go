package imports

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"hark/memory"
)

// shelf applies events as a store would, as far as imports can tell.
type shelf struct {
	guilds   map[memory.GuildID]string
	channels map[memory.ChannelID]memory.Channel
	people   map[memory.UserID]memory.Person
	messages map[place]memory.Message
	names    map[place]string
	placed   map[called]memory.MessageID
	batches  []int
	order    []memory.MessageID
	failAt   string
}

func newShelf() *shelf {
	return &shelf{
		guilds:   map[memory.GuildID]string{},
		channels: map[memory.ChannelID]memory.Channel{},
		people:   map[memory.UserID]memory.Person{},
		messages: map[place]memory.Message{},
		names:    map[place]string{},
		placed:   map[called]memory.MessageID{},
	}
}

func (s *shelf) apply(events []memory.Event) error {
	if s.failAt == "emit" {
		return errShelf
	}
	s.batches = append(s.batches, len(events))
	for _, e := range events {
		switch e := e.(type) {
		case memory.GuildNamed:
			s.guilds[e.Guild] = e.Name
		case memory.ChannelSeen:
			s.channels[e.Channel.ID] = e.Channel
		case memory.PersonSeen:
			s.people[e.Person.ID] = e.Person
		case memory.Posted:
			at := place{e.Message.Channel, e.Message.ID}
			if _, ok := s.messages[at]; !ok {
				s.order = append(s.order, e.Message.ID)
			}
			s.messages[at] = e.Message
		case memory.ExternalIDSeen:
			at, by := place{e.Channel, e.ID}, called{e.Channel, e.ExternalID}
			if _, ok := s.placed[by]; !ok && s.names[at] == "" {
				s.names[at], s.placed[by] = e.ExternalID, e.ID
			}
		}
	}
	return nil
}

func (s *shelf) ExternalIDs(_ context.Context, channel memory.ChannelID, messages []memory.MessageID,
	ids ...string) (map[memory.MessageID]string, error) {
	if s.failAt == "ExternalIDs" && len(messages) > 0 || s.failAt == "MessageByExternalID" && len(ids) > 0 {
		return nil, errShelf
	}
	found := map[memory.MessageID]string{}
	for _, id := range messages {
		if name, ok := s.names[place{channel, id}]; ok {
			found[id] = name
		}
	}
	for _, name := range ids {
		if id, ok := s.placed[called{channel, name}]; ok {
			found[id] = name
		}
	}
	return found, nil
}

func (s *shelf) People(_ context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	if s.failAt == "People" {
		return nil, errShelf
	}
	var people []memory.Person
	for _, p := range s.people {
		if p.Guild == guild {
			people = append(people, p)
		}
	}
	return people, nil
}

var errShelf = errors.New("the shelf broke")

func (s *shelf) read(t *testing.T, file string) Summary {
	t.Helper()
	sum, err := Read(t.Context(), strings.NewReader(file), s, s.apply, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// contents are the shelf's messages by id.
func (s *shelf) contents() []memory.Message {
	var all []memory.Message
	for _, m := range s.messages {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b memory.Message) int { return int(min(1, max(-1, a.ID-b.ID))) })
	return all
}

func zip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

const set = `{"type":"message","channel":"trip","id":"D1:1","author":"Ada","time":"2024-05-01T10:00:00Z","text":"The ferry leaves at noon."}
{"type":"message","channel":"trip","id":"D1:2","author":"Ben","time":"2024-05-01T10:00:00Z","text":"I packed the tent."}
{"type":"question","channel":"trip","id":"q1","text":"When does the ferry leave?","time":"2024-05-02T00:00:00Z","category":"time","evidence":["D1:1"]}
{"type":"message","channel":"trip","id":"D1:3","author":"","time":"2024-05-01T10:05:00+02:00","text":"Ben left."}
`

func TestReadRecognisesFilesByTheirContent(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"plain": set, "gzip": zip(set), "mark": "\uFEFF" + set, "mark in gzip": zip("\uFEFF" + set),
		"CRLF": strings.ReplaceAll(set, "\n", "\r\n"), "blank lines": "\n\n" + strings.ReplaceAll(set, "\n", "\n\n"),
		"no last newline": strings.TrimSuffix(set, "\n"), "two gzip members": zip(set[:300]) + zip(set[300:]),
		"text first": `{"text":"` + strings.Repeat("long ", 30000) + `","x":[{"y":1},2],` + set[1:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := newShelf().read(t, file)
			want := Summary{Kind: RecallSet, Channels: 1, Messages: 3, Questions: 1}
			if sum != want {
				t.Errorf("got %+v, want %+v", sum, want)
			}
		})
	}
}

func TestReadTellsItsProgress(t *testing.T) {
	t.Parallel()
	s, last := newShelf(), int64(0)
	file := zip(set)
	_, err := Read(t.Context(), strings.NewReader(file), s, s.apply, func(n int64) { last = n })
	if err != nil || last != int64(len(file)) {
		t.Errorf("told %d of %d bytes, %v", last, len(file), err)
	}
}

func TestReadPassesWholeBatchesOn(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 10 {
		// more than half a batch
		long.WriteString(line(map[string]any{"id": i, "text": strings.Repeat("long ", batchBytes/9)}))
	}
	for _, test := range []struct {
		file              string
		messages, batches int
	}{{manyLines(1000), 1000, 5}, {long.String() + manyLines(100), 110, 6}} {
		s := newShelf()
		s.read(t, test.file)
		if len(s.messages) != test.messages || len(s.batches) != test.batches || slices.Max(s.batches) > batchEvents+4 {
			t.Errorf("%d messages in batches of %v events", len(s.messages), s.batches)
		}
	}
}

func TestReadStopsWhenTheStoreFails(t *testing.T) {
	t.Parallel()
	reply := `{"type":"message","channel":"c","id":"2","author":"A","time":"2024-05-01T10:00:00Z","text":"x","reply_to":["1"]}`
	for _, test := range []struct{ at, file string }{
		{"MessageByExternalID", reply}, {"ExternalIDs", reply}, {"People", reply}, {"emit", reply}, {"People",
			exportHead + exportMessages}, {"People", discords(nil)},
	} {
		s := newShelf()
		s.failAt = test.at
		sum, err := Read(t.Context(), strings.NewReader(test.file), s, s.apply, nil)
		if !errors.Is(err, errShelf) || sum.Messages != 0 {
			t.Errorf("%s: %v, %d messages", test.at, err, sum.Messages)
		}
	}
}

func TestReadStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	for _, file := range []string{manyLines(2000), exportHead + strings.Repeat(`{"id":"1000000000000000007","content":"x"},`,
		2000) + `{"id":"1000000000000000008"}]}`} {
		ctx, cancel := context.WithCancel(t.Context())
		s := newShelf()
		_, err := Read(ctx, strings.NewReader(file), s, func(events []memory.Event) error {
			cancel()
			return s.apply(events)
		}, nil)
		if !errors.Is(err, context.Canceled) || len(s.batches) != 1 {
			t.Errorf("%v after %d batches", err, len(s.batches))
		}
	}
}
