package bot

import (
	"context"
	"strings"
	"sync"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

// nearlyUsed is the part of a limit that has to be left for nothing to be said about it.
const nearlyUsed = 0.2

// purse holds what answers under way may take, until it is in the log what they took.
type purse struct {
	mu       sync.Mutex
	reserved map[memory.MessageID]reservation
	changed  chan struct{} // closed and made anew when one is given back
}

type reservation struct {
	membership
	tokens int
}

func newPurse() *purse {
	return &purse{reserved: map[memory.MessageID]reservation{}, changed: make(chan struct{})}
}

// sums are how much is reserved for a member, and for all of their guild.
func (p *purse) sums(m membership) (own, all int) {
	for _, r := range p.reserved {
		if r.guild == m.guild {
			all += r.tokens
			if r.user == m.user {
				own += r.tokens
			}
		}
	}
	return own, all
}

// release gives back what a question may take, if it is known to be in the log.
func (p *purse) release(id memory.MessageID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.reserved[id]; ok {
		delete(p.reserved, id)
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// allowance is what an answer may take of models.
type allowance struct {
	own, all share
	hit      *hit // the limit that is used up; nil if there is anything left
}

// share is how much of a limit is used.
type share struct {
	of           string
	limit, spent int
}

func (s share) isUsed() bool { return s.limit != memory.Unlimited && s.spent >= s.limit }

func (s share) fits(reserved int) bool {
	return s.limit == memory.Unlimited || s.spent+reserved < s.limit
}

// left is what is left after so many more tokens, and which part of the limit that is.
func (s share) left(more int) (tokens int, part float64) {
	if s.limit == memory.Unlimited {
		return 0, 1
	}
	tokens = max(0, s.limit-s.spent-more)
	return tokens, float64(tokens) / float64(s.limit)
}

// shares are how much of their limits for the day somebody and their guild have used.
func (b *Bot) shares(ctx context.Context, m membership, roles []memory.RoleID, at time.Time) (own, all share, err error) {
	member, guild := b.limitsOf(ctx, m.guild, roles)
	spent, err := b.memory.Spending(ctx, m.guild, at)
	if err != nil {
		return own, all, err
	}
	own, all = share{memberTokens, member.Tokens, spent[m.user]}, share{guildTokens, guild.Tokens, 0}
	for _, tokens := range spent {
		all.spent += tokens
	}
	return own, all, nil
}

// allow reserves what an answer may take. Where the answers under way may use up what is left, it waits for them.
func (b *Bot) allow(ctx context.Context, a *ask) (allowance, error) {
	m := membership{a.guild, a.asker}
	for {
		b.purse.mu.Lock()
		changed := b.purse.changed
		b.purse.mu.Unlock()
		own, all, err := b.shares(ctx, m, a.roles, a.when())
		if err != nil {
			return allowance{}, err
		}
		if h := usedUp(own, all, a.when()); h != nil {
			b.cfg.Metrics.QuestionsRefused.WithLabelValues(h.of).Inc()
			return allowance{own, all, h}, nil
		}
		if b.purse.reserve(a.id, reservation{m, max(1, b.cfg.Limits.Reserve)}, own, all, changed) {
			return allowance{own: own, all: all}, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return allowance{}, ctx.Err()
		}
	}
}

// reserve reserves, if there is enough beside what is reserved, and nothing was given back since changed was current: what
// was read since may lack that.
func (p *purse) reserve(id memory.MessageID, r reservation, own, all share, changed <-chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine, theirs := p.sums(r.membership)
	if p.changed != changed || !own.fits(mine) || !all.fits(theirs) {
		return false
	}
	p.reserved[id] = r
	return true
}

// usedUp is the limit of which nothing is left, if any.
func usedUp(own, all share, at time.Time) *hit {
	_, tomorrow := memory.Day(at)
	for _, s := range []share{own, all} {
		if s.isUsed() {
			return &hit{s.of, s.limit, tomorrow}
		}
	}
	return nil
}

// settle keeps what an answer took, and gives back what was reserved for it.
func (b *Bot) settle(last context.Context, a *ask, got outcome) {
	defer b.purse.release(a.id)
	if tokens := b.tookOf(a, got); tokens > 0 {
		b.cfg.Metrics.AnswerTokens.Add(float64(tokens))
		_ = b.commit(last, []memory.Event{memory.Spent{Guild: a.guild, User: a.asker, Question: a.account(), Tokens: tokens}})
	}
}

// tookOf is how many tokens an answer took of models. Of one that was given up and doesn't say, it is what was reserved.
func (b *Bot) tookOf(a *ask, got outcome) int {
	if tokens := took(got.answer); tokens > 0 || got.err == nil {
		return tokens
	}
	b.purse.mu.Lock()
	defer b.purse.mu.Unlock()
	if _, asked := b.purse.reserved[a.id]; asked && ended(got.err) {
		return b.cfg.Limits.Reserve
	}
	return 0
}

// took is what an answer says that it took, or, where only the prompt is known, about that.
func took(a answer.Answer) int {
	if tokens := a.Usage.Prompt + a.Usage.Completion; tokens > 0 || a.Model == "" {
		return tokens
	}
	const bytesPerToken = 4
	return a.Trace.Tokens + (len(a.Text)+bytesPerToken-1)/bytesPerToken
}

// leftOver is what is said below an answer about tokens: that they are used up, once a day, or nearly.
func (b *Bot) leftOver(l locale, a *ask, got outcome) string {
	if got.err != nil {
		return ""
	}
	if h := got.spends.hit; h != nil {
		if !b.limiter.isFirst(b.whom(a, h.of), a.when(), h) {
			return ""
		}
		return "-# " + limitReached(l, h)
	}
	more := took(got.answer)
	if more == 0 {
		return ""
	}
	s, ofAll := got.spends.own, false
	left, part := s.left(more)
	if n, p := got.spends.all.left(more); p < part {
		s, ofAll, left, part = got.spends.all, true, n, p
	}
	if part >= nearlyUsed {
		return ""
	}
	_, tomorrow := memory.Day(a.when())
	if ofAll {
		return l.text("-# %s of this server's %s tokens for today are left; there are new ones <t:%d:R>. `/limits` shows more.",
			l.number(left), l.number(s.limit), tomorrow.Unix())
	}
	return l.text("-# %s of your %s tokens for today are left; there are new ones <t:%d:R>. `/limits` shows more.",
		l.number(left), l.number(s.limit), tomorrow.Unix())
}

// lines are texts, one a line, without the empty ones.
func lines(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n")
}
