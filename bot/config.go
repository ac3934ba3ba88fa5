package bot

import (
	"context"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"hark/bot/command"
	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/media"
	"hark/internal/metrics"
	"hark/memory"
)

// Config is what a Bot needs to know. The zero value of a field means what its comment says.
type Config struct {
	Token  string // of the bot, with or without "Bot " before it
	APIURL string // instead of https://discord.com: a proxy's or a test server's address
	// REST makes the requests, if several Bots share it; nil: one is made from Token, APIURL and Client.
	REST *discord.Client
	// Shard is the part of the guilds that the Bot is for; zero: all of them.
	Shard discord.Shard
	// Session is what Bot.Session returned to the shard's last owner; empty: a session is begun.
	Session string
	// HandOver is whether another process may go on where Run ends: the session is kept, and open questions are left to
	// it.
	HandOver bool
	// Slot is discord.Gateway.Slot.
	Slot func(ctx context.Context, concurrency int) (time.Duration, error)
	// Guard is asked right before each request; an error of it ends the request unsent. nil: all are sent.
	Guard func() error
	// DevGuild, if not 0, is the only guild in which commands are registered.
	DevGuild memory.GuildID
	LogBots  bool          // whether other bots' and webhooks' messages are logged
	Policy   memory.Policy // what is remembered
	// CatchUp is how far back missed messages are fetched; 0: none are.
	CatchUp time.Duration
	// Reconcile is whether the log is compared with Discord after a time away.
	Reconcile bool
	// AnswerMissed is the age up to which missed questions, and those whose answers the process's end cut short,
	// are answered; 0: none are.
	AnswerMissed time.Duration
	// EditAnswers is whether answers that used what was forgotten are edited in Discord to say so.
	EditAnswers bool
	// NoRecords leaves out the records of the calls that answers took.
	NoRecords bool
	// SessionGap is the silence that ends the session of a channel that isn't logged.
	SessionGap time.Duration
	// Choices are what admins may set about answers, and the defaults.
	Choices answer.Choices
	// Retention is how long messages are remembered at most; 0: forever. It is only shown: the janitor applies it.
	Retention time.Duration
	// Limits are how much may be asked; 0: without limit.
	Limits reply.Limits
	// State, if not nil, gets why there is no connection to Discord, or nil once there is one. Several goroutines
	// call it. It must not wait.
	State   func(why error)
	Metrics *metrics.Metrics // nil: none
	Version string           // of Hark, as admins are told
	// Working tells how many of the shards are held, and how many processes share them; nil if there is one shard.
	Working func(context.Context) (shards, processes int, err error)
	// Health tells how the servers do that answers need; nil: unknown.
	Health func() command.Health
	Teller *media.Teller // of voice messages and pictures; nil: nothing is told of them
	// Privacy is what /privacy tells of how Hark is run.
	Privacy command.Privacy
	// Progress, if not nil, is called after everything that Discord isn't told of: events are committed, the log
	// fails or works again, a question or a command is over, a forgetting is carried out in Discord, the ids of
	// commands are known. Tests wait by it. Several goroutines call it. It must not wait.
	Progress func()
	Client   *http.Client      // of requests to APIURL and for files
	Dialer   *websocket.Dialer // of the gateway; its NetDialContext is used
	Now      func() time.Time  // default: Discord's time
}

func (c Config) discord() discord.Options {
	return discord.Options{
		Token:   c.Token,
		APIURL:  c.APIURL,
		Client:  c.Client,
		Metrics: c.Metrics,
	}
}

// timing has limits and intervals.
type timing struct {
	gateway   discord.GatewayTiming
	ingest    ingest.Timing
	reply     reply.Timing
	commands  command.Timing
	grace     time.Duration // for answers, after Run's context has ended
	farewell  time.Duration // for requests, after Run's context has ended
	guildWait time.Duration // until Discord tells of a question's guild
	interval  time.Duration // between runs of periodic work
	drain     time.Duration // for writing the log, after Run's context has ended
}

var usual = timing{
	gateway:   discord.UsualGateway,
	ingest:    ingest.UsualTiming,
	reply:     reply.UsualTiming,
	commands:  command.UsualTiming,
	grace:     2 * time.Second,
	farewell:  7 * time.Second,
	guildWait: 10 * time.Second,
	interval:  5 * time.Second,
	drain:     9 * time.Second,
}

// Answerer answers questions and commands.
type Answerer interface {
	reply.Answerer
	command.Engine
}
