package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
)

// fakeClock is a clock that stands still until it is moved.
type fakeClock struct{ at time.Time }

func (c *fakeClock) now() time.Time          { return c.at }
func (c *fakeClock) advance(d time.Duration) { c.at = c.at.Add(d) }

func newTestBuffer() (*Buffer, *fakeClock) {
	c := &fakeClock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return NewBuffer(time.Hour, c.now), c
}

func messageFrom(channel memory.ChannelID, id memory.MessageID, author memory.UserID, text string) memory.Message {
	return memory.Message{ID: id, Guild: 5, Channel: channel, Author: author, Content: text}
}

// sessionText is the text of a channel's session.
func sessionText(r *Buffer, channel memory.ChannelID) string {
	var texts []string
	for _, m := range r.Before(channel, 1<<62) {
		texts = append(texts, m.Content)
	}
	return strings.Join(texts, " ")
}

// runStep does what a line of a script says, and is what is heard in channels 7 and 8 then. Hark says what begins
// with a dash.
func runStep(r *Buffer, clock *fakeClock, line string) string {
	verb, rest, _ := strings.Cut(line, " ")
	var channel memory.ChannelID
	var id memory.MessageID
	var who memory.UserID
	_, _ = fmt.Sscan(rest, &channel, &id, &who)
	words := strings.Fields(rest)
	text := words[len(words)-1]
	m := messageFrom(channel, id, who, text)
	switch verb {
	case "say":
		if strings.HasPrefix(text, "-") {
			m.Kind = memory.FromHark
		}
		r.Add(m)
	case "told", "late": // as it is now, after an edit a minute from now, or long ago
		if verb == "told" {
			m.Edited = clock.at.Add(time.Minute)
		}
		r.edit(channel, id, m.Edited, func(old *memory.Message) { *old = m })
	case "edit":
		r.edit(channel, id, r.now(), func(old *memory.Message) { old.Content, old.Edited = text, r.now() })
	case "delete":
		r.See(Subject{Channel: channel, Deleted: []memory.MessageID{id}})
	case "forget":
		r.Forget(memory.GuildID(channel), memory.UserID(id))
	case "drop":
		r.Drop(channel)
	case "leave":
		r.See(Subject{Guild: memory.GuildID(channel), Ended: true})
	case "later":
		span, _ := time.ParseDuration(rest)
		clock.advance(span)
	}
	return strings.TrimSuffix(sessionText(r, 7)+" | "+sessionText(r, 8), " | ")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]string{
		"edits and deletions": {"say 7 3 1 c", "say 7 1 1 a", "say 7 2 2 b", "say 7 2 2 b",
			"say 8 9 2 elsewhere: a b c | elsewhere",
			"told 7 2 2 B", "late 7 2 2 older", "say 7 2 2 older", "told 7 4 2 unknown: a B c | elsewhere", "edit 7 1 A",
			"edit 6 1 X: A B c | elsewhere", "delete 7 1", "delete 7 3", "delete 70 2: B | elsewhere", "drop 7:  | elsewhere"},
		"a guild that is left": {"say 7 1 1 a", "leave 6: a", "leave 5: "},
		"who is forgotten, and what was answered meanwhile": {"say 7 1 1 secret", "say 7 2 99 -secret",
			"say 7 3 2 b", "say 8 4 99 -elsewhere", "forget 6 1: secret -secret b | -elsewhere", "forget 5 1: b | -elsewhere"},
		"an answer to what is deleted": {"say 7 1 1 a", "say 7 2 99 -a", "edit 7 1 a: a -a", "delete 7 1: "},
		"an answer to what is edited":  {"say 7 1 1 a", "say 7 2 99 -a", "edit 7 1 A: A"},
		"silence":                      {"say 7 1 1 a", "later 1h", "say 7 2 1 b", "later 1h: a b", "later 1s: "},
	} {
		r, clock := newTestBuffer()
		for i, line := range script {
			step, want, told := strings.Cut(line, ": ")
			if got := runStep(r, clock, step); told && got != want {
				t.Errorf("%s, step %d, %s: heard %q", name, i, step, got)
			}
		}
	}
	r, clock := newTestBuffer()
	if got := r.Before(7, 1); got == nil || len(got) != 0 {
		t.Errorf("no session is %v, want an empty one", got)
	}
	runStep(r, clock, "say 7 1 1 a")
	runStep(r, clock, "say 7 2 1 b")
	if got := r.Before(7, 2); len(got) != 1 {
		t.Errorf("before the question: %v", got)
	}
	clock.advance(2 * time.Hour)
	if r.Expire(); len(r.channels) != 0 || NewBuffer(0, clock.now).gap != defaultSessionGap {
		t.Error("a session that has ended is still held, or none ever ends")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	r, clock := newTestBuffer()
	for i := range maxSessions + 1 {
		r.Add(messageFrom(memory.ChannelID(i+1), 1, 1, "x"))
		clock.advance(time.Millisecond)
	}
	if len(r.channels) != maxSessions || r.channels[1] != nil {
		t.Errorf("%d channels, the oldest there: %t", len(r.channels), r.channels[1] != nil)
	}
	r.Add(messageFrom(2, 1<<40, 1, strings.Repeat("x", maxSessionBytes+1)))
	if got := r.Before(2, 1<<62); len(got) != 0 {
		t.Errorf("a monster is held: %d messages", len(got))
	}
	rapid.Check(t, func(t *rapid.T) {
		r, _ := newTestBuffer()
		all := map[memory.MessageID]string{}
		for range rapid.IntRange(0, 120).Draw(t, "messages") {
			m := messageFrom(7, memory.MessageID(rapid.IntRange(1, 100).Draw(t, "id")), 1,
				strings.Repeat("x", rapid.SampledFrom([]int{1, 500, 4000}).Draw(t, "size")))
			if _, twice := all[m.ID]; !twice {
				all[m.ID] = m.Content
				r.Add(m)
			}
		}
		got := r.Before(7, 1<<62)
		bytes := 0
		for i, m := range got {
			bytes += len(m.Content)
			if m.Content != all[m.ID] || i > 0 && got[i-1].ID >= m.ID {
				t.Fatalf("message %d isn't as it was said, or where", m.ID)
			}
		}
		if len(got) > maxSessionMessages || bytes > maxSessionBytes {
			t.Fatalf("%d messages with %d bytes", len(got), bytes)
		}
		if len(all) > 0 && len(got) == 0 {
			t.Fatal("nothing is known")
		}
	})
}

func TestASessionLosesTheCopiesOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	original := memory.Original{Guild: 5, Channel: 8, Message: 2}
	for name, gone := range map[string]memory.Event{
		"the original":    memory.Deleted{Guild: 5, Channel: 8, IDs: []memory.MessageID{2}},
		"another message": memory.Deleted{Guild: 5, Channel: 8, IDs: []memory.MessageID{4}},
		"its channel":     memory.ChannelDeleted{Guild: 5, Channel: 8},
		"another channel": memory.ChannelDeleted{Guild: 5, Channel: 9},
	} {
		r, _ := newTestBuffer()
		copied := messageFrom(7, 3, 1, "copied")
		copied.Original = original
		r.Add(copied)
		r.Add(messageFrom(7, 5, 1, "else"))
		r.See(subjectOf(gone))
		want := "else"
		if strings.HasPrefix(name, "another") {
			want = "copied else"
		}
		if got := sessionText(r, 7); got != want {
			t.Errorf("after %s is deleted: %q", name, got)
		}
	}
}
