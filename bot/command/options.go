package command

import (
	"context"
	"time"

	"hark/bot/ingest"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/metrics"
	"hark/memory"
)

// Options are what commands and notices work with.
type Options struct {
	*ingest.Options
	Replies *reply.Replier
	Buffer  *ingest.Buffer // of the sessions that aren't logged
	Filler  *ingest.Filler
	Writer  *ingest.Writer
	Answers Engine
	// Settled returns once it is known who may read what in a guild, or with an error that says so.
	Settled func(ctx context.Context, guild memory.GuildID) error
	// State is why there is no connection to Discord, or nil.
	State func() error
	// DevGuild, if not 0, is the only guild in which commands are registered.
	DevGuild memory.GuildID
	// Retention is how long messages are remembered at the most; 0: without end.
	Retention time.Duration
	// Version is Hark's, as admins are told it.
	Version string
	// Health tells how the servers do that answers need. nil: nothing is known of them.
	Health func() Health
	// Privacy is what /privacy tells of how Hark is run.
	Privacy Privacy
	Metrics *metrics.Metrics
	Timing  *Timing
	Sizes   *Sizes
}

// Engine is what commands ask besides what is asked by a message.
type Engine interface {
	Recall(ctx context.Context, q answer.Question) (answer.Recalled, error)
	// Lore is what may be told to those who will read an answer to q, by name.
	Lore(ctx context.Context, q answer.Question) ([]memory.Lore, error)
	// Find, Look and CatchUp are as answer.Engine has them: for the eyes of q's asker only.
	Find(ctx context.Context, q answer.Question) (answer.FindResult, error)
	Inspect(ctx context.Context, q answer.Question, found []answer.FoundMessage) ([]answer.InspectedMessage, error)
	CatchUp(ctx context.Context, q answer.Question, since time.Time) (answer.CaughtUp, error)
	// Explain is how the answer came about of which id is a message, for whoever asks by q.
	Explain(ctx context.Context, q answer.Question, id memory.MessageID) (answer.Explanation, error)
}

// Timing is how long things take at most, or are apart.
type Timing struct {
	Use      time.Duration // a command's answer: Discord's 15 minutes, less a margin
	AtOnce   time.Duration // what Discord wants an answer to within 3 seconds
	Progress time.Duration // between signs of how far a forgetting has come
	Backfill time.Duration // between signs of how far the past of a channel is fetched
}

// UsualTiming is the timing but in tests.
var UsualTiming = Timing{Use: 14 * time.Minute, AtOnce: 2 * time.Second, Progress: 3 * time.Second,
	Backfill: 5 * time.Second}

// UsualSizes are the sizes but in tests.
var UsualSizes = Sizes{Part: exportPart, File: markdown.MaxFileBytes, Unpacked: mostExported}

// Sizes are how many bytes exports have.
type Sizes struct {
	Part     int // of a file, before the next is begun
	File     int // of the file of /memory export, at most
	Unpacked int // of that before it is packed
}
