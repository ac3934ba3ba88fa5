package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"hark/internal/digest"
	"hark/memory"
)

// What memory.summaries can be.
const (
	summariesOff     = "off"
	summariesExtract = "extract"
)

// chatPatience bounds how long a talk waits for the summary of the one before.
const chatPatience = 15 * time.Second

// newDigest returns the configured worker. The caller sets Failed.
func (a *app) newDigest() *digest.Worker {
	c := a.config
	return digest.New(digest.Options{
		Log: a.store, Model: a.model(), Extract: c.Memory.Summaries == summariesExtract, Policy: policy(c),
		SessionGap: c.Memory.SessionGap.Duration, Metrics: a.metrics,
	})
}

// digests returns the kinds of digests to make.
func (a *app) digests() (kinds []digest.Kind) {
	if a.model() != nil {
		kinds = append(kinds, digest.Facts)
	}
	if a.config.Memory.Summaries != summariesOff {
		kinds = append(kinds, digest.Summaries)
	}
	if a.condenses() {
		kinds = append(kinds, digest.Condensed)
	}
	return kinds
}

// condenses reports whether the older parts of long sessions are condensed.
func (a *app) condenses() bool {
	return a.config.Memory.Summaries != summariesOff && a.config.Memory.Summaries != summariesExtract
}

// startWorkers learns, summarises and condenses in the background.
func (r *runner) startWorkers(ctx context.Context, group *errgroup.Group, a *app) {
	a.digest.Failed = func(kind digest.Kind, channel memory.ChannelID, err error) {
		failed := map[digest.Kind]string{
			digest.Facts: "facts could not be learned", digest.Summaries: "a session could not be summed up by the model",
			digest.Condensed: "a long session could not be condensed",
		}[kind]
		if kind == digest.Summaries && channel == 0 {
			failed = "summing up is delayed"
		}
		r.log.Warn().Err(err).Stringer("channel", channel).Msg(failed)
	}
	a.digest.Done = func(kind digest.Kind, channel memory.ChannelID, messages int, model string) {
		made := map[digest.Kind]string{digest.Summaries: "summed up a session",
			digest.Condensed: "condensed a session"}[kind]
		r.log.Debug().Stringer("channel", channel).Int("messages", messages).Str("model", model).Msg(made)
	}
	group.Go(func() error { return a.digest.Run(ctx, a.digests()...) })
}
