package command

import (
	"context"
	"fmt"

	"hark/memory"
)

const (
	starOn   = "⭐ Marked: I treat this message as important."
	starOff  = "No longer marked: this message is like any other to me."
	starNone = "I don't have this message: it was sent before I listened, it was forgotten, or whoever wrote it doesn't want to be remembered."
)

// star marks a message as important, or removes the mark. Discord enforces who may.
func (c *Commands) star(ctx context.Context, x *interaction) (response, error) {
	channel := memory.ChannelID(x.Channel)
	id := memory.MessageID(x.Data.Target)
	if !x.remembers(channel) {
		return response{Content: x.Text("I remember nothing of this channel, so there is nothing to mark.")}, nil
	}
	found, err := c.Memory.Around(ctx, channel, []memory.MessageID{id}, 0, 0)
	switch {
	case err != nil:
		return response{}, fmt.Errorf("look up message %d: %w", id, err)
	case len(found) == 0:
		return response{Content: x.Text(starNone)}, nil
	case !found[0].Kind.Recalled():
		return response{Content: x.Text("I don't use my own messages as sources, so they can't be marked.")}, nil
	}
	on := !found[0].Starred
	mark := memory.Starred{
		Guild:   x.guild(),
		Channel: channel,
		ID:      id,
		On:      on,
		At:      c.Now(),
	}
	said := x.Text(starOff)
	if on {
		said = x.Text(starOn)
	}
	return response{Content: said}, c.apply(ctx, x, fmt.Sprintf("mark message %d", id), mark)
}
