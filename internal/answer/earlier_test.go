package answer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// ferries has talked of a ferry in a channel, some days ago and where other sessions have been since, summed up.
func (w *world) ferries(channel memory.ChannelID) memory.MessageID {
	m := w.says(3*day, channel, ben, "the ferry to the lighthouse leaves at 9")
	w.says(3*day-time.Minute, channel, ann, "I sail there in my own boat")
	w.says(2*day, channel, cleo, "the harbour was decided to be closed in October")
	w.sumsUp(nil)
	return m
}

// A summary is told in its own channel, where the past of that may be read.
func TestSummariesAreToldInTheirChannelOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, channel := range []memory.ChannelID{lobby, harbor, vault, kiosk, annsDM} {
		w.ferries(channel)
	}
	for _, c := range []struct {
		name    string
		channel memory.ChannelID
		change  func(*Question)
		shown   bool
	}{
		{"there", lobby, nil, true},
		{"in another", harbor, nil, true},
		{"where the past can't be read", kiosk, nil, false},
		{"in a direct message", annsDM, nil, true},
		{"in another direct message", bensDM, nil, false},
		{"nothing is logged there", lobby, func(q *Question) { q.Session = []memory.Message{} }, false},
		{"for one who may read it", vault, func(q *Question) { q.OnlyAsker, q.Asker, q.Roles = true, cleo, []memory.RoleID{keepers} }, true},
		{"for one who may not", vault, func(q *Question) { q.OnlyAsker, q.Roles = true, []memory.RoleID{} }, false},
		{"of others only", lobby, func(q *Question) { q.Filter.From = []memory.UserID{ben} }, false},
		{"of another channel", lobby, func(q *Question) { q.Filter.In = []memory.ChannelID{harbor} }, false},
		{"asked nowhere", 0, nil, false},
		{"by the operator", harbor, func(q *Question) { q.Operator, q.Everywhere = true, true }, true},
	} {
		q := Question{Guild: guild, Channel: c.channel, Asker: ann, Name: "Ann", Text: "When does the ferry leave?", Now: noon}
		if c.channel == annsDM || c.channel == bensDM {
			q.Guild = memory.DirectGuild
		}
		if c.change != nil {
			c.change(&q)
		}
		r, err := w.engine.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		shown := previous(r.Prompt.String())
		if got := strings.Contains(shown, "[06-12 12:01] Ben: the ferry to the lighthouse leaves at 9 · Ann: I sail there in my own boat"); got != c.shown || !got && shown != "" {
			t.Errorf("%s: it is %t that it is shown:\n%s", c.name, got, shown)
		}
		for _, hit := range r.Earlier {
			if hit.Summary.Channel != c.channel {
				t.Errorf("%s: there is %+v", c.name, hit.Summary)
			}
		}
	}
	w.engine = w.over(w.store, nil, builder.Options{}, Options{NoSummaries: true})
	if p := w.prompt(w.asks(lobby, "When does the ferry leave?")); previous(p) != "" {
		t.Errorf("switched off, and there is %s", previous(p))
	}
}

func TestSummariesAreFilteredByTopicKindAndTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ferries(lobby)
	const ferry, closed = "leaves at 9", "closed in October"
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"none":       {Filter{}, []string{ferry, closed}},
		"a topic":    {Filter{Summaries: search.SummaryFilter{Topic: "lighthouses"}}, []string{ferry}},
		"a kind":     {Filter{Summaries: search.SummaryFilter{Kind: memory.SummaryDecision}}, []string{closed}},
		"both":       {Filter{Summaries: search.SummaryFilter{Topic: "lighthouse", Kind: memory.SummaryDecision}}, nil},
		"since":      {Filter{Since: noon.Add(-2 * day)}, []string{closed}},
		"until":      {Filter{Until: noon.Add(-2 * day)}, []string{ferry}},
		"in between": {Filter{Since: noon.Add(-3*day + time.Second)}, []string{closed}},
		"there":      {Filter{In: []memory.ChannelID{lobby}}, []string{ferry, closed}},
	} {
		q := Question{Guild: guild, Channel: lobby, Asker: ann, Text: "When does the ferry leave?", Now: noon, Filter: c.filter}
		shown := previous(w.prompt(q))
		for _, text := range []string{ferry, closed} {
			if got := strings.Contains(shown, text); got != slices.Contains(c.want, text) {
				t.Errorf("%s: %q is shown: %t", name, text, got)
			}
		}
	}
}

