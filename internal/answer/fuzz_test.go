package answer

import (
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// FuzzQuestion asks in the lobby whatever comes, with filters and replies that point anywhere: no error, and
// nothing that not all there may read.
func FuzzQuestion(f *testing.F) {
	const otherGuild, otherChannel, gone, opted = 990, 991, 992, memory.UserID(24)
	w := newWorld(f, nil)
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: otherChannel, Guild: otherGuild, Name: "abroad"}},
		memory.ChannelSeen{Channel: memory.Channel{ID: gone, Guild: guild, Name: "gone"}},
		memory.PersonSeen{Person: memory.Person{ID: opted, Guild: guild, Name: "Olga"}})
	ids := map[memory.ChannelID]memory.MessageID{}
	for i, c := range []memory.ChannelID{lobby, harbor, vault, kiosk, attic, annsDM, gone} {
		text := "The lighthouse password is canary, says the keeper"
		if c == lobby || c == harbor {
			text = "The lighthouse password is tuna, says everybody"
		}
		ids[c] = w.says(time.Duration(i+1)*day, c, ben, text)
	}
	w.posts(3*day, memory.Message{Guild: otherGuild, Channel: otherChannel, Author: ben,
		Content: "The lighthouse password is canary abroad"})
	w.says(4*day, lobby, opted, "Olga's password is canary")
	w.apply(memory.Opted{Guild: guild, User: opted, Out: true, At: noon.Add(-day)},
		memory.ChannelGone{Guild: guild, Channel: gone})
	for _, s := range []string{"", strings.Repeat("a", 4000), "the of and", "🎉🎉", "\" OR NEAR( *",
		"'; DROP TABLE message; --", "(.*)+$[", "ca\x00nary", "canary \xff\xfe",
		"\u202ecanary\u2066", "canary", "NOT canary", "content:canary", "屋根は誰が", "what about it?", "<#903> <@24>",
		"before the canary", "password canary lighthouse keeper"} {
		f.Add(s, int64(0), int64(0), int64(0), false)
	}
	for _, channel := range []memory.ChannelID{vault, otherChannel, gone, attic, annsDM, kiosk, -1, 1 << 62} {
		f.Add("password", int64(channel), int64(0), int64(ids[channel]), true)
	}
	f.Add("password", int64(0), int64(opted), int64(0), false)
	f.Add("password", int64(lobby), int64(-5), int64(ids[vault]), false)
	f.Fuzz(func(t *testing.T, s string, in, from, reply int64, only bool) {
		q := Question{Guild: guild, Channel: lobby, Asker: ann, Name: "Ann", Text: s, Now: noon,
			ReplyTo: memory.MessageID(reply), OnlyAsker: only}
		if only {
			q.Roles = []memory.RoleID{}
		}
		if in != 0 {
			q.Filter.In = []memory.ChannelID{memory.ChannelID(in)}
		}
		if from != 0 {
			q.Filter.From = []memory.UserID{memory.UserID(from)}
		}
		r, err := w.engine.Recall(t.Context(), q)
		if err != nil {
			t.Fatalf("%q in %d from %d: %v", s, in, from, err)
		}
		a, err := w.engine.Answer(t.Context(), q, nil)
		if err != nil {
			t.Fatalf("%q in %d from %d: %v", s, in, from, err)
		}
		if shown := r.Prompt.String() + a.Text; !strings.Contains(s, "canary") && strings.Contains(shown, "canary") {
			t.Errorf("%q in %d from %d shows %s", s, in, from, shown)
		}
		for _, h := range r.Result.Hits {
			if c := h.Message.Channel; c != lobby && c != harbor {
				t.Errorf("%q in %d from %d finds something in %d", s, in, from, c)
			}
		}
		for _, source := range a.Sources {
			if source.Channel != lobby && source.Channel != harbor {
				t.Errorf("%q in %d from %d cites something in %d", s, in, from, source.Channel)
			}
		}
	})
}
