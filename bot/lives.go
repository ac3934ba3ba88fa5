package bot

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

const (
	// knownLives is of how many questions it is known what became of them.
	knownLives = 4096
	// editedWithin is how long after it was sent a message that is edited counts as said anew.
	editedWithin = time.Minute
)

// Why an answer ends before it is whole.
var (
	errHalted  = errors.New("somebody stopped the answer")
	errAnew    = errors.New("the question is another now")
	errUnasked = errors.New("the question is gone, or nobody wants its answer")
)

// lives knows the questions that wait, that are being answered and that were answered lately, so that an answer follows what
// becomes of its question. It is in memory only, and holds a question's text only until it is answered.
type lives struct {
	since memory.MessageID // what was sent before isn't asked anew: nobody knows whether it was answered
	seed  maphash.Seed

	mu      sync.Mutex
	of      map[memory.MessageID]*life // by the question
	orphans []spot                     // of answers whose questions were deleted, to be taken back in Discord
	wake    chan struct{}              // receives when there are orphans, or others that were withdrawn
}

// spot is where a message is.
type spot struct {
	channel memory.ChannelID
	id      memory.MessageID
}

// life is what is known of a question.
type life struct {
	ask    *ask   // as it is now; without a text once it is answered
	text   uint64 // a hash of what was asked
	parent memory.ChannelID
	state  stage
	anew   bool // it changed while it was being answered
	gone   bool // it was deleted, or its answer isn't wanted
	halt   context.CancelCauseFunc
	shown  []memory.MessageID // the answer's messages in Discord
	more   []memory.MessageID // those that go with it
	logged bool               // whether they are in the log
	// answered says that it was, so that it is known still if it isn't answered anew.
	answered bool
}

type stage int

const (
	waiting stage = iota
	running
	over
)

func newLives(now time.Time) *lives {
	return &lives{since: memory.FirstMessageID(now), seed: maphash.MakeSeed(), of: map[memory.MessageID]*life{}, wake: make(chan struct{}, 1)}
}

// hear takes a question that was asked, or edited, and is it as it is to be put to the desk; nil if it isn't to be.
func (l *lives) hear(a *ask) *ask {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[a.id]
	switch {
	case known == nil && (a.brief || a.again && a.id < l.since):
		return nil
	case known == nil:
		l.add(a)
		return a
	case !a.again || known.gone:
		return nil
	}
	if a.brief {
		a = known.ask.saying(a)
	}
	if a.replyTo == 0 {
		a.replyTo = known.ask.replyTo
	}
	if maphash.String(l.seed, a.text) == known.text {
		return nil // something else about it changed
	}
	return l.restart(known, a)
}

// restart has a question answered anew, in the place of its answer. It is nil if it waits or is being answered still.
func (l *lives) restart(known *life, a *ask) *ask {
	known.ask, known.text = a, maphash.String(l.seed, a.text)
	switch known.state {
	case running:
		known.anew = true
		known.halt(errAnew)
		return nil
	case waiting:
		return nil
	}
	known.state = waiting
	return a
}

// again has a question answered in the place of an answer that is there. It is false if it is being answered already.
func (l *lives) again(a *ask, shown, more []memory.MessageID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[a.id]
	if known == nil {
		known = l.add(a)
	} else if known.state != over {
		return false
	}
	known.ask, known.text, known.state, known.gone = a, maphash.String(l.seed, a.text), waiting, false
	known.shown, known.more = shown, more
	return true
}

// add knows a question from now on; called with mu held.
func (l *lives) add(a *ask) *life {
	if len(l.of) >= knownLives {
		for id, known := range l.of {
			if known.state == over {
				delete(l.of, id)
			}
		}
	}
	known := &life{ask: a, text: maphash.String(l.seed, a.text), shown: a.shown}
	l.of[a.id] = known
	return known
}

// refuse has a question that isn't to be answered be as it was before it was asked: one with an answer keeps that.
func (l *lives) refuse(id memory.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[id]
	if known == nil || !known.answered {
		delete(l.of, id)
		return
	}
	known.ask, known.state = known.ask.saying(&ask{}), over
	if known.gone {
		l.forsake(id, known)
		l.rouse()
	}
}

// drop has a question that isn't answered count as never asked.
func (l *lives) drop(id memory.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, id)
}

// begin is a question as it is to be answered now, with the messages that show an earlier answer; nil if it is gone. The
// context ends when it isn't to be answered any more as it was. parent is that of a thread.
func (l *lives) begin(ctx context.Context, id memory.MessageID, parent memory.ChannelID) (context.Context, *ask, []memory.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[id]
	if known == nil || known.gone {
		return nil, nil, nil
	}
	known.state, known.anew, known.parent = running, false, parent
	ctx, known.halt = context.WithCancelCause(ctx)
	a := *known.ask // the caller's own, since the question may be edited meanwhile
	return ctx, &a, known.shown
}

// isOpen reports whether a question waits or is being answered.
func (l *lives) isOpen(id memory.MessageID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[id]
	return known != nil && known.state != over
}

// fate is what became of a question while it was being answered: errAnew, errUnasked, or nil if it is as it was.
func (l *lives) fate(id memory.MessageID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[id].fate()
}

