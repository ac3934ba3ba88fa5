package imports

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/memory"
)

// place is an id in a channel, and called a name in one.
type (
	place struct {
		channel memory.ChannelID
		id      memory.MessageID
	}
	called struct {
		channel memory.ChannelID
		name    string
	}
)

// settle gives the batch's named messages their final ids and resolves their replies. If an id is taken, in
// the store or the batch, the next of its millisecond is tried, always in the same order.
func (b *batch) settle(ctx context.Context) error {
	taken := map[place]string{}
	settled := map[called]memory.MessageID{}
	open := slices.DeleteFunc(slices.Clone(b.posts), func(p *post) bool { return p.name == "" })
	for len(open) > 0 {
		ids := map[memory.ChannelID][]memory.MessageID{}
		for _, p := range open {
			ids[p.Channel] = append(ids[p.Channel], p.ID)
		}
		for channel, ids := range ids {
			names, err := b.known.ExternalIDs(ctx, channel, ids)
			if err != nil {
				return fmt.Errorf("names of channel %s: %w", channel, err)
			}
			for id, name := range names {
				taken[place{channel, id}] = name
			}
		}
		open = slices.DeleteFunc(open, func(p *post) bool {
			at := place{p.Channel, p.ID}
			if name, is := taken[at]; is && name != p.name {
				p.ID = nextID(p.ID)
				return false
			}
			taken[at] = p.name
			settled[called{p.Channel, p.name}] = p.ID
			return true
		})
	}
	return b.resolveReplies(ctx, settled)
}

// resolveReplies finds the messages replied to, in the batch or in the store. A message can't reply to a later
// one.
func (b *batch) resolveReplies(ctx context.Context, settled map[called]memory.MessageID) error {
	for _, p := range b.posts {
		for _, name := range p.answers {
			id, ok := settled[called{p.Channel, name}]
			if !ok {
				var err error
				id, err = memory.MessageByExternalID(ctx, b.known, p.Channel, name)
				if err != nil && !errors.Is(err, memory.ErrNotFound) {
					return fmt.Errorf("message named in channel %s: %w", p.Channel, err)
				}
				ok = err == nil
			}
			if ok && id < p.ID {
				p.ReplyTo = id
				break
			}
		}
	}
	return nil
}
