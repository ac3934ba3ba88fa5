package reply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hark/bot/discord"
	"hark/internal/pace"
	"hark/memory"
)

// withdrawnText stands where an answer was. It says nothing of what that was, not even what the answer was about.
const withdrawnText = "-# I've taken this answer back: something that it was based on was deleted, forgotten or changed."

// withdrawBatch is how many answers are looked at together.
const withdrawBatch = 50

// The pauses between attempts to take back a message that Discord refuses to have changed, and doesn't say is gone.
const (
	minRetry = time.Minute
	maxRetry = time.Hour
)

// removal is a message of an answer that is to be taken back, or that Discord refused to have taken back.
type removal struct {
	unlogged bool      // the log doesn't tell of it
	next     time.Time // attempt
	wait     time.Duration
}

// removeSoon has messages be taken back of which the log doesn't tell.
func (t *Tracker) removeSoon(channel memory.ChannelID, ids []memory.MessageID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scheduleRemoval(channel, ids)
	pace.Wake(t.wake)
}

// scheduleRemoval is removeSoon without waking anybody; called with mu held.
func (t *Tracker) scheduleRemoval(channel memory.ChannelID, ids []memory.MessageID) {
	for _, id := range ids {
		r := t.removals[memory.Spot{Channel: channel, Message: id}]
		r.unlogged = true
		t.removals[memory.Spot{Channel: channel, Message: id}] = r
	}
}

// unloggedRemovals are the messages to be taken back of which the log doesn't tell, and how many others Discord refused.
func (t *Tracker) unloggedRemovals() (own []memory.Spot, refused int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, r := range t.removals {
		if r.unlogged {
			own = append(own, at)
		}
	}
	return own, len(t.removals) - len(own)
}

// withdrawAll shows of answers that used what was forgotten or changed that they were taken back, and takes
// away those whose question is gone. What can't be reached now is tried again the next time; what Discord
// refuses, later and later.
func (t *Tracker) withdrawAll(ctx context.Context) {
	own, refused := t.unloggedRemovals()
	for _, at := range own {
		t.tryWithdraw(ctx, memory.Withdrawn{Channel: at.Channel, Message: at.Message})
	}
	limit := withdrawBatch + refused // so that those don't keep others from their turn
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
			// else it will be another
			if !t.isRewriting(memory.Spot{Channel: w.Channel, Message: w.Message}) && t.tryWithdraw(ctx, w) {
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

// tryWithdraw takes back a message if it is time to try, and reports whether nothing is left to do: it is
// as it should be, or gone.
func (t *Tracker) tryWithdraw(ctx context.Context, w memory.Withdrawn) (done bool) {
	at, now := memory.Spot{Channel: w.Channel, Message: w.Message}, t.replier.Now()
	t.mu.Lock()
	r := t.removals[at]
	t.mu.Unlock()
	if now.Before(r.next) || ctx.Err() != nil {
		return false
	}
	var err error
	if t.replier.EditAnswers {
		err = t.replier.Withdraw(ctx, w)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r = t.removals[at]
	switch {
	case err == nil || discord.Status(err) == http.StatusNotFound:
		delete(t.removals, at)
		return true
	case ctx.Err() != nil:
		return false
	}
	// else it may work the next time
	if r.wait = min(max(minRetry, 2*r.wait), maxRetry); errors.Is(err, discord.ErrGone) {
		r.next = now.Add(r.wait)
	}
	t.removals[at] = r
	t.replier.Log.Warn().Err(err).Int64("answer", int64(w.Message)).Msg("couldn't take an answer back yet")
	return false
}

// Withdraw changes one message of an answer: its first says what happened and loses its files, others go, and
// it with them where its question did.
func (r *Replier) Withdraw(ctx context.Context, w memory.Withdrawn) error {
	t := &discord.Sender{Client: r.Client, Channel: w.Channel}
	var err error
	if w.First && !w.Unasked {
		err = t.Change(ctx, "PATCH", w.Message, discord.AsText(r.LocaleIn(ctx, w.Guild,
			w.Channel).Text(withdrawnText)), nil)
	} else {
		err = t.Change(ctx, "DELETE", w.Message, nil, nil)
	}
	return discord.Wrap(err, fmt.Sprintf("take back message %d in channel", w.Message), w.Channel)
}
