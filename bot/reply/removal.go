package reply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/internal/pace"
	"hark/memory"
)

// withdrawnText replaces a withdrawn answer without saying what that was about.
const withdrawnText = "-# I've taken this answer back: something that it was based on was deleted, forgotten or changed."

// withdrawBatch is how many withdrawn answers are read at once.
const withdrawBatch = 50

// The pauses between attempts to remove a message that Discord refuses to change.
const (
	minRetry = time.Minute
	maxRetry = time.Hour
)

// removal is a scheduled removal of an answer's message.
type removal struct {
	unlogged bool      // the log doesn't know it
	request  bool      // it asks whether a tool may run; it goes also without Options.EditAnswers
	next     time.Time // attempt
	wait     time.Duration
}

// removeSoon removes messages that the log doesn't know.
func (t *Tracker) removeSoon(channel memory.ChannelID, ids []memory.MessageID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scheduleRemoval(channel, ids)
	pace.Wake(t.wake)
}

// scheduleRemoval is removeSoon without waking anybody. The caller holds mu.
func (t *Tracker) scheduleRemoval(channel memory.ChannelID, ids []memory.MessageID) {
	for _, id := range ids {
		at := memory.MessageRef{Channel: channel, Message: id}
		r := t.removals[at]
		r.unlogged = true
		t.removals[at] = r
	}
}

// unloggedRemovals returns the messages to remove that the log doesn't know, and how many others Discord
// refused.
func (t *Tracker) unloggedRemovals() (unlogged []memory.MessageRef, refused int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, r := range t.removals {
		if r.unlogged {
			unlogged = append(unlogged, at)
		}
	}
	return unlogged, len(t.removals) - len(unlogged)
}

// withdrawAll makes answers with forgotten or changed sources say so, and removes those whose question is
// gone. What fails is retried the next time; what Discord refuses, at growing intervals.
func (t *Tracker) withdrawAll(ctx context.Context) {
	unlogged, refused := t.unloggedRemovals()
	for _, at := range unlogged {
		t.tryWithdraw(ctx, memory.Withdrawn{Channel: at.Channel, Message: at.Message})
	}
	limit := withdrawBatch + refused // the refused ones must not block others
	for {
		list, err := t.replier.Memory.Withdrawn(ctx, limit)
		if err != nil {
			if ctx.Err() == nil {
				t.replier.Log.Error().Err(err).Msg("couldn't find which answers are to be taken back")
			}
			return
		}
		var done []memory.Event
		for _, w := range list {
			// One that is being rewritten changes anyway.
			if !t.isRewriting(memory.MessageRef{Channel: w.Channel, Message: w.Message}) && t.tryWithdraw(ctx, w) {
				done = append(done, memory.Marked{Channel: w.Channel, Message: w.Message})
			}
		}
		if len(done) == 0 || ctx.Err() != nil {
			return
		}
		if err := t.replier.Memory.Apply(ctx, done...); err != nil {
			t.replier.Log.Error().Err(err).Msg("couldn't keep which answers were taken back")
			return
		}
		if len(list) < limit {
			return
		}
	}
}

// tryWithdraw withdraws a message if a try is due. done: it is withdrawn or gone.
func (t *Tracker) tryWithdraw(ctx context.Context, w memory.Withdrawn) (done bool) {
	at, now := memory.MessageRef{Channel: w.Channel, Message: w.Message}, t.replier.Now()
	t.mu.Lock()
	r := t.removals[at]
	t.mu.Unlock()
	if now.Before(r.next) || ctx.Err() != nil {
		return false
	}
	var err error
	if t.replier.EditAnswers || r.request {
		err = t.replier.Withdraw(ctx, w)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r = t.removals[at]
	switch {
	case err == nil || discord.Status(err) == http.StatusNotFound:
		delete(t.removals, at)
		if r.request {
			t.replier.requestGone(at)
		}
		return true
	case ctx.Err() != nil:
		return false
	}
	// other errors are retried the next time
	if r.wait = min(max(minRetry, 2*r.wait), maxRetry); errors.Is(err, discord.ErrGone) {
		r.next = now.Add(r.wait)
	}
	t.removals[at] = r
	t.replier.Log.Warn().Err(err).Int64("answer", int64(w.Message)).Msg("couldn't take an answer back yet")
	return false
}

// isRewriting reports whether a message belongs to an answer that is being replaced. Waiting to be doesn't
// count, because that may take long.
func (t *Tracker) isRewriting(at memory.MessageRef) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.known {
		if q.state == running && q.current.Channel == at.Channel && slices.Contains(q.shown, at.Message) {
			return true
		}
	}
	return false
}

// Withdraw changes one message of an answer: the first says what happened and loses its files, the others are
// deleted. If the question is gone, so is the first.
func (r *Replier) Withdraw(ctx context.Context, w memory.Withdrawn) error {
	t := &discord.Sender{Client: r.Client, Channel: w.Channel}
	var err error
	if w.First && !w.Unasked {
		text := r.LocaleIn(ctx, w.Guild, w.Channel).Text(withdrawnText)
		err = t.Change(ctx, "PATCH", w.Message, discord.AsText(text), nil)
	} else {
		err = t.Change(ctx, "DELETE", w.Message, nil, nil)
	}
	return discord.Wrap(err, fmt.Sprintf("take back message %d in channel", w.Message), w.Channel)
}
