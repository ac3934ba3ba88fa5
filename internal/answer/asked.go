package answer

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// atHark is how Hark is spoken to where Discord makes no mention of it.
var atHark = regexp.MustCompile(`(?i)(^|[^\w@])@hark\b`)

func withoutHark(s string) string { return atHark.ReplaceAllString(s, "$1") }

// putToHark reports whether m is a question that Hark, or another bot, was asked, or no more than its name.
func (e *Engine) putToHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	if len(text.Words(withoutHark(m.Content))) == 0 && atHark.MatchString(m.Content) {
		return true, nil
	}
	if !asks(m.Content) {
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
	if toBot || m.Guild == memory.DirectGuild || atHark.MatchString(m.Content) {
		return true, nil
	}
	if m.ReplyTo == 0 {
		return false, nil
	}
	replied, err := e.log.Messages(ctx, m.Channel, []memory.MessageID{m.ReplyTo})
	return len(replied) == 1 && replied[0].Kind == memory.FromHark, err
}

// interrogatives are words that a question begins with.
var interrogatives = strings.Fields("who whom whose what when where why which how is are was were do does did can could will would should has have")

// asks reports whether s looks like a question: by its mark in any language, by its first word in English.
func asks(s string) bool {
	if strings.ContainsAny(s, "?？؟") {
		return true
	}
	words := text.Words(withoutHark(s))
	return len(words) > 0 && slices.Contains(interrogatives, words[0])
}
