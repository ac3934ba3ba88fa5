package answer

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// Each call to the store fails once where all that there can be is recalled: a session that was condensed, what is older, what
// the thread began from, facts, lore, summaries, and what Hark said before. No failure goes unnoticed, and none leaves what
// the model wrote.
func TestFailuresWhereAllIsRecalledAreReported(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-3*day))) + 31
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: lobby, Kind: memory.PublicThread, Name: "thread"}},
		memory.Posted{Message: memory.Message{ID: memory.MessageID(id), Guild: guild, Channel: lobby, Author: cleo, Content: "Shall we climb the hill?"}})
	w.posts(4*day, memory.Message{Guild: guild, Channel: id, Author: ben, Content: "the bus of <@4> leaves at 9", Mentions: []memory.UserID{4}})
	w.sumsUp(nil)
	first := w.says(2*day, id, ben, "first")
	w.chats(id, 50)
	w.replies(50*time.Second, id, cleo, "Is it?", w.replies(2*day-time.Hour, id, cleo, "second", first))
	w.posts(45*time.Minute+time.Second, memory.Message{Guild: guild, Channel: id, Author: ben, Content: "See", Mentions: []memory.UserID{cleo}})
	w.condensesNow(id)
	inHarbor := w.says(90*day, harbor, cleo, "he has one of bark, and it is blue")
	_, answer := w.recorded(80*day, lobby, ann, "And?", "It is red", source(harbor, inHarbor))
	w.says(70*day, harbor, 777, "The budget of the boat is unknown, is it?")
	w.apply(memory.FactTold{Guild: guild, User: ben, Fact: memory.Fact{ID: 5, By: ben, Text: "Has a canoe", Channel: harbor, Message: inHarbor}})
	w.tells(1, "Project X", "the boat is blue", ben, 0, memory.Spot{Channel: lobby, Message: answer})
	own := w.says(30*time.Second, id, oracle, "As I said")
	w.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: id, Answer: own, Asker: ann, Sources: []memory.Source{source(lobby, answer)}}})
	w.posts(20*time.Second, memory.Message{Guild: guild, Channel: id, Author: ann, Content: "who said that the tents are packed?", ReplyTo: own})
	q := w.asks(id, "and the budget of Ben's boat in Project X?")
	q.ReplyTo = first
	calls := &faulty{Log: w.store, n: 1 << 20}
	w.engine = w.over(calls, model, builder.Options{Citations: true}, Options{Long: w.notice, ToolRounds: 1})
	a := w.answer(q)
	made := 1<<20 - calls.n
	for _, kind := range []memory.SourceKind{memory.SourceMessage, memory.SourceFact, memory.SourceLore, memory.SourceSummary} {
		if len(a.Trace.IDsOf(kind)) == 0 {
			t.Fatalf("there is no %s", kind)
		}
	}
	if r, err := w.engine.Recall(t.Context(), q); err != nil || r.Condensed.Text == "" {
		t.Fatalf("nothing is condensed: %v", err)
	}
	for n := 1; n <= made; n++ {
		calls.n = n
		if got, err := w.engine.Answer(t.Context(), q, nil); !errors.Is(err, errDisk) && !errors.Is(got.Away, errDisk) || got.Text == a.Text {
			t.Errorf("call %d of %d failed: %q, %v", n, made, got.Text, err)
		}
	}
}

// The first message of a forum's post isn't shown twice while it is part of the session, or told of in its summary.
func TestPostsFirstMessageIsShownOnce(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-55*time.Minute))) + 31
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: lobby, Kind: memory.PublicThread, Name: "post"}},
		memory.Posted{Message: memory.Message{ID: memory.MessageID(id), Guild: guild, Channel: id, Author: cleo, Content: "Shall we climb 8 hills?"}})
	w.engine.options.SessionGap = time.Hour
	q := w.asks(id, "So?")
	if p := w.prompt(q); strings.Count(p, "climb 8 hills") != 1 {
		t.Errorf("prompt\n%s", p)
	}
	w.apply(memory.Deleted{Guild: guild, Channel: id, IDs: []memory.MessageID{q.ID}})
	w.chats(id, 50)
	w.condensesNow(id)
	_, p, _ := strings.Cut(w.prompt(w.asks(id, "So?")), "=== CURRENT SESSION ===") // what is told of in a summary is found still
	if strings.Count(p, "climb 8 hills") != 1 || !strings.Contains(p, condensedTitle+"\n  Cleo: Shall we climb 8 hills?") {
		t.Errorf("session\n%s", p)
	}
}

// An answer knows which version of the condensed messages it is from.
func TestCondensedSourcesInTraces(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	said := w.chats(lobby, 50)
	w.apply(memory.Edited{Guild: guild, Channel: lobby, ID: said[2], Content: "It is 7 euros more", At: noon.Add(-time.Minute)})
	c := w.condensesNow(lobby)
	answer := w.gives(w.asks(lobby, "And?"), -time.Minute)
	trace, err := w.store.Trace(t.Context(), lobby, answer)
	if err != nil || c.Sources[2].Edited == 0 || slices.ContainsFunc(c.Sources, func(s memory.SummarySource) bool {
		return !slices.ContainsFunc(trace.Sources, func(of memory.Source) bool { return of.ID == int64(s.Message) && of.Version == s.Edited })
	}) {
		t.Errorf("trace %+v, %v", trace, err)
	}
	w.apply(memory.Edited{Guild: guild, Channel: lobby, ID: said[2], Content: "It is 9 euros more", At: noon})
	if _, err := w.store.Trace(t.Context(), lobby, answer); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an answer outlived what it was condensed from: %v", err)
	}
}

// An answer that was made from a summary is repeated where all that this told of may be said.
func TestAnswersFromSummariesAreRepeated(t *testing.T) {
	t.Parallel()
	for channel, repeated := range map[memory.ChannelID]bool{lobby: true, kiosk: false} { // of the kiosk nobody may read the past
		w := newWorld(t, nil)
		old := w.says(day, channel, ben, "long ago")
		id := w.says(3*time.Minute, channel, oracle, "As it was")
		if err := w.store.KeepTrace(t.Context(), memory.Trace{Guild: guild, Channel: channel, Answer: id, Asker: ann, Sources: []memory.Source{source(channel, old)}}); err != nil {
			t.Fatal(err)
		}
		if p := w.prompt(w.asks(channel, "So?")); strings.Contains(p, "As it was") != repeated {
			t.Errorf("in channel %d:\n%s", channel, p)
		}
	}
}
