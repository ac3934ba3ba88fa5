// Package metrics is what Hark counts, for Prometheus. Whoever does something counts it here at once; what is rather
// looked up, such as lengths of queues, is read for each scrape. Values of labels are from a fixed few, or names that the
// operator configured: never anybody's text, name or id.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Counter only grows.
type Counter = prometheus.Counter

// Gauge is a number that is read for each scrape.
type Gauge = *prometheus.Desc

// Metrics count from 0 on. New makes them.
type Metrics struct {
	List []Metric // all, in the order of their definition

	BuildInfo, Ready, StartTime, Memory, Goroutines Gauge

	Events          *prometheus.CounterVec // by event
	EventsWaiting   Gauge
	CommitSeconds   prometheus.Observer
	Messages        Counter
	SegmentsWaiting Gauge

	Traces, PromptsKept, Records, Lore, DatabaseBytes Gauge

	Forgettings       *prometheus.CounterVec // by why
	ForgottenMessages Counter

	SearchSeconds    prometheus.Observer
	SearchResults    Counter
	RecallFailures   *prometheus.CounterVec   // by of
	EmbeddingSeconds *prometheus.HistogramVec // by purpose
	RerankingSeconds prometheus.Observer
	RecallResting    Gauge // by server

	Prompts, PromptWarnings                 Counter
	PromptTokens                            prometheus.Observer
	PromptSectionTokens                     *prometheus.CounterVec // by section
	PromptDropped                           *prometheus.CounterVec // by section and reason
	Questions                               *prometheus.CounterVec // by outcome: Answered or Failed
	QuestionsRefused                        *prometheus.CounterVec // by limit
	AnswerTokens                            Counter
	QuestionsWaiting, QuestionsBusy         Gauge
	ModelSeconds                            *prometheus.HistogramVec // by model
	ModelErrors                             *prometheus.CounterVec   // by model and kind
	ModelResting                            Gauge                    // by model
	ModelFallbacks                          *prometheus.CounterVec   // by model
	ToolCalls                               *prometheus.CounterVec   // by tool and outcome
	SessionsCondensed, SessionsNotCondensed Counter

	GatewayConnections *prometheus.CounterVec // by session
	GatewayLost        Counter
	DiscordRequests    *prometheus.CounterVec   // by route and outcome
	RateLimitSeconds   *prometheus.HistogramVec // by route
	Commands           *prometheus.CounterVec   // by command and outcome

	Registry *prometheus.Registry // of all but the gauges
}

// Metric describes what is counted under one name.
type Metric struct {
	Name, Type, Help string // Type is "counter", "gauge" or "histogram"
	Labels           []string
}

// What becomes of questions.
const (
	Answered = "answered"
	Failed   = "failed"
)

// Or is m, or new metrics that nobody scrapes where m is nil.
func Or(m *Metrics) *Metrics {
	if m == nil {
		return New()
	}
	return m
}

