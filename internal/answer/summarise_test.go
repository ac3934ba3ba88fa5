package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"hark/builder"
	"hark/memory"
)

// sumsUp sums up what has ended at noon, and fails the test if that fails.
func (w *world) sumsUp(model Model) {
	w.t.Helper()
	s := w.summariser(model)
	s.Failed = func(channel memory.ChannelID, err error) { w.t.Errorf("in channel %d: %v", channel, err) }
	if err := s.Round(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) summariser(model Model) *Summariser {
	return &Summariser{
		Log: w.store, Model: model, Policy: memory.Policy{Direct: true}, SessionGap: 30 * time.Minute, Now: func() time.Time { return noon },
		Failed: func(memory.ChannelID, error) {},
	}
}

func (w *world) summaries(channel memory.ChannelID) []memory.Summary {
	w.t.Helper()
	all, err := w.store.Summaries(w.t.Context(), channel)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// texts are those of summaries, a line each.
func texts(all []memory.Summary) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintln(&b, s.Text)
	}
	return b.String()
}

// unsummed is how many stretches are to be summed up.
func (w *world) unsummed() int {
	w.t.Helper()
	all, err := w.store.Unsummarised(w.t.Context(), memory.FirstMessageID(noon.Add(-summariseBack)))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(all)
}

// organises talks about document organisation in the lobby, some time before noon.
func (w *world) organises(ago time.Duration) {
	w.says(ago, lobby, cleo, "I sort all my documents into folders by year and project.")
	w.says(ago-time.Minute, lobby, ben, "Label the folders, and scan the paper documents into one archive.")
	w.says(ago-2*time.Minute, lobby, cleo, "The archive has 14 folders of contracts now, organised by client.")
}

// The known failure of this kind: what is new and particular is dropped for what is old and unrelated.
func TestFiveK(t *testing.T) {
	t.Parallel()
	parrot := &scripted{pieces: []string{`{"summary":"Ann trains for a charity 5K. Her personal best is 25:50.","topics":["charity 5K","running"],"kind":"fact"}`}}
	for name, model := range map[string]Model{"by extraction": nil, "by a model": parrot} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			for i := range 4 {
				w.organises(time.Duration(6-i) * day)
			}
			w.sumsUp(nil)
			w.says(3*time.Hour, lobby, ann, "Hi all!")
			w.says(3*time.Hour-time.Minute, lobby, ben, "Hey Ann, how is it going?")
			w.says(3*time.Hour-2*time.Minute, lobby, ann, "Good. I'm training for a charity 5K run, and my personal best is 25:50.")
			w.says(3*time.Hour-3*time.Minute, lobby, ben, "lol nice")
			w.says(3*time.Hour-4*time.Minute, lobby, oracle, "Well done!") // so that it was asked
			w.sumsUp(model)
			all := w.summaries(lobby)
			if len(all) != 5 {
				t.Fatalf("%d summaries:\n%s", len(all), texts(all))
			}
			newest := all[4]
			has(t, newest.Text, "25:50", "5K")
			if newest.Kind != memory.SummaryFact || !slices.ContainsFunc(newest.Topics, func(topic string) bool { return strings.Contains(topic, "charity") }) {
				t.Errorf("it is %s about %q", newest.Kind, newest.Topics)
			}
			if (newest.Model == "") != (model == nil) {
				t.Errorf("made by %q", newest.Model)
			}
			q := w.asks(lobby, "How fast did Ann run the charity 5K?")
			counts := map[int]bool{}
			for room := 400; room <= 4500; room += 150 {
				w.engine = w.over(w.store, nil, builder.Options{MaxTokens: room}, Options{})
				r, err := w.engine.Recall(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				shown := previous(r.Prompt.String())
				n := strings.Count(shown, "\n")
				counts[n] = true
				// What is old and unrelated goes first, the oldest of it before the others.
				if has25 := strings.Contains(shown, "25:50"); has25 != (n > 0) || n > 1 && n < 5 && strings.Contains(shown, "[06-09") {
					t.Errorf("%d tokens: the previous context is\n%s", room, shown)
				}
				if r.Earlier[0].Summary.ID != newest.ID || r.Earlier[0].Relevance <= r.Earlier[1].Relevance {
					t.Errorf("the order is %+v", r.Earlier)
				}
			}
			if !counts[1] || !counts[5] {
				t.Errorf("the prompt has room for %v of them merely", counts)
			}
		})
	}
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

