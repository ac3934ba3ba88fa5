package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/golden"
	"hark/memory"
)

// line is a message line of a set.
func line(fields map[string]any) string {
	m := map[string]any{"type": "message", "channel": "c", "id": "m1", "author": "Ada",
		"time": "2024-05-01T10:00:00Z", "text": "hello"}
	maps.Copy(m, fields)
	b, _ := json.Marshal(m)
	return string(b) + "\n"
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(map[string]any{"id": fmt.Sprint("m", i), "author": fmt.Sprint("A", i%3),
			"text": fmt.Sprint("word", i)}))
	}
	return b.String()
}

func TestSetBecomesEvents(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.read(t, set)
	channel := ChannelID("trip")
	want := memory.Channel{ID: channel, Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: "trip"}
	if got := s.channels[channel]; !reflect.DeepEqual(got, want) {
		t.Errorf("channel %+v", got)
	}
	if got := s.people[UserID("Ada")]; got.Username != "Ada" || got.Guild != memory.LocalGuild {
		t.Errorf("person %+v", got)
	}
	all := s.contents()
	if len(all) != 3 {
		t.Fatalf("%d messages", len(all))
	}
	// The notice is of 08:05 UTC, so it comes first; the other two share a millisecond and keep their order.
	for i, want := range []struct {
		name, text string
		kind       memory.Kind
		author     memory.UserID
		at         string
	}{
		{"D1:3", "Ben left.", memory.FromSystem, 0, "2024-05-01T08:05:00Z"},
		{"D1:1", "The ferry leaves at noon.", memory.FromMember, UserID("Ada"), "2024-05-01T10:00:00Z"},
		{"D1:2", "I packed the tent.", memory.FromMember, UserID("Ben"), "2024-05-01T10:00:00Z"},
	} {
		m := all[i]
		if m.Content != want.text || m.Kind != want.kind || m.Author != want.author || m.Guild != memory.LocalGuild ||
			m.Time().Format(time.RFC3339) != want.at || s.names[place{channel, m.ID}] != want.name {
			t.Errorf("message %d: %+v, want %+v", i, m, want)
		}
	}
}

func TestSetResolvesReplies(t *testing.T) {
	t.Parallel()
	file := line(map[string]any{"id": "1", "reply_to": []string{"1"}}) +
		line(map[string]any{"id": "0", "reply_to": []string{"3"}}) + // to what comes later
		line(map[string]any{"id": "2", "reply_to": "1"}) +
		line(map[string]any{"id": "3", "reply_to": []string{"4", "gone", "2"}}) +
		line(map[string]any{"id": "4", "channel": "other", "reply_to": []string{"1"}})
	for name, files := range map[string][]string{"one batch": {file},
		"each by itself": strings.SplitAfter(strings.TrimSpace(file), "\n"), "twice": {file, file}} {
		s := newShelf()
		for _, f := range files {
			s.read(t, f)
		}
		id := func(name string) memory.MessageID { return s.placed[called{ChannelID("c"), name}] }
		for name, want := range map[string]memory.MessageID{"0": 0, "1": 0, "2": id("1"), "3": id("2")} {
			if got := s.messages[place{ChannelID("c"), id(name)}].ReplyTo; got != want {
				t.Errorf("%s: %s replies to %d, want %d", name, name, got, want)
			}
		}
		if got := s.messages[place{ChannelID("other"), s.placed[called{ChannelID("other"), "4"}]}].ReplyTo; got != 0 {
			t.Errorf("%s: a reply into another channel: %d", name, got)
		}
	}
}

// twins are n ids that want the same place in a millisecond.
func twins(n int) []string {
	at := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	first, _ := messageID(at, "t0:5")
	names := []string{"t0:5"}
	for i := 1; len(names) < n; i++ {
		name := fmt.Sprintf("t%d:5", i)
		if id, _ := messageID(at, name); id == first {
			names = append(names, name)
		}
	}
	return names
}

