package main

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"hark/bot"
	"hark/internal/meter"
	"hark/internal/web"
	"hark/memory/sqlite"
)

// counts is what there is to count, of the app that runs at the time. A new app counts from 0.
type counts struct {
	ready   func() []string
	started time.Time

	mu  sync.Mutex
	app *app
	bot *bot.Bot
}

func (c *counts) set(a *app, b *bot.Bot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.app, c.bot = a, b
}

// get is what runs at the time; nil and nil before anything does.
func (c *counts) get() (*app, *bot.Bot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.app, c.bot
}

// list is all that is counted. Its metrics are the same at any time, if without points while nothing runs.
func (c *counts) list(ctx context.Context) []web.Metric {
	a, b := c.get()
	all := c.process()
	all = append(all, logMetrics(a, b)...)
	all = append(all, keptMetrics(ctx, a)...)
	all = append(all, recallMetrics(a)...)
	all = append(all, promptMetrics(a)...)
	all = append(all, questionMetrics(b)...)
	all = append(all, modelMetrics(a)...)
	all = append(all, toolMetrics(a)...)
	return append(all, discordMetrics(b)...)
}

// process is about Hark itself.
func (c *counts) process() []web.Metric {
	heap := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(heap)
	ready := 0.0
	if c.ready != nil && len(c.ready()) == 0 {
		ready = 1
	}
	return []web.Metric{
		{Name: "hark_build_info", Help: "Always 1: which Hark this is.", Type: web.Gauge, Labels: []string{"version", "go"},
			Points: []web.Point{{Labels: []string{buildVersion(), runtime.Version()}, Value: 1}}},
		gauge("hark_ready", "1 while Hark does its work, as /readyz has it, otherwise 0.", ready),
		gauge("hark_start_time_seconds", "When this Hark was started, in seconds since 1970.", float64(c.started.UnixMilli())/1000),
		gauge("hark_memory_bytes", "Memory that Hark holds.", float64(heap[0].Value.Uint64()-heap[1].Value.Uint64())),
		gauge("hark_goroutines", "Goroutines that there are.", float64(runtime.NumGoroutine())),
	}
}

// logMetrics tell what comes in.
func logMetrics(a *app, b *bot.Bot) []web.Metric {
	events := web.Metric{Name: "hark_events_total", Help: "Events that Discord told of and that were taken in, by kind.", Type: web.Counter, Labels: []string{"event"}}
	waiting := web.Metric{Name: "hark_events_waiting", Help: "Events taken in and not yet in the log.", Type: web.Gauge}
	commits := web.Metric{Name: "hark_commit_seconds", Help: "How long it took to write a batch of events to the log.", Type: web.Histogram}
	messages := web.Metric{Name: "hark_messages_total", Help: "Messages written to the log, with those that it had already or leaves out.", Type: web.Counter}
	if b != nil {
		events.Points = points(b.Traffic().Events, byKind)
		waiting.Points = value(float64(b.Waiting()))
	}
	if a != nil {
		commits.Points = spreads(a.meters.commits.All(), unlabelled)
		messages.Points = value(float64(a.meters.messages.All()[struct{}{}]))
	}
	return []web.Metric{events, waiting, commits, messages}
}

// amountsTime bounds the counting of what is kept: whoever asks for metrics doesn't wait for long.
const amountsTime = 2 * time.Second

