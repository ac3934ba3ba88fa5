package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
)

// clockwork is a clock that stands still until it is moved.
type clockwork struct{ at time.Time }

func (c *clockwork) now() time.Time          { return c.at }
func (c *clockwork) advance(d time.Duration) { c.at = c.at.Add(d) }

func newSessions() (*recent, *clockwork) {
	c := &clockwork{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return newRecent(time.Hour, c.now), c
}

func spoke(channel memory.ChannelID, id memory.MessageID, author memory.UserID, text string) memory.Message {
	return memory.Message{ID: id, Guild: 5, Channel: channel, Author: author, Content: text}
}

// heard is the text of a channel's session.
func heard(r *recent, channel memory.ChannelID) string {
	var texts []string
	for _, m := range r.before(channel, 1<<62) {
		texts = append(texts, m.Content)
	}
	return strings.Join(texts, " ")
}

// does does what a line of a script says, and is what is heard in channels 7 and 8 then. Hark says what begins
// with a dash.
func does(r *recent, clock *clockwork, line string) string {
	verb, rest, _ := strings.Cut(line, " ")
	var channel memory.ChannelID
	var id memory.MessageID
	var who memory.UserID
	_, _ = fmt.Sscan(rest, &channel, &id, &who)
	words := strings.Fields(rest)
	text := words[len(words)-1]
	m := spoke(channel, id, who, text)
	switch verb {
	case "say":
		if strings.HasPrefix(text, "-") {
			m.Kind = memory.FromHark
		}
		r.add(m)
	case "told", "late": // as it is now, after an edit a minute from now, or long ago
		if verb == "told" {
			m.Edited = clock.at.Add(time.Minute)
		}
		r.edit(channel, id, m.Edited, func(old *memory.Message) { *old = m })
	case "edit":
		r.edit(channel, id, r.now(), func(old *memory.Message) { old.Content, old.Edited = text, r.now() })
	case "delete":
		r.see(subject{channel: channel, deleted: []memory.MessageID{id}})
	case "forget":
		r.forget(memory.GuildID(channel), memory.UserID(id))
	case "drop":
		r.drop(channel)
	case "leave":
		r.see(subject{guild: memory.GuildID(channel), ended: true})
	case "later":
		span, _ := time.ParseDuration(rest)
		clock.advance(span)
	}
	return strings.TrimSuffix(heard(r, 7)+" | "+heard(r, 8), " | ")
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
		r, clock := newSessions()
		for i, line := range script {
			step, want, told := strings.Cut(line, ": ")
			if got := does(r, clock, step); told && got != want {
				t.Errorf("%s, step %d, %s: heard %q", name, i, step, got)
			}
		}
	}
	r, clock := newSessions()
	if got := r.before(7, 1); got == nil || len(got) != 0 {
		t.Errorf("no session is %v, want an empty one", got)
	}
	does(r, clock, "say 7 1 1 a")
	does(r, clock, "say 7 2 1 b")
	if got := r.before(7, 2); len(got) != 1 {
		t.Errorf("before the question: %v", got)
	}
	clock.advance(2 * time.Hour)
	if r.expire(); len(r.channels) != 0 || newRecent(0, clock.now).gap != defaultSessionGap {
		t.Error("a session that has ended is still held, or none ever ends")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	r, clock := newSessions()
	for i := range recentChannels + 1 {
		r.add(spoke(memory.ChannelID(i+1), 1, 1, "x"))
		clock.advance(time.Millisecond)
	}
	if len(r.channels) != recentChannels || r.channels[1] != nil {
		t.Errorf("%d channels, the oldest there: %t", len(r.channels), r.channels[1] != nil)
	}
	r.add(spoke(2, 1<<40, 1, strings.Repeat("x", recentBytes+1)))
	if got := r.before(2, 1<<62); len(got) != 0 {
		t.Errorf("a monster is held: %d messages", len(got))
	}
	rapid.Check(t, func(t *rapid.T) {
		r, _ := newSessions()
		all := map[memory.MessageID]string{}
		for range rapid.IntRange(0, 120).Draw(t, "messages") {
			m := spoke(7, memory.MessageID(rapid.IntRange(1, 100).Draw(t, "id")), 1,
				strings.Repeat("x", rapid.SampledFrom([]int{1, 500, 4000}).Draw(t, "size")))
			if _, twice := all[m.ID]; !twice {
				all[m.ID] = m.Content
				r.add(m)
			}
		}
		got := r.before(7, 1<<62)
		bytes := 0
		for i, m := range got {
			bytes += len(m.Content)
			if m.Content != all[m.ID] || i > 0 && got[i-1].ID >= m.ID {
				t.Fatalf("message %d isn't as it was said, or where", m.ID)
			}
		}
		if len(got) > recentMessages || bytes > recentBytes {
			t.Fatalf("%d messages with %d bytes", len(got), bytes)
		}
		if len(all) > 0 && len(got) == 0 {
			t.Fatal("nothing is known")
		}
	})
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	log := newNotebook(t)
	r, _ := newSessions()
	var told []subject
	a := newAdmission(log, memory.Policy{Ask: true}, r, func(about []subject) { told = append(told, about...) })
	post := func(channel memory.ChannelID, id memory.MessageID, author memory.UserID, text string) memory.Posted {
		return memory.Posted{Message: spoke(channel, id, author, text), Live: true}
	}
	mine := post(7, 4, 99, "mine")
	mine.Live, mine.Message.Kind = false, memory.FromHark
	past := post(7, 1, 2, "long ago")
	past.Live = false
	chose := memory.Chose{Guild: 5, Channel: 8, Choice: memory.Remember}
	batch := []memory.Event{
		memory.GuildSeen{Guild: memory.Guild{ID: 5, Channels: []memory.Channel{{ID: 7}, {ID: 8}}}},
		past,
		post(7, 2, 1, "before opting out"),
		memory.Opted{Guild: 5, User: 1, Out: true},
		post(7, 3, 1, "after it"),
		mine,
		post(7, 5, 2, "typo"),
		memory.Edited{Guild: 5, Channel: 7, ID: 5, Content: "right", At: r.now()},
		memory.Answered{Trace: memory.Trace{Guild: 5, Channel: 7, Answer: 4}},
		memory.Called{Record: memory.Record{Guild: 5, Channel: 7, CallID: "7", Timestamp: noon,
			Speaker: memory.SpeakerTool, Method: "m"}},
		post(8, 6, 2, "too early"),
		chose,
		post(8, 7, 2, "in time"),
		memory.Answered{Trace: memory.Trace{Guild: 5, Channel: 8, Answer: 7}},
		memory.Called{Record: memory.Record{Guild: 5, Channel: 8, CallID: "8", Timestamp: noon,
			Speaker: memory.SpeakerTool, Method: "m"}},
	}
	for range 2 { // as after a failure
		if err := a.commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"memory.GuildSeen", "memory.Heard 2", "memory.Opted", "memory.Heard 3", "memory.Heard 5", "memory.Heard 6", "memory.Chose",
		"memory.Posted in time", "memory.Answered", "memory.Called 8",
	}
	var got []string
	for _, e := range log.events[:len(log.events)/2] {
		s := fmt.Sprintf("%T", e)
		switch e := e.(type) {
		case memory.Heard:
			s += " " + e.ID.String()
		case memory.Posted:
			s += " " + e.Message.Content
		case memory.Called:
			s += " " + e.Record.CallID
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Errorf("logged %q\nwant   %q", got, want)
	}
	if len(told) != 2*len(batch) {
		t.Errorf("told of %d events", len(told))
	}
	if got := heard(r, 7); got != "mine right" {
		t.Errorf("the session is %q", got)
	}
	if got := a.session(t.Context(), 5, 7, 5); len(got) != 1 || got[0].Content != "mine" {
		t.Errorf("before the question: %v", got)
	}
	if got := a.session(t.Context(), 5, 8, 9); got != nil {
		t.Errorf("a session of its own where the log tells: %v", got)
	}
	if err := a.commit(t.Context(), []memory.Event{memory.Deleted{Channel: 7, IDs: []memory.MessageID{5}},
		memory.ChannelDeleted{Channel: 8}}); err != nil || heard(r, 7) != "mine" {
		t.Errorf("after the deletion %q, %v", heard(r, 7), err)
	}
	if err := a.commit(t.Context(), []memory.Event{memory.GuildLeft{Guild: 5}}); err != nil || len(r.channels) != 0 {
		t.Errorf("after leaving %d sessions, %v", len(r.channels), err)
	}
	log.readFails = errDown
	if err := a.commit(t.Context(), []memory.Event{post(7, 20, 2, "who knows")}); err == nil || heard(r, 7) != "" {
		t.Error("heard of somebody of whom it isn't known whether they agree")
	}
	log.fail(errDown)
	if err := a.commit(t.Context(), []memory.Event{chose}); err == nil {
		t.Error("committed though the log fails")
	}
}
