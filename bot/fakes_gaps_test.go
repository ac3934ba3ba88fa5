package bot

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hark/memory"
)

func (n *notebook) Guilds(context.Context) ([]memory.GuildID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var ids []memory.GuildID
	for _, e := range n.events {
		if e, ok := e.(memory.GuildSeen); ok && !slices.Contains(ids, e.Guild.ID) {
			ids = append(ids, e.Guild.ID)
		}
	}
	slices.Sort(ids)
	return ids, n.readFails
}

func (n *notebook) HeardUntil(_ context.Context, guild memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	until := map[memory.ChannelID]memory.MessageID{}
	hear := func(g memory.GuildID, c memory.ChannelID, id memory.MessageID) {
		if g == guild {
			until[c] = max(until[c], id)
		}
	}
	since := memory.MessageID(0)
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.GuildSeen:
			if e.Guild.ID == guild && since == 0 && !e.At.IsZero() {
				since = memory.FirstMessageID(e.At)
			}
			for _, c := range e.Guild.Channels {
				hear(e.Guild.ID, c.ID, since)
			}
		case memory.ChannelSeen:
			hear(e.Channel.Guild, e.Channel.ID, since)
		case memory.Posted:
			if e.Live {
				hear(e.Message.Guild, e.Message.Channel, e.Message.ID)
			}
		case memory.Heard:
			hear(e.Guild, e.Channel, e.ID)
		}
	}
	return until, n.readFails
}

func (n *notebook) Questions(context.Context) (open []memory.OpenQuestion, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.QuestionOpened:
			if !slices.Contains(open, e.Question) {
				open = append(open, e.Question)
			}
		case memory.QuestionClosed:
			open = slices.DeleteFunc(open, func(q memory.OpenQuestion) bool { return q.Channel == e.Channel && q.ID == e.ID })
		}
	}
	return open, nil
}

func (n *notebook) Gaps(_ context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if sweep {
		return n.unswept(guild), n.readFails
	}
	open := map[memory.Gap]memory.Gap{}
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.GapFound:
			if _, there := open[keyOf(e.Gap)]; !there && e.Gap.After < e.Gap.Until {
				open[keyOf(e.Gap)] = e.Gap
			}
		case memory.GapFilled:
			g, there := open[keyOf(e.Gap)]
			if !there {
				continue
			}
			g.After, g.Fetched = max(g.After, e.Through), max(g.Fetched, e.Gap.Fetched)
			open[keyOf(e.Gap)] = g
			if g.After >= g.Until {
				delete(open, keyOf(e.Gap))
			}
		}
	}
	var all []memory.Gap
	for _, g := range open {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b memory.Gap) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Until, b.Until))
	})
	return all, n.readFails
}

// unswept is what a notebook has to compare after the last Absent: everything of a guild, channel by channel.
func (n *notebook) unswept(guild memory.GuildID) []memory.Gap {
	var open []memory.Gap
	for i, e := range n.events {
		switch e := e.(type) {
		case memory.Absent:
			open = slices.DeleteFunc(open, func(g memory.Gap) bool { return g.Guild == e.Guild && (e.Channel == 0 || e.Channel == g.Channel) })
			of := map[memory.ChannelID]bool{}
			for _, p := range n.events[:i] {
				if p, ok := p.(memory.Posted); ok && p.Message.Guild == e.Guild && (e.Channel == 0 || e.Channel == p.Message.Channel) && !of[p.Message.Channel] {
					of[p.Message.Channel] = true
					open = append(open, memory.Gap{Guild: e.Guild, Channel: p.Message.Channel, Until: memory.FirstMessageID(e.At.Add(time.Millisecond)), Sweep: true})
				}
			}
		case memory.ShutOut:
			open = slices.DeleteFunc(open, func(g memory.Gap) bool { return g.Channel == e.Channel })
		case memory.GapFilled:
			for i := range open {
				if keyOf(open[i]) == keyOf(e.Gap) {
					open[i].After = max(open[i].After, e.Through)
				}
			}
			open = slices.DeleteFunc(open, func(g memory.Gap) bool { return g.After >= g.Until })
		}
	}
	return slices.DeleteFunc(open, func(g memory.Gap) bool { return guild != memory.Everywhere && g.Guild != guild })
}

// NameOf tells that nothing has a name of its own.
func (n *notebook) NameOf(context.Context, memory.ChannelID, []memory.MessageID) (map[memory.MessageID]string, error) {
	return nil, nil
}

// state is what a channel's events come to, by id; called with mu held.
func (n *notebook) state(channel memory.ChannelID) []memory.Message {
	said := map[memory.MessageID]memory.Message{}
	gone := map[memory.MessageID]bool{}
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.Posted:
			m := e.Message
			if old, there := said[m.ID]; m.Channel == channel && (!there || !m.Edited.Before(old.Edited)) {
				said[m.ID] = m
			}
		case memory.Edited:
			if m, there := said[e.ID]; there && e.Channel == channel && !e.At.Before(m.Edited) {
				m.Content, m.Edited = e.Content, e.At
				said[e.ID] = m
			}
		case memory.Deleted:
			for _, id := range e.IDs {
				gone[id] = gone[id] || e.Channel == channel
			}
		}
	}
	var all []memory.Message
	for id, m := range said {
		if !gone[id] {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b memory.Message) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
