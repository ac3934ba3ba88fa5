package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"hark/internal/answer"
	"hark/memory"
)

// warnOfWindow says that prompts are shorter than configured.
func (r *runner) warnOfWindow(a *app) {
	if a.tight != nil {
		c := a.config
		r.log.Warn().Int("window", windowOf(c)).Int("prompt", promptTokens(c)).Int("answer", c.LLM.MaxTokens).Msg(a.tight.Error())
	}
}

// startWorkers has done by the side what models do: learning, summing up and condensing.
func (r *runner) startWorkers(ctx context.Context, group *errgroup.Group, a *app) {
	c := a.config
	if model := a.model(); model != nil {
		learner := answer.Learner{
			Log: a.store, Model: model, Policy: policy(c), SessionGap: c.Memory.SessionGap.Duration, Now: time.Now,
			Failed: func(channel memory.ChannelID, err error) {
				r.log.Warn().Err(err).Stringer("channel", channel).Msg("facts could not be learned")
			},
		}
		group.Go(func() error { return learner.Run(ctx) })
	}
	summariser := newSummariser(a, func(channel memory.ChannelID, err error) {
		r.log.Warn().Err(err).Stringer("channel", channel).Msg("a session could not be summed up by the model")
	})
	if summariser != nil {
		summariser.Stuck = func(err error) {
			r.log.Warn().Err(err).Msg("summing up is delayed")
		}
		summariser.Done = func(s memory.Summary) {
			r.log.Debug().Stringer("channel", s.Channel).Int("messages", len(s.Sources)).Str("model", s.Model).Msg("summed up a session")
		}
		group.Go(func() error { return summariser.Run(ctx) })
	}
	group.Go(func() error {
		return a.answers.Run(ctx, func(c memory.Condensed) {
			r.log.Debug().Stringer("channel", c.Channel).Int("messages", len(c.Sources)).Str("model", c.Model).Msg("condensed a session")
		}, func(channel memory.ChannelID, err error) {
			r.log.Warn().Err(err).Stringer("channel", channel).Msg("a long session could not be condensed")
		})
	})
}
