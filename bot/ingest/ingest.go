// Package ingest takes in what Discord tells: events become those of memory, and are committed in the order in
// which they came.
//
//   - What the queue took is in the log, or the process died. One goroutine converts and commits; a log that fails
//     delays that and nothing else; an event that can't be read is passed over and logged by its id.
//   - A question is handed on once its own message is committed, and so after all that was said before it.
//   - What nobody told of live is found before anything live is logged, and fetched page by page.
//
// It may import memory, search and bot/discord. Begin with Queue.Put and Writer.Run; Filter decides what is logged, and
// Filler fetches what is missing.
package ingest

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"hark/bot/discord"
	"hark/memory"
	"hark/search"
)

// Options are what a Writer and a Filler work with.
type Options struct {
	Self   memory.UserID // Hark
	Memory memory.Store
	Client *discord.Client
	Grants *discord.Grants
	Policy memory.Policy // what is remembered
	// LogBots is whether other bots' and webhooks' messages are logged.
	LogBots bool
	// CatchUp is how far back what was missed is fetched; 0: nothing is.
	CatchUp time.Duration
	// Reconcile is whether what is remembered is compared with Discord's after a time away.
	Reconcile bool
	// AnswerMissed is how old a question may be that was missed to be answered all the same.
	AnswerMissed time.Duration
	Queue        *Queue
	Filter       *Filter
	Guilds       *Readiness
	Attendance   *search.Attendance
	MemberRoles  *search.MemberRoles
	// Ask is called with a question that was missed, once it is committed.
	Ask func(context.Context, *Question)
	// Progress is called whenever something is done that Discord isn't told of.
	Progress func()
	Timing   Timing
	Log      zerolog.Logger
	Now      func() time.Time
}

// Timing is how long things are apart.
type Timing struct {
	Retry  time.Duration // before a second attempt to write the log; doubled for each further one
	Gather time.Duration // between commits of what the gateway tells, so that in a rush many events share one
	Sweep  time.Duration // between pages that are compared with what is remembered
	Fill   time.Duration // between looks for what is missing, which other processes may have told of
	Aside  time.Duration // what can't be fetched now is left alone
}

// UsualTiming is the timing but in tests.
var UsualTiming = Timing{Retry: 500 * time.Millisecond, Gather: 50 * time.Millisecond,
	Sweep: 250 * time.Millisecond, Fill: 30 * time.Second, Aside: 5 * time.Minute}

// IsFresh reports whether a question that was missed is still to be answered.
func (o *Options) IsFresh(a *Question) bool {
	return a.ID > memory.FirstMessageID(o.Now().Add(-o.AnswerMissed))
}
