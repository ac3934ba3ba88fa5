package answer

import (
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

func TestSummariesAreFilteredByTopicKindAndTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ferries(lobby)
	const ferry, closed = "leaves at 9", "closed in October"
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"none":    {Filter{}, []string{ferry, closed}},
		"a topic": {Filter{Summaries: search.SummaryFilter{Topic: "lighthouses"}}, []string{ferry}},
		"a kind":  {Filter{Summaries: search.SummaryFilter{Kind: memory.SummaryDecision}}, []string{closed}},
		"both": {Filter{Summaries: search.SummaryFilter{Topic: "lighthouse",
			Kind: memory.SummaryDecision}}, nil},
		"since":       {Filter{Since: noon.Add(-2 * day)}, []string{closed}},
		"until":       {Filter{Until: noon.Add(-2 * day)}, []string{ferry}},
		"in between":  {Filter{Since: noon.Add(-3*day + time.Second)}, []string{closed}},
		"there":       {Filter{In: []memory.ChannelID{lobby}}, []string{ferry, closed}},
		"elsewhere":   {Filter{In: []memory.ChannelID{harbor}}, nil},
		"of somebody": {Filter{From: []memory.UserID{ben}}, nil},
	} {
		q := Question{Guild: guild, Channel: lobby, Asker: ann, Text: "When does the ferry leave?", Now: noon,
			Filter: c.filter}
		shown := previous(w.prompt(q))
		for _, text := range []string{ferry, closed} {
			if got := strings.Contains(shown, text); got != slices.Contains(c.want, text) {
				t.Errorf("%s: %q is shown: %t", name, text, got)
			}
		}
		q.Session = []memory.Message{}
		if shown := previous(w.prompt(q)); shown != "" {
			t.Errorf("%s, where nothing is logged, there is %s", name, shown)
		}
	}
	w.engine = w.over(w.store, nil, builder.Options{}, Options{NoSummaries: true})
	if shown := previous(w.prompt(w.asks(lobby, "When does the ferry leave?"))); shown != "" {
		t.Errorf("switched off, and there is %s", shown)
	}
}

// What is said in the session is shown as that, and not summed up as well.
func TestTheSessionItselfIsNoEarlierContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.says(5*time.Hour, lobby, ben, "the ferry leaves at 9")
	first, second := w.says(20*time.Minute, lobby, ben, "barrel 7 of the fish is sold"),
		w.says(10*time.Minute, lobby, ben, "barrel 8 as well")
	for until, text := range map[memory.MessageID]string{first: "the ferry and a barrel", second: "two barrels"} {
		s := memory.Summary{ID: until, Guild: guild, Channel: lobby, Text: text, Kind: memory.SummaryTalk,
			Made: noon, Sources: []memory.SummarySource{{Message: first}}}
		if other := map[memory.MessageID]memory.MessageID{first: before, second: second}[until]; other != first {
			s.Sources = append(s.Sources, memory.SummarySource{Message: other})
		}
		w.apply(memory.Summarised{Guild: guild, Channel: lobby, Until: until, Summary: &s})
	}
	if shown := previous(w.prompt(w.asks(lobby, "How many barrels are sold?"))); !strings.Contains(shown,
		"the ferry and a barrel") || strings.Contains(shown, "two barrels") {
		t.Errorf("shown is\n%s", shown)
	}
}
