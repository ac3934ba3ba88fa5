package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/memory"
)

const (
	batchEvents = 500
	batchBytes  = 4 << 20
	// maxSeen bounds memory: beyond it people and channels are told again, and channels counted again.
	maxSeen = 100_000
)

// batch collects events for a transaction.
type batch struct {
	known  Known
	emit   func([]memory.Event) error
	read   func() // tells the progress
	sum    Summary
	events []memory.Event
	posts  []*post
	bytes  int
	failed bool // the fault lay with what is known or with emit, not with the file

	channels map[memory.ChannelID]bool                          // told already
	told     map[memory.Membership]memory.MessageID             // with the message that told of them
	people   map[memory.GuildID]map[memory.UserID]memory.Person // known
}

// post is a message in a batch. If it has a name, it gets its final id when the batch is full.
type post struct {
	memory.Message
	name    string
	answers []string        // names of what it replies to
	people  []memory.Person // who wrote it, and then whom it mentions
}

// guild adds a server's name.
func (b *batch) guild(id memory.GuildID, name string) {
	name = strings.TrimSpace(name)
	if name != "" && id != memory.DirectGuild && id != memory.LocalGuild {
		b.events = append(b.events, memory.GuildNamed{Guild: id, Name: name})
	}
}

func (b *batch) channel(c memory.Channel) {
	if b.channels[c.ID] {
		return
	}
	if len(b.channels) >= maxSeen {
		clear(b.channels)
	}
	b.channels[c.ID] = true
	b.sum.Channels++
	if c.Guild == memory.DirectGuild {
		b.sum.Direct++
	}
	b.events = append(b.events, memory.ChannelSeen{Channel: c})
}

// person adds a person, from the message said, unless they have a name already: a file is older than Discord's data.
// It adds them again with messages of later days, because the first message may be forgotten.
func (b *batch) person(ctx context.Context, p memory.Person, said memory.MessageID) error {
	const day = memory.MessageID(24*time.Hour/time.Millisecond) << 22
	key := memory.Membership{Guild: p.Guild, User: p.ID}
	last, told := b.told[key]
	if p.ID == 0 || p.DisplayName() == "" || told && said < last+day {
		return nil
	}
	known, err := b.knownPeople(ctx, p.Guild)
	if err != nil {
		return err
	}
	if len(b.told) >= maxSeen {
		clear(b.told)
	}
	b.told[key] = said
	if k, ok := known[p.ID]; ok {
		if k.DisplayName() != "" {
			return nil
		}
		p.Bot = k.Bot
	}
	b.events = append(b.events, memory.PersonSeen{Person: p, Said: said})
	return nil
}

func (b *batch) knownPeople(ctx context.Context, guild memory.GuildID) (map[memory.UserID]memory.Person, error) {
	if known, ok := b.people[guild]; ok {
		return known, nil
	}
	people, err := b.known.People(ctx, guild)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		b.failed = true
		return nil, fmt.Errorf("people of server %s: %w", guild, err)
	}
	known := make(map[memory.UserID]memory.Person, len(people))
	for _, p := range people {
		known[p.ID] = p
	}
	b.people[guild] = known
	return known, nil
}

// post adds a message with its people, and flushes a full batch.
func (b *batch) post(ctx context.Context, p *post) error {
	for i, who := range p.people {
		if i == 0 {
			p.Author = who.ID
		} else if who.ID != 0 {
			p.Mentions = append(p.Mentions, who.ID)
		}
		if err := b.person(ctx, who, p.ID); err != nil {
			return err
		}
	}
	b.posts = append(b.posts, p)
	b.bytes += len(p.Content)
	weight := 1
	if p.name != "" {
		weight = 2
	}
	if len(b.events)+len(b.posts)*weight < batchEvents && b.bytes < batchBytes {
		return nil
	}
	return b.flush(ctx)
}

// skip counts an unreadable message. That isn't an error.
func (b *batch) skip(why string, args ...any) error {
	b.sum.Skipped++
	b.sum.FirstSkipped = cmp.Or(b.sum.FirstSkipped, fmt.Sprintf(why, args...))
	return nil
}

// flush emits the batch.
func (b *batch) flush(ctx context.Context) error {
	if ctx.Err() != nil || len(b.events)+len(b.posts) == 0 {
		return ctx.Err()
	}
	if err := b.settle(ctx); err != nil {
		b.failed = true
		return err
	}
	for _, p := range b.posts {
		b.events = append(b.events, memory.Posted{Message: p.Message})
		if p.Starred {
			b.events = append(b.events, memory.Starred{
				Guild:   p.Guild,
				Channel: p.Channel,
				ID:      p.ID,
				On:      true,
				At:      p.Time(),
			})
		}
		if p.name != "" {
			b.events = append(b.events, memory.ExternalIDSeen{
				Channel:    p.Channel,
				ID:         p.ID,
				ExternalID: p.name,
			})
		}
	}
	if err := b.emit(b.events); err != nil {
		b.failed = true
		return err
	}
	b.sum.Messages += len(b.posts)
	clear(b.events)
	clear(b.posts)
	b.events = b.events[:0]
	b.posts = b.posts[:0]
	b.bytes = 0
	b.read()
	return nil
}
