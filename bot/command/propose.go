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

// Proposed lore is shown in a message of its own below the answer, which only Hark can write. Until somebody agrees it
// is kept nowhere else: it is then read from the message, which Discord sends along with the press.

const (
	unreadable locale.MessageKey = "I can't read what I was to remember any more: it was removed from the message. Please tell me again."
	notKept    locale.MessageKey = "I couldn't keep it: it was taken back before, or falls under something that I was told to forget."
)

// loreIn reads the lore that a message proposes. Its id is the message's.
func loreIn(x *interaction) (memory.Lore, error) {
	l, ok := reply.ReadLore(x.Message.Content)
	l.ID = int64(x.Message.ID)
	l.Guild = x.guild()
	l.Channel = memory.ChannelID(x.Channel)
	l.By = x.who()
	l.At = memory.MessageID(x.ID).Time()
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

// remember keeps the lore that a message proposes.
func (c *Commands) remember(ctx context.Context, x *interaction) (response, error) {
	if x.Message == nil || x.Message.Author == nil || memory.UserID(x.Message.Author.ID) != c.Self {
		return response{}, unreadable
	}
	l, err := loreIn(x)
	if err != nil {
		return response{}, err
	}
	if err := c.checkProposed(ctx, x, l); err != nil {
		return response{}, err
	}
	c.agreeing.Lock()
	defer c.agreeing.Unlock()
	kept, err := c.hasLore(ctx, l)
	if err == nil && !kept {
		err = c.keepProposed(ctx, x, l)
		if err == nil {
			kept, err = c.hasLore(ctx, l)
		}
	}
	switch {
	case err != nil:
		return response{}, err
	case !kept:
		return response{}, notKept
	}
	return response{Content: x.Text("Remembered: %s", markdown.Plain(l.Name, memory.MaxLoreName))}, nil
}

// checkProposed returns why proposed lore can't be kept.
func (c *Commands) checkProposed(ctx context.Context, x *interaction, l memory.Lore) error {
	if !x.remembers(l.Channel) {
		return locale.MessageKey(nothingKeptHere)
	}
	out, err := memory.HasOptedOut(ctx, c.Memory, l.Guild, l.By)
	if err != nil {
		return fmt.Errorf("look whether somebody has opted out: %w", err)
	}
	if out {
		return locale.MessageKey(youAreOut)
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

// keepProposed keeps lore and makes it a source of the answer that proposed it, so that the lore's name there goes too.
func (c *Commands) keepProposed(ctx context.Context, x *interaction, l memory.Lore) error {
	events := []memory.Event{memory.LoreTold{Lore: l}}
	q := memory.TraceQuery{
		Channel: memory.ChannelID(x.Channel),
		Answer:  memory.MessageID(x.Message.ID),
		Prompts: true,
	}
	traces, err := c.Memory.Traces(ctx, q)
	if err != nil {
		return fmt.Errorf("look up how an answer came about: %w", err)
	}
	for _, t := range traces {
		if t.Asker != 0 { // else the answer isn't logged, only its sources
			events = append(events, memory.Answered{Trace: t.WithSources(l.AsSource(true))})
		}
	}
	return c.apply(ctx, x, "keep lore", events...)
}

// forgo deletes a proposal.
func (c *Commands) forgo(ctx context.Context, x *interaction) (response, error) {
	if err := c.takeDown(ctx, x, memory.MessageID(x.Message.ID)); err != nil {
		return response{}, err
	}
	return response{}, errShown
}