// What is said in the session is shown as that, and not summed up as well.
func TestTheSessionItselfIsNoEarlierContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.says(5*time.Hour, lobby, ben, "the ferry leaves at 9")
	first, second := w.says(20*time.Minute, lobby, ben, "barrel 7 of the fish is sold"), w.says(10*time.Minute, lobby, ben, "barrel 8 as well")
	for until, text := range map[memory.MessageID]string{first: "the ferry and a barrel", second: "two barrels"} {
		s := memory.Summary{ID: until, Guild: guild, Channel: lobby, Text: text, Kind: memory.SummaryTalk, Made: noon, Sources: []memory.SummarySource{{Message: first}}}
		if other := map[memory.MessageID]memory.MessageID{first: before, second: second}[until]; other != first {
			s.Sources = append(s.Sources, memory.SummarySource{Message: other})
		}
		w.apply(memory.Summarised{Guild: guild, Channel: lobby, Until: until, Summary: &s})
	}
	if shown := previous(w.prompt(w.asks(lobby, "How many barrels are sold?"))); !strings.Contains(shown, "the ferry and a barrel") || strings.Contains(shown, "two barrels") {
		t.Errorf("shown is\n%s", shown)
	}
}

// findsNothing is a searcher that finds nothing.
type findsNothing struct{}

func (findsNothing) Search(context.Context, search.Query) (search.Result, error) {
	return search.Result{}, nil
}

func (findsNothing) Introduce(context.Context, search.Query) ([]search.Participant, error) {
	return nil, nil
}

// What goes into an answer is in its trace, with what it was said in; the answer goes with each of them.
func TestAnswersGoWithTheirSummaries(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]func(w *world, source memory.MessageID, s memory.Summary) memory.Event{
		"removed": func(_ *world, _ memory.MessageID, s memory.Summary) memory.Event {
			return memory.SummaryGone{Guild: guild, Channel: lobby, ID: s.ID}
		},
		"source deleted": func(_ *world, source memory.MessageID, _ memory.Summary) memory.Event {
			return memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{source}}
		},
		"source edited": func(_ *world, source memory.MessageID, _ memory.Summary) memory.Event {
			return memory.Edited{Guild: guild, Channel: lobby, ID: source, Content: "the ferry leaves at 8", At: noon}
		},
		"opted out": func(*world, memory.MessageID, memory.Summary) memory.Event {
			return memory.Opted{Guild: guild, User: ben, Out: true, At: noon}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &scripted{pieces: []string{"At nine."}})
			w.engine.search = findsNothing{} // so that nothing but the summaries tells of it
			source := w.ferries(lobby)
			first := w.summaries(lobby)[0]
			q := w.asks(lobby, "What is the weather like?")
			id := w.gives(q, -time.Minute)
			trace, err := w.store.Trace(t.Context(), lobby, id)
			used := slices.ContainsFunc(trace.Recalled, func(h memory.TraceHit) bool { return h.Message == source && h.Context })
			if err != nil || !used || !slices.Contains(trace.IDsOf(memory.SourceSummary), int64(first.ID)) {
				t.Fatalf("the trace is %+v, %v", trace, err)
			}
			w.apply(undo(w, source, first))
			if left, err := w.store.Messages(t.Context(), lobby, []memory.MessageID{id}); err != nil || len(left) > 0 {
				t.Errorf("%d messages of the answer are left, %v", len(left), err)
			}
		})
	}
}

