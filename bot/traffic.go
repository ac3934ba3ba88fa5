package bot

import (
	"errors"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// How the uses of commands come out.
const (
	CommandAnswered = "answered"
	CommandRefused  = "refused" // it isn't for this member or place, or not now
	CommandFailed   = "failed"
)

// unknownCommand is what all commands are called that Hark doesn't know, so that nobody can make up names to count by.
const unknownCommand = "unknown"

// tally counts a use of a command. err is why it couldn't be answered.
func (c *commands) tally(x *exchange, err error) {
	if x.Type == interactionTyping {
		return
	}
	command, outcome := x.path(), x.outcome
	if _, known := c.handlers[command]; !known {
		command, outcome = unknownCommand, CommandRefused
	}
	switch {
	case err != nil:
		outcome = CommandFailed
	case outcome == "":
		outcome = CommandAnswered
	}
	c.bot.cfg.Metrics.Commands.WithLabelValues(command, outcome).Inc()
}

// routeOf is the class of an address, which names no place and nobody.
func routeOf(address string) string {
	path, ours := strings.CutPrefix(address, discordgo.EndpointAPI)
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	switch {
	case !ours:
		return "other"
	case parts[0] == "webhooks":
		return "interactions"
	case len(parts) > 2 && (parts[2] == "messages" || parts[2] == "typing"):
		return parts[2]
	}
	return parts[0]
}

// count counts a request and how it came out: "ok", "limited" by Discord's rate limits, "refused" by Discord,
// or "failed" on the way.
func (c *client) count(route string, err error) {
	outcome := "ok"
	switch {
	case err == nil:
	case errors.As(err, new(*discordgo.RateLimitError)):
		outcome = "limited"
	case status(err) != 0:
		outcome = "refused"
	default:
		outcome = "failed"
	}
	c.metrics.DiscordRequests.WithLabelValues(route, outcome).Inc()
}

// waited counts a wait for a rate limit.
func (c *client) waited(route string, d time.Duration) {
	if d > 0 {
		c.metrics.RateLimitSeconds.WithLabelValues(route).Observe(d.Seconds())
	}
}
