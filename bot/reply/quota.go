package reply

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// Limits are the default bounds of how much may be asked. A guild's own limits can't exceed Guild.
type Limits struct {
	Member, Guild memory.Limit
	// Reserve is how many tokens an answer counts until its cost is known.
	Reserve int
}

// Of returns the limits of a member with these roles, and of the guild.
func (l Limits) Of(g *memory.Guild, roles []memory.RoleID) (member, guild memory.Limit) {
	if g.ID == memory.DirectGuild { // no admins, and its users are unrelated
		return l.Member, memory.Limit{}
	}
	every := g.LimitOf(memory.RoleID(g.ID))
	all := g.LimitOf(0)
	own := memory.Limit{Messages: memory.AsConfigured, Tokens: memory.AsConfigured}
	for _, r := range roles {
		if r != 0 && r != memory.RoleID(g.ID) {
			of := g.LimitOf(r)
			own.Messages = looser(own.Messages, of.Messages)
			own.Tokens = looser(own.Tokens, of.Tokens)
		}
	}
	member.Messages = chosenOr(own.Messages, chosenOr(every.Messages, l.Member.Messages))
	member.Tokens = chosenOr(own.Tokens, chosenOr(every.Tokens, l.Member.Tokens))
	guild.Messages = stricter(chosenOr(all.Messages, l.Guild.Messages), l.Guild.Messages)
	guild.Tokens = stricter(chosenOr(all.Tokens, l.Guild.Tokens), l.Guild.Tokens)
	return member, guild
}

func chosenOr(chosen, otherwise int) int {
	if chosen == memory.AsConfigured {
		return otherwise
	}
	return chosen
}

// looser returns the limit that lets more pass, of two that may be unset.
func looser(a, b int) int {
	if a == memory.Unlimited || b == memory.Unlimited {
		return memory.Unlimited
	}
	return max(a, b)
}

// stricter returns the limit that lets less pass.
func stricter(a, b int) int {
	if a == memory.Unlimited || b == memory.Unlimited {
		return max(a, b)
	}
	return min(a, b)
}

// Why a question isn't answered, or not by a model: label values of a metric.
const (
	tooManyWait    = "busy"
	pausedQuestion = "paused"
	memberMessages = "member_messages"
	guildMessages  = "guild_messages"
	memberTokens   = "member_tokens"
	guildTokens    = "guild_tokens"
)

// LimitNames are all of these.
var LimitNames = []string{tooManyWait, pausedQuestion, memberMessages, guildMessages, memberTokens, guildTokens}

// messageWindow is the period in which messages are counted.
const messageWindow = time.Minute

// Hit is a limit that was reached.
type Hit struct {
	Of    string
	Limit int
	until time.Time // when it ends
}

// Share is how much of a limit is used.
type Share struct {
	of           string
	Limit, Spent int
}

// Fits reports whether anything is left beyond what is reserved.
func (s Share) Fits(reserved int) bool {
	return s.Limit == memory.Unlimited || s.Spent+reserved < s.Limit
}

// left returns the tokens left after more of them, and as a fraction of the limit.
func (s Share) left(more int) (tokens int, part float64) {
	if s.Limit == memory.Unlimited {
		return 0, 1
	}
	tokens = max(0, s.Limit-s.Spent-more)
	return tokens, float64(tokens) / float64(s.Limit)
}

// tokenQuota is what a member and the guild may still use of models.
type tokenQuota struct {
	Own, All Share
	Hit      *Hit // the limit that is used up; nil: none is
}

// newTokenQuota returns the quota after what was used of the daily limits.
func newTokenQuota(own, all Share, at time.Time) tokenQuota {
	_, tomorrow := memory.Day(at)
	for _, s := range []Share{own, all} {
		if !s.Fits(0) {
			return tokenQuota{own, all, &Hit{s.of, s.Limit, tomorrow}}
		}
	}
	return tokenQuota{Own: own, All: all}
}

// quota counts questions by Discord's times, whatever the local clock says. If those jump, questions more than a
// minute off in either direction don't count. It also holds the tokens reserved for answers under way, until
// their cost is logged.
type quota struct {
	mu       sync.Mutex
	recent   map[memory.Membership][]time.Time // in order; a whole guild's under user 0
	swept    time.Time
	reserved map[memory.MessageID]reservation
	released chan struct{} // closed and replaced when a reservation is released
}

