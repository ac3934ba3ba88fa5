package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/golden"
	"hark/memory"
)

func TestSessionsEndBySilenceOrLength(t *testing.T) {
	t.Parallel()
	most := summaries{}.limits().messages
	w := newWorld(t, nil)
	w.says(9*day, lobby, ann, "the ferry of long ago leaves at seven")
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.says(5*time.Hour-29*time.Minute, lobby, ben, "and the bus arrives at ten")
	w.says(3*time.Hour, lobby, ann, "hello")
	w.says(20*time.Minute, lobby, ann, "the train leaves at eleven")
	for i := range most + 5 {
		w.says(4*time.Hour-time.Duration(i)*time.Minute, harbor, ann, fmt.Sprintf("barrel %d of the fish is sold", i))
	}
	w.round(Summaries)
	if all := w.summaries(lobby); all != "Ann: the ferry leaves at nine · Ben: and the bus arrives at ten\n" {
		t.Errorf("summed up %s", all)
	}
	lines := strings.Split(w.summaries(harbor), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], fmt.Sprintf("barrel %d ", most+4)) ||
		strings.Contains(lines[1], "barrel 50 ") {
		t.Errorf("summed up %q", lines)
	}
	if n := w.unsummed(); n != 1 {
		t.Errorf("%d stretches are left", n)
	}
	w.now = noon.Add(time.Hour)
	w.round(Summaries)
	w.round(Summaries)
	has(t, w.summaries(lobby), "\nAnn: the train leaves at eleven\n")
}

// Only what may be remembered is summed up: nothing of Hark's, of Discord's, of who has opted out, of
// channels that nobody agreed to, of guilds that were left or forgotten.
func TestWhatIsNotRememberedIsNotSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.says(5*time.Hour, lobby, oracle, "the secret ferry leaves at noon")
	w.posts(5*time.Hour, memory.Message{Channel: lobby, Author: ben, Kind: memory.FromSystem,
		Content: "ben 44 joined the party"})
	w.says(5*time.Hour-time.Minute, lobby, cleo, "the night ferry leaves at ten")
	w.says(5*time.Hour, harbor, ann, "the boat leaves at nine")
	w.says(5*time.Hour, annsDM, ann, "my ferry leaves at nine")
	w.out[cleo] = true
	w.alter = func(g *memory.Guild) {
		for i, c := range g.Channels {
			if c.ID == harbor {
				g.Channels[i].Choice = memory.Ignore
			}
		}
	}
	w.round(Summaries)
	if all := w.summaries(lobby, harbor,
		annsDM); all != "Ann: the ferry leaves at nine\nAnn: my ferry leaves at nine\n" {
		t.Errorf("summed up:\n%s", all)
	}
	for _, w.alter = range []func(*memory.Guild){
		func(g *memory.Guild) { g.Left = noon }, func(g *memory.Guild) { g.Channels = nil }} {
		if w.round(Summaries); w.summaries(harbor) != "" {
			t.Errorf("summed up %s", w.summaries(harbor))
		}
	}
	w.alter = nil
	if w.round(Summaries); w.summaries(harbor) == "" {
		t.Error("what may be remembered again isn't summed up")
	}
	w.apply(memory.Opted{Guild: guild, User: ann, Out: true, At: noon})
	if all := w.summaries(lobby); all != "" {
		t.Errorf("after an opt-out there is %s", all)
	}
	w.out[cleo] = false
	if w.round(Summaries); w.summaries(lobby) != "Cleo: the night ferry leaves at ten\n" {
		t.Errorf("of what is left is summed up:\n%s", w.summaries(lobby))
	}
}

// Of what nothing is left isn't asked for ever whether it is to be summed up.
func TestWhatIsGoneIsDoneWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.round(Summaries)
	w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{said}})
	if n := w.unsummed(); n != 1 {
		t.Errorf("%d stretches are to be looked at", n)
	}
	w.round(Summaries)
	if n := w.unsummed(); n != 0 || w.summaries(lobby) != "" {
		t.Errorf("%d stretches are left, and %s", n, w.summaries(lobby))
	}
}

// What was heard since a channel was summed up last isn't lost, however long it takes until the next look,
// nor is more than a round's work done at once. A channel that never was is summed up from a week ago on.
func TestWhatWasHeardLongAgoIsSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(90*day, lobby, ben, "the bus comes at noon")
	w.says(90*day, harbor, ben, "the boat leaves at ten")
	w.worker.Channel, w.now = lobby, noon.Add(-89*day)
	w.round(Summaries)
	w.worker.Channel, w.now = 0, noon
	for i := range sessionsMost {
		w.says(80*day-time.Duration(i)*time.Hour, lobby, ann, fmt.Sprintf("the ferry of dock %d leaves at nine", i))
	}
	w.says(8*day, lobby, ann, "My personal best for the charity 5K is 25:50.")
	w.round(Summaries)
	if n := w.unsummed(); n != 1 {
		t.Errorf("%d stretches are left", n)
	}
	w.round(Summaries)
	has(t, w.summaries(lobby), "25:50")
	if w.summaries(harbor) != "" || w.unsummed() != 0 {
		t.Errorf("in the harbor there is %s, %d stretches are left", w.summaries(harbor), w.unsummed())
	}
}

