package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

// withdrawnText stands where an answer was. It says nothing of what that was, not even what the answer was about.
const withdrawnText = "-# I've taken this answer back: something that it was based on was deleted, forgotten or changed."

// withdrawnAtOnce is how many answers are looked at together.
const withdrawnAtOnce = 50

// The pauses between attempts to take back a message that Discord refuses to have changed, and doesn't say is gone.
const (
	firstRefusal   = time.Minute
	longestRefusal = time.Hour
)

// refusedChanges are the messages that Discord refused to have taken back. One goroutine uses them.
type refusedChanges map[spot]struct {
	next time.Time // attempt
	wait time.Duration
}

// isDue reports whether to try a message now.
func (r refusedChanges) isDue(s spot, now time.Time) bool { return !now.Before(r[s].next) }

// note keeps what became of an attempt, and reports whether it was the last: the message is as it should be, or gone.
func (r refusedChanges) note(s spot, now time.Time, err error) (final bool) {
	if err == nil || isMissing(err) {
		delete(r, s)
		return true
	}
	was := r[s]
	if was.wait = min(max(firstRefusal, 2*was.wait), longestRefusal); errors.Is(err, errGone) { // else it may work the next time
		was.next = now.Add(was.wait)
	}
	r[s] = was
	return false
}

// takeBack shows of answers that used what was forgotten or changed that they were taken back. What can't be reached now is tried
// again the next time; what Discord refuses, later and later.
func (b *Bot) takeBack(ctx context.Context) {
	b.recent.expire()
	b.takeOrphans(ctx)
	for {
		limit := withdrawnAtOnce + len(b.refusedChanges) // so that those don't keep others from their turn
		list, err := b.memory.Withdrawn(ctx, limit)
		if err != nil {
			if ctx.Err() == nil {
				b.log.Error().Err(err).Msg("couldn't find which answers are to be taken back")
			}
			return
		}
		var done []memory.Event
		for _, w := range list {
			at := spot{w.Channel, w.Message}
			if b.lives.isWriting(w.Channel, w.Message) || !b.refusedChanges.isDue(at, b.now()) {
				continue // it will be another, or it's too early
			}
			err := b.withdraw(ctx, w)
			switch {
			case ctx.Err() != nil:
				return
			case b.refusedChanges.note(at, b.now(), err):
				done = append(done, memory.Marked{Channel: w.Channel, Message: w.Message})
			default:
				b.log.Warn().Err(err).Int64("answer", int64(w.Message)).Msg("couldn't take an answer back yet")
			}
		}
		if len(done) > 0 {
			if err := b.memory.Apply(ctx, done...); err != nil {
				b.log.Error().Err(err).Msg("couldn't keep which answers were taken back")
				return
			}
		}
		if len(list) < limit || len(done) == 0 {
			return
		}
	}
}

// codeArchived is Discord's code for a thread that is archived.
const codeArchived = 50083

// takeOrphans takes back the answers to questions that were deleted of which the log knows nothing. What fails for a while is
// tried again the next time.
func (b *Bot) takeOrphans(ctx context.Context) {
	var left []spot
	for _, s := range b.lives.takeOrphans() {
		if !b.refusedChanges.isDue(s, b.now()) {
			left = append(left, s)
			continue
		}
		err := b.withdraw(ctx, memory.Withdrawn{Channel: s.channel, Message: s.id})
		if !b.refusedChanges.note(s, b.now(), err) && ctx.Err() == nil {
			b.log.Warn().Err(err).Int64("answer", int64(s.id)).Msg("couldn't take an answer back yet")
			left = append(left, s)
		}
	}
	b.lives.putBack(left)
}

// withdraw changes one message of an answer: its first says what happened and loses its files, others go, and it with them where its question did.
func (b *Bot) withdraw(ctx context.Context, w memory.Withdrawn) error {
	if !b.cfg.EditAnswers {
		return nil
	}
	return b.change(ctx, w)
}

// change is withdraw, whatever was configured.
func (b *Bot) change(ctx context.Context, w memory.Withdrawn) error {
	t := &thread{client: b.rest, channel: w.Channel}
	change := func() error {
		if w.First && !w.Unasked {
			return b.rest.call(ctx, "PATCH", t.address(w.Message), t.bucket(), asText(b.localeIn(ctx, w.Guild, w.Channel).text(withdrawnText)), nil)
		}
		return b.rest.call(ctx, "DELETE", t.address(w.Message), t.bucket(), nil, nil)
	}
	err := change()
	if code(err) == codeArchived {
		if err = b.rest.wakeThread(ctx, w.Channel); err == nil {
			err = change()
		}
	}
	return wrap(err, fmt.Sprintf("take back message %d in channel", w.Message), w.Channel)
}

// wakeThread takes a thread out of the archive, in which nothing can be changed.
func (c *client) wakeThread(ctx context.Context, id memory.ChannelID) error {
	address := discordgo.EndpointChannel(id.String())
	body := struct {
		Archived bool `json:"archived"`
	}{}
	return c.call(ctx, "PATCH", address, address, body, nil)
}