// Whatever is said in sessions, one after the other: each ends in a summary of its own, of what was said there and nothing
// else, and the newest is in the prompt whenever two are, or one that isn't clearly more relevant.
func TestNothingSaidLastIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	channel := memory.ChannelID(20_000)
	rapid.Check(t, func(t *rapid.T) {
		channel++
		w.apply(memory.GuildSeen{Guild: memory.Guild{ID: guild, Roles: []memory.Role{{ID: memory.RoleID(guild), Permissions: memory.ViewChannel | memory.ReadMessageHistory}},
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
					ID: memory.FirstMessageID(noon.Add(time.Duration(i)*time.Minute-begins)) + w.serial, Guild: guild, Channel: channel,
					Author: rapid.SampledFrom([]memory.UserID{ann, ben}).Draw(t, "who"), Content: last,
				}})
			}
			w.apply(events...)
			if rapid.IntRange(0, 3).Draw(t, "at once?") == 0 {
				s := w.summariser(nil)
				s.Now = func() time.Time { return noon.Add(-begins + 2*time.Hour) }
				if err := s.Round(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.sumsUp(nil)
		all := w.summaries(channel)
		if len(all) != sessions {
			t.Fatalf("%d summaries of %d sessions:\n%s", len(all), sessions, texts(all))
		}
		for n, s := range all {
			if strings.Count(s.Text, fmt.Sprintf("session%d ", n)) != strings.Count(s.Text, "session") {
				t.Fatalf("summary %d is %q", n, s.Text)
			}
		}
		if !strings.Contains(all[sessions-1].Text, last) {
			t.Fatalf("what was said last isn't in %q", all[sessions-1].Text)
		}
		w.engine = w.over(w.store, nil, builder.Options{MaxTokens: rapid.IntRange(400, 1500).Draw(t, "room")}, Options{})
		asked := rapid.SampledFrom(topics).Draw(t, "asked")
		q := Question{Guild: guild, Channel: channel, Asker: ann, Text: "What about " + asked + "?", Now: noon}
		r, err := w.engine.Recall(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		shown := previous(r.Prompt.String())
		alone := strings.Count(shown, "\n") == 1 && strings.Contains(shown, asked) && !strings.Contains(last, asked)
		if shown != "" && !strings.Contains(shown, last) && !alone {
			t.Fatalf("not what was said last, but\n%s", shown)
		}
	})
}

// Where there is room for one summary, it is the newest, unless another clearly tells more of what is asked; where there
// is more, both are there.
func TestWhatIsClearlyMeantGoesBeforeTheNewest(t *testing.T) {
	t.Parallel()
	const best, cup = "25:50", "cup is silver"
	w := newWorld(t, nil)
	w.says(2*day, lobby, ann, "My personal best for the charity 5K is 25:50.")
	w.says(5*time.Hour, lobby, ann, "The cup is silver, with an inscription by the mayor.")
	w.sumsUp(nil)
	for asked, first := range map[string]string{"What is Ann's best for the charity 5K?": best, "Is the 5K cup silver?": cup, "What is the weather like?": cup} {
		counts := map[int]bool{}
		for room := 400; room <= 2000; room += 40 {
			w.engine = w.over(w.store, nil, builder.Options{MaxTokens: room}, Options{})
			shown := previous(w.prompt(w.asks(lobby, asked)))
			n := strings.Count(shown, "\n")
			counts[n] = true
			if n == 1 && !strings.Contains(shown, first) || n == 2 && !(strings.Contains(shown, best) && strings.Contains(shown, cup)) {
				t.Errorf("%q, in %d tokens:\n%s", asked, room, shown)
			}
		}
		if !counts[1] || !counts[2] {
			t.Errorf("%q: the prompt has room for %v merely", asked, counts)
		}
	}
}

func TestSessionsEndBySilenceOrLength(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, lobby, ann, "the ferry of long ago leaves at seven")
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.says(5*time.Hour-29*time.Minute, lobby, ben, "and the bus arrives at ten")
	w.says(3*time.Hour, lobby, ann, "hello")
	w.says(20*time.Minute, lobby, ann, "the train leaves at eleven")
	for i := range sessionMost + 5 {
		w.says(4*time.Hour-time.Duration(i)*time.Minute, harbor, ann, fmt.Sprintf("barrel %d of the fish is sold", i))
	}
	w.sumsUp(nil)
	all := w.summaries(lobby)
	if len(all) != 1 || all[0].Text != "Ann: the ferry leaves at nine · Ben: and the bus arrives at ten" || len(all[0].Sources) != 2 {
		t.Errorf("the summaries are %+v", all)
	}
	if all := w.summaries(harbor); len(all) != 2 || !strings.Contains(all[1].Text, fmt.Sprintf("barrel %d ", sessionMost+4)) || strings.Contains(all[1].Text, "barrel 50 ") {
		t.Errorf("the summaries are %s", texts(all))
	}
	if n := w.unsummed(); n != 1 {
		t.Errorf("%d stretches are left", n)
	}
	later := w.summariser(nil)
	later.Now = func() time.Time { return noon.Add(time.Hour) }
	for range 2 {
		if err := later.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if all := w.summaries(lobby); len(all) != 2 || !strings.Contains(all[1].Text, "train") {
		t.Errorf("the summaries are %s", texts(all))
	}
}

func TestOnlyOneChannelIsSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.says(5*time.Hour, harbor, ann, "the ferry leaves at ten")
	s := w.summariser(nil)
	s.Channel = harbor
	var done []memory.Summary
	s.Done = func(made memory.Summary) { done = append(done, made) }
	if err := s.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(w.summaries(lobby)) != 0 || len(w.summaries(harbor)) != 1 || len(done) != 1 || done[0].Text != "Ann: the ferry leaves at ten" {
		t.Errorf("%s and %s", texts(w.summaries(lobby)), texts(w.summaries(harbor)))
	}
}

