package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"hark/memory"
	"hark/search"
)

func rawItem(kind, data string) Item {
	return Item{Raw: &rawEvent{kind: kind, data: json.RawMessage(data)}}
}

// readItem is an event as the gateway queues it.
func readItem(kind, data string) Item {
	return Item{Raw: ReadEvent(kind, json.RawMessage(data))}
}

// newTestWriter is a pump that nobody waits for.
func newTestWriter(q *Queue, log memory.Store) *Writer {
	o := &Options{Self: self, Memory: log, CatchUp: 30 * 24 * time.Hour, Reconcile: true, Queue: q,
		Filter: NewFilter(log, memory.Policy{}, NewBuffer(0, sameTime), func([]Subject) {}), Guilds: NewReadiness(),
		Attendance: search.NewAttendance(), MemberRoles: search.NewMemberRoles(), Progress: func() {},
		Timing: UsualTiming, Log: zerolog.Nop(), Now: sameTime}
	o.Timing.Retry = time.Second
	return NewWriter(o, NewFiller(o), nil)
}

func TestQueueStopsAndCloses(t *testing.T) {
	t.Parallel()
	q := NewQueue()
	theirs, ours := rawItem("MESSAGE_DELETE", `{}`), Item{Events: []memory.Event{memory.Deleted{}}}
	if !q.Put(theirs) || !q.Put(ours) || q.Len() != 2 {
		t.Error("an open queue doesn't take all")
	}
	q.StopIntake()
	if q.Put(theirs) || !q.Put(ours) {
		t.Error("after the intake has stopped it has to take our own, and no events")
	}
	q.Close()
	if q.Put(theirs) || q.Put(ours) {
		t.Error("a closed queue takes more")
	}
	if batch := q.take(t.Context()); len(batch) != 3 || q.Len() != 3 {
		t.Errorf("took %d; %d aren't committed", len(batch), q.Len())
	}
	q.done(3)
	if q.take(t.Context()) != nil || q.Len() != 0 {
		t.Error("a closed queue that is empty gives more")
	}
}

// A guild's update tells no channels, and those that the log has must include what came just before.
func TestGuildUpdateSeesWhatCameJustBefore(t *testing.T) {
	t.Parallel()
	log := newFakeLog(t)
	q := NewQueue()
	q.Put(rawItem("GUILD_CREATE",
		`{"id":"1","name":"Garden","owner_id":"9","roles":[{"id":"1","permissions":"0"}],"channels":[{"id":"2","type":0,"name":"general","nsfw":false,"permission_overwrites":[]}]}`))
	q.Put(rawItem("GUILD_UPDATE", `{"id":"1","name":"Renamed","owner_id":"9","roles":[{"id":"1","permissions":"0"}]}`))
	q.Put(rawItem("GUILD_UPDATE",
		`{"id":"4711","name":"Unknown","owner_id":"9","roles":[{"id":"4711","permissions":"0"}]}`))
	q.Close()
	p := newTestWriter(q, log)
	if left := p.Run(t.Context()); left != 0 {
		t.Errorf("%d left", left)
	}
	if g, _ := log.Guild(t.Context(), 1); g == nil || g.Name != "Renamed" || len(g.Channels) != 1 {
		t.Errorf("logged %+v", g)
	}
	if g, err := log.Guild(t.Context(), 4711); err == nil {
		t.Errorf("a guild without its channels is logged: %+v", g)
	}
}

// A question is asked once its own message is in the log, and with it all that was said before.
func TestQuestionsAreAskedOnceTheyAreLogged(t *testing.T) {
	t.Parallel()
	log, asked := newFakeLog(t), 0
	p := newTestWriter(NewQueue(), log)
	p.ask = func(a *Question) {
		asked++
		if logged := has(log, func(e memory.Posted) bool { return e.Message.ID == a.ID }); !logged ||
			len(log.said()) != 2 {
			t.Errorf("question %d is asked when the log has %q", a.ID, log.said())
		}
	}
	said := func(id int, text string) Item {
		return rawItem("MESSAGE_CREATE",
			fmt.Sprintf(`{"id":"%d","channel_id":"2","guild_id":"1","type":0,%s,"content":"%s","mentions":[{"id":"%d"}]}`, id, ana, text, self))
	}
	if err := p.write(t.Context(),
		[]Item{said(100, "on Friday"), said(101, fmt.Sprintf("<@%d> when?", self))}); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// In the pause between commits, what somebody waits for is committed at once, with all that came before it. The rest
// gathers.
func TestQuestionsEndThePause(t *testing.T) {
	t.Parallel()
	message := func(id int, text string) Item {
		return readItem("MESSAGE_CREATE", fmt.Sprintf(`{"id":"%d","channel_id":"2","guild_id":"1","type":0,%s,`+
			`"content":"%s","mentions":[{"id":"%d"}]}`, id, ana, text, self))
	}
	mention := fmt.Sprintf("<@%d> when?", self)
	use := readItem("INTERACTION_CREATE", `{"id":"103","guild_id":"1","member":{"user":{"id":"10","username":"ana"}}}`)
	use.Logged = make(chan struct{})
	edited := message(103, mention)
	edited.Raw = ReadEvent("MESSAGE_UPDATE", json.RawMessage(fmt.Sprintf(`{"id":"%d","channel_id":"2","guild_id":"1",`+
		`"edited_timestamp":"%s","content":"%s"}`, memory.FirstMessageID(sameTime()), sameTime().Format(time.RFC3339),
		mention)))
	for name, tt := range map[string]struct {
		last  Item
		waits bool // for the end of the pause
		asks  int
	}{
		"a question":         {last: message(103, mention), asks: 1},
		"an edited question": {last: edited, asks: 1},
		"a use of a command": {last: use},
		"a message":          {last: message(103, "on Friday"), waits: true},
		"one without a text": {last: readItem("MESSAGE_CREATE", `{"id":"103","mentions":[null]}`), waits: true},
		"Hark's own":         {last: Item{Events: []memory.Event{memory.Deleted{}}}, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := newFakeLog(t)
			synctest.Test(t, func(t *testing.T) {
				q := NewQueue()
				p := newTestWriter(q, log)
				asked := 0
				p.ask = func(*Question) {
					asked++
					if n := len(log.said()); n < 3 {
						t.Errorf("asked when %d messages are logged", n)
					}
				}
				done := make(chan int, 1)
				go func() { done <- p.Run(t.Context()) }()
				for id := 100; id < 103; id++ {
					q.Put(message(id, "hello"))
					synctest.Wait()
				}
				if n := len(log.said()); n != 1 {
					t.Errorf("%d messages are logged before the pause ends", n)
				}
				q.Put(tt.last)
				synctest.Wait()
				if waits := q.Len() > 0; waits != tt.waits || asked != tt.asks {
					t.Errorf("it waits: %t; asked %d times", waits, asked)
				}
				time.Sleep(p.Timing.Gather)
				synctest.Wait()
				if q.Len() > 0 || log.calls > 3 {
					t.Errorf("%d items are left after %d commits", q.Len(), log.calls)
				}
				q.Close()
				if left := <-done; left != 0 {
					t.Errorf("%d left", left)
				}
			})
		})
	}
}

