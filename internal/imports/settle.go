package imports

import (
	"context"
	"errors"
	"fmt"

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

// settle gives the named messages of the batch their final ids and resolves their replies. An id that
// another message has already moves on to the next of its millisecond; who came first shows in the store,
// so that a second import finds each message where it is.
func (b *batch) settle(ctx context.Context) error {
	taken := map[place]string{}
	settled := map[called]memory.MessageID{}
	for open := b.named(); len(open) > 0; {
		names, err := b.namesOf(ctx, open)
		if err != nil {
			return err
		}
		var moved []*post
		for _, p := range open {
			at := place{p.Channel, p.ID}
			name, ok := names[at]
			if !ok {
				name, ok = taken[at]
			}
			if ok && name != p.name {
				p.ID = nextID(p.ID)
				moved = append(moved, p)
				continue
			}
			taken[at] = p.name
			settled[called{p.Channel, p.name}] = p.ID
		}
		open = moved
	}
	return b.resolveReplies(ctx, settled)
}

func (b *batch) named() []*post {
	var named []*post
	for i := range b.posts {
		if b.posts[i].name != "" {
			named = append(named, &b.posts[i])
		}
	}
	return named
}

// namesOf asks for the names that the ids of posts have already.
func (b *batch) namesOf(ctx context.Context, posts []*post) (map[place]string, error) {
	ids := map[memory.ChannelID][]memory.MessageID{}
	for _, p := range posts {
		ids[p.Channel] = append(ids[p.Channel], p.ID)
	}
	all := map[place]string{}
	for channel, ids := range ids {
		names, err := b.known.NameOf(ctx, channel, ids)
		if err != nil {
			return nil, fmt.Errorf("names of channel %s: %w", channel, err)
		}
		for id, name := range names {
			all[place{channel, id}] = name
		}
	}
	return all, nil
}

// resolveReplies finds the messages that were replied to: in the batch or, being earlier in the file, in
// the store. What comes later in time is no reply.
func (b *batch) resolveReplies(ctx context.Context, settled map[called]memory.MessageID) error {
	for i := range b.posts {
		p := &b.posts[i]
		for _, name := range p.answers {
			id, ok := settled[called{p.Channel, name}]
			if !ok {
				var err error
				id, err = b.known.MessageNamed(ctx, p.Channel, name)
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
