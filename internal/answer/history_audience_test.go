package answer

import (
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// A record that nothing could take away once it is told, or of which nobody knows what it was made from, isn't told.
func TestHistoryWithoutOriginIsntTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	question := w.says(day, lobby, ann, "and?")
	unknown := w.says(day-time.Minute, lobby, oracle, "of unknown origin")
	call := func(name string, r memory.Record) memory.Event {
		r.CallID, r.Timestamp, r.Method, r.Guild, r.Channel, r.Asker = name, noon.Add(-day), "m", guild, lobby, ann
		return memory.Called{Record: r}
	}
	w.apply(
		call("asked", memory.Record{Speaker: memory.SpeakerUser, Question: question}),
		call("unanswered", memory.Record{Speaker: memory.SpeakerTool, Question: question}),
		call("no-trace", memory.Record{Speaker: memory.SpeakerTool, Question: question, Answer: unknown}),
		call("no-answer", memory.Record{Speaker: memory.SpeakerTool, Question: question, Answer: unknown + 1}),
		call("no-question", memory.Record{Speaker: memory.SpeakerUser, Question: question + 1}),
		call("no-message", memory.Record{Speaker: memory.SpeakerUser}),
	)
	out := w.history(w.asks(lobby, "What was asked?"), `{"fields":["call_id"]}`)
	if out.Text != `{"call_id":"asked"}` {
		t.Error(out.Text)
	}
	if out := w.history(w.asks(lobby, "What was asked?"),
		`{"filter":{"text":"tuna"}}`); !strings.HasPrefix(out.Text, "No record") {
		t.Error(out.Text)
	}
}

// It is asked again whether somebody has opted out, though the store drops what is recorded of them.
func TestHistoryAsksForConsentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.alter(nil, Options{})
	answered := w.says(day, lobby, oracle, "so")
	trace := memory.Trace{Guild: guild, Channel: lobby, Answer: answered, Asker: cleo}
	w.apply(append([]memory.Event{memory.Answered{Trace: trace}},
		Called([]memory.Record{{CallID: "c", Speaker: memory.SpeakerTool, Method: "m"}}, trace, noon)...)...)
	q := w.asks(lobby, "What was asked?")
	if out := w.history(q, `{}`); out.Summary != "1 record" {
		t.Error(out.Text)
	}
	a.out[cleo] = true
	if out := w.history(q, `{}`); !strings.HasPrefix(out.Text, "No record") {
		t.Error(out.Text)
	}
}

func TestHistoryKeepsToTheQuestionsFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.recorded(3*day, lobby, ann, "old?", "so")
	w.recorded(day, lobby, ann, "new?", "so")
	w.recorded(day, lobby, ben, "ben's?", "so")
	const all = `{"limit":50,"fields":["text"],"filter":{"from":"2024-01-01","until":"2024-12-31"}}`
	for name, c := range map[string]struct {
		filter       Filter
		told, untold []string
	}{
		"since":    {Filter{Since: noon.Add(-2 * day)}, []string{"new?", "ben's?"}, []string{"old?"}},
		"until":    {Filter{Until: noon.Add(-2 * day)}, []string{"old?"}, []string{"new?", "ben's?"}},
		"from":     {Filter{From: []memory.UserID{ben}}, []string{"ben's?"}, []string{"old?", "new?"}},
		"in":       {Filter{In: []memory.ChannelID{harbor}}, nil, []string{"old?", "new?", "ben's?"}},
		"anything": {Filter{}, []string{"old?", "new?", "ben's?"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := w.asks(lobby, "What was asked?")
			q.Filter = c.filter
			out := w.history(q, all)
			has(t, out.Text, c.told...)
			hasNot(t, out.Text, c.untold...)
		})
	}
}
