package bot

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"hark/memory"
)

// guild is what events make of a guild, as far as bots look at it; called with mu held.
func (n *notebook) guild(id memory.GuildID) *memory.Guild {
	var g *memory.Guild
	choices, settings := map[memory.ChannelID]memory.Choice{}, map[memory.ChannelID]map[memory.Setting]string{}
	asked, learn := false, time.Time{}
	var limits []memory.RoleLimit
	left, since := time.Time{}, memory.MessageID(0)
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.GuildSeen:
			if e.Guild.ID == id {
				copied := e.Guild
				copied.Channels = slices.Clone(e.Guild.Channels)
				g = &copied
				left = time.Time{}
				if since == 0 && !e.At.IsZero() {
					since = memory.FirstMessageID(e.At)
				}
			}
		case memory.GuildLeft:
			if e.Guild == id {
				left = e.At
			}
		case memory.ChannelSeen:
			if g != nil && e.Channel.Guild == id {
				g.Channels = append(slices.DeleteFunc(g.Channels, func(c memory.Channel) bool { return c.ID == e.Channel.ID }), e.Channel)
			}
		case memory.RoleSeen:
			if g != nil && e.Guild == id {
				g.Roles = append(slices.Clone(g.Roles), e.Role)
			}
		case memory.Chose:
			if e.Guild == id {
				choices[e.Channel] = e.Choice
			}
		case memory.SettingChosen:
			if e.Guild == id {
				if settings[e.Channel] == nil {
					settings[e.Channel] = map[memory.Setting]string{}
				}
				settings[e.Channel][e.Key] = e.Value
			}
		case memory.LimitChosen:
			if e.Guild == id {
				limits = append(slices.DeleteFunc(limits, func(l memory.RoleLimit) bool { return l.Role == e.Role }), e.RoleLimit)
			}
		case memory.Learn:
			if e.Guild == id && e.User == 0 {
				learn = sinceOf(e)
			}
		case memory.Asked:
			asked = asked || e.Guild == id
		}
	}
	if g != nil {
		g.Settings, g.Limits = settings[0], limits
		g.Asked, g.Choice, g.Learn, g.Left, g.Since = asked, choices[0], learn, left, since
		for i := range g.Channels {
			g.Channels[i].Choice, g.Channels[i].Settings = choices[g.Channels[i].ID], settings[g.Channels[i].ID]
		}
	}
	return g
}

// sinceOf is from when on something is switched on.
func sinceOf(e memory.Learn) time.Time {
	if !e.On {
		return time.Time{}
	}
	return e.At
}

func (n *notebook) People(_ context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	all, err := n.everybody(guild)
	if len(ids) == 0 {
		n.everybodyRead.Add(1)
		return all, err
	}
	return slices.DeleteFunc(all, func(p memory.Person) bool { return !slices.Contains(ids, p.ID) }), err
}

func (n *notebook) everybody(guild memory.GuildID) ([]memory.Person, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := map[memory.UserID]memory.Person{}
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.PersonSeen:
			if e.Person.Guild == guild {
				e.Person.Facts, e.Person.Learn = known[e.Person.ID].Facts, known[e.Person.ID].Learn
				known[e.Person.ID] = e.Person
			}
		case memory.Learn:
			if p := known[e.User]; e.Guild == guild && e.User != 0 {
				p.Learn = sinceOf(e)
				known[e.User] = p
			}
		case memory.FactTold:
			if p := known[e.User]; e.Guild == guild {
				p.Facts = append(slices.Clone(p.Facts), e.Fact)
				known[e.User] = p
			}
		case memory.FactGone:
			if p := known[e.User]; e.Guild == guild {
				p.Facts = slices.DeleteFunc(slices.Clone(p.Facts), func(f memory.Fact) bool { return f.ID == e.Fact })
				known[e.User] = p
			}
		}
	}
	var all []memory.Person
	for _, p := range known {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b memory.Person) int { return cmp.Compare(a.ID, b.ID) })
	return all, n.readFails
}

func (n *notebook) Presence(_ context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := map[memory.UserID]memory.Presence{}
	for _, e := range n.events {
		if e, ok := e.(memory.Posted); ok && slices.Contains(scope.Channels, e.Message.Channel) && slices.Contains(users, e.Message.Author) {
			p := found[e.Message.Author]
			found[e.Message.Author] = memory.Presence{Messages: p.Messages + 1, Last: e.Message.Time()}
		}
	}
	return found, n.readFails
}

func (n *notebook) OptedOut(_ context.Context, guild memory.GuildID, user memory.UserID) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range slices.Backward(n.events) {
		if e, ok := e.(memory.Opted); ok && e.Guild == guild && e.User == user {
			return e.Out, n.readFails
		}
	}
	return false, n.readFails
}

