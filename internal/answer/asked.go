package answer

import (
	"context"
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// putToHark reports whether m is a question that Hark, or another bot, was asked, or no more than its name.
func (e *Engine) putToHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	if text.SpeaksToHark(m.Content) && len(text.Words(text.WithoutHark(m.Content))) == 0 {
		return true, nil
	}
	if !text.Asks(m.Content) {
		return false, nil
	}
	return e.saidToHark(ctx, r, m)
}

// saidToHark reports whether m was said to Hark or another bot.
func (e *Engine) saidToHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	toBot := slices.ContainsFunc(m.Mentions, func(id memory.UserID) bool {
		p, ok := r.names.person(id)
		return ok && p.Bot
	})
	if toBot || m.Guild == memory.DirectGuild || text.SpeaksToHark(m.Content) {
		return true, nil
	}
	if m.ReplyTo == 0 {
		return false, nil
	}
	replied, err := e.log.Around(ctx, m.Channel, []memory.MessageID{m.ReplyTo}, 0, 0)
	return len(replied) == 1 && replied[0].Kind == memory.FromHark, err
}
