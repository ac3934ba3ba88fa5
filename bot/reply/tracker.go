package reply

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"slices"

	"hark/bot/ingest"
	"hark/internal/pace"
	"hark/memory"
)

// minKnownQuestions is the least number of questions whose state is kept.
const minKnownQuestions = 4096

func newTracker(r *Replier) *Tracker {
	t := &Tracker{
		replier:  r,
		quota:    newQuota(),
		seed:     maphash.MakeSeed(),
		known:    map[memory.MessageID]*question{},
		removals: map[memory.MessageRef]removal{},
		wake:     make(chan struct{}, 1),
	}
	t.scheduler = newScheduler(func(*ingest.Question) {}, r.Progress)
	return t
}

// Counts returns how many questions wait, how many are being answered, and how many goroutines run.
func (t *Tracker) Counts() (waiting, busy, active int) { return t.scheduler.counts() }

// Wait waits for the answers under way, until ctx ends.
func (t *Tracker) Wait(ctx context.Context) { t.scheduler.wait(ctx) }

// Nudge looks for answers to withdraw now.
func (t *Tracker) Nudge() { pace.Wake(t.wake) }

// Take has a question answered, unless it was taken before or a limit is reached. It doesn't block. last is the
// context of the replies.
func (t *Tracker) Take(last context.Context, a *ingest.Question) {
	if taken, left := t.accept(last, a); !taken && !left && !t.isOpen(a.ID) {
		t.replier.Queue.Put(ingest.Item{Events: []memory.Event{a.Closed()}})
	}
}

// accept is Take without closing the question in the log. left: it stays open there until something else is
// replied, or for the next process.
func (t *Tracker) accept(last context.Context, a *ingest.Question) (taken, left bool) {
	g := t.replier.Filter.Lookup(last, a.Guild)
	a.Parent = ParentOf(g, a.Channel)
	a = t.update(a, SilentIn(g, a.Channel))
	if a == nil {
		return false, false
	}
	purpose := "p"
	h := t.Paused(g, a.Channel, a.When())
	if h != nil {
		t.count(h.Of)
	} else {
		purpose = "l"
		h = t.TooOften(g, a)
	}
	if h == nil {
		return t.Enqueue(last, a)
	}
	t.Refuse(a.ID)
	left = t.shouldTell(a, h)
	if left {
		t.scheduler.start(func() {
			t.replier.say(last, a, purpose, LimitReached(t.replier.LocaleFor(last, a), h))
		})
	}
	return false, left
}

// ParentOf returns a thread's channel, or 0.
func ParentOf(g *memory.Guild, channel memory.ChannelID) memory.ChannelID {
	for _, c := range g.Channels {
		if c.ID == channel && c.Kind.IsThread() {
			return c.Parent
		}
	}
	return 0
}

// Enqueue queues a question that passed the limits, unless too many wait. It returns what accept does.
func (t *Tracker) Enqueue(last context.Context, a *ingest.Question) (taken, left bool) {
	who := a.Asker
	if a.Quiet {
		who = 0
	}
	err := t.scheduler.put(a.Guild, a.Channel, who, a.Resumed, a)
	if err == nil {
		return true, false
	}
	t.Refuse(a.ID)
	t.quota.refund(a.Membership(), a.When())
	if full, is := errors.AsType[*fullError](err); is {
		t.count(tooManyWait)
		if full.first {
			t.scheduler.start(func() {
				t.replier.say(last, a, "b", tooMany(t.replier.LocaleFor(last, a), full))
			})
		}
		return false, full.first
	}
	if !a.Quiet {
		t.TellStopping(last, a)
	}
	return false, true
}

// Close stops answering and tells those who wait. It returns how many there are.
func (t *Tracker) Close(last context.Context) (left int) {
	waiting := t.scheduler.close()
	for _, a := range waiting {
		t.TellStopping(last, a)
	}
	return len(waiting)
}

// TellStopping tells the asker that Hark is stopping, unless another process answers or a part of the answer is shown:
// the next process finishes that.
func (t *Tracker) TellStopping(last context.Context, a *ingest.Question) {
	if len(a.Shown) == 0 && !t.replier.HandOver {
		t.scheduler.start(func() {
			t.replier.say(last, a, "r", t.replier.LocaleFor(last, a).Text(restarting))
		})
	}
}

// update takes a new or changed question. It returns the question to answer, or nil if there is none.
func (t *Tracker) update(a *ingest.Question, silent bool) *ingest.Question {
	t.mu.Lock()
	defer t.mu.Unlock()
	q, known := t.known[a.ID]
	if a.Withdrawn {
		if known && q.isOpen() {
			q.text = 0 // so the same text counts as new
			q.interrupt(errWithdrawn)
		}
		return nil
	}
	if !known {
		q = t.add(a.ID)
	}
	switch {
	case silent || known && !a.Reasked:
		return nil
	case q.state == unanswered:
		// An earlier process may have answered it.
		if a.Brief || a.Reasked && a.ID < memory.FirstMessageID(t.replier.Since) {
			return nil
		}
		q.shown = a.Shown
	case q.interruption == errWithdrawn:
		return nil
	default:
		if a.Brief {
			a = q.current.WithText(a)
		}
		if a.ReplyTo == 0 {
			a.ReplyTo = q.current.ReplyTo
		}
		if t.hash(a) == q.text {
			return nil // the text didn't change
		}
	}
	q.current = a
	q.text = t.hash(a)
	if q.isOpen() {
		q.interrupt(errChanged)
		return nil
	}
	q.state = waiting
	return a
}

func (t *Tracker) hash(a *ingest.Question) uint64 { return maphash.String(t.seed, a.Text) }