// Only what may be remembered is summed up: nothing of Hark's, of Discord's, of who has opted out, of channels that nobody
// agreed to, of guilds that were left.
func TestWhatIsNotRememberedIsNotSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.says(5*time.Hour, lobby, oracle, "the secret ferry leaves at noon")
	w.posts(5*time.Hour, memory.Message{Guild: guild, Channel: lobby, Author: ben, Kind: memory.FromSystem, Content: "ben 44 joined the party"})
	w.says(5*time.Hour-time.Minute, lobby, cleo, "the night ferry leaves at ten")
	w.says(5*time.Hour, harbor, ann, "the boat leaves at nine")
	w.says(5*time.Hour, annsDM, ann, "my ferry leaves at nine")
	a := w.alter(nil, Options{})
	a.out[cleo] = true
	a.guild = choose(harbor, memory.Ignore)
	s := w.summariser(nil)
	s.Log = a
	round := func() {
		t.Helper()
		if err := s.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if all := texts(slices.Concat(w.summaries(lobby), w.summaries(harbor), w.summaries(annsDM))); all != "Ann: the ferry leaves at nine\nAnn: my ferry leaves at nine\n" {
		t.Errorf("summed up:\n%s", all)
	}
	a.guild = func(g *memory.Guild) { g.Left = noon }
	round()
	a.guild = nil
	if len(w.summaries(harbor)) != 0 {
		t.Error("a guild that was left is summed up")
	}
	round()
	if len(w.summaries(harbor)) != 1 {
		t.Error("what may be remembered again isn't summed up")
	}
	w.apply(memory.Opted{Guild: guild, User: ann, Out: true, At: noon})
	if all := w.summaries(lobby); len(all) > 0 {
		t.Errorf("after an opt-out there is %s", texts(all))
	}
	a.out[cleo] = false
	a.out[ann] = true
	round()
	if all := texts(w.summaries(lobby)); all != "Cleo: the night ferry leaves at ten\n" {
		t.Errorf("of what is left is summed up:\n%s", all)
	}
}

// A channel keeps so many summaries; those that are old and unrelated make room.
func TestSummariesMakeRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(160*time.Hour, lobby, ben, "my personal best for the charity 5K is 25:50")
	for i := range memory.MaxSummaries + 2 {
		w.says(time.Duration(150-3*i)*time.Hour, lobby, ben, fmt.Sprintf("folder %d of the documents is sorted", i))
	}
	w.says(2*time.Hour, lobby, ben, "the next charity 5K run is in the park")
	w.sumsUp(nil)
	w.sumsUp(nil) // what was too much for one round
	all := w.summaries(lobby)
	if len(all) != memory.MaxSummaries || !strings.Contains(all[len(all)-1].Text, "park") || !strings.Contains(all[len(all)-2].Text, "folder 41 ") {
		t.Fatalf("%d summaries:\n%s", len(all), texts(all))
	}
	hasNot(t, texts(all), "folder 0 ", "folder 1 ")
}

func TestRunningSumsUpUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.says(5*time.Hour, lobby, ben, "the ferry leaves at 9")
		ctx, cancel := context.WithCancel(t.Context())
		s := w.summariser(nil)
		failures := 0
		s.Log, s.Stuck = &failingLog{SummaryLog: w.store, n: 1}, func(error) { failures++ }
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		time.Sleep(90 * time.Second)
		if n := len(w.summaries(lobby)); n != 1 || failures != 1 {
			t.Errorf("%d summaries after %d failures", n, failures)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Of a channel that is to be compared with Discord nothing is summed up until it is.
func TestWhatIsInDoubtIsNotSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	if err := w.store.Apply(t.Context(), memory.Absent{Guild: guild, Channel: lobby, At: noon}); err != nil {
		t.Fatal(err)
	}
	w.sumsUp(nil)
	if all := w.summaries(lobby); len(all) != 0 {
		t.Errorf("summed up: %s", texts(all))
	}
}
