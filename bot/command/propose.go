package command

import (
	"context"
	"fmt"
	"slices"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

// What is to be remembered is shown in a message of its own below the answer, which nobody but Hark can
// write. Until somebody agrees it is nowhere else: what is remembered then is read from the message, which
// Discord hands back with the press.

const (
	unreadable locale.Phrase = "I can't read any more what I was to remember: something took it out of the message. Please tell me again."
	keptNot    locale.Phrase = "I remember nothing here, so I don't keep that either."
	youOptOut  locale.Phrase = youAreOut
	notTaken   locale.Phrase = "I couldn't keep it: it was taken back before, or falls under something that I was told to forget."
)

// loreIn is the lore that a message shows, to be kept under the message's id.
func loreIn(x *interaction) (memory.Lore, error) {
	l, ok := reply.ReadLore(x.Message.Content)
	l.ID, l.Guild, l.Channel, l.By, l.At = int64(x.Message.ID), x.guild(), memory.ChannelID(x.Channel), x.who(),
		memory.MessageID(x.ID).Time()
	if ok {
		var err error
		l, err = l.Checked()
		ok = err == nil
	}
	if !ok {
		return l, unreadable
	}
	return l, nil
}

// remember keeps what a message proposes.
func (c *Commands) remember(ctx context.Context, x *interaction) (response, error) {
	if x.Message == nil || x.Message.Author == nil || memory.UserID(x.Message.Author.ID) != c.Self {
		return response{}, unreadable
	}
	l, err := loreIn(x)
	if err != nil {
		return response{}, err
	}
	if err := c.mayKeep(ctx, x, l); err != nil {
		return response{}, err
	}
	c.agreeing.Lock()
	defer c.agreeing.Unlock()
	kept, err := c.hasLore(ctx, l)
	if err == nil && !kept {
		if err = c.keepProposed(ctx, x, l); err == nil {
			kept, err = c.hasLore(ctx, l)
		}
	}
	switch {
	case err != nil:
		return response{}, err
	case !kept:
		return response{}, notTaken
	}
	return response{Content: x.Text("Remembered: %s", markdown.Plain(l.Name, memory.MaxLoreName))}, nil
}

// mayKeep is why lore can't be kept, if it can't.
func (c *Commands) mayKeep(ctx context.Context, x *interaction, l memory.Lore) error {
	if !x.remembers(l.Channel) {
		return keptNot
	}
	out, err := c.Memory.OptedOut(ctx, l.Guild, l.By)
	if err != nil {
		return fmt.Errorf("look whether somebody has opted out: %w", err)
	}
	if out {
		return youOptOut
	}
	_, err = c.Replies.SourcesOf(ctx, l, memory.MessageID(x.Message.ID))
	return err
}

func (c *Commands) hasLore(ctx context.Context, l memory.Lore) (bool, error) {
	all, err := c.Memory.Lore(ctx, l.Guild)
	if err != nil {
		return false, fmt.Errorf("look up lore: %w", err)
	}
	return slices.ContainsFunc(all, func(k memory.Lore) bool { return k.ID == l.ID }), nil
}

// keepProposed keeps lore, and has the answer that proposed it go with it: Discord shows its name there.
func (c *Commands) keepProposed(ctx context.Context, x *interaction, l memory.Lore) error {
	events := []memory.Event{memory.LoreTold{Lore: l}}
	q := memory.TraceQuery{Channel: memory.ChannelID(x.Channel), Answer: memory.MessageID(x.Message.ID), Prompts: true}
	traces, err := c.Memory.Traces(ctx, q)
	if err != nil {
		return fmt.Errorf("look up how an answer came about: %w", err)
	}
	for _, t := range traces {
		if t.Asker != 0 { // else it is the bare sources of an answer that isn't logged
			events = append(events, memory.Answered{Trace: t.WithSources(l.AsSource(true))})
		}
	}
	return c.apply(ctx, x, "keep lore", events...)
}

// forgo takes a proposal away.
func (c *Commands) forgo(ctx context.Context, x *interaction) (response, error) {
	if err := c.takeDown(ctx, x, memory.MessageID(x.Message.ID)); err != nil {
		return response{}, err
	}
	return response{}, errShown
}
