package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
)

// sumsUpAt sums up what has ended at a time.
func (w *world) sumsUpAt(at time.Time) {
	w.t.Helper()
	if err := w.digests(at).Round(w.t.Context(), digest.Summaries); err != nil {
		w.t.Fatal(err)
	}
}

// digests makes them of what there is at a time.
func (w *world) digests(at time.Time) *digest.Worker {
	return digest.New(digest.Options{
		Log: w.store, Policy: memory.Policy{Direct: true}, SessionGap: 30 * time.Minute,
		Now: func() time.Time { return at }, Metrics: w.engine.options.Metrics,
		Failed: func(_ digest.Kind, channel memory.ChannelID, err error) {
			w.t.Errorf("in channel %d: %v", channel, err)
		},
	})
}

// previous is what a prompt shows of earlier sessions.
func previous(p string) string {
	var b strings.Builder
	for line := range strings.Lines(p) {
		if strings.HasPrefix(line, "[previous_context] ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Each session ends in a summary of its own words only. The newest is in the prompt if two are, or if the only one
// isn't clearly more relevant.
func TestNothingSaidLastIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	channel := memory.ChannelID(20_000)
	rapid.Check(t, func(t *rapid.T) {
		channel++
		w.apply(memory.GuildSeen{Guild: memory.Guild{ID: guild,
			Roles: []memory.Role{{ID: memory.RoleID(guild),
				Permissions: memory.ViewChannel | memory.ReadMessageHistory}},
			Channels: []memory.Channel{{ID: channel, Guild: guild, Name: "talk"}}}})
		topics := []string{"sailing boats", "document folders", "garden tomatoes", "chess openings"}
		sessions := rapid.IntRange(1, 9).Draw(t, "sessions")
		var last string
		for n := range sessions {
			begins := time.Duration(sessions-n) * 3 * time.Hour
			topic := rapid.SampledFrom(topics).Draw(t, "topic")
			var events []memory.Event
			for i := range rapid.IntRange(1, 5).Draw(t, "messages") {
				last = fmt.Sprintf("session%d says number%d of %s", n, i, topic)
				w.serial++
				events = append(events, memory.Posted{Message: memory.Message{
					ID: memory.FirstMessageID(noon.Add(time.Duration(i)*time.Minute-begins)) +
						w.serial, Guild: guild, Channel: channel,
					Author: rapid.SampledFrom([]memory.UserID{ann, ben}).Draw(t, "who"), Content: last,
				}})
			}
			w.apply(events...)
			if rapid.IntRange(0, 3).Draw(t, "at once?") == 0 {
				w.sumsUpAt(noon.Add(2*time.Hour - begins))
			}
		}
		w.sumsUpAt(noon)
		all, err := w.store.Summaries(t.Context(), channel)
		if err != nil || len(all) != sessions {
			t.Fatalf("%d summaries of %d sessions: %+v, %v", len(all), sessions, all, err)
		}
		for n, s := range all {
			if strings.Count(s.Text, fmt.Sprintf("session%d ", n)) != strings.Count(s.Text, "session") {
				t.Fatalf("summary %d is %q", n, s.Text)
			}
		}
		if !strings.Contains(all[sessions-1].Text, last) {
			t.Fatalf("what was said last isn't in %q", all[sessions-1].Text)
		}
		w.engine = w.over(w.store, nil, builder.Options{MaxTokens: rapid.IntRange(400, 1500).Draw(t, "room")},
			Options{})
		asked := rapid.SampledFrom(topics).Draw(t, "asked")
		q := Question{Guild: guild, Channel: channel, Asker: ann, Text: "What about " + asked + "?", Now: noon}
		shown := previous(w.prompt(q))
		alone := strings.Count(shown, "\n") == 1 && strings.Contains(shown, asked) && !strings.Contains(last, asked)
		if shown != "" && !strings.Contains(shown, last) && !alone {
			t.Fatalf("not what was said last, but\n%s", shown)
		}
	})
}
