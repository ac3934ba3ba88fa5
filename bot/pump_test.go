package bot

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
)

func rawItem(kind, data string) item {
	return item{raw: &rawEvent{kind: kind, data: json.RawMessage(data)}}
}

// pumpOf is a pump that nobody waits for.
func pumpOf(q *queue, log memory.Store) *pump {
	b, _ := New(Config{Token: "t", CatchUp: 30 * 24 * time.Hour, Reconcile: true, Now: sameTime}, log, nil,
		zerolog.Nop())
	b.self, b.queue, b.timing.retry = self, q, time.Second
	b.filler, b.admit = newFiller(b), newAdmission(log, memory.Policy{}, b.recent, func([]subject) {})
	return newPump(b, nil)
}

func TestQueueTakesLessAndLess(t *testing.T) {
	t.Parallel()
	q := newQueue()
	theirs, ours := rawItem("MESSAGE_DELETE", `{}`), item{events: []memory.Event{memory.Deleted{}}}
	if !q.put(theirs) || !q.put(ours) || q.len() != 2 {
		t.Error("an open queue doesn't take all")
	}
	q.stopIntake()
	if q.put(theirs) || !q.put(ours) {
		t.Error("after the intake has stopped it has to take our own, and no events")
	}
	q.close()
	if q.put(theirs) || q.put(ours) {
		t.Error("a closed queue takes more")
	}
	if batch := q.take(t.Context()); len(batch) != 3 || q.len() != 3 {
		t.Errorf("took %d; %d aren't committed", len(batch), q.len())
	}
	q.done(3)
	if q.take(t.Context()) != nil || q.len() != 0 {
		t.Error("a closed queue that is empty gives more")
	}
}

// A guild's update tells no channels, and those that the log has must include what came just before.
func TestGuildUpdateSeesWhatCameJustBefore(t *testing.T) {
	t.Parallel()
	log := newNotebook(t)
	q := newQueue()
	q.put(rawItem("GUILD_CREATE", `{"id":"1","name":"Garden","owner_id":"9","roles":[{"id":"1","permissions":"0"}],"channels":[{"id":"2","type":0,"name":"general","nsfw":false,"permission_overwrites":[]}]}`))
	q.put(rawItem("GUILD_UPDATE", `{"id":"1","name":"Renamed","owner_id":"9","roles":[{"id":"1","permissions":"0"}]}`))
	q.put(rawItem("GUILD_UPDATE", `{"id":"4711","name":"Unknown","owner_id":"9","roles":[{"id":"4711","permissions":"0"}]}`))
	q.close()
	p := pumpOf(q, log)
	if left := p.run(t.Context()); left != 0 {
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
	log, asked := newNotebook(t), 0
	p := pumpOf(newQueue(), log)
	p.ask = func(a *ask) {
		asked++
		if _, logged := find(log, func(e memory.Posted) bool { return e.Message.ID == a.id }); !logged ||
			len(log.said()) != 2 {
			t.Errorf("question %d is asked when the log has %q", a.id, log.said())
		}
	}
	said := func(id int, text string) item {
		return rawItem("MESSAGE_CREATE",
			fmt.Sprintf(`{"id":"%d","channel_id":"2","guild_id":"1","type":0,%s,"content":"%s","mentions":[{"id":"%d"}]}`, id, ana, text, self))
	}
	if err := p.write(t.Context(),
		[]item{said(100, "on Friday"), said(101, fmt.Sprintf("<@%d> when?", self))}); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

func TestPumpTriesOnWithPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newNotebook(t)
		log.fail(errDown)
		q := newQueue()
		q.put(rawItem("MESSAGE_DELETE", `{"id":"5"}`))
		q.put(rawItem("GUILD_UPDATE", `{"id":"1","owner_id":"9","roles":[{"id":"1","permissions":"0"}]}`))
		p := pumpOf(q, log)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if left := p.run(ctx); left != 2 || !p.failing.Load() {
			t.Errorf("%d left, failing: %t", left, p.failing.Load())
		}
		if log.calls != 9 { // after 0, 1, 3, 7, 15, 25, 35, 45 and 55 seconds
			t.Errorf("%d attempts in a minute", log.calls)
		}
	})
}

// refusing is a log that refuses a message for good, and fails in other ways now and then.
type refusing struct {
	*notebook
	message memory.MessageID
	calls   int
}

func (r *refusing) Apply(ctx context.Context, events ...memory.Event) error {
	if r.calls++; r.calls%2 == 0 {
		return errDown
	}
	for _, e := range events {
		if subjectOf(e).message == r.message {
			return fmt.Errorf("message %d: %w", r.message, memory.ErrRefused)
		}
	}
	return r.notebook.Apply(ctx, events...)
}

func TestWhatTheLogRefusesCostsItselfOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &refusing{notebook: newNotebook(t), message: 103}
		q := newQueue()
		for i := range 6 {
			q.put(rawItem("MESSAGE_CREATE",
				fmt.Sprintf(`{"id":"%d","channel_id":"2","guild_id":"1","type":0,%s,"content":"%d"}`, 100+i, ana, i)))
		}
		hark := memory.Message{ID: 103, Channel: 2, Guild: 1, Kind: memory.FromHark}
		more := hark
		more.ID = 110
		logged := make(chan struct{})
		q.put(item{logged: logged, events: []memory.Event{memory.Posted{Message: hark},
			memory.Posted{Message: more}, memory.Answered{Trace: memory.Trace{Guild: 1, Channel: 2,
				Answer: 103, Asker: 10}}}})
		q.put(rawItem("MESSAGE_DELETE", `{"id":"101","channel_id":"2","guild_id":"1"}`))
		q.close()
		p := pumpOf(q, log)
		if left := p.run(t.Context()); left != 0 || p.failing.Load() {
			t.Errorf("%d left, failing: %t", left, p.failing.Load())
		}
		<-logged
		if got := strings.Join(log.said(), ", "); got != "them: 0, them: 1, them: 2, them: 4, them: 5, delete 1" {
			t.Errorf("logged %s", got)
		}
		if _, kept := find(log.notebook, func(memory.Answered) bool { return true }); kept {
			t.Error("a trace is kept without its answer")
		}
	})
}

// Who stops Hark waits for what was logged, and then for the questions under way: one that was logged with it is
// under way.
func TestQuestionsAreTakenBeforeTheLogIsWaitedFor(t *testing.T) {
	t.Parallel()
	logged, asked := make(chan struct{}), 0
	p := pump{ask: func(*ask) {
		asked++
		select {
		case <-logged:
			t.Error("whoever waits was told before")
		default:
		}
	}}
	err := p.flush(t.Context(), &commit{asks: []*ask{{}}, logged: []chan<- struct{}{logged}})
	if err != nil || asked != 1 {
		t.Errorf("asked %d, %v", asked, err)
	}
	<-logged
}
