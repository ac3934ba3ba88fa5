package main

import (
	"context"
	"errors"
	"runtime"
	runtimemetrics "runtime/metrics"

	"hark/bot/shards"
	"hark/internal/metrics"
	"hark/internal/setup"
	"hark/memory"
	"hark/memory/sqlstore"
)

type running struct {
	app *setup.App
	bot *shards.Pool
}

// notReady returns why Hark isn't ready; nil if it is ready.
func (r *runner) notReady() error {
	if tell := r.ready.Load(); tell != nil {
		return (*tell)()
	}
	return errors.New("starting")
}

// setGauge sets a gauge's value. See metrics.Read.
type setGauge = func(of metrics.Gauge, value float64, labels ...string)

// readGauges is a metrics.Read of the current app.
func (r *runner) readGauges(ctx context.Context, set setGauge) {
	m := r.metrics
	memory := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(memory)
	set(m.BuildInfo, 1, buildInfo().version, runtime.Version())
	set(m.Ready, gaugeBool(r.notReady() == nil))
	set(m.StartTime, float64(r.started.UnixMilli())/1000)
	set(m.Memory, float64(memory[0].Value.Uint64()-memory[1].Value.Uint64()))
	set(m.Goroutines, float64(runtime.NumGoroutine()))
	now := r.now.Load()
	if now == nil {
		return
	}
	for _, s := range now.bot.Shards() {
		set(m.ShardConnected, gaugeBool(s.Connected), s.String())
		set(m.ShardGuilds, float64(s.Guilds), s.String())
	}
	waiting, busy := now.bot.Questions()
	set(m.EventsWaiting, float64(now.bot.Waiting()))
	set(m.QuestionsWaiting, float64(waiting))
	set(m.QuestionsBusy, float64(busy))
	readResting(now.app, set)
	readStore(ctx, now.app, set)
}

func readResting(a *setup.App, set setGauge) {
	if e, asks := a.Embedder.(interface{ Resting() bool }); asks {
		set(a.Metrics.RecallResting, gaugeBool(e.Resting()), setup.OfEmbedding)
	}
	if a.Reranker != nil {
		set(a.Metrics.RecallResting, gaugeBool(a.Reranker.Resting()), setup.OfReranking)
	}
	rests := map[string]bool{}
	for _, c := range a.Models.Clients() { // of several by one name, one may rest
		rests[c.Name()] = rests[c.Name()] || c.Resting()
	}
	for name, resting := range rests {
		set(a.Metrics.ModelResting, gaugeBool(resting), name)
	}
}

// readStore reads how much is stored. It omits what can't be read now.
func readStore(ctx context.Context, a *setup.App, set setGauge) {
	if waiting, err := a.Store.Waiting(ctx, memory.Everywhere); err == nil {
		set(a.Metrics.SegmentsWaiting, float64(waiting))
	}
	kept, err := sqlstore.Count(ctx, a.Store)
	if err != nil {
		return
	}
	set(a.Metrics.Traces, float64(kept.Traces))
	set(a.Metrics.PromptsKept, float64(kept.Prompts))
	set(a.Metrics.Records, float64(kept.Records))
	set(a.Metrics.Lore, float64(kept.Lore))
	set(a.Metrics.DatabaseBytes, float64(kept.Bytes))
}

func gaugeBool(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