func (k *life) fate() error {
	switch {
	case k == nil || k.gone:
		return errUnasked
	case k.anew:
		return errAnew
	}
	return nil
}

// end says that a question was answered by shown messages, with more that go with them, unless something became of it
// meanwhile, which it returns.
func (l *lives) end(id memory.MessageID, shown, more []memory.MessageID, logged bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[id]
	if known == nil {
		return nil
	}
	known.halt(nil) // so that nothing is left of the context
	known.shown, known.more, known.logged = shown, more, logged
	if err := known.fate(); err != nil {
		return err
	}
	known.ask = known.ask.saying(&ask{})
	known.state, known.answered = over, true
	return nil
}

// stop stops an answer that is being written. It is false if none is.
func (l *lives) stop(id memory.MessageID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[id]
	if known == nil || known.state != running {
		return false
	}
	known.halt(errHalted)
	return true
}

// unask ends an answer that isn't wanted. It is false if none is being written; then it is known that there is none.
func (l *lives) unask(id memory.MessageID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.of[id]
	switch {
	case known == nil:
		return false
	case known.state == over:
		known.bury()
		return false
	}
	known.cease()
	return true
}

// quit ends the answer to a message that asks nothing any more, if it is being written or waits. What was said stays.
func (l *lives) quit(id memory.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.of[id]; known != nil && known.state != over {
		known.text = 0 // so that the same is asked anew
		known.cease()
	}
}

// bury has it that a question has no answer, and returns all messages that show an earlier one. What was asked is known
// still, so that something else about the question, like a pin, doesn't have it answered again.
func (l *lives) bury(id memory.MessageID) []memory.MessageID {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.of[id]; known != nil {
		return known.bury()
	}
	return nil
}

func (k *life) bury() (shown []memory.MessageID) {
	shown = slices.Concat(k.shown, k.more)
	k.ask = k.ask.saying(&ask{})
	k.ask.files = nil
	k.state, k.gone, k.shown, k.more, k.logged = over, false, nil, nil, false
	return shown
}

// cease has a question count as gone.
func (k *life) cease() {
	k.gone = true
	if k.state == running {
		k.halt(errUnasked)
	}
}

// extra are the messages that went with the answer before.
func (l *lives) extra(id memory.MessageID) []memory.MessageID {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.of[id]; known != nil {
		return known.more
	}
	return nil
}

// isWriting reports whether a message is one of an answer in whose place another is being written; not whether one waits to be,
// which may be for long.
func (l *lives) isWriting(channel memory.ChannelID, id memory.MessageID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.of {
		if known.state == running && known.ask.channel == channel && slices.Contains(known.shown, id) {
			return true
		}
	}
	return false
}

// see is told what is in the log. It doesn't wait.
func (l *lives) see(events []memory.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case memory.Deleted:
			l.deleted(e)
		case memory.ChannelDeleted:
			l.endWhere(func(k *life) bool { return k.ask.channel == e.Channel || k.parent == e.Channel })
		case memory.GuildLeft:
			l.endWhere(func(k *life) bool { return k.ask.guild == e.Guild })
		}
	}
}

// endWhere ends the answers in places that aren't there any more.
func (l *lives) endWhere(gone func(*life) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, known := range l.of {
		if !gone(known) {
			continue
		}
		if known.cease(); known.state == over {
			delete(l.of, id)
		}
	}
}

// deleted ends the answers of questions that were deleted, and has those taken back that were given.
func (l *lives) deleted(e memory.Deleted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	isGone := func(id memory.MessageID) bool { return slices.Contains(e.IDs, id) }
	for _, known := range l.of { // so that nobody looks for what is gone
		if known.ask.channel == e.Channel && (slices.ContainsFunc(known.shown, isGone) || slices.ContainsFunc(known.more, isGone)) {
			known.shown, known.more = slices.DeleteFunc(slices.Clone(known.shown), isGone), slices.DeleteFunc(slices.Clone(known.more), isGone)
		}
	}
	for _, id := range e.IDs {
		known := l.of[id]
		if known == nil || known.ask.channel != e.Channel {
			continue
		}
		found = true
		if known.cease(); known.state != over {
			continue
		}
		l.forsake(id, known)
	}
	if found {
		l.rouse()
	}
}

// forsake has the answer to a question that is gone be taken back; called with mu held.
func (l *lives) forsake(id memory.MessageID, known *life) {
	delete(l.of, id)
	if !known.logged { // else the log tells, also after a restart
		for _, m := range slices.Concat(known.shown, known.more) {
			l.orphans = append(l.orphans, spot{known.ask.channel, m})
		}
	}
}

// orphan has messages be taken back in Discord.
func (l *lives) orphan(channel memory.ChannelID, ids []memory.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		l.orphans = append(l.orphans, spot{channel, id})
	}
	l.rouse()
}

// putBack has messages taken back the next time that somebody looks.
func (l *lives) putBack(failed []spot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orphans = append(l.orphans, failed...)
}

// rouse has what was withdrawn be looked at.
func (l *lives) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// takeOrphans are the messages that are to be taken back, once.
func (l *lives) takeOrphans() []spot {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.orphans
	l.orphans = nil
	return all
}
