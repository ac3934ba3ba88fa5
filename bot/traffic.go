package bot

import (
	"errors"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/internal/meter"
)

// Traffic is what went between Hark and Discord since the Bot was made, in numbers that only grow.
type Traffic struct {
	Events      map[string]int64         // taken in, by what the gateway calls them
	Connections map[string]int64         // made, "new" or "resumed"
	Lost        int64                    // connections that ended before Hark did
	Commands    map[CommandUse]int64     // used
	Requests    map[RequestOutcome]int64 // made
	Waits       map[string]meter.Spread  // for rate limits, by route
}

// CommandUse is a command, button or form and how its use came out.
type CommandUse struct{ Command, Outcome string }

// How the uses of commands come out.
const (
	CommandAnswered = "answered"
	CommandRefused  = "refused" // it isn't for this member or place, or not now
	CommandFailed   = "failed"
)

// RequestOutcome is a class of requests and how they came out: "ok", "limited" by Discord's rate limits, "refused" by Discord,
// or "failed" on the way.
type RequestOutcome struct{ Route, Outcome string }

// traffic counts it.
type traffic struct {
	events, connections meter.Counts[string]
	lost                meter.Counts[struct{}]
	commands            meter.Counts[CommandUse]
}

// requests counts what a client asks of Discord.
type requests struct {
	came  meter.Counts[RequestOutcome]
	waits meter.Times[string]
}

// Traffic may be asked at any time.
func (b *Bot) Traffic() Traffic {
	return Traffic{
		Events: b.traffic.events.All(), Connections: b.traffic.connections.All(), Lost: b.traffic.lost.All()[struct{}{}],
		Commands: b.traffic.commands.All(), Requests: b.rest.counted.came.All(), Waits: b.rest.counted.waits.All(),
	}
}

// unknownCommand is what all commands are called that Hark doesn't know, so that nobody can make up names to count by.
const unknownCommand = "unknown"

// tally counts a use of a command. err is why it couldn't be answered.
func (c *commands) tally(x *exchange, err error) {
	if x.Type == interactionTyping {
		return
	}
	use := CommandUse{x.path(), x.outcome}
	if _, known := c.tools[use.Command]; !known {
		use.Command, use.Outcome = unknownCommand, CommandRefused
	}
	switch {
	case err != nil:
		use.Outcome = CommandFailed
	case use.Outcome == "":
		use.Outcome = CommandAnswered
	}
	c.bot.traffic.commands.Add(use, 1)
}

// routes are the classes of Discord's addresses, by how their paths begin, where "*" is an id.
var routes = []struct{ path, name string }{
	{"interactions/", "interactions"},
	{"webhooks/", "interactions"},
	{"channels/*/messages", "messages"},
	{"channels/*/typing", "typing"},
	{"channels/", "channels"},
	{"guilds/", "guilds"},
	{"applications/", "applications"},
	{"users/", "users"},
	{"gateway", "gateway"},
}

// routeOf is the class of an address, which names no place and nobody.
func routeOf(address string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(address, discordgo.EndpointAPI), "?")
	parts := strings.Split(path, "/")
	if len(parts) > 1 {
		parts[1] = "*"
	}
	plain, general := strings.Join(parts, "/"), parts[0]+"/"
	for _, r := range routes {
		if strings.HasPrefix(plain, r.path) || r.path == general && len(parts) > 1 {
			return r.name
		}
	}
	return "other"
}

// count counts a request and how it came out.
func (r *requests) count(route string, err error) {
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
	r.came.Add(RequestOutcome{route, outcome}, 1)
}

// waited counts a wait for a rate limit.
func (r *requests) waited(route string, d time.Duration) {
	if d > 0 {
		r.waits.Add(route, d)
	}
}