func TestIdsThatFallTogetherLoseNoMessage(t *testing.T) {
	t.Parallel()
	names := twins(4)
	var lines []string
	for _, n := range names {
		lines = append(lines, line(map[string]any{"id": n, "text": "I am " + n}))
	}
	filler := manyLines(600) // pushes the twins into batches of their own
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation(lines).Draw(t, "order")
		again := rapid.Permutation(lines).Draw(t, "again")
		between := rapid.SampledFrom([]string{"", "", "", "", "", "", "", filler}).Draw(t, "between")
		s := newShelf()
		for _, file := range []string{strings.Join(order, between), strings.Join(again, between)} {
			if _, err := Read(t.Context(), strings.NewReader(file), s, s.apply, nil); err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				m, ok := s.messages[place{ChannelID("c"), s.placed[called{ChannelID("c"), n}]}]
				if !ok || m.Content != "I am "+n {
					t.Fatalf("%s became %q", n, m.Content)
				}
			}
			want := len(names)
			if between != "" {
				want += 600
			}
			if len(s.messages) != want {
				t.Fatalf("%d messages, want %d", len(s.messages), want)
			}
		}
	})
}

func TestSetIsTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(strings.TrimSuffix(manyLines(800), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	a, b := newShelf(), newShelf()
	a.read(t, strings.Join(lines, ""))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	b.read(t, strings.Join(lines, "")+lines[0])
	if !reflect.DeepEqual(a.messages, b.messages) || !reflect.DeepEqual(a.names, b.names) {
		t.Error("the order of lines matters")
	}
	if !slices.IsSorted(a.order) {
		t.Error("messages of one millisecond don't keep the file's order")
	}
}

func TestIds(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 10, 0, 0, 7e6, time.UTC)
	if id, err := messageID(at, "D2:17"); err != nil || !id.Time().Equal(at) || int64(id)&lowMask>>hashBits != 17 {
		t.Errorf("%d lies at %s, %v", id, id.Time(), err)
	}
	if end := memory.FirstMessageID(at) + lowMask; nextID(end) != memory.FirstMessageID(at) ||
		nextID(-1) == 0 || nextID(lowMask) != 1 {
		t.Error("the ids of a millisecond don't go round, without 0")
	}
	// 2015's first millisecond, where an id can be 0.
	epoch := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5000 {
		if id, err := messageID(epoch, fmt.Sprint("x", i, ":0")); err != nil || id == 0 {
			t.Fatal(id, err)
		}
	}
}

func TestSetSkipsWhatItCannotPlace(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		line(map[string]any{"id": ""}), line(map[string]any{"channel": nil}), line(map[string]any{"time": "yesterday"}), line(map[string]any{"time": "1805-01-01T00:00:00Z"}),
		line(map[string]any{"type": "reaction"}), "17\n", line(map[string]any{"id": []int{1}}),
		discords(map[string]any{"server": "x"}), discords(map[string]any{"server": "1"}), discords(map[string]any{"channel_id": nil}), discords(map[string]any{"id": "a1"}),
	} {
		s := newShelf()
		sum := s.read(t, line(nil)+bad+line(map[string]any{"id": "m2"})+bad)
		if sum.Messages != 2 || sum.Skipped != 2 {
			t.Errorf("%s: %+v", bad, sum)
		}
		golden.Seen(t, bad+sum.FirstSkipped)
	}
}

func TestReadSet(t *testing.T) {
	t.Parallel()
	got, err := ReadSet(strings.NewReader(zip(set) +
		zip(line(map[string]any{"id": "r", "reply_to": []any{"m0", 5}}))))
	if err != nil {
		t.Fatal(err)
	}
	want := Set{
		Messages: map[string]map[string]string{"trip": {"D1:1": "Ada", "D1:2": "Ben", "D1:3": ""}, "c": {"r": "Ada"}},
		Questions: []SetQuestion{{Channel: "trip", ID: "q1", Text: "When does the ferry leave?",
			Evidence: []string{"D1:1"}, Time: time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC)}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func TestReadSetRefusesWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                          "empty",
		exportHead + exportMessages: "holds no questions",
		line(nil) + line(map[string]any{"id": ""}):               "line 2 has no id",
		line(nil) + `{"type":"question","channel":"c","id":"q"}`: "line 2 has no time",
		strings.TrimSuffix(line(nil), "}\n"):                     "cut off",
		"\xFE\xFF" + set:                                         "UTF-16",
	} {
		if _, err := ReadSet(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", file, err, want)
		}
	}
}
