package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/config"
	"hark/internal/digest"
	"hark/internal/doctor"
	"hark/internal/embed"
	"hark/internal/llm"
	"hark/internal/metrics"
	"hark/internal/rerank"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

// app holds what the commands share.
type app struct {
	config   config.Config
	store    *sqlite.Store
	embedder memory.Embedder // of what is stored
	standIn  error           // why embedder isn't the one that is configured
	tight    error           // why prompts are shorter than configured
	models   *llm.Models
	builder  *builder.Builder // of prompts as configured
	builders sync.Map         // other ones by model and language, made when they are first needed
	search   *search.Engine
	reranker *rerank.Reranker // nil if none is configured
	answers  *answer.Engine
	digest   *digest.Worker
	key      []byte // of the fingerprints in records
	metrics  *metrics.Metrics
	missing  func(model string) // is told of models that are set and not configured, if not nil
}

// open returns an app. Searches wait up to patience for vectors to load, see sqlite.Options.
// m, if not nil, counts what it does. progress, if not nil, hears of long work on the database.
func open(ctx context.Context, c config.Config, m *metrics.Metrics, patience time.Duration,
	progress func(done, total int)) (*app, error) {
	a := &app{config: c, tight: setup.CheckWindow(c), models: setup.NewModels(c), metrics: metrics.Or(m)}
	a.models.Watch(func(model string, took time.Duration, failed error) {
		a.metrics.ModelSeconds.WithLabelValues(model).Observe(took.Seconds())
		if failed != nil {
			a.metrics.ModelErrors.WithLabelValues(model, llm.KindOf(failed).String()).Inc()
		}
	}, func(model string) { a.metrics.ModelFallbacks.WithLabelValues(model).Inc() })
	var err error
	if a.reranker, err = setup.NewReranker(c); err != nil {
		return nil, err
	}
	if a.builder, err = setup.NewBuilder(c); err != nil {
		return nil, err
	}
	use, next := sqlite.StoredSpaces(ctx, c.Data)
	a.embedder, err = setup.NewEmbedder(ctx, c, next, use)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	space := memory.Space{}
	if err != nil { // nothing needs the endpoint so much that Hark couldn't do without
		a.embedder, a.standIn = standIn(err, use)
	}
	if err == nil || use == (memory.Space{}) {
		space = a.embedder.Space()
	}
	a.store, err = sqlite.Open(ctx, c.Data, sqlite.Options{
		Space: space, Tokens: tokens.New().Count, IndexLimit: int64(c.Memory.IndexLimit) << 20,
		Patience: patience, Progress: progress,
	})
	if err != nil {
		return nil, err
	}
	if b, asks := a.embedder.(*embed.Breaker); asks {
		a.embedder = meteredEmbedder{b, a.metrics}
	}
	// Until the vectors are made anew, those in use may be the built-in embedder's.
	a.search = search.New(a.store, a.store, a.embedder, embed.Builtin{})
	if a.reranker != nil {
		a.search.WithReranker(meteredReranker{a.reranker, a.metrics})
	}
	if a.key, err = a.store.FingerprintKey(ctx); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	a.digest = a.newDigest()
	a.answers = answer.New(a.store, meteredSearch{a.search, a.metrics}, a.builder, a.model(), a.options())
	return a, nil
}

// options returns how a answers.
func (a *app) options() answer.Options {
	c := a.config
	var long func(memory.ChannelID, digest.Long)
	if a.condenses() {
		long = a.digest.Notice
	}
	return answer.Options{
		Persona: c.Answer.Persona, Zone: c.Answer.Location(), SessionGap: c.Memory.SessionGap.Duration,
		Policy:       policy(c),
		SessionTurns: c.Memory.SessionTurns, CondenseTurns: c.Memory.CondenseTurns,
		Rewrite: c.Search.Rewrite, KeepPrompts: c.Memory.KeepPrompts() > 0,
		NoSummaries: c.Memory.Summaries == summariesOff,
		ToolRounds:  c.Answer.ToolRounds, ToolTokens: c.Answer.ToolTokens, ToolTime: c.Answer.ToolTime.Duration,
		Language: c.Builder.Language, Models: a.choosable(), Builder: a.builderOf,
		Missing: func(model string) {
			if a.missing != nil {
				a.missing(model)
			}
		},
		Vision: a.sees(), Long: long, RecordKey: a.key, Metrics: a.metrics, NoRecords: c.Memory.KeepRecords() == 0,
	}
}

