// Package setup makes what the configuration names: prompt builder, models, embedder, reranker. Open opens the
// memory and puts them together; begin there.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/answer/tools"
	"hark/internal/config"
	"hark/internal/digest"
	"hark/internal/embed"
	"hark/internal/llm"
	"hark/internal/mcpclient"
	"hark/internal/media"
	"hark/internal/metrics"
	"hark/internal/rerank"
	"hark/internal/store"
	"hark/memory"
	"hark/memory/sqlstore"
	"hark/search"
)

// FewSegments is how many segments may wait for their vectors before an answer doesn't wait for them.
const FewSegments = 2000

// App is the open memory with all that answers from it.
type App struct {
	Config   config.Config
	Store    *sqlstore.Store
	Embedder memory.Embedder // the configured one; see Indexing for what stands in for it
	Tight    error           // why prompts are shorter than configured
	Models   *llm.Models
	Builder  *builder.Builder // of prompts as configured
	Reranker *rerank.Reranker // nil if none is configured
	Teller   *media.Teller    // of voice messages and pictures
	Answers  *answer.Engine
	Digest   *digest.Worker
	Metrics  *metrics.Metrics
	MCP      *mcpclient.Client  // nil: no servers are configured
	Missing  func(model string) // if not nil, is called with models that are chosen and not configured
	// Learned, if not nil, is called once with each thing that Hark learns of a model's server.
	Learned func(model, what string)
	// Broken, if not nil, is called with what is wrong with a server of tools.
	Broken func(server, problem string)
	// Shortened, if not nil, is called once, when the embedder has refused a text: it takes about so many tokens.
	Shortened func(tokens int)

	awaited  *awaited     // Embedder, if it couldn't be used at the start
	indexing sync.RWMutex // held by what makes vectors, so that their space doesn't change meanwhile
	indexed  bool         // by Embedder, and not by what stood in for it; guarded by indexing
	toldOf   sync.Once    // Shortened
	builders sync.Map     // other builders by builderKey, made when first needed
}

// Open returns an App. Of o, the configuration says the space of vectors and their limit. m may be nil.
func Open(ctx context.Context, c config.Config, m *metrics.Metrics, o store.Options) (*App, error) {
	tight := CheckWindow(c, llm.LargerWindow(c.LLM.BaseURL))
	a := &App{
		Config:  c,
		Tight:   tight,
		Models:  NewModels(c),
		Metrics: metrics.Or(m),
	}
	a.Models.Watch(func(model string, took time.Duration, failed error) {
		a.Metrics.ModelSeconds.WithLabelValues(model).Observe(took.Seconds())
		if failed != nil {
			a.Metrics.ModelErrors.WithLabelValues(model, llm.KindOf(failed).String()).Inc()
		}
	}, func(model string) { a.Metrics.ModelFallbacks.WithLabelValues(model).Inc() }, func(model, what string) {
		if a.Learned != nil {
			a.Learned(model, what)
		}
	})
	var err error
	a.Reranker, err = NewReranker(c)
	if err != nil {
		return nil, err
	}
	a.Teller, err = NewTeller(c, a.Models)
	if err != nil {
		return nil, err
	}
	a.Builder, err = NewBuilder(c)
	if err != nil {
		return nil, err
	}
	place := store.Of(c)
	use, next, err := place.Spaces(ctx)
	if err != nil {
		return nil, err
	}
	a.Embedder, err = a.newEmbedder(ctx, use, next)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	o.Space = a.Embedder.Space()
	if err != nil { // Hark can do without it
		o.Space = memory.Space{}
		if use == (memory.Space{}) {
			o.Space = a.awaited.standIn.Space()
		}
	}
	o.Index.Limit = int64(c.Memory.IndexLimit) << 20
	a.Store, err = place.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	// Until the vectors are made anew, those in use may be the built-in embedder's, or of texts with another prefix.
	embedders := []memory.Embedder{embed.Builtin{}, a.Embedder}
	if earlier := earlierEmbedder(c, use); earlier != nil {
		embedders = append(embedders, a.metered(earlier))
	}
	engine := search.New(a.Store, a.Store, embedders...)
	if a.Reranker != nil {
		engine.WithReranker(meteredReranker{a.Reranker, a.Metrics})
	}
	key, err := a.Store.FingerprintKey(ctx)
	if err != nil {
		return nil, errors.Join(err, a.Store.Close())
	}
	a.MCP = NewMCP(c, func(server, problem string) {
		if a.Broken != nil {
			a.Broken(server, problem)
		}
	})
	a.Digest = a.NewDigest()
	a.Answers = answer.New(a.Store, meteredSearch{engine, a.Metrics}, a.Builder, a.Model(), a.options(key))
	return a, nil
}

// Close ends the connections to servers of tools, and closes the store.
func (a *App) Close() error {
	if a.MCP != nil {
		a.MCP.Close()
	}
	return a.Store.Close()
}

// remote returns the tools of other programs; nil if there are none.
func (a *App) remote() tools.Remote {
	if a.MCP != nil {
		return a.MCP
	}
	return nil // not a nil *mcpclient.Client, which would be a Remote
}

