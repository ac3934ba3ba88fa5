package command

import (
	"context"
	"sync"
	"time"

	"hark/bot/ingest"
	"hark/bot/listen"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/metrics"
	"hark/memory"
)

// Options configure commands and notices.
type Options struct {
	*ingest.Options
	Replies  *reply.Replier
	Buffer   *ingest.Buffer // sessions that aren't logged
	Filler   *ingest.Filler
	Writer   *ingest.Writer
	Listener *listen.Worker
	Answers  Engine
	// Settled waits until a guild's permissions are known; its error has a text for users.
	Settled func(ctx context.Context, guild memory.GuildID) error
	// State returns why there is no connection to Discord; nil if there is one.
	State func() error
	// Working is as in bot.Config.
	Working func(context.Context) (shards, processes int, err error)
	// DevGuild, if not 0, is the only guild in which commands are registered.
	DevGuild memory.GuildID
	// Retention is the longest time that messages are remembered; 0: unlimited.
	Retention time.Duration
	Version   string // Hark's
	// Health returns the state of the servers that answers need; nil: unknown.
	Health  func() Health
	Privacy Privacy
	Metrics *metrics.Metrics
	Timing  *Timing
	Sizes   *Sizes
}

// Engine is the part of answer.Engine that commands use.
type Engine interface {
	Recall(ctx context.Context, q answer.Question) (answer.Recalled, error)
	// Lore returns the lore that all readers of an answer to q may read, by name.
	Lore(ctx context.Context, q answer.Question) ([]memory.Lore, error)
	// Find, Inspect, CatchUp and Explain are only for the asker of q.
	Find(ctx context.Context, q answer.Question) (answer.FindResult, error)
	Inspect(ctx context.Context, q answer.Question, found []answer.FoundMessage) ([]answer.InspectedMessage, error)
	CatchUp(ctx context.Context, q answer.Question, since time.Time) (answer.CaughtUp, error)
	// Explain returns how the answer that message id belongs to came about.
	Explain(ctx context.Context, q answer.Question, id memory.MessageID) (answer.Explanation, error)
}

// Timing has limits and intervals.
type Timing struct {
	Use      time.Duration // for a response: Discord's 15 minutes, less a margin
	AtOnce   time.Duration // for what Discord wants within 3 seconds
	Progress time.Duration // between reports of a deletion's progress
	Backfill time.Duration // between reports of a backfill's progress
}

// UsualTiming is the timing outside tests.
var UsualTiming = Timing{
	Use:      14 * time.Minute,
	AtOnce:   2 * time.Second,
	Progress: 3 * time.Second,
	Backfill: 5 * time.Second,
}

// Sizes bound exports, in bytes.
type Sizes struct {
	Part     int // a file of a server export is closed at this size
	File     int // of /memory export
	Unpacked int // of /memory export before compression
}

// Privacy is what /privacy says about how Hark is run, besides what the log knows.
type Privacy struct {
	Operator string // who runs it and their contact; empty: unknown
	// Prompts and Records are how long prompts and records of calls are kept; 0: not at all.
	Prompts, Records time.Duration
	Summaries        bool // whether sessions are summarised
	// Models, Embedder and Reranker are hosts; empty: there is none, or it is built in.
	Models             []string
	Embedder, Reranker string
	Vision             bool // whether a model is shown images
	// Voice and Pictures are the hosts where voice messages are written down and pictures described; empty: none are.
	Voice, Pictures string
	// Programs is the address at which members' programs read; empty: none can.
	Programs string
	Tools    []string // servers of tools, with their hosts
}

// Notices keeps each guild's notice up to date. A notice asks an undecided guild once what may be remembered, and
// states what was decided.
type Notices struct {
	*Options
	editing sync.Mutex                 // held while a notice's text is changed
	notices map[memory.GuildID]*notice // guarded by editing
	mu      sync.Mutex
	guilds  map[memory.GuildID]bool // known from Discord, with a place for a notice; guarded by mu
	Wake    chan struct{}           // signals that UpdateAll should be called
}

// notice is the state of a guild's notice.
type notice struct {
	noticeLocation
	known    bool           // false before there is a notice
	unsaved  []memory.Event // not in the log yet
	lastHash uint64         // of the wanted text at the last update
	guild    *memory.Guild  // for which the notice is up to date
}

// noticeLocation says where a notice is (message 0: nowhere) and the hash of its text.
type noticeLocation struct {
	channel memory.ChannelID
	message memory.MessageID
	hash    uint64
}