// withApp returns a command that gets an app, and warns of what is wrong with it.
func (f *flags) withApp(do func(c *cobra.Command, a *app, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := f.load()
		if err != nil {
			return err
		}
		a, err := open(c.Context(), cfg, nil, 0, f.progress("indexing words"))
		if err != nil {
			return err
		}
		defer a.close()
		a.missing = func(model string) {
			fmt.Fprintf(f.env.stderr, "hark: the chosen model %q isn't configured; the default model answers\n", model)
		}
		for _, amiss := range []error{a.standIn, a.tight} {
			if amiss != nil {
				fmt.Fprintln(f.env.stderr, "hark:", amiss)
			}
		}
		return do(c, a, args)
	}
}

// archive returns the memory of a.
func (a *app) archive(ctx context.Context) (*archive, error) {
	return newArchive(ctx, a.store, a.config)
}

// policy returns the operator's choices about remembering.
func policy(c config.Config) memory.Policy {
	return memory.Policy{Ask: c.Memory.Start == "ask", AgeLimited: c.Memory.AgeRestricted, Direct: c.Memory.Direct}
}

// recordRetention returns how long records of calls are kept.
func recordRetention(c config.Config) memory.RecordRetention {
	return memory.RecordRetention{Age: c.Memory.KeepRecords(), Count: c.Memory.RecordsMax,
		Tokens: c.Memory.RecordsTokens}
}

func (a *app) close() error { return a.store.Close() }

// standIn embeds while the configured embedder can't because of err, and says so. The file's vectors stay as they are:
// if they are the built-in embedder's, it makes those of what comes; if not, that waits.
func standIn(err error, use memory.Space) (memory.Embedder, error) {
	if use == (memory.Space{}) || use == (embed.Builtin{}).Space() {
		return embed.Builtin{}, fmt.Errorf("%w; Hark uses the built-in embedder until it is restarted", err)
	}
	err = fmt.Errorf("%w; until it is restarted, Hark finds messages by words only", err)
	return absent{use, err}, err
}

// absent is an embedder that can't be reached.
type absent struct {
	space memory.Space
	err   error
}

func (a absent) Space() memory.Space { return a.space }

func (a absent) Embed(context.Context, memory.Purpose, []string) ([][]float32, error) {
	return nil, a.err
}

// index embeds what is pending.
func (a *app) index(ctx context.Context, progress func(done int)) error {
	indexer := memory.Indexer{Queue: a.store, Embedder: a.embedder}
	return indexer.Drain(ctx, progress)
}

// indexFew embeds what is pending for a command that is about to search, unless that would take long.
func (a *app) indexFew(ctx context.Context) error {
	waiting, err := a.store.Waiting(ctx, memory.Everywhere)
	if err != nil {
		return err
	}
	if waiting > doctor.FewSegments {
		return fmt.Errorf("%d segments wait for their vectors; \"hark run\" makes them, or \"hark reindex\"", waiting)
	}
	return a.index(ctx, nil)
}

// place is where a question is asked.
type place struct {
	guild   memory.GuildID
	channel memory.ChannelID
	name    string
	// everywhere is set for the terminal's own channel, from which all that the operator holds can be reached.
	everywhere bool
}

// terminalName is the name of the terminal's own channel.
const terminalName = "terminal"

// terminalChannel is the channel of "hark chat", and of questions that name none.
const terminalChannel memory.ChannelID = 1

// placeOf returns the channel called name, or the terminal's own if name is empty.
func (a *app) placeOf(ctx context.Context, name string) (place, error) {
	if name == "" {
		return place{guild: memory.LocalGuild, channel: terminalChannel, name: terminalName, everywhere: true}, nil
	}
	k, err := a.archive(ctx)
	if err != nil {
		return place{}, err
	}
	c, err := k.findChannel(memory.Everywhere, name)
	if err == nil && c.Guild == memory.DirectGuild {
		err = fmt.Errorf("#%s are direct messages, which Hark uses only in the same direct message; \"hark export --channel\" writes them to a file", terminal.OneLine(cmp.Or(c.Name, name)))
	}
	return place{guild: c.Guild, channel: c.ID, name: c.Name}, err
}

// within is the server whose people and channels can be named at a place, or Everywhere.
func (p place) within() memory.GuildID {
	if p.everywhere {
		return memory.Everywhere
	}
	return p.guild
}

// question is what the operator asks at a place.
func (p place) question(text string, now time.Time) answer.Question {
	return answer.Question{
		Guild: p.guild, Channel: p.channel, Text: text, Now: now, Operator: true, Everywhere: p.everywhere,
	}
}
