package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	runtimemetrics "runtime/metrics"
	"sync/atomic"
	"time"

	"hark/bot"
	"hark/internal/metrics"
	"hark/memory"
	"hark/memory/sqlite"
)

// gauges are read of the app that runs at the time.
type gauges struct {
	*metrics.Metrics
	ready   func() error
	started time.Time

	now atomic.Pointer[running] // nil before anything runs
}

// running is what runs at the time.
type running struct {
	app *app
	bot *bot.Bot
}

// readiness is why Hark isn't ready, as whoever runs at the time tells.
type readiness struct{ ask atomic.Pointer[func() error] }

func (r *readiness) set(ask func() error) { r.ask.Store(&ask) }

// err is nil if it is ready.
func (r *readiness) err() error {
	if ask := r.ask.Load(); ask != nil {
		return (*ask)()
	}
	return errors.New("starting")
}

// setGauge tells a gauge's value. See metrics.Read.
type setGauge = func(of metrics.Gauge, value float64, labels ...string)

// read is a metrics.Read.
func (g *gauges) read(ctx context.Context, set setGauge) {
	memory := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(memory)
	set(g.BuildInfo, 1, buildVersion(), runtime.Version())
	set(g.Ready, truth(g.ready() == nil))
	set(g.StartTime, float64(g.started.UnixMilli())/1000)
	set(g.Memory, float64(memory[0].Value.Uint64()-memory[1].Value.Uint64()))
	set(g.Goroutines, float64(runtime.NumGoroutine()))
	now := g.now.Load()
	if now == nil {
		return
	}
	waiting, busy := now.bot.Questions()
	set(g.EventsWaiting, float64(now.bot.Waiting()))
	set(g.QuestionsWaiting, float64(waiting))
	set(g.QuestionsBusy, float64(busy))
	g.readResting(now.app, set)
	g.readStore(ctx, now.app, set)
}

// readResting tells which servers are left alone.
func (g *gauges) readResting(a *app, set setGauge) {
	if e, asks := a.embedder.(timedEmbedder); asks {
		set(g.RecallResting, truth(e.Resting()), ofEmbedding)
	}
	if a.reranker != nil {
		set(g.RecallResting, truth(a.reranker.Resting()), ofReranking)
	}
	rests := map[string]bool{}
	for _, c := range a.models.Clients() { // of several by one name, one may rest
		rests[c.Name()] = rests[c.Name()] || c.Resting()
	}
	for name, resting := range rests {
		set(g.ModelResting, truth(resting), name)
	}
}

// readStore tells how much is kept. Of a store that can't be read now it tells nothing.
func (g *gauges) readStore(ctx context.Context, a *app, set setGauge) {
	if waiting, err := a.store.Waiting(ctx, memory.Everywhere); err == nil {
		set(g.SegmentsWaiting, float64(waiting))
	}
	kept, err := sqlite.Count(ctx, a.store)
	if err != nil {
		return
	}
	set(g.Traces, float64(kept.Traces))
	set(g.PromptsKept, float64(kept.Prompts))
	set(g.Records, float64(kept.Records))
	set(g.Lore, float64(kept.Lore))
	if log, err := os.Stat(filepath.Join(a.config.Data, sqlite.FileName+"-wal")); err == nil {
		kept.Bytes += log.Size()
	}
	set(g.DatabaseBytes, float64(kept.Bytes))
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