// A queue that closes ends the pause, too: a shutdown doesn't wait for it.
func TestClosingEndsThePause(t *testing.T) {
	t.Parallel()
	log := newFakeLog(t)
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue()
		q.Put(Item{Events: []memory.Event{memory.Deleted{}}})
		p := newTestWriter(q, log)
		p.Timing.Gather = time.Hour
		done := make(chan int, 1)
		began := time.Now()
		go func() { done <- p.Run(t.Context()) }()
		synctest.Wait()
		q.Close()
		if left := <-done; left != 0 || time.Since(began) != 0 {
			t.Errorf("%d left after %v", left, time.Since(began))
		}
	})
}

func TestWriterRetriesWithPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog(t)
		log.fails = errFull
		q := NewQueue()
		q.Put(rawItem("MESSAGE_DELETE", `{"id":"5"}`))
		q.Put(rawItem("GUILD_UPDATE", `{"id":"1","owner_id":"9","roles":[{"id":"1","permissions":"0"}]}`))
		p := newTestWriter(q, log)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if left := p.Run(ctx); left != 2 || !p.failing.Load() {
			t.Errorf("%d left, failing: %t", left, p.failing.Load())
		}
		if log.calls != 9 { // after 0, 1, 3, 7, 15, 25, 35, 45 and 55 seconds
			t.Errorf("%d attempts in a minute", log.calls)
		}
	})
}

// refusing is a log that refuses a message for good, and fails in other ways now and then.
type refusing struct {
	*fakeLog
	message memory.MessageID
	calls   int
}

func (r *refusing) Apply(ctx context.Context, events ...memory.Event) error {
	if r.calls++; r.calls%2 == 0 {
		return errFull
	}
	for _, e := range events {
		if subjectOf(e).message == r.message {
			return fmt.Errorf("message %d: %w", r.message, memory.ErrRefused)
		}
	}
	return r.fakeLog.Apply(ctx, events...)
}

func TestRefusedEventsAreSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &refusing{fakeLog: newFakeLog(t), message: 103}
		q := NewQueue()
		for i := range 6 {
			q.Put(rawItem("MESSAGE_CREATE",
				fmt.Sprintf(`{"id":"%d","channel_id":"2","guild_id":"1","type":0,%s,"content":"%d"}`, 100+i, ana, i)))
		}
		hark := memory.Message{ID: 103, Channel: 2, Guild: 1, Kind: memory.FromHark}
		more := hark
		more.ID = 110
		logged := make(chan struct{})
		q.Put(Item{Logged: logged, Events: []memory.Event{memory.Posted{Message: hark},
			memory.Posted{Message: more}, memory.Answered{Trace: memory.Trace{Guild: 1, Channel: 2,
				Answer: 103, Asker: 10}}}})
		q.Put(rawItem("MESSAGE_DELETE", `{"id":"101","channel_id":"2","guild_id":"1"}`))
		q.Close()
		p := newTestWriter(q, log)
		if left := p.Run(t.Context()); left != 0 || p.failing.Load() {
			t.Errorf("%d left, failing: %t", left, p.failing.Load())
		}
		<-logged
		if got := strings.Join(log.said(), ", "); got != "them: 0, them: 1, them: 2, them: 4, them: 5, delete 1" {
			t.Errorf("logged %s", got)
		}
		if kept := has(log.fakeLog, func(memory.Answered) bool { return true }); kept {
			t.Error("a trace is kept without its answer")
		}
	})
}

// Who stops Hark waits for what was logged, and then for the questions under way: one that was logged with it is
// under way.
func TestFlushAsksBeforeItSignals(t *testing.T) {
	t.Parallel()
	logged, asked := make(chan struct{}), 0
	p := Writer{ask: func(*Question) {
		asked++
		select {
		case <-logged:
			t.Error("whoever waits was told before")
		default:
		}
	}}
	err := p.flush(t.Context(), &commit{asks: []*Question{{}}, logged: []chan<- struct{}{logged}})
	if err != nil || asked != 1 {
		t.Errorf("asked %d, %v", asked, err)
	}
	<-logged
}
