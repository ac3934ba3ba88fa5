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

const (
	// nearlyUsed is the fraction of a limit below which members are told what is left.
	nearlyUsed = 0.2
	// repeatPausedAfter is how long nobody in a channel is told again that Hark is paused.
	repeatPausedAfter = 10 * time.Minute
)

// Asked returns how many questions a member asked within the last minute, and until when they count.
func (t *Tracker) Asked(m memory.Membership, at time.Time) (asked int, until time.Time) {
	return t.quota.asked(m, at)
}

// Reserved returns for how many answers tokens are reserved.
func (t *Tracker) Reserved() int {
	t.quota.mu.Lock()
	defer t.quota.mu.Unlock()
	return len(t.quota.reserved)
}

// Paused returns the pause that a question falls into, or nil. Its end is zero if an admin must end it.
func (t *Tracker) Paused(g *memory.Guild, channel memory.ChannelID, at time.Time) *Hit {
	if until, is := t.replier.Choices.In(g, channel).PausedAt(at); is {
		return &Hit{Of: pausedQuestion, until: until}
	}
	return nil
}

// TooOften counts a question, or returns the limit that it exceeds.
func (t *Tracker) TooOften(g *memory.Guild, a *ingest.Question) *Hit {
	member, guild := t.replier.Limits.Of(g, a.Roles)
	h := t.quota.take(a.Membership(), a.When(), member, guild)
	if h != nil {
		t.count(h.Of)
	}
	return h
}

// shouldTell reports whether a limit hasn't been mentioned yet, to the member or, if it is everybody's, in the
// channel.
func (t *Tracker) shouldTell(a *ingest.Question, h *Hit) bool {
	to := repeatKey{a.Membership(), 0, h.Of}
	until := h.until
	if h.Of != memberMessages && h.Of != memberTokens {
		to.User = 0
		to.channel = a.Channel
	}
	if again := a.When().Add(repeatPausedAfter); h.Of == pausedQuestion && (until.IsZero() || again.Before(until)) {
		until = again
	}
	return t.replier.repeats.IsNews(to, "", a.When(), until)
}

// count counts a refused question.
func (t *Tracker) count(why string) {
	t.replier.Metrics.QuestionsRefused.WithLabelValues(why).Inc()
}

// TokenQuota returns what a member with these roles, and their guild, may still use of models on the day of at.
func (t *Tracker) TokenQuota(ctx context.Context, m memory.Membership, roles []memory.RoleID,
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

// Allow reserves what an answer may take. It waits while answers under way may use up what is left.
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
		_ = t.replier.Queue.Commit(last, []memory.Event{memory.Spent{
			Guild:    a.Guild,
			User:     a.Asker,
			Question: a.Account(),
			Tokens:   tokens,
		}})
	}
}

// charge returns how many tokens an answer used; what was reserved if it was cut short and doesn't say.
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

// quotaNote returns the line below an answer about tokens that are used up, told once a day, or nearly so.
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
	s := got.quota.Own
	ofAll := false
	left, part := s.left(more)
	if n, p := got.quota.All.left(more); p < part {
		s = got.quota.All
		ofAll = true
		left = n
		part = p
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

// tooMany says how many questions wait.
func tooMany(l locale.Locale, full *fullError) string {
	if full.guild {
		return l.Text("I'm busy: %s questions are waiting for me in this server. Please ask again in a minute or two.", l.Number(full.waiting))
	}
	return l.Text("I'm busy: %s questions are waiting for me in this channel. Please ask again in a minute or two.", l.Number(full.waiting))
}

// Outcome is what an Answerer returned.
type Outcome struct {
	Answer answer.Answer
	err    error
	quota  tokenQuota
	// unlogged: made from a session that isn't logged.
	unlogged bool
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
