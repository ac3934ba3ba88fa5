package main

import (
	"context"

	"golang.org/x/sync/errgroup"

	"hark/internal/digest"
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
		made := map[digest.Kind]string{digest.Summaries: "summed up a session", digest.Condensed: "condensed a session"}[kind]
		r.log.Debug().Stringer("channel", channel).Int("messages", messages).Str("model", model).Msg(made)
	}
	group.Go(func() error { return a.digest.Run(ctx, a.digests()...) })
}
