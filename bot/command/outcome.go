package command

import "hark/bot/discord"

// How the uses of commands come out.
const (
	CommandAnswered = "answered"
	CommandRefused  = "refused" // it isn't for this member or place, or not now
	CommandFailed   = "failed"
)

// unknownCommand is what all commands are called that Hark doesn't know, so that nobody can make up names to count by.
const unknownCommand = "unknown"

// tally counts a use of a command. err is why it couldn't be answered.
func (c *Commands) tally(x *interaction, err error) {
	if x.Type == discord.InteractionTyping {
		return
	}
	command, outcome := x.Path(), x.outcome
	if _, known := c.handlers[command]; !known {
		command, outcome = unknownCommand, CommandRefused
	}
	switch {
	case err != nil:
		outcome = CommandFailed
	case outcome == "":
		outcome = CommandAnswered
	}
	c.Metrics.Commands.WithLabelValues(command, outcome).Inc()
}
