package command

import (
	"context"
	"strconv"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// answerable are the channel types that Hark answers in, or in whose threads.
var answerable = []int{0, 2, 5, 10, 11, 12, 13, 15}

const errBothPlaces locale.MessageKey = "A setting is for one channel or for the whole server, not for both. Please leave one of them out."

const errUnknownChannel locale.MessageKey = "I don't know one of these channels yet. Please try again in a moment."

// channelID returns the channel that x is about: the first argument of a component's or form's id, or the channel
// option, or the channel of x; 0 for the whole server.
func (x *interaction) channelID() (memory.ChannelID, error) {
	if x.Type == discord.InteractionComponent || x.Type == discord.InteractionForm {
		return channelIn(x.Args())
	}
	given := x.Option("channel")
	switch whole := x.Is("server"); {
	case whole && given != "":
		return 0, errBothPlaces
	case whole:
		return 0, nil
	case given == "":
		return memory.ChannelID(x.Channel), nil
	}
	return channelIn([]string{given})
}

// channelIn returns the channel in the first argument; 0 for the whole server.
func channelIn(args []string) (memory.ChannelID, error) {
	if len(args) == 0 {
		return 0, errUnknownChannel
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || id < 0 {
		return 0, errUnknownChannel
	}
	return memory.ChannelID(id), nil
}

// inChannel passes the channel that x is about; the zero Channel is the whole server.
func inChannel(do func(context.Context, *interaction, memory.Channel) (response, error)) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		id, err := x.channelID()
		if err != nil {
			return response{}, err
		}
		if id == 0 {
			return do(ctx, x, memory.Channel{})
		}
		at := x.server.Channel(id)
		if at == nil {
			return response{}, errUnknownChannel
		}
		return do(ctx, x, *at)
	}
}

// inChannelGiven is inChannel, except that without a channel option it is the whole server.
func inChannelGiven(do func(context.Context, *interaction, memory.Channel) (response, error)) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		if x.Option("channel") == "" {
			return do(ctx, x, memory.Channel{})
		}
		return inChannel(do)(ctx, x)
	}
}
