package bot

import (
	"context"
	"errors"
	"time"

	"hark/memory"
)

// take has a question answered, unless it was taken before, or too much is asked, and reports whether it will be. It waits for
// nobody.
func (b *Bot) take(last context.Context, a *ask) bool {
	taken := b.put(last, a)
	if !b.lives.isOpen(a.id) {
		b.queue.put(item{events: []memory.Event{a.closed()}})
	}
	return taken
}

func (b *Bot) put(last context.Context, a *ask) bool {
	if a.unasked {
		b.lives.quit(a.id)
		return false
	}
	if isNew := b.desk.isNew(a.id); !isNew && !a.again {
		return false
	}
	if b.isSilent(last, a.guild, a.channel) {
		return false
	}
	if a = b.lives.hear(a); a == nil {
		return false
	}
	if b.isPaused(last, a) {
		return false
	}
	if h := b.tooOften(last, a); h != nil {
		b.lives.refuse(a.id)
		b.cfg.Metrics.QuestionsRefused.WithLabelValues(h.of).Inc()
		if b.limiter.isFirst(b.whom(a, h.of), a.when(), h) {
			b.desk.tell(func() { b.say(last, a, "l", limitReached(b.localeIn(last, a.guild, a.channel), h)) })
		}
		return false
	}
	return b.enqueue(a)
}

// enqueue has a question answered that may be asked, if not too many wait, and reports whether it will be.
func (b *Bot) enqueue(a *ask) bool {
	err := b.desk.put(a)
	if err == nil {
		return true
	}
	b.lives.refuse(a.id)
	b.limiter.back(membership{a.guild, a.asker}, a.when())
	if errors.Is(err, errFull) {
		b.cfg.Metrics.QuestionsRefused.WithLabelValues(deskBusy).Inc()
	}
	return false
}

// tooOften counts a question, unless it is the one too many of a minute.
func (b *Bot) tooOften(ctx context.Context, a *ask) *hit {
	member, guild := b.limitsOf(ctx, a.guild, a.roles)
	return b.limiter.take(membership{a.guild, a.asker}, a.when(), member, guild)
}

// limitsOf are the limits of somebody with these roles, and of their guild. Where the log can't tell what was chosen, those
// hold that are configured.
func (b *Bot) limitsOf(ctx context.Context, guild memory.GuildID, roles []memory.RoleID) (member, all memory.Limit) {
	g, err := b.admit.guild(ctx, guild)
	if err != nil {
		g = &memory.Guild{ID: guild}
	}
	return b.cfg.Limits.of(g, roles)
}

// whom is who is told of a limit: the member, or, if it is everybody's, the channel.
func (b *Bot) whom(a *ask, of string) telling {
	if of == guildMessages || of == guildTokens {
		return telling{membership{guild: a.guild}, a.channel, of}
	}
	return telling{membership{a.guild, a.asker}, 0, of}
}

// limitReached says that a limit is reached, and when that ends.
func limitReached(l locale, h *hit) string {
	until := h.until.Add(time.Second - 1).Unix()
	switch {
	case h.of == memberMessages && h.limit == 1:
		return l.text("You've asked me once within a minute. Please ask again <t:%d:R>.", until)
	case h.of == memberMessages:
		return l.text("You've asked me %s times within a minute. Please ask again <t:%d:R>.", l.number(h.limit), until)
	case h.of == guildMessages && h.limit == 1:
		return l.text("I've been asked once within a minute here, which is all I may answer. Please ask again <t:%d:R>.", until)
	case h.of == guildMessages:
		return l.text("I've been asked %s times within a minute here, which is all I may answer. Please ask again <t:%d:R>.", l.number(h.limit), until)
	case h.of == memberTokens:
		return l.text("Your %s tokens for today are used up. There are new ones <t:%d:R>; until then I only quote.", l.number(h.limit), until)
	}
	return l.text("This server's %s tokens for today are used up. There are new ones <t:%d:R>; until then I only quote.", l.number(h.limit), until)
}

// tooMany says how many questions wait.
func tooMany(l locale, b burst) string {
	if b.guild {
		return l.text("I'm busy: %s questions are waiting for me in this server. Please ask again in a minute or two.", l.number(b.waiting))
	}
	return l.text("I'm busy: %s questions are waiting for me in this channel. Please ask again in a minute or two.", l.number(b.waiting))
}

// ended reports whether an answer was given up before it came to its end.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errHalted) || errors.Is(err, errAnew) || errors.Is(err, errUnasked)
}

// deskBusy is in /metrics what refused a question because too many waited.
const deskBusy = "busy"

// limitNames are what refuses questions in /metrics.
var limitNames = []string{deskBusy, guildMessages, guildTokens, memberMessages, memberTokens, pausedQuestion}

// Questions are how many questions wait, and how many are being answered.
func (b *Bot) Questions() (waiting, busy int) { return b.desk.counts() }