// options returns how a answers. Records have fingerprints made with key.
func (a *App) options(key []byte) answer.Options {
	c := a.Config
	var long func(memory.ChannelID, digest.Long)
	if a.Condenses() {
		long = a.Digest.Notice
	}
	return answer.Options{
		Persona:       c.Answer.Persona,
		Zone:          c.Answer.Location(),
		SessionGap:    c.Memory.SessionGap.Duration,
		Policy:        Policy(c),
		SessionTurns:  c.Memory.SessionTurns,
		CondenseTurns: c.Memory.CondenseTurns,
		Rewrite:       c.Search.Rewrite,
		KeepPrompts:   c.Memory.KeepPrompts() > 0,
		NoSummaries:   c.Memory.Summaries == SummariesOff,
		ToolRounds:    c.Answer.ToolRounds,
		ToolTokens:    c.Answer.ToolTokens,
		ToolTime:      c.Answer.ToolTime.Duration,
		Language:      c.Builder.Language,
		Models:        a.choosable(),
		Builder:       a.builderOf,
		Missing: func(model string) {
			if a.Missing != nil {
				a.Missing(model)
			}
		},
		Vision:    a.sees(),
		Long:      long,
		RecordKey: key,
		Metrics:   a.Metrics,
		NoRecords: c.Memory.KeepRecords() == 0,
		Remote:    a.remote(),
	}
}

// Policy returns the operator's choices about remembering.
func Policy(c config.Config) memory.Policy {
	return memory.Policy{
		Ask:        c.Memory.Start == "ask",
		AgeLimited: c.Memory.AgeRestricted,
		Direct:     c.Memory.Direct,
	}
}

// RecordRetention returns how long records of calls are kept.
func RecordRetention(c config.Config) memory.RecordRetention {
	return memory.RecordRetention{
		Age:    c.Memory.KeepRecords(),
		Count:  c.Memory.RecordsMax,
		Tokens: c.Memory.RecordsTokens,
	}
}

// Model returns the default model; nil if none is configured.
func (a *App) Model() answer.Model {
	if m := a.Models.Default(); m != nil {
		return m
	}
	return nil // not a nil *llm.Model, which would be a Model
}

// choosable returns the models by name.
func (a *App) choosable() map[string]answer.Model {
	all := map[string]answer.Model{}
	for _, name := range a.Models.Names() {
		all[name] = a.Models.ByName(name)
	}
	return all
}

// sees reports whether a model takes images.
func (a *App) sees() bool {
	return slices.ContainsFunc(a.Models.Names(), func(name string) bool { return a.Models.ByName(name).CanSee() })
}

// builderOf returns the builder for a model with the window that it has now, a language and a layout; an empty one is as
// configured. It returns nil if the window has no room for a prompt.
func (a *App) builderOf(ctx context.Context, model, language string, layout builder.Layout) *builder.Builder {
	c := a.Config
	model = cmp.Or(model, c.LLM.Model)
	for _, m := range a.Config.LLM.Models {
		if m.Name == model {
			c.LLM.Model = m.Model
			c.LLM.Window = m.Window
		}
	}
	m := a.Models.ByName(model)
	if m != nil {
		c.LLM.Window, _ = m.Window(ctx)
	}
	if cmp.Or(language, c.Builder.Language) != c.Builder.Language {
		// the configured labels are in the configured language
		c.Builder.Language = language
		c.Builder.Labels = config.Labels{}
	}
	c.Builder.Layout = cmp.Or(string(layout), c.Builder.Layout)
	own := model == a.Config.LLM.Model && Window(c) == Window(a.Config) &&
		c.Builder.Language == a.Config.Builder.Language && c.Builder.Layout == a.Config.Builder.Layout
	if own {
		return a.Builder
	}
	key := builderKey{
		model:    model,
		window:   c.LLM.Window,
		language: c.Builder.Language,
		layout:   c.Builder.Layout,
	}
	made, known := a.builders.Load(key)
	if !known {
		b, _ := NewBuilder(c) // nil with an error, which only a window or a budget that is too small can cause
		made, _ = a.builders.LoadOrStore(key, b)
	}
	return made.(*builder.Builder)
}

// builderKey is what builders differ by.
type builderKey struct {
	model    string
	window   int
	language string
	layout   string
}

// IndexFew embeds what is pending before a search, unless that would take long.
func (a *App) IndexFew(ctx context.Context) error {
	waiting, err := a.Store.Waiting(ctx, memory.Everywhere)
	if err != nil {
		return err
	}
	if waiting > FewSegments {
		return fmt.Errorf("%d segments wait for their vectors; \"hark run\" makes them, or \"hark reindex\"", waiting)
	}
	return a.Index(ctx, nil)
}

// What memory.summaries can be, besides made by the model.
const (
	SummariesOff     = "off"
	summariesExtract = "extract"
)

// NewDigest returns a worker as configured. The caller sets Failed.
func (a *App) NewDigest() *digest.Worker {
	c := a.Config
	return digest.New(digest.Options{
		Log:        a.Store,
		Model:      a.Model(),
		Extract:    c.Memory.Summaries == summariesExtract,
		Policy:     Policy(c),
		SessionGap: c.Memory.SessionGap.Duration,
		Metrics:    a.Metrics,
	})
}

// Digests returns the kinds of digests to make.
func (a *App) Digests() (kinds []digest.Kind) {
	if a.Model() != nil {
		kinds = append(kinds, digest.Facts)
	}
	if a.Config.Memory.Summaries != SummariesOff {
		kinds = append(kinds, digest.Summaries)
	}
	if a.Condenses() {
		kinds = append(kinds, digest.Condensed)
	}
	return kinds
}

// Condenses reports whether the older parts of long sessions are condensed.
func (a *App) Condenses() bool {
	return a.Config.Memory.Summaries != SummariesOff && a.Config.Memory.Summaries != summariesExtract
}