type reservation struct {
	memory.Membership
	tokens int
}

func newQuota() *quota {
	return &quota{
		recent:   map[memory.Membership][]time.Time{},
		reserved: map[memory.MessageID]reservation{},
		released: make(chan struct{}),
	}
}

// take counts a question, or returns the limit that it exceeds.
func (q *quota) take(m memory.Membership, at time.Time, member, guild memory.Limit) *Hit {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweep(at)
	all := memory.Membership{Guild: m.Guild}
	own := q.within(m, at)
	theirs := q.within(all, at)
	if h := exceeded(own, member.Messages, memberMessages); h != nil {
		return h
	}
	if h := exceeded(theirs, guild.Messages, guildMessages); h != nil {
		return h
	}
	q.recent[m] = insertSorted(own, at)
	q.recent[all] = insertSorted(theirs, at)
	return nil
}

// refund uncounts a question that isn't answered.
func (q *quota) refund(m memory.Membership, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range []memory.Membership{m, {Guild: m.Guild}} {
		if i := slices.IndexFunc(q.recent[key], at.Equal); i >= 0 {
			q.recent[key] = slices.Delete(q.recent[key], i, i+1)
		}
	}
}

// asked returns how many questions a member asked within a minute of a time, and when the first stops counting.
func (q *quota) asked(m memory.Membership, at time.Time) (n int, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	near := q.within(m, at)
	if len(near) > 0 {
		until = near[0].Add(messageWindow)
	}
	return len(near), until
}

// within returns the questions within a minute of a time.
func (q *quota) within(key memory.Membership, at time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(q.recent[key]), func(t time.Time) bool {
		return at.Sub(t).Abs() >= messageWindow
	})
}

// exceeded returns the limit if no more questions may follow those at these times.
func exceeded(near []time.Time, most int, of string) *Hit {
	if most == memory.Unlimited || len(near) < most {
		return nil
	}
	return &Hit{of, most, near[len(near)-most].Add(messageWindow)}
}

func insertSorted(times []time.Time, at time.Time) []time.Time {
	i, _ := slices.BinarySearchFunc(times, at, time.Time.Compare)
	return slices.Insert(times, i, at)
}

// sweep drops what doesn't count any more, once a minute.
func (q *quota) sweep(at time.Time) {
	if at.Sub(q.swept).Abs() < messageWindow {
		return
	}
	q.swept = at
	maps.DeleteFunc(q.recent, func(key memory.Membership, _ []time.Time) bool { return len(q.within(key, at)) == 0 })
}

// reserve reserves tokens for an answer until release. It waits while answers under way may use up what is left.
// If nothing is left, it reserves nothing and the quota says so. spent looks up what is used.
func (q *quota) reserve(ctx context.Context, id memory.MessageID, r reservation,
	spent func() (tokenQuota, error)) (tokenQuota, error) {
	for {
		q.mu.Lock()
		released := q.released
		q.mu.Unlock()
		a, err := spent()
		if err != nil || a.Hit != nil {
			return a, err
		}
		q.mu.Lock()
		own, all := q.sums(r.Membership)
		// Tokens released since spent was read may be missing from it.
		if q.released == released && a.Own.Fits(own) && a.All.Fits(all) {
			q.reserved[id] = r
			q.mu.Unlock()
			return a, nil
		}
		q.mu.Unlock()
		select {
		case <-released:
		case <-ctx.Done():
			return tokenQuota{}, ctx.Err()
		}
	}
}

// sums returns how much is reserved for a member, and for the whole guild.
func (q *quota) sums(m memory.Membership) (own, all int) {
	for _, r := range q.reserved {
		if r.Guild == m.Guild {
			all += r.tokens
			if r.User == m.User {
				own += r.tokens
			}
		}
	}
	return own, all
}

// isReserved reports whether tokens are reserved for an answer.
func (q *quota) isReserved(id memory.MessageID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, is := q.reserved[id]
	return is
}

// release ends a reservation, once the cost is logged.
func (q *quota) release(id memory.MessageID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, is := q.reserved[id]; is {
		delete(q.reserved, id)
		close(q.released)
		q.released = make(chan struct{})
	}
}