// While the model writes, a summary may go, be made anew, lose a source, or be closed to somebody.
func TestAnswersAreTakenBackWithSummariesThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(w *world, a *altered, source memory.MessageID, s memory.Summary)
		kept      bool
	}{
		"nothing": {func(*world, *altered, memory.MessageID, memory.Summary) {}, true},
		"removed": {func(w *world, _ *altered, _ memory.MessageID, s memory.Summary) {
			w.apply(memory.SummaryGone{Guild: guild, Channel: harbor, ID: s.ID})
		}, false},
		"made anew": {func(w *world, _ *altered, _ memory.MessageID, s memory.Summary) {
			s.Made = s.Made.Add(time.Hour)
			w.apply(memory.Summarised{Guild: guild, Channel: harbor, Until: s.ID, Summary: &s})
		}, false},
		"a source deleted": {func(w *world, _ *altered, source memory.MessageID, _ memory.Summary) {
			w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{source}})
		}, false},
		"closed": {func(w *world, _ *altered, _ memory.MessageID, _ memory.Summary) {
			w.structure(memory.ReadMessageHistory)
		}, false},
		"ignored": {func(_ *world, a *altered, _ memory.MessageID, _ memory.Summary) {
			a.guild = choose(harbor, memory.Ignore)
		}, false},
		"opted out": {func(_ *world, a *altered, _ memory.MessageID, _ memory.Summary) { a.out[ben] = true }, false},
		"another": {func(w *world, _ *altered, _ memory.MessageID, _ memory.Summary) {
			w.says(5*time.Hour, harbor, ann, "the train leaves at 7")
			w.sumsUp(nil)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			source := w.ferries(harbor)
			model := &scripted{pieces: []string{"It leaves at nine."}}
			a := w.alter(model, Options{})
			w.engine.search = findsNothing{}
			model.before = func() { c.meanwhile(w, a, source, w.summaries(harbor)[0]) }
			q := w.asks(harbor, "Zebras?")
			if got := w.answer(q); (got.Text == "It leaves at nine.") != c.kept {
				t.Errorf("answered %q", got.Text)
			}
			if c.kept && previous(w.prompt(q)) == "" {
				t.Error("no summary was there in the first place")
			}
		})
	}
}

// A summary of what somebody said who has opted out, or whose source is gone, isn't used, whatever the store says.
func TestSummariesOfWhatIsGoneAreNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ferries(lobby)
	a := w.alter(nil, Options{})
	q := w.asks(lobby, "When does the ferry leave?")
	has(t, previous(w.prompt(q)), "leaves at 9", "closed in October")
	a.out[ann] = true // whose words are in one of them
	if shown := previous(w.prompt(q)); strings.Contains(shown, "leaves at 9") || !strings.Contains(shown, "closed in October") {
		t.Errorf("shown is\n%s", shown)
	}
}

// Nor is one of a message that mentions them, whoever wrote it.
func TestSummariesThatMentionWhoOptedOutAreNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.posts(2*day, memory.Message{Guild: guild, Channel: lobby, Author: ben, Content: "the ferry of <@3> leaves at 9", Mentions: []memory.UserID{cleo}})
	w.says(day, lobby, ben, "the harbour was decided to be closed in October")
	w.sumsUp(nil)
	model := &scripted{pieces: []string{"It leaves at nine."}}
	a := w.alter(model, Options{})
	w.engine.search = findsNothing{}
	q := w.asks(lobby, "When does the ferry leave?")
	has(t, previous(w.prompt(q)), "leaves at 9", "closed in October")
	model.before = func() { a.out[cleo] = true } // while the answer is written
	if got := w.answer(q); got.Text == "It leaves at nine." {
		t.Error("the answer is given")
	}
	model.before = nil
	if shown := previous(w.prompt(q)); strings.Contains(shown, "leaves at 9") || !strings.Contains(shown, "closed in October") {
		t.Errorf("shown is\n%s", shown)
	}
}

func TestQuotesAreNotMadeFromSummaries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ferries(lobby)
	if a := w.answer(w.asks(lobby, "When does the ferry leave?")); len(a.Trace.IDsOf(memory.SourceSummary)) > 0 || !strings.Contains(a.Text, "leaves at 9") {
		t.Errorf("%+v", a)
	}
}