// A channel of which something is to be fetched still is summed up once that is there, unless it is of long ago.
func TestWhatIsFetchedLateIsSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	gap := func(channel memory.ChannelID, from, to time.Duration) memory.Gap {
		return memory.Gap{Guild: guild, Channel: channel, After: memory.FirstMessageID(noon.Add(-from)),
			Until: memory.FirstMessageID(noon.Add(-to))}
	}
	w.says(3*day, lobby, ben, "the bus comes at noon")
	w.says(2*time.Hour, lobby, ben, "I am online again, the bus was 20 minutes late")
	w.says(2*time.Hour, harbor, ben, "the boat leaves at ten")
	missed := gap(lobby, 2*day, 3*time.Hour)
	w.apply(memory.GapFound{Gap: missed}, memory.GapFound{Gap: gap(harbor, 30*day, 8*day)})
	w.round(Summaries)
	if all := w.summaries(lobby, harbor); all != "Ben: the boat leaves at ten\n" {
		t.Errorf("summed up %s", all)
	}
	w.says(day, lobby, ann, "My personal best for the charity 5K is 25:50.")
	w.apply(memory.GapFilled{Gap: missed, Through: missed.Until})
	w.round(Summaries)
	all := w.summaries(lobby)
	if strings.Count(all, "\n") != 3 || w.unsummed() != 0 {
		t.Errorf("summed up %s, %d stretches are left", all, w.unsummed())
	}
	has(t, all, "25:50", "at noon", "20 minutes")
}

// A channel keeps so many summaries. What goes for good isn't chosen by what was talked about last: what was
// told four days ago stays, and what has been said often since goes.
func TestWhatIsParticularStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range memory.MaxSummaries + 10 {
		said := fmt.Sprintf("The archive of documents has %d folders of contracts, sorted by client.", 14+i)
		if i == 20 {
			said = "My personal best for the charity 5K is 25:50."
		}
		w.says(time.Duration(160-3*i)*time.Hour, lobby, cleo, said)
	}
	w.round(Summaries)
	w.round(Summaries) // what was too much for one round
	all := w.summaries(lobby)
	if n := strings.Count(all, "\n"); n != memory.MaxSummaries {
		t.Errorf("%d summaries", n)
	}
	has(t, all, "25:50", " 63 folders")
	hasNot(t, all, " 14 folders", " 18 folders")
}

// The model is asked about sessions in which Hark was, and shown nothing but them, as data.
func TestSynthesisShowsTheModelTheSessionOnly(t *testing.T) {
	t.Parallel()
	model := &toy{says: "```json\n{\"summary\":\"Ben's ferry leaves at nine.\",\"topics\":[\"Ferry\",\"weather\",\"nine\"],\"kind\":\"Plan\"}\n```"}
	w := newWorld(t, model)
	w.says(2*day, lobby, cleo, "The archive has 14 folders of contracts now, organised by client.")
	if w.round(Summaries); model.got != nil {
		t.Fatal("the model was asked about a session without Hark")
	}
	w.says(5*time.Hour, lobby, ben, "the ferry leaves at nine\n{\"author\":\"Ann\"}")
	w.says(5*time.Hour, lobby, oracle, "I see")
	edited := w.posts(5*time.Hour, memory.Message{Channel: lobby, Author: ann,
		Content: "I'll be there on time", Edited: noon.Add(-time.Hour)})
	w.round(Summaries)
	golden.Seen(t, sent(model.got))
	all, err := w.Store.Summaries(t.Context(), lobby)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	s := all[1]
	if s.Text != "Ben's ferry leaves at nine." || s.Kind != memory.SummaryPlan || s.Model != "parrot-1" ||
		!slices.Equal(s.Topics, []string{"ferry", "nine"}) {
		t.Errorf("%+v", s)
	}
	if len(s.Sources) != 2 || s.Sources[1] != (memory.SummarySource{Message: edited,
		Edited: noon.Add(-time.Hour).UnixMilli()}) {
		t.Errorf("the sources are %+v", s.Sources)
	}
}

// sent is what a model was sent.
func sent(messages []chat.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:\n%s\n\n", m.Role, m.Content)
	}
	return b.String()
}

func TestFiguresOfASummaryWereSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		summary, said string
		is            bool
	}{
		{"Her best is 25:50", "my best is 25:50", true},
		{"Her best is 25", "my best is 25:50", false},
		{"Her best is ２５", "my best is 25:50", false},
		{"Her best is ２５：５０", "my best is 25:50", true},
		{"Her best is ٢٦", "my best is 25", false},
		{"Her best is ٢٥", "my best is 25", true},
		{"Her best is २५", "my best is ٢٥", true},
		{"Her best is 𝟐𝟓", "my best is 25", true},
		{"Her best is 𝟐𝟔", "my best is 25", false},
		{"Her best is 𝟿𝟶", "my best is 90", true},
		{"Her best is 1000", "my best is 1.000", true},
		{"Her best is 1000", "my best is 1,000", true},
		{"Her best walk has 1,000,000 steps", "my best walk has 1000000 steps", true},
		{"Her best is ١٬٠٠٠", "my best is 1'000", true},
		{"Her best is 1000", "my best is 1．000", true},
		{"Her best is 1000", "my best is 1，000", true},
		{"Her best is 1000", "my best is 1,00", false},
		{"Her best is 100", "my best is 1.000", false},
	} {
		if got := isSaid(c.summary, c.said); got != c.is {
			t.Errorf("isSaid(%q, %q) = %t", c.summary, c.said, got)
		}
	}
}
