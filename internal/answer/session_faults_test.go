package answer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// Each call to the store fails once where a session was condensed, goes back to what is older, and began from a message.
func TestFailuresInLongSessionsAreReported(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-3*day))) + 31
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: lobby, Kind: memory.PublicThread, Name: "thread"}},
		memory.Posted{Message: memory.Message{ID: memory.MessageID(id), Guild: guild, Channel: lobby, Author: cleo, Content: "Shall we climb the hill?"}})
	first := w.says(2*day, id, ben, "first")
	w.chats(id, 50)
	w.replies(50*time.Second, id, cleo, "Is it?", w.replies(2*day-time.Hour, id, cleo, "second", first))
	w.posts(45*time.Minute+time.Second, memory.Message{Guild: guild, Channel: id, Author: ben, Content: "See", Mentions: []memory.UserID{cleo}})
	w.condensesNow(id)
	calls := &faulty{Log: w.store, n: 1 << 20}
	w.engine = w.over(calls, nil, builder.Options{Citations: true}, Options{Condensing: &Condensing{}})
	q := w.asks(id, "What is the budget?")
	q.ReplyTo = first
	r, err := w.engine.recall(t.Context(), q)
	if err != nil || r.condensed == nil || r.older != 3 {
		t.Fatalf("%d older, condensed to %v, %v", r.older, r.condensed, err)
	}
	all := 1<<20 - calls.n
	for n := 1; n <= all; n++ {
		calls.n = n
		if _, err := w.engine.recall(t.Context(), q); !errors.Is(err, errDisk) {
			t.Errorf("call %d of %d failed: %v", n, all, err)
		}
	}
	if got := new(recalled).sentPeople(); len(got) != 0 {
		t.Errorf("without a prompt %v was sent", got)
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
	if err != nil || len(trace.Condensed) != len(c.Sources) || len(trace.CondensedEdited) != len(c.Sources) || trace.CondensedEdited[2] != c.Sources[2].Edited || c.Sources[2].Edited == 0 {
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
		if err := w.store.KeepTrace(t.Context(), memory.Trace{Guild: guild, Channel: channel, Answer: id, Asker: ann, Condensed: []memory.MessageID{old}}); err != nil {
			t.Fatal(err)
		}
		if p := w.prompt(w.asks(channel, "So?")); strings.Contains(p, "As it was") != repeated {
			t.Errorf("in channel %d:\n%s", channel, p)
		}
	}
}

func TestClockThatWasSetBackCondensesAgain(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	said := w.chats(lobby, 60)
	made := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	w.apply(memory.SessionCondensed{Condensed: memory.Condensed{
		Guild: guild, Channel: lobby, Until: said[1], Text: "The budget is 480", Made: made, Model: "toy", Sources: []memory.SummarySource{{Message: said[0]}, {Message: said[1]}}}})
	if c := w.condensesNow(lobby); !c.Made.After(made) || w.condensedIn(lobby).Until != c.Until || len(c.Sources) < 10 {
		t.Errorf("condensed to %+v", c)
	}
}

// A queue that is full takes no more, and a channel in which something was answered meanwhile is looked at again.
func TestQueueOfSessions(t *testing.T) {
	t.Parallel()
	w := newQueue()
	for i := range queueSize + 5 {
		w.put(Question{Channel: memory.ChannelID(i + 1), Now: noon, Text: "secret", Session: []memory.Message{{Content: "secret"}}})
	}
	w.put(Question{Channel: 1, Now: noon.Add(time.Second)})
	if len(w.waiting) != queueSize || len(w.next) != queueSize || w.waiting[2].Text != "" || w.waiting[2].Session != nil {
		t.Errorf("%d wait, %d are next: %+v", len(w.waiting), len(w.next), w.waiting[2])
	}
	ctx, stop := context.WithCancel(t.Context())
	looked := map[memory.ChannelID]int{}
	w.work(ctx, func(_ context.Context, q Question) {
		if looked[q.Channel]++; q.Channel == 3 && looked[3] == 1 {
			w.put(Question{Channel: 3, Now: noon.Add(time.Minute)})
		}
		if looked[3] == 2 {
			stop()
		}
	})
	if looked[1] != 1 || looked[3] != 2 || len(looked) != queueSize || len(w.waiting) != 0 {
		t.Errorf("%d looked at, the third %d times, %d wait", len(looked), looked[3], len(w.waiting))
	}
}

// Run tells of what failed.
func TestRunTellsOfFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	model := &keeper{condense: nil}
	calls := &faulty{Log: w.store, n: 1}
	w.engine = w.over(calls, model, builder.Options{}, Options{Condensing: &Condensing{}})
	ctx, stop := context.WithCancel(t.Context())
	var told error
	if err := w.engine.Run(ctx, nil, func(channel memory.ChannelID, err error) {
		told = err
		stop()
	}); err != nil || !errors.Is(told, errDisk) {
		t.Errorf("told %v, %v", told, err)
	}
}
