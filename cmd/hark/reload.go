package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"hark/bot"
	"hark/internal/answer"
	"hark/internal/config"
	"hark/memory"
)

// takenOver is what is taken over when the configuration is read while Hark runs: keys, and sections, which stand for all
// keys in them.
var takenOver = []string{"llm", "search.rewrite", "builder", "answer", "limits", "log.level"}

// fixed is what needs a restart. It is all else: where things are and go, and what is remembered.
var fixed = []string{"data", "discord", "embedding", "search.rerank_url", "search.rerank_key", "search.rerank_model", "search.rerank_timeout",
	"memory", "log.format", "web"}

// isOf reports whether a key is one of those named, or in a section that is.
func isOf(key string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return key == name || strings.HasPrefix(key, name+".") })
}

func isTakenOver(key string) bool { return isOf(key, takenOver) }

// inWords lists keys for people.
func inWords(keys []string) string {
	return strings.Join(keys[:len(keys)-1], ", ") + " and " + keys[len(keys)-1]
}

// follow does what goes by the configuration that can change, and begins that anew whenever it has changed.
func (r *runner) follow(ctx context.Context, a *app, door *bot.Bot) error {
	for a != nil {
		work, stop := context.WithCancel(ctx)
		group, work := errgroup.WithContext(work)
		r.startWorkers(work, group, a)
		next := r.nextConfiguration(work, a, door)
		stop()
		if err := group.Wait(); err != nil {
			return err
		}
		a = next
	}
	return nil
}

// nextConfiguration waits until something has changed in the configuration and is taken over. It returns nil if ctx ends first.
func (r *runner) nextConfiguration(ctx context.Context, a *app, door *bot.Bot) *app {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.hangups:
		}
		if next := r.reread(a, door); next != nil {
			return next
		}
	}
}

// What comes of reading the configuration again, as it is logged.
const (
	takenOverNow         = "took over what has changed in the configuration"
	nothingTakenOver     = "read the configuration again; nothing has changed that could be taken over"
	configurationRefused = "the configuration can't be used; Hark goes on with the one it has"
)

// reread reads the configuration again and takes over what can be. It returns nil if that is nothing, or if it can't be read.
func (r *runner) reread(a *app, door *bot.Bot) *app {
	defer r.notify.reload()()
	cfg, err := r.load()
	if err != nil {
		return r.refuse(a, err)
	}
	changed := config.Changed(a.config, cfg)
	taken := slices.DeleteFunc(slices.Clone(changed), func(key string) bool { return !isTakenOver(key) })
	if len(taken) == 0 {
		a.meters.reloads.Add("unchanged", 1)
		r.log.Info().Msg(nothingTakenOver)
		r.needRestart(changed)
		return nil
	}
	next, err := a.renewed(a.config.With(cfg, isTakenOver))
	if err != nil {
		return r.refuse(a, err)
	}
	door.Renew(bot.Terms{Choices: choices(next.config), Limits: askingLimits(next.config), Answers: next.answers, Privacy: privacy(next.config), Health: next.health})
	r.counts.set(next, door)
	a.meters.reloads.Add("taken", 1)
	r.log.Info().Strs("keys", taken).Msg(takenOverNow)
	r.warnOfWindow(next)
	r.needRestart(changed)
	r.level.set(next.config.Log.Level) // now, so that one that is quieter leaves nothing of this out
	return next
}

// refuse goes on with the configuration there was.
func (r *runner) refuse(a *app, err error) *app {
	a.meters.reloads.Add("refused", 1)
	r.log.Error().Err(err).Msg(configurationRefused)
	return nil
}

// needRestart says what has changed and isn't taken over.
func (r *runner) needRestart(changed []string) {
	rest := slices.DeleteFunc(slices.Clone(changed), isTakenOver)
	if len(rest) > 0 {
		r.log.Warn().Strs("keys", rest).Msg(strings.Join(rest, ", ") + " changed in the configuration; it needs a restart")
	}
}

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
