package answer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// What an answer was made from decides who may know of the calls for it, then and later.
func TestHistoryIsToldToTheAudienceOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	open, closed := w.says(10*day, harbor, ben, "open talk"), w.says(10*day, vault, ben, "closed talk")
	w.recorded(5*day, lobby, ann, "openly?", "so", source(harbor, open))
	w.recorded(4*day, lobby, cleo, "secretly?", "so", source(vault, closed), source(harbor, open))
	w.recorded(3*day, kiosk, ann, "in the kiosk?", "so")
	w.recorded(3*day, annsDM, ann, "between us?", "so")
	q := w.asks(lobby, "What was asked?")
	const all = `{"limit":50,"fields":["outcome_summary","text"]}`
	out := w.history(q, all)
	has(t, out.Text, "openly?", "1 messages")
	hasNot(t, out.Text, "secretly?", "2 messages", "kiosk", "between us")

	q.OnlyAsker, q.Asker, q.Roles = true, cleo, []memory.RoleID{keepers}
	has(t, w.history(q, all).Text, "secretly?", "2 messages")
	if out := w.history(w.asks(kiosk, "What was asked?"), all); !strings.HasPrefix(out.Text, "No record") {
		t.Errorf("where the past can't be read: %s", out.Text)
	}
	has(t, w.history(w.asks(annsDM, "What did I ask?"), all).Text, "between us?")
	if out := w.history(w.asks(bensDM, "What was asked?"), all); !strings.HasPrefix(out.Text, "No record") {
		t.Errorf("in another's direct message: %s", out.Text)
	}

	w.structure(memory.ViewChannel) // the harbor is closed
	if out := w.history(w.asks(lobby, "What was asked?"), all); !strings.HasPrefix(out.Text, "No record") || len(out.Shown) > 0 {
		t.Errorf("once the source is closed: %s", out.Text)
	}
}

func TestHistoryGoesWithWhatItIsAbout(t *testing.T) {
	t.Parallel()
	const all = `{"limit":50,"fields":["speaker","text"]}`
	for name, c := range map[string]struct {
		do   func(w *world, asked, answered memory.MessageID)
		left []string // speakers
	}{
		"nothing": {func(*world, memory.MessageID, memory.MessageID) {}, []string{"agent", "tool", "user"}},
		"the question": {func(w *world, asked, _ memory.MessageID) {
			w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{asked}})
		}, nil},
		"the answer": {func(w *world, _, answered memory.MessageID) {
			w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{answered}})
		}, nil},
		"whoever asked": {func(w *world, _, _ memory.MessageID) {
			w.apply(memory.Opted{Guild: guild, User: ann, Out: true, At: noon})
		}, nil},
		"the decision": {func(w *world, _, _ memory.MessageID) {
			w.apply(memory.Chose{Guild: guild, Channel: lobby, Choice: memory.Ignore, At: noon})
		}, nil},
		"another's trust": {func(w *world, _, _ memory.MessageID) {
			w.apply(memory.Opted{Guild: guild, User: cleo, Out: true, At: noon})
		}, []string{"agent", "tool", "user"}},
	} {
		w := newWorld(t, nil)
		asked, answered := w.recorded(day, lobby, ann, "a canary?", "a canary")
		c.do(w, asked, answered)
		q := Question{Guild: guild, Channel: lobby, Asker: ben, Name: "Ben", Text: "What was asked?", Now: noon.Add(time.Minute)}
		var left []string
		if out := w.history(q, all); !strings.HasPrefix(out.Text, "No record") {
			for _, line := range lines(t, out) {
				left = append(left, line["speaker"].(string))
			}
		}
		if !slices.Equal(left, c.left) {
			t.Errorf("without %s are left %v, want %v", name, left, c.left)
		}
	}
}

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
	if out := w.history(w.asks(lobby, "What was asked?"), `{"filter":{"text":"tuna"}}`); !strings.HasPrefix(out.Text, "No record") {
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
	w.apply(append([]memory.Event{memory.Answered{Trace: trace}}, Called([]memory.Record{{CallID: "c", Speaker: memory.SpeakerTool, Method: "m"}}, trace, noon)...)...)
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