// keptMetrics tell what there is. Of a store that can't be read now they tell nothing.
func keptMetrics(ctx context.Context, a *app) []web.Metric {
	ctx, cancel := context.WithTimeout(ctx, amountsTime)
	defer cancel()
	all := []web.Metric{
		{Name: "hark_segments_waiting", Help: "Segments of the log that wait for their vectors.", Type: web.Gauge},
		{Name: "hark_traces", Help: "Traces of answers that are kept.", Type: web.Gauge},
		{Name: "hark_prompts_kept", Help: "Prompts that are kept as they were sent.", Type: web.Gauge},
		{Name: "hark_records", Help: "Records of calls that are kept.", Type: web.Gauge},
		{Name: "hark_lore", Help: "Pieces of lore that are kept.", Type: web.Gauge},
		{Name: "hark_database_bytes", Help: "Size of the database, with its write-ahead log.", Type: web.Gauge},
		{Name: "hark_forgettings_total", Help: "Forgettings that were carried out, by reason.", Type: web.Counter, Labels: []string{"why"}},
		{Name: "hark_forgotten_messages_total", Help: "Messages that they took away.", Type: web.Counter},
	}
	if a == nil {
		return all
	}
	if waiting, err := a.store.Waiting(ctx); err == nil {
		all[0].Points = value(float64(waiting))
	}
	if kept, err := a.store.Amounts(ctx); err == nil {
		for i, n := range []int64{kept.Traces, kept.Prompts, kept.Records, kept.Lore, kept.Bytes} {
			all[i+1].Points = value(float64(n))
		}
		if log, err := os.Stat(filepath.Join(a.config.Data, sqlite.FileName+"-wal")); err == nil {
			all[5].Points[0].Value += float64(log.Size())
		}
	}
	all[6].Points = points(a.meters.forgettings.All(), byName)
	all[7].Points = value(float64(a.meters.forgotten.All()[struct{}{}]))
	return all
}

// discordMetrics tell how Hark gets on with Discord.
func discordMetrics(b *bot.Bot) []web.Metric {
	connections := web.Metric{Name: "hark_gateway_connections_total", Help: "Connections to Discord's gateway, new or resumed.", Type: web.Counter, Labels: []string{"session"}}
	lost := web.Metric{Name: "hark_gateway_lost_total", Help: "Connections to the gateway that were lost.", Type: web.Counter}
	requests := web.Metric{Name: "hark_discord_requests_total", Help: "Requests to Discord, by class of address and outcome: ok, limited (429), refused or failed.", Type: web.Counter, Labels: []string{"route", "outcome"}}
	waits := web.Metric{Name: "hark_discord_rate_limit_wait_seconds", Help: "How long requests waited for Discord's rate limits, by class of address.", Type: web.Histogram, Labels: []string{"route"}}
	commands := web.Metric{Name: "hark_commands_total", Help: "Uses of commands, buttons and forms, by how they came out: answered, refused or failed.", Type: web.Counter, Labels: []string{"command", "outcome"}}
	if b != nil {
		t := b.Traffic()
		connections.Points, lost.Points = points(t.Connections, byKind), value(float64(t.Lost))
		requests.Points = points(t.Requests, func(r bot.RequestOutcome) []string { return []string{r.Route, r.Outcome} })
		waits.Points = spreads(t.Waits, byKind)
		commands.Points = points(t.Commands, func(u bot.CommandUse) []string { return []string{u.Command, u.Outcome} })
	}
	return []web.Metric{connections, lost, requests, waits, commands}
}

// gauge is a metric of one number.
func gauge(name, help string, n float64) web.Metric {
	return web.Metric{Name: name, Help: help, Type: web.Gauge, Points: value(n)}
}

func value(n float64) []web.Point { return []web.Point{{Value: n}} }

func unlabelled(struct{}) []string { return nil }

func byKind(kind string) []string { return []string{kind} }

func byName[S ~string](kind S) []string { return []string{string(kind)} }

// points are the counts of kinds, in the order of their labels.
func points[K comparable](counts map[K]int64, labels func(K) []string) []web.Point {
	var all []web.Point
	for kind, n := range maps.All(counts) {
		all = append(all, web.Point{Labels: labels(kind), Value: float64(n)})
	}
	return inOrder(all)
}

// spreads are the times of kinds, in the order of their labels.
func spreads[K comparable](times map[K]meter.Spread, labels func(K) []string) []web.Point {
	var all []web.Point
	for kind, s := range maps.All(times) {
		p := web.Point{Labels: labels(kind), Value: s.Sum, Count: s.Count}
		for i, most := range meter.Bounds() {
			p.Buckets = append(p.Buckets, web.Bucket{Most: most, Count: s.Within[i]})
		}
		all = append(all, p)
	}
	return inOrder(all)
}

func inOrder(all []web.Point) []web.Point {
	slices.SortFunc(all, func(a, b web.Point) int { return slices.CompareFunc(a.Labels, b.Labels, cmp.Compare[string]) })
	return all
}
