package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

// withdrawnText stands where an answer was. It says nothing of what was forgotten, not even what the answer was about.
const withdrawnText = "-# I've taken this answer back: something that it was based on has been forgotten."

// withdrawnAtOnce is how many answers are looked at together.
const withdrawnAtOnce = 50

// takeBack shows of answers that used what was forgotten that they were taken back. What can't be reached now is tried
// again the next time.
func (b *Bot) takeBack(ctx context.Context) {
	b.recent.expire()
	b.takeOrphans(ctx)
	for {
		list, err := b.memory.Withdrawn(ctx, withdrawnAtOnce)
		if err != nil {
			if ctx.Err() == nil {
				b.log.Error().Err(err).Msg("couldn't find which answers are to be taken back")
			}
			return
		}
		var done []memory.Event
		for _, w := range list {
			if b.lives.isWriting(w.Channel, w.Message) {
				continue // it will be another
			}
			err := b.withdraw(ctx, w)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil || errors.Is(err, errGone):
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
		if len(list) < withdrawnAtOnce || len(done) == 0 {
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
		if err := b.withdraw(ctx, memory.Withdrawn{Channel: s.channel, Message: s.id}); err != nil && !errors.Is(err, errGone) && ctx.Err() == nil {
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
