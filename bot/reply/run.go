package reply

import (
	"context"

	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/internal/pace"
	"hark/internal/ttl"
)

// New returns a Replier that answers nothing yet.
func New(o Options) *Replier {
	r := &Replier{Options: o, repeats: ttl.New[repeatKey, locale.MessageKey](maxRepeats)}
	r.questions = newTracker(r)
	return r
}

// Begin starts answering. When work ends, answers are cut short; when last ends, requests about them end too.
func (r *Replier) Begin(work, last context.Context) {
	r.questions.scheduler.run = func(a *ingest.Question) { r.reply(work, last, a) }
}

// Run withdraws answers until ctx ends.
func (r *Replier) Run(ctx context.Context) {
	pace.Every(ctx, r.Timing.Look, r.questions.wake, func(ctx context.Context) {
		r.questions.withdrawAll(ctx)
		r.Progress()
	})
}
