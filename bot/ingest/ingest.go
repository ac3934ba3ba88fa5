// Package ingest turns Discord's events into memory's and commits them in order.
//
//   - What the queue took gets into the log, unless the process dies. One goroutine converts and commits. A log
//     that fails only delays it. An unreadable event is skipped, and its id reported.
//   - A question is asked only after its message is durable, and so after all that was said before it.
//   - Missed messages are found before anything live is logged, and fetched page by page.
//
// It may import memory, search and bot/discord. Begin with Queue.Put and Writer.Run. Filter decides what is
// logged; Filler fetches what is missing.
package ingest

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"hark/bot/discord"
	"hark/memory"
	"hark/search"
)

// Options configure a Writer and a Filler.
type Options struct {
	Self   memory.UserID // Hark
	Shard  discord.Shard
	Memory memory.Store // its lists have only what is the shard's
	Client *discord.Client
	Grants *discord.Grants
	Policy memory.Policy // what is remembered
	// LogBots is whether messages of other bots and webhooks are logged where admins haven't chosen.
	LogBots bool
	// CatchUp is how far back missed messages are fetched; 0: not at all.
	CatchUp time.Duration
	// Reconcile is whether the log is compared with Discord after an absence.
	Reconcile bool
	// AnswerMissed is the greatest age at which a missed question is still answered.
	AnswerMissed time.Duration
	Queue        *Queue
	Filter       *Filter
	Guilds       *Readiness
	Attendance   *search.Attendance
	MemberRoles  *search.MemberRoles
	// Ask is called with each missed question, once it is committed.
	Ask func(context.Context, *Question)
	// Progress is called after work that sends Discord nothing.
	Progress func()
	Timing   Timing
	Log      zerolog.Logger
	Now      func() time.Time
}

// Timing holds intervals.
type Timing struct {
	Retry  time.Duration // before the second attempt to write the log; doubles each time
	Gather time.Duration // between commits, so that many events share one; a question doesn't wait for it
	Sweep  time.Duration // between pages compared with the log
	Fill   time.Duration // between looks for gaps, which other processes may have recorded
	Aside  time.Duration // before a failed fetch is tried again
}

// UsualTiming is the timing outside tests.
var UsualTiming = Timing{
	Retry:  500 * time.Millisecond,
	Gather: 50 * time.Millisecond,
	Sweep:  250 * time.Millisecond,
	Fill:   30 * time.Second,
	Aside:  5 * time.Minute,
}

// IsFresh reports whether a missed question is recent enough to answer.
func (o *Options) IsFresh(a *Question) bool {
	return a.ID > memory.FirstMessageID(o.Now().Add(-o.AnswerMissed))
}

// converter returns a converter that obeys what admins chose for bots and webhooks.
func (o *Options) converter() *converter {
	c := newConverter(o.Self, o.LogBots, o.Now)
	c.bots = func(guild memory.GuildID, channel memory.ChannelID, otherwise memory.Bots) memory.Bots {
		return o.Filter.Lookup(context.Background(), guild).BotsIn(channel, otherwise)
	}
	return c
}