// New is metrics of which nothing is counted yet.
func New() *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}

	m.BuildInfo = m.gauge("hark_build_info", "Always 1: which Hark this is.", "version", "go")
	m.Ready = m.gauge("hark_ready", "1 while Hark does its work, as /readyz has it, otherwise 0.")
	m.StartTime = m.gauge("hark_start_time_seconds", "When this Hark was started, in seconds since 1970.")
	m.Memory = m.gauge("hark_memory_bytes", "Memory that Hark holds.")
	m.Goroutines = m.gauge("hark_goroutines", "Goroutines that there are.")

	m.Events = m.counter("hark_events_total", "Events that Discord told of and that were taken in, by kind.", "event")
	m.EventsWaiting = m.gauge("hark_events_waiting", "Events taken in and not yet in the log.")
	m.CommitSeconds = m.times("hark_commit_seconds", "How long it took to write a batch of events to the log.").WithLabelValues()
	m.Messages = m.counter("hark_messages_total", "Messages written to the log, with those that it had already or leaves out.").WithLabelValues()
	m.SegmentsWaiting = m.gauge("hark_segments_waiting", "Segments of the log that wait for their vectors.")

	m.Traces = m.gauge("hark_traces", "Traces of answers that are kept.")
	m.PromptsKept = m.gauge("hark_prompts_kept", "Prompts that are kept as they were sent.")
	m.Records = m.gauge("hark_records", "Records of calls that are kept.")
	m.Lore = m.gauge("hark_lore", "Pieces of lore that are kept.")
	m.DatabaseBytes = m.gauge("hark_database_bytes", "Size of the database, with its write-ahead log.")
	m.Forgettings = m.counter("hark_forgettings_total", "Forgettings that were carried out, by reason.", "why")
	m.ForgottenMessages = m.counter("hark_forgotten_messages_total", "Messages that they took away.").WithLabelValues()

	m.SearchSeconds = m.times("hark_search_seconds", "How long searches for answers took.").WithLabelValues()
	m.SearchResults = m.counter("hark_search_results_total", "What searches for answers found.").WithLabelValues()
	m.RecallFailures = m.counter("hark_recall_failures_total", "Searches, embeddings and rerankings that failed.", "of")
	m.EmbeddingSeconds = m.times("hark_embedding_seconds", "How long an embedding server took, for questions or for what is stored.", "purpose")
	m.RerankingSeconds = m.times("hark_reranking_seconds", "How long the reranker took.").WithLabelValues()
	m.RecallResting = m.gauge("hark_recall_resting", "1 while the embedding server or the reranker is left alone after failures, otherwise 0.", "server")

	m.Prompts = m.counter("hark_prompts_total", "Prompts sent to the model for an answer.").WithLabelValues()
	m.PromptWarnings = m.counter("hark_prompt_window_warnings_total", "Prompts that took 80 % of the model's window or more.").WithLabelValues()
	m.PromptTokens = m.histogram("hark_prompt_tokens", "Tokens of prompts.", prometheus.ExponentialBuckets(500, 2, 9)).WithLabelValues()
	m.PromptSectionTokens = m.counter("hark_prompt_section_tokens_total", "Tokens of prompts, by section.", "section")
	m.PromptDropped = m.counter("hark_prompt_dropped_total", "Items left out of prompts, by section and reason.", "section", "reason")

	m.Questions = m.counter("hark_questions_total", "Questions answered, and those that something failed of.", "outcome")
	m.QuestionsRefused = m.counter("hark_questions_refused_total", "Questions not answered, or by quotes alone, by the limit that was reached.", "limit")
	m.AnswerTokens = m.counter("hark_answer_tokens_total", "Tokens that models read and wrote for answers.").WithLabelValues()
	m.QuestionsWaiting = m.gauge("hark_questions_waiting", "Questions that wait for an answer.")
	m.QuestionsBusy = m.gauge("hark_questions_busy", "Questions being answered.")
	m.ModelSeconds = m.times("hark_model_call_seconds", "How long calls of models took until their answers were whole or had failed, by model.", "model")
	m.ModelErrors = m.counter("hark_model_errors_total", "Calls of models that failed, by model and kind of failure.", "model", "kind")
	m.ModelResting = m.gauge("hark_model_resting", "1 while a model's server is left alone after failures, otherwise 0.", "model")
	m.ModelFallbacks = m.counter("hark_model_fallbacks_total", "Times that the fallback was asked because a model failed, by that model.", "model")
	m.ToolCalls = m.counter("hark_tool_calls_total", "Calls of tools by the model, by tool and how they came out.", "tool", "outcome")
	m.SessionsCondensed = m.counter("hark_sessions_condensed_total", "Times that the older part of a session was condensed by the model.").WithLabelValues()
	m.SessionsNotCondensed = m.counter("hark_sessions_condense_failed_total", "Times that this failed, so that sessions are cut off where there is no room.").WithLabelValues()

	m.GatewayConnections = m.counter("hark_gateway_connections_total", "Connections to Discord's gateway, new or resumed.", "session")
	m.GatewayLost = m.counter("hark_gateway_lost_total", "Connections to the gateway that were lost.").WithLabelValues()
	m.DiscordRequests = m.counter("hark_discord_requests_total", "Requests to Discord, by class of address and outcome: ok, limited (429), refused or failed.", "route", "outcome")
	m.RateLimitSeconds = m.times("hark_discord_rate_limit_wait_seconds", "How long requests waited for Discord's rate limits, by class of address.", "route")
	m.Commands = m.counter("hark_commands_total", "Uses of commands, buttons and forms, by how they came out: answered, refused or failed.", "command", "outcome")

	m.Questions.WithLabelValues(Answered) // served as 0 until there is one
	m.Questions.WithLabelValues(Failed)
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.add(v, Metric{name, "counter", help, labels})
	return v
}

func (m *Metrics) histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}, labels)
	m.add(v, Metric{name, "histogram", help, labels})
	return v
}

// times is of seconds, from a commit to a long answer.
func (m *Metrics) times(name, help string, labels ...string) *prometheus.HistogramVec {
	return m.histogram(name, help, []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}, labels...)
}

func (m *Metrics) gauge(name, help string, labels ...string) Gauge {
	m.List = append(m.List, Metric{name, "gauge", help, labels})
	return prometheus.NewDesc(name, help, labels, nil)
}

func (m *Metrics) add(c prometheus.Collector, described Metric) {
	m.Registry.MustRegister(c)
	m.List = append(m.List, described)
}

// readTime bounds the reading of gauges: whoever scrapes doesn't wait for long.
const readTime = 2 * time.Second

// Read tells the gauges' values by set. It leaves out what it can't read before ctx ends.
type Read func(ctx context.Context, set func(g Gauge, value float64, labels ...string))

// gauges are those of one scrape.
type gauges struct {
	ctx  context.Context
	read Read
}

// Describe tells nothing, since what there is shows only when it is read.
func (gauges) Describe(chan<- *prometheus.Desc) {}

func (g gauges) Collect(out chan<- prometheus.Metric) {
	g.read(g.ctx, func(of Gauge, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
	})
}

// Handler serves the metrics. read is called for each request, from several goroutines.
func (m *Metrics) Handler(read Read) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readTime)
		defer cancel()
		now := prometheus.NewRegistry()
		now.MustRegister(gauges{ctx, read})
		promhttp.HandlerFor(prometheus.Gatherers{m.Registry, now}, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}