func (n *notebook) Around(_ context.Context, channel memory.ChannelID, ids []memory.MessageID, _, _ int) ([]memory.Message, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []memory.Message
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.Posted:
			if e.Message.Channel == channel && slices.Contains(ids, e.Message.ID) {
				found = append(slices.DeleteFunc(found, func(m memory.Message) bool { return m.ID == e.Message.ID }), e.Message)
			}
		case memory.Starred:
			for i := range found {
				if found[i].ID == e.ID {
					found[i].Starred = e.On
				}
			}
		case memory.Deleted:
			found = slices.DeleteFunc(found, func(m memory.Message) bool { return slices.Contains(e.IDs, m.ID) })
		}
	}
	return found, n.readFails
}

// Traces are those of somebody's questions, or of an answer that isn't rewritten or deleted since.
func (n *notebook) Traces(_ context.Context, q memory.TraceQuery) ([]memory.Trace, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []memory.Trace
	gone := func(ids []memory.MessageID) {
		all = slices.DeleteFunc(all, func(t memory.Trace) bool { return q.Asker == 0 && slices.Contains(ids, t.Answer) })
	}
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.Answered:
			t := e.Trace
			switch is := t.Channel == q.Channel && (t.Answer == q.Answer || slices.Contains(t.Parts, q.Answer)); {
			case q.Asker != 0 && t.Asker == q.Asker:
				all = append(all, t)
			case q.Asker == 0 && is:
				all = []memory.Trace{t}
			}
		case memory.Rewritten:
			gone(e.IDs)
		case memory.Deleted:
			gone(e.IDs)
		}
	}
	return all, n.readFails
}

// Lore is the first told of each id.
func (n *notebook) Lore(_ context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []memory.Lore
	for _, e := range n.events {
		if e, ok := e.(memory.LoreTold); ok && e.Lore.Guild == guild && !slices.ContainsFunc(all, func(l memory.Lore) bool { return l.ID == e.Lore.ID }) {
			all = append(all, e.Lore)
		}
	}
	return all, n.readFails
}

// Frequencies counts what was posted in scope's channels, whatever terms there are.
func (n *notebook) Frequencies(_ context.Context, scope memory.Scope, _ []string, _ int) (messages int, counts []int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.events {
		if e, ok := e.(memory.Posted); ok && slices.Contains(scope.Channels, e.Message.Channel) {
			messages++
		}
	}
	return messages, nil, n.readFails
}

// Waiting is as many as a test says.
func (n *notebook) Waiting(_ context.Context, guild memory.GuildID) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waiting[guild], n.readFails
}

// forgetting is what a notebook was told to forget, and what it makes of that.
type forgetting struct {
	begun []memory.Forgetting
	steps chan int // what is told of progress; Forget returns when it is closed. nil: at once
	fails error
}

func (n *notebook) Forgettings(_ context.Context, guild memory.GuildID, user memory.UserID) (all []memory.Receipt, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if user != 0 {
		return slices.DeleteFunc(slices.Clone(n.receipts), func(r memory.Receipt) bool { return r.Forgetting.Guild != guild || r.Forgetting.User != user }), n.readFails
	}
	for _, f := range n.unfinished {
		all = append(all, memory.Receipt{Forgetting: f})
	}
	return all, nil
}

func (n *notebook) Resume(context.Context, int64, func(done, total int)) (memory.Receipt, error) {
	return memory.Receipt{}, memory.ErrNotFound
}

func (n *notebook) Forget(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	n.mu.Lock()
	n.forgetting.begun = append(n.forgetting.begun, f)
	steps, fails := n.forgetting.steps, n.forgetting.fails
	n.mu.Unlock()
	for steps != nil {
		select {
		case done, more := <-steps:
			if !more {
				steps = nil
				break
			}
			progress(done, 100)
		case <-ctx.Done():
			return memory.Receipt{}, ctx.Err()
		}
	}
	r := memory.Receipt{Forgetting: f, Messages: 7, Answers: 1, Facts: 2, People: 1}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.receipts = append(n.receipts, r); fails != nil {
		n.receipts = nil
	}
	return r, fails
}

// Withdrawn are those of the answers told to it that weren't marked.
func (n *notebook) Withdrawn(_ context.Context, limit int) ([]memory.Withdrawn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var open []memory.Withdrawn
	for _, w := range n.withdrawn {
		if !slices.ContainsFunc(n.events, func(e memory.Event) bool {
			return reflect.DeepEqual(e, memory.Marked{Channel: w.Channel, Message: w.Message})
		}) {
			open = append(open, w)
		}
	}
	return open[:min(limit, len(open))], n.readFails
}

// Spending is what Spent events tell, of the last for each question.
func (n *notebook) Spending(_ context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	from, until := memory.Day(day)
	last := map[memory.MessageID]memory.Spent{}
	for _, e := range n.events {
		if e, ok := e.(memory.Spent); ok && e.Guild == guild && !e.Question.Time().Before(from) && e.Question.Time().Before(until) {
			last[e.Question] = e
		}
	}
	by := map[memory.UserID]int{}
	for _, e := range last {
		by[e.User] += e.Tokens
	}
	return by, n.spendingFails
}
