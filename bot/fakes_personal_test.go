package bot

import (
	"cmp"
	"context"
	"slices"

	"hark/memory"
)

// posts are the messages that are there, as they were told last, by channel and id; called with mu held.
func (n *notebook) posts(is func(memory.Message) bool) []memory.Message {
	type key struct {
		channel memory.ChannelID
		id      memory.MessageID
	}
	there := map[key]memory.Message{}
	gone := map[key]bool{}
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.Posted:
			there[key{e.Message.Channel, e.Message.ID}] = e.Message
		case memory.Deleted:
			for _, id := range e.IDs {
				gone[key{e.Channel, id}] = true
			}
		}
	}
	var all []memory.Message
	for k, m := range there {
		if !gone[k] && is(m) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b memory.Message) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func (n *notebook) Wrote(_ context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Wrote, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []memory.Wrote
	for _, m := range n.posts(func(m memory.Message) bool { return m.Guild == guild && m.Author == user }) {
		if last := len(all) - 1; last >= 0 && all[last].Channel == m.Channel {
			all[last].Messages++
			all[last].Last = m.ID
		} else {
			all = append(all, memory.Wrote{Channel: m.Channel, Messages: 1, First: m.ID, Last: m.ID})
		}
		if _, starred := lastStar(n.events, m.ID); starred {
			all[len(all)-1].Starred++
		}
	}
	return all, n.readFails
}

// lastStar is whether a message is marked.
func lastStar(events []memory.Event, id memory.MessageID) (memory.Starred, bool) {
	for _, e := range slices.Backward(events) {
		if e, ok := e.(memory.Starred); ok && e.ID == id {
			return e, e.On
		}
	}
	return memory.Starred{}, false
}

func (n *notebook) ExtentOf(_ context.Context, channel memory.ChannelID, ids []memory.MessageID) (memory.Extent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var e memory.Extent
	e.Messages = len(n.posts(func(m memory.Message) bool { return m.Channel == channel && slices.Contains(ids, m.ID) }))
	if e.Messages > 0 {
		e.Channels, e.Summaries = 1, 1
	}
	return e, n.readFails
}

func (n *notebook) Forgotten(_ context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Receipt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.receipts), func(r memory.Receipt) bool { return r.Forgetting.Guild != guild || r.Forgetting.User != user }), n.readFails
}

func (n *notebook) EmptyLog(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.readFails
}

func (n *notebook) Summaries(context.Context, memory.ChannelID) ([]memory.Summary, error) {
	return nil, nil
}

func (n *notebook) Condensed(context.Context, memory.ChannelID) ([]memory.Condensed, error) {
	return nil, nil
}

func (n *notebook) Records(_ context.Context, q memory.RecordQuery) ([]memory.Record, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []memory.Record
	for _, e := range n.events {
		if e, ok := e.(memory.Called); ok && e.Record.Asker == q.Asker && slices.Contains(q.Channels, e.Record.Channel) {
			all = append(all, e.Record)
		}
	}
	return all, n.readFails
}

func (n *notebook) Written(_ context.Context, user memory.UserID, each func(memory.Message) error) error {
	n.mu.Lock()
	all, fails := n.posts(func(m memory.Message) bool { return m.Author == user }), n.readFails
	n.mu.Unlock()
	for _, m := range all {
		if err := each(m); err != nil {
			return err
		}
	}
	return fails
}

func (n *notebook) Asked(_ context.Context, user memory.UserID, each func(memory.Trace) error) error {
	n.mu.Lock()
	var all []memory.Trace
	for _, e := range n.events {
		if e, ok := e.(memory.Answered); ok && e.Trace.Asker == user {
			all = append(all, e.Trace)
		}
	}
	n.mu.Unlock()
	for _, t := range all {
		if err := each(t); err != nil {
			return err
		}
	}
	return nil
}
