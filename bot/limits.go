package bot

import (
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// Limits are how much may be asked where nothing else was chosen. A guild's own are the most that can be chosen for it.
type Limits struct {
	Member, Guild memory.Limit
	// Reserve is how many tokens an answer counts with until it is known what it took.
	Reserve int
}

// of are the limits of somebody with these roles, and of their guild.
func (l Limits) of(g *memory.Guild, roles []memory.RoleID) (member, guild memory.Limit) {
	if g.ID == memory.DirectGuild { // where nobody can choose, and whose people have nothing to do with each other
		return l.Member, memory.Limit{}
	}
	every, all := g.LimitOf(memory.RoleID(g.ID)), g.LimitOf(0)
	own := memory.Limit{Messages: memory.AsConfigured, Tokens: memory.AsConfigured}
	for _, r := range roles {
		if r != 0 && r != memory.RoleID(g.ID) {
			of := g.LimitOf(r)
			own.Messages, own.Tokens = generous(own.Messages, of.Messages), generous(own.Tokens, of.Tokens)
		}
	}
	member.Messages = chosenOr(own.Messages, chosenOr(every.Messages, l.Member.Messages))
	member.Tokens = chosenOr(own.Tokens, chosenOr(every.Tokens, l.Member.Tokens))
	guild.Messages = strict(chosenOr(all.Messages, l.Guild.Messages), l.Guild.Messages)
	guild.Tokens = strict(chosenOr(all.Tokens, l.Guild.Tokens), l.Guild.Tokens)
	return member, guild
}

func chosenOr(chosen, otherwise int) int {
	if chosen == memory.AsConfigured {
		return otherwise
	}
	return chosen
}

// generous is the limit that lets more pass, of two that may not have been chosen.
func generous(a, b int) int {
	switch {
	case a == memory.AsConfigured:
		return b
	case b == memory.AsConfigured:
		return a
	case a == memory.Unlimited || b == memory.Unlimited:
		return memory.Unlimited
	}
	return max(a, b)
}

// strict is the limit that lets less pass.
func strict(a, b int) int {
	switch {
	case a == memory.Unlimited:
		return b
	case b == memory.Unlimited:
		return a
	}
	return min(a, b)
}

// What a limit is of, as /metrics names it.
const (
	memberMessages = "member_messages"
	guildMessages  = "guild_messages"
	memberTokens   = "member_tokens"
	guildTokens    = "guild_tokens"
)

// minute is the time within which messages are counted.
const minute = time.Minute

// hit is a limit that something comes up against.
type hit struct {
	of    string
	limit int
	until time.Time // when it lets something pass again
}

// limiter counts questions, by the times at which Discord says that they were asked, whatever this machine's clock says.
// Should those jump, what lies a minute off in either direction isn't counted.
type limiter struct {
	mu     sync.Mutex
	recent map[membership][]time.Time // in order; of a whole guild under user 0
	told   map[telling]telt
	swept  time.Time
}

// telling is what was said to whom.
type telling struct {
	membership
	channel memory.ChannelID // where the guild's limit is told
	of      string
}

// telt is from when until when it needn't be said again.
type telt struct{ from, until time.Time }

func newLimiter() *limiter {
	return &limiter{recent: map[membership][]time.Time{}, told: map[telling]telt{}}
}

// take counts a question asked at a time, unless it is one too many: then it is the limit that says so.
func (l *limiter) take(m membership, at time.Time, member, guild memory.Limit) *hit {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(at)
	all := membership{guild: m.guild}
	own, theirs := l.near(m, at), l.near(all, at)
	if h := crowded(own, member.Messages, memberMessages); h != nil {
		return h
	}
	if h := crowded(theirs, guild.Messages, guildMessages); h != nil {
		return h
	}
	l.recent[m], l.recent[all] = inOrder(own, at), inOrder(theirs, at)
	return nil
}

// back takes back that a question was counted, because it isn't answered.
func (l *limiter) back(m membership, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range []membership{m, {guild: m.guild}} {
		if i := slices.IndexFunc(l.recent[key], at.Equal); i >= 0 {
			l.recent[key] = slices.Delete(l.recent[key], i, i+1)
		}
	}
}

// asked is how many questions somebody asked within the minute before a time, and when the first of them is a minute ago.
func (l *limiter) asked(m membership, at time.Time) (n int, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	near := l.near(m, at)
	if len(near) > 0 {
		until = near[0].Add(minute)
	}
	return len(near), until
}

// near are the questions within a minute of a time.
func (l *limiter) near(key membership, at time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(l.recent[key]), func(t time.Time) bool { return at.Sub(t).Abs() >= minute })
}

// crowded is the limit if no more questions may come than those at these times.
func crowded(near []time.Time, most int, of string) *hit {
	if most == memory.Unlimited || len(near) < most {
		return nil
	}
	return &hit{of, most, near[len(near)-most].Add(minute)}
}

func inOrder(times []time.Time, at time.Time) []time.Time {
	i, _ := slices.BinarySearchFunc(times, at, time.Time.Compare)
	return slices.Insert(times, i, at)
}

// isFirst reports whether somebody is to be told of a limit, once until it lets something pass.
func (l *limiter) isFirst(who telling, at time.Time, h *hit) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was, ok := l.told[who]; ok && !at.Before(was.from) && at.Before(was.until) {
		return false
	}
	l.told[who] = telt{at, h.until}
	return true
}

// sweep forgets, now and then, what isn't counted any more.
func (l *limiter) sweep(at time.Time) {
	if at.Sub(l.swept).Abs() < minute {
		return
	}
	l.swept = at
	for key := range l.recent {
		if len(l.near(key, at)) == 0 {
			delete(l.recent, key)
		}
	}
	for key, t := range l.told {
		if at.Before(t.from) || !at.Before(t.until) {
			delete(l.told, key)
		}
	}
}
