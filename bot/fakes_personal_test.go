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

// lastStar is whether a message is marked.
func lastStar(events []memory.Event, id memory.MessageID) (memory.Starred, bool) {
	for _, e := range slices.Backward(events) {
		if e, ok := e.(memory.Starred); ok && e.ID == id {
			return e, e.On
		}
	}
	return memory.Starred{}, false
}

func (n *notebook) Erase(context.Context, bool) error {
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

func (n *notebook) Written(_ context.Context, guild memory.GuildID, user memory.UserID, do func(memory.Message) error) error {
	n.mu.Lock()
	all, fails := n.posts(func(m memory.Message) bool {
		return m.Author == user && (guild == memory.Everywhere || m.Guild == guild)
	}), n.readFails
	for i := range all {
		_, all[i].Starred = lastStar(n.events, all[i].ID)
	}
	n.mu.Unlock()
	for _, m := range all {
		if err := do(m); err != nil {
			return err
		}
	}
	return fails
}
