package reply

import (
	"context"
	"errors"
	"slices"
	"time"

	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/answer"
	"hark/memory"
)

// nearlyUsed is the fraction of a limit below which members are told what is left.
const nearlyUsed = 0.2

// TokenQuota reserves tokens for an answer. It waits while answers under way may use up what is left.
func (t *Tracker) TokenQuota(ctx context.Context, m ingest.Membership, roles []memory.RoleID,
	at time.Time) (tokenQuota, error) {
	member, guild := t.replier.Limits.Of(t.replier.Filter.Lookup(ctx, m.Guild), roles)
	spent, err := t.replier.Memory.Spending(ctx, m.Guild, at)
	if err != nil {
		return tokenQuota{}, err
	}
	all := 0
	for _, tokens := range spent {
		all += tokens
	}
	return newTokenQuota(Share{memberTokens, member.Tokens, spent[m.User]},
		Share{guildTokens, guild.Tokens, all}, at), nil
}

// Allow reserves what an answer may take. Where the answers under way may use up what is left, it waits for them.
func (t *Tracker) Allow(ctx context.Context, a *ingest.Question) (tokenQuota, error) {
	r := reservation{a.Membership(), max(1, t.replier.Limits.Reserve)}
	got, err := t.quota.reserve(ctx, a.ID, r, func() (tokenQuota, error) {
		return t.TokenQuota(ctx, r.Membership, a.Roles, a.When())
	})
	if err == nil && got.Hit != nil {
		t.count(got.Hit.Of)
	}
	return got, err
}

// Settle logs an answer's cost and releases its reservation.
func (t *Tracker) Settle(last context.Context, a *ingest.Question, got Outcome) {
	defer t.quota.release(a.ID)
	if tokens := t.charge(a, got); tokens > 0 {
		t.replier.Metrics.AnswerTokens.Add(float64(tokens))
		_ = t.replier.Queue.Commit(last, []memory.Event{memory.Spent{Guild: a.Guild, User: a.Asker,
			Question: a.Account(), Tokens: tokens}})
	}
}

// charge returns how many tokens an answer used; if it was cut short and doesn't say, what was reserved.
func (t *Tracker) charge(a *ingest.Question, got Outcome) int {
	tokens := tokensUsed(got.Answer)
	if tokens == 0 && wasCutShort(got.err) && t.quota.isReserved(a.ID) {
		return t.replier.Limits.Reserve
	}
	return tokens
}

// wasCutShort reports whether an answer was given up early.
func wasCutShort(err error) bool {
	return slices.ContainsFunc([]error{context.Canceled, context.DeadlineExceeded, errHalted, errChanged,
		errWithdrawn}, func(why error) bool { return errors.Is(err, why) })
}

// tokensUsed returns the tokens that an answer reports, or an estimate if only the prompt is known.
func tokensUsed(a answer.Answer) int {
	if tokens := a.Usage.Prompt + a.Usage.Completion; tokens > 0 || a.Model == "" {
		return tokens
	}
	const bytesPerToken = 4
	return a.Trace.Tokens + (len(a.Text)+bytesPerToken-1)/bytesPerToken
}

// quotaNote returns the line below an answer about tokens: used up, once a day, or nearly.
func (t *Tracker) quotaNote(l locale.Locale, a *ingest.Question, got Outcome) string {
	if got.err != nil {
		return ""
	}
	if h := got.quota.Hit; h != nil {
		if !t.shouldTell(a, h) {
			return ""
		}
		return "-# " + LimitReached(l, h)
	}
	more := tokensUsed(got.Answer)
	if more == 0 {
		return ""
	}
	s, ofAll := got.quota.Own, false
	left, part := s.left(more)
	if n, p := got.quota.All.left(more); p < part {
		s, ofAll, left, part = got.quota.All, true, n, p
	}
	if part >= nearlyUsed {
		return ""
	}
	_, tomorrow := memory.Day(a.When())
	if ofAll {
		return l.Text("-# %s of this server's %s tokens for today are left; there are new ones <t:%d:R>. `/limits` shows more.",
			l.Number(left), l.Number(s.Limit), tomorrow.Unix())
	}
	return l.Text("-# %s of your %s tokens for today are left; there are new ones <t:%d:R>. `/limits` shows more.",
		l.Number(left), l.Number(s.Limit), tomorrow.Unix())
}

// LimitReached says that a limit is reached or Hark is paused, and until when.
func LimitReached(l locale.Locale, h *Hit) string {
	until := h.until.Add(time.Second - 1).Unix()
	switch {
	case h.Of == pausedQuestion && h.until.IsZero():
		return l.Text("Those who manage this server have paused me, so I don't answer for now.")
	case h.Of == pausedQuestion:
		return l.Text("Those who manage this server have paused me, so I don't answer for now. Please ask again <t:%d:R>.", until)
	case h.Of == memberMessages && h.Limit == 1:
		return l.Text("You've asked me once within a minute. Please ask again <t:%d:R>.", until)
	case h.Of == memberMessages:
		return l.Text("You've asked me %s times within a minute. Please ask again <t:%d:R>.", l.Number(h.Limit), until)
	case h.Of == guildMessages && h.Limit == 1:
		return l.Text("I've been asked once within a minute here, which is all I may answer. Please ask again <t:%d:R>.", until)
	case h.Of == guildMessages:
		return l.Text("I've been asked %s times within a minute here, which is all I may answer. Please ask again <t:%d:R>.", l.Number(h.Limit), until)
	case h.Of == memberTokens:
		return l.Text("Your %s tokens for today are used up. There are new ones <t:%d:R>; until then I only quote.", l.Number(h.Limit), until)
	}
	return l.Text("This server's %s tokens for today are used up. There are new ones <t:%d:R>; until then I only quote.", l.Number(h.Limit), until)
}

// tooMany says how many questions wait.
func tooMany(l locale.Locale, full *fullError) string {
	if full.guild {
		return l.Text("I'm busy: %s questions are waiting for me in this server. Please ask again in a minute or two.", l.Number(full.waiting))
	}
	return l.Text("I'm busy: %s questions are waiting for me in this channel. Please ask again in a minute or two.", l.Number(full.waiting))
}