// Again has a question answered in place of its earlier answer. It is false if it is being answered already.
func (t *Tracker) Again(a *ingest.Question, shown, more []memory.MessageID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.known[a.ID]
	if q == nil {
		q = t.add(a.ID)
	} else if q.isOpen() {
		return false
	}
	q.current = a
	q.text = t.hash(a)
	q.state = waiting
	q.interruption = nil
	q.shown = shown
	q.more = more
	q.ran = nil
	return true
}

// add adds a question, and drops the oldest if there are too many. The caller holds mu.
func (t *Tracker) add(id memory.MessageID) *question {
	if len(t.known) >= 2*minKnownQuestions {
		for _, old := range slices.Sorted(maps.Keys(t.known))[:minKnownQuestions] {
			if !t.known[old].isOpen() {
				delete(t.known, old)
			}
		}
	}
	q := &question{}
	t.known[id] = q
	return q
}

// lookup returns a question's state, empty if it never came. The caller holds mu.
func (t *Tracker) lookup(id memory.MessageID) *question {
	if q := t.known[id]; q != nil {
		return q
	}
	return &question{}
}

// Refuse returns an unanswered question to its earlier state: an earlier answer stays.
func (t *Tracker) Refuse(id memory.MessageID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.lookup(id)
	if !q.answered {
		*q = question{}
		return
	}
	q.finish()
	if q.interruption == errWithdrawn {
		t.drop(q)
	}
}

// begin returns a question to answer now, with the messages of an earlier answer; nil if it is gone. The context
// ends when that version needs no answer any more.
func (t *Tracker) begin(ctx context.Context, id memory.MessageID) (context.Context, *ingest.Question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.lookup(id)
	if !q.isOpen() || q.interruption == errWithdrawn {
		return nil, nil
	}
	q.state = running
	q.interruption = nil
	ctx, q.cancel = context.WithCancelCause(ctx)
	a := *q.current // a copy, because the question may be edited meanwhile
	a.Shown = q.shown
	a.More = q.more
	return ctx, &a
}

// isOpen reports whether a question waits or is being answered.
func (t *Tracker) isOpen(id memory.MessageID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lookup(id).isOpen()
}

func (q *question) isOpen() bool { return q.state == waiting || q.state == running }

// interruption returns errChanged or errWithdrawn if that happened to a question while it was being answered.
func (t *Tracker) interruption(id memory.MessageID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lookup(id).interruption
}

// finish records the answer's messages and those below it. It returns the question's interruption.
func (t *Tracker) finish(id memory.MessageID, shown, more []memory.MessageID, logged bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.lookup(id)
	q.cancel(nil) // frees the context
	q.shown = shown
	q.more = more
	q.logged = logged
	if q.interruption == nil {
		q.answered = true
		q.finish()
	}
	return q.interruption
}

// finish ends a question and forgets its text.
func (q *question) finish() {
	q.current = q.current.WithText(&ingest.Question{})
	q.state = finished
}

// Stop stops an answer that is being written. It is false if none is.
func (t *Tracker) Stop(id memory.MessageID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.lookup(id)
	if q.state == running {
		q.cancel(errHalted)
	}
	return q.state == running
}

// Withdraw ends an unwanted answer. It is false if none is being written; then the question counts as
// unanswered.
func (t *Tracker) Withdraw(id memory.MessageID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.lookup(id)
	if q.isOpen() {
		q.interrupt(errWithdrawn)
		return true
	}
	q.clear()
	return false
}

// interrupt interrupts a question that waits or is being answered.
func (q *question) interrupt(why error) {
	q.interruption = why
	if q.state == running {
		q.cancel(why)
	}
}

// clear records that a question has no answer, and returns all messages of earlier ones. The hash stays, so a
// pin doesn't have it answered again.
func (t *Tracker) clear(id memory.MessageID) []memory.MessageID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lookup(id).clear()
}

func (q *question) clear() []memory.MessageID {
	shown := slices.Concat(q.shown, q.more)
	if q.current != nil {
		q.finish()
		q.current.Files = nil
		q.interruption = nil
		q.shown = nil
		q.more = nil
		q.logged = false
	}
	return shown
}

// See takes what was committed. It doesn't block.
func (t *Tracker) See(subjects []ingest.Subject) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range subjects {
		if !s.Ended && s.Deleted == nil {
			continue
		}
		isDeleted := func(id memory.MessageID) bool { return slices.Contains(s.Deleted, id) }
		for id, q := range t.known {
			ended := q.current != nil && s.Ends(q.current.Guild, q.current.Channel, q.current.Parent)
			if q.current == nil || !ended && q.current.Channel != s.Channel {
				continue
			}
			if replied := q.current.Replied; replied != nil && isDeleted(replied.ID) {
				replied.Lose()
			}
			// What is gone needs no removal.
			q.shown = slices.DeleteFunc(slices.Clone(q.shown), isDeleted)
			q.more = slices.DeleteFunc(slices.Clone(q.more), isDeleted)
			switch {
			case !ended && !isDeleted(id):
			case q.isOpen():
				q.interrupt(errWithdrawn)
				pace.Wake(t.wake)
			case ended:
				*q = question{}
			default:
				t.drop(q)
			}
		}
	}
}

// drop forgets a question that is gone and withdraws its answer. The caller holds mu.
func (t *Tracker) drop(q *question) {
	if !q.logged { // else the log knows, also after a restart
		t.scheduleRemoval(q.current.Channel, slices.Concat(q.shown, q.more))
	}
	*q = question{}
	pace.Wake(t.wake)
}

// SilentIn reports whether a guild's admins switched answers off in a channel.
func SilentIn(g *memory.Guild, channel memory.ChannelID) bool {
	value, _ := g.Setting(channel, memory.SettingAnswers)
	return value == "off"
}
