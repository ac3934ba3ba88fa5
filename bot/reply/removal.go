package reply

import (
	"context"
	"fmt"
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
