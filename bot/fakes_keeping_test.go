package bot

import (
	"context"
	"slices"

	"hark/memory"
)

// Extent counts messages, and has as many facts and answers of everybody, or one summary of single messages.
func (n *notebook) Extent(_ context.Context, f memory.ExtentQuery) (memory.Extent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.guild(f.Guild)
	var e memory.Extent
	if f.Messages != nil {
		e.Messages = len(n.posts(func(m memory.Message) bool { return m.Channel == f.Channel && slices.Contains(f.Messages, m.ID) }))
		e.Channels = bit(e.Messages > 0)
		e.Summaries = e.Channels
		return e, n.readFails
	}
	if g == nil {
		return e, n.readFails
	}
	for _, c := range g.Channels {
		in := (f.Within == nil || slices.Contains(f.Within, c.ID)) && (f.Channel == 0 || c.ID == f.Channel || c.Kind.IsThread() && c.Parent == f.Channel)
		some := false
		for _, m := range n.state(c.ID) {
			if in && (f.User == 0 || m.Author == f.User) && (f.Before.IsZero() || m.ID < memory.FirstMessageID(f.Before)) {
				e.Messages, some = e.Messages+1, true
			}
		}
		if some {
			e.Channels++
		}
	}
	if f.User != 0 && f.Channel == 0 {
		e.Facts, e.Answers = 2, 1
	}
	return e, n.readFails
}

func (n *notebook) Log(_ context.Context, channel memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var page []memory.Message
	for _, m := range n.state(channel) {
		if m.ID > after && m.ID <= until && len(page) < limit {
			page = append(page, m)
		}
	}
	return page, n.readFails
}
