package answer

import (
	"context"
	"slices"
	"strings"

	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

// requestToHark returns a test for messages that only ask something of Hark, by their own words; nil if q is about
// what Hark was asked.
func (r *recalled) requestToHark(q Question) func(*memory.Message) bool {
	if asksWhatWasAsked(q.Text) {
		return nil
	}
	return func(m *memory.Message) bool { return r.addressesHark(*m) && isRequest(*m) }
}

var askedBefore = pattern.Of(`(?i)\b(?:did|do|does)\b.*\bask\b.*\b(?:you|hark)\b|` +
	`\b(?:asked|asking|(?:i|we) (?:told|tell)|questions|requests)\b.*\b(?:you|hark)\b|` +
	`\bmy (?:last |first |previous |earlier )?questions?\b|` +
	`\b(?:dich|dir)\b.*\bgefragt|\bdemand(?:é|e\b|er\b|ais\b)|\bpregunt\w*|聞いた|問你|问你`)

func asksWhatWasAsked(question string) bool {
	return text.Asks(question) && askedBefore().MatchString(text.WithoutHark(question))
}

var (
	// bidding are words that begin a request to Hark, besides those of an English question.
	bidding = text.SetOf("tell show find give write make explain summarize summarise list search look translate " +
		"draft say sing help recap sag zeig such schreib dis montre cherche dime busca " +
		"wer wen wem wann wo wohin woher warum wie wieso welche welcher welches " +
		"qui quoi quand ou comment pourquoi combien quel quelle quien que cuando donde como cual cuanto")
	courtesies = text.SetOf("thanks thank thx hi hello hey good ok okay please " +
		"danke hallo bitte merci bonjour salut gracias hola")
	asksUnspaced = pattern.Of(`[か吗嗎呢][。\s]*$`)
	sentencesOf  = pattern.Of(`[^.!?…؟。！？\n]*(?:[.!?…؟]+\S*)?[。！？\n]*`)
)

// isRequest reports whether m, if said to Hark, only asks, is polite, or is a name. "Thanks! The barbecue is on
// Sunday." tells more. In direct messages people also make lists and notes: only a question or thanks count there.
func isRequest(m memory.Message) bool {
	said := text.WithoutHark(m.Content)
	direct := m.Guild == memory.DirectGuild
	switch words := text.Words(said); {
	case len(words) == 0:
		return text.SpeaksToHark(m.Content)
	case len(words) == 1 && len(text.QueryTerms(said)) < 2 && m.ReplyTo == 0 && !direct: // a topic
		return !strings.ContainsAny(words[0], "0123456789")
	}
	is := false
	for _, sentence := range sentencesOf().FindAllString(said, -1) {
		words := text.Words(sentence)
		all := len(words)
		for len(words) > 0 && courtesies[words[0]] {
			words = words[1:]
		}
		rest := strings.Join(words, " ")
		own := text.QueryTerms(rest)
		switch {
		case text.Asks(sentence), text.Asks(rest), asksUnspaced().MatchString(sentence):
			is = true
		case len(words) > 0 && bidding[words[0]] && !direct:
			is = true
		case all > len(words) && len(own) == 0: // polite
			is = true
		case len(own) > 1:
			return false
		}
	}
	return is
}

// asksHark reports whether m only asks something of Hark or another bot.
func (e *Engine) asksHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	if !isRequest(m) {
		return false, nil
	}
	return e.isToHark(ctx, r, m)
}

func (r *recalled) addressesHark(m memory.Message) bool {
	return m.Guild == memory.DirectGuild || text.SpeaksToHark(m.Content) ||
		slices.ContainsFunc(m.Mentions, func(id memory.UserID) bool {
			p, ok := r.names.person(id)
			return ok && p.Bot
		})
}

// isToHark reports whether m names Hark or another bot, or replies to Hark.
func (e *Engine) isToHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	if r.addressesHark(m) {
		return true, nil
	}
	if m.ReplyTo == 0 {
		return false, nil
	}
	replied, err := e.log.Around(ctx, m.Channel, []memory.MessageID{m.ReplyTo}, 0, 0)
	return len(replied) == 1 && replied[0].Kind == memory.FromHark, err
}
