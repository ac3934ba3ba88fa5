package bot

import (
	"context"
	"slices"

	"hark/memory"
)

// Extent counts messages, and has as many facts and answers of everybody.
func (n *notebook) Extent(_ context.Context, f memory.Forgetting) (memory.Extent, error) {
	return n.extent(f, func(memory.ChannelID) bool { return true })
}

func (n *notebook) extent(f memory.Forgetting, counts func(memory.ChannelID) bool) (memory.Extent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.guild(f.Guild)
	var e memory.Extent
	if g == nil {
		return e, n.readFails
	}
	for _, c := range g.Channels {
		in := counts(c.ID) && (f.Channel == 0 || c.ID == f.Channel || c.Kind.IsThread() && c.Parent == f.Channel)
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

// ExtentIn is Extent with channels alone.
func (n *notebook) ExtentIn(_ context.Context, f memory.Forgetting, channels []memory.ChannelID) (memory.Extent, error) {
	return n.extent(f, func(id memory.ChannelID) bool { return slices.Contains(channels, id) })
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
