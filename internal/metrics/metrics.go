// Package metrics holds Hark's metrics for Prometheus. Code counts events when they happen; values that can be looked
// up, such as lengths of queues, are read for each scrape. Label values are from a fixed set or are names that the
// operator configured: never text, names or ids of members.
package metrics

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Counter only grows.
type Counter = prometheus.Counter

// Gauge is a number that is read for each scrape.
type Gauge = *prometheus.Desc

// Metrics count from 0 on. New makes them of the tags: a histogram whose name doesn't end in _seconds is of tokens.
type Metrics struct {
	List     []Metric             // all, in order
	Registry *prometheus.Registry // of all but the gauges

	BuildInfo  Gauge `name:"hark_build_info" labels:"version,go" help:"Always 1: which Hark this is."`
	Ready      Gauge `name:"hark_ready" help:"1 while Hark does its work, as /readyz has it, otherwise 0."`
	StartTime  Gauge `name:"hark_start_time_seconds" help:"When this Hark was started, in seconds since 1970."`
	Memory     Gauge `name:"hark_memory_bytes" help:"Memory that Hark holds."`
	Goroutines Gauge `name:"hark_goroutines" help:"Goroutines that there are."`

	Events          *prometheus.CounterVec `name:"hark_events_total" labels:"event" help:"Events that Discord told of and that were taken in, by kind."`
	ShardConnected  Gauge                  `name:"hark_shard_connected" labels:"shard" help:"1 while a shard that this process holds is connected to Discord, otherwise 0."`
	ShardGuilds     Gauge                  `name:"hark_shard_servers" labels:"shard" help:"Servers of a shard that this process holds, as far as Discord has described them."`
	EventsWaiting   Gauge                  `name:"hark_events_waiting" help:"Events taken in and not yet in the log."`
	CommitSeconds   prometheus.Observer    `name:"hark_commit_seconds" help:"How long it took to write a batch of events to the log."`
	Messages        Counter                `name:"hark_messages_total" help:"Messages written to the log, with those that it had already or leaves out."`
	SegmentsWaiting Gauge                  `name:"hark_segments_waiting" help:"Segments of the log that wait for their vectors."`

	Traces            Gauge                  `name:"hark_traces" help:"Traces of answers that are kept."`
	PromptsKept       Gauge                  `name:"hark_prompts_kept" help:"Prompts that are kept as they were sent."`
	Records           Gauge                  `name:"hark_records" help:"Records of calls that are kept."`
	Lore              Gauge                  `name:"hark_lore" help:"Pieces of lore that are kept."`
	DatabaseBytes     Gauge                  `name:"hark_database_bytes" help:"Size of the database, with its write-ahead log."`
	Forgettings       *prometheus.CounterVec `name:"hark_forgettings_total" labels:"why" help:"Forgettings that were carried out, by reason."`
	ForgottenMessages Counter                `name:"hark_forgotten_messages_total" help:"Messages that they took away."`

	SearchSeconds      prometheus.Observer      `name:"hark_search_seconds" help:"How long searches for answers took."`
	SearchResults      Counter                  `name:"hark_search_results_total" help:"What searches for answers found."`
	RecallFailures     *prometheus.CounterVec   `name:"hark_recall_failures_total" labels:"of" help:"Searches, embeddings and rerankings that failed."`
	EmbeddingSeconds   *prometheus.HistogramVec `name:"hark_embedding_seconds" labels:"purpose" help:"How long an embedding server took, for questions or for what is stored."`
	EmbeddingShortened Counter                  `name:"hark_embedding_shortened_total" help:"Texts of which only the beginning was embedded, because the embedding server refuses longer ones."`
	RerankingSeconds   prometheus.Observer      `name:"hark_reranking_seconds" help:"How long the reranker took."`
	RecallResting      Gauge                    `name:"hark_recall_resting" labels:"server" help:"1 while the embedding server or the reranker is left alone after failures, otherwise 0."`

	Media       *prometheus.CounterVec `name:"hark_media_total" labels:"kind,outcome" help:"Voice messages and pictures of which a model was to tell, by outcome."`
	MediaTokens Counter                `name:"hark_media_tokens_total" help:"Tokens that models took to describe pictures, as their servers count."`

	Prompts             Counter                `name:"hark_prompts_total" help:"Prompts sent to the model for an answer."`
	PromptWarnings      Counter                `name:"hark_prompt_window_warnings_total" help:"Prompts that took 80 % of the model's window or more."`
	PromptTokens        prometheus.Observer    `name:"hark_prompt_tokens" help:"Tokens of prompts."`
	PromptSectionTokens *prometheus.CounterVec `name:"hark_prompt_section_tokens_total" labels:"section" help:"Tokens of prompts, by section."`
	PromptDropped       *prometheus.CounterVec `name:"hark_prompt_dropped_total" labels:"section,reason" help:"Items left out of prompts, by section and reason."`

	Questions            *prometheus.CounterVec   `name:"hark_questions_total" labels:"outcome" help:"Questions answered, and those that something failed of."`
	QuestionsRefused     *prometheus.CounterVec   `name:"hark_questions_refused_total" labels:"limit" help:"Questions not answered, or by quotes alone, by the limit that was reached."`
	AnswerTokens         Counter                  `name:"hark_answer_tokens_total" help:"Tokens that models read and wrote for answers."`
	AnswersCut           Counter                  `name:"hark_answers_cut_total" help:"Answers that ended at the longest length that llm.max_tokens allows."`
	QuestionsWaiting     Gauge                    `name:"hark_questions_waiting" help:"Questions that wait for an answer."`
	QuestionsBusy        Gauge                    `name:"hark_questions_busy" help:"Questions being answered."`
	ModelSeconds         *prometheus.HistogramVec `name:"hark_model_call_seconds" labels:"model" help:"How long calls of models took until their answers were whole or had failed, by model."`
	ModelErrors          *prometheus.CounterVec   `name:"hark_model_errors_total" labels:"model,kind" help:"Calls of models that failed, by model and kind of failure."`
	ModelResting         Gauge                    `name:"hark_model_resting" labels:"model" help:"1 while a model's server is left alone after failures, otherwise 0."`
	ModelFallbacks       *prometheus.CounterVec   `name:"hark_model_fallbacks_total" labels:"model" help:"Times that the fallback was asked because a model failed, by that model."`
	ToolCalls            *prometheus.CounterVec   `name:"hark_tool_calls_total" labels:"tool,outcome" help:"Calls of tools by the model, by tool and how they came out."`
	SessionsCondensed    Counter                  `name:"hark_sessions_condensed_total" help:"Times that the older part of a session was condensed by the model."`
	SessionsNotCondensed Counter                  `name:"hark_sessions_condense_failed_total" help:"Times that this failed, so that sessions are cut off where there is no room."`

	GatewayConnections *prometheus.CounterVec   `name:"hark_gateway_connections_total" labels:"session" help:"Connections to Discord's gateway, new or resumed."`
	GatewayLost        Counter                  `name:"hark_gateway_lost_total" help:"Connections to the gateway that were lost."`
	DiscordRequests    *prometheus.CounterVec   `name:"hark_discord_requests_total" labels:"route,outcome" help:"Requests to Discord, by class of address and outcome: ok, limited (429), refused or failed."`
	RateLimitSeconds   *prometheus.HistogramVec `name:"hark_discord_rate_limit_wait_seconds" labels:"route" help:"How long requests waited for Discord's rate limits, by class of address."`
	Commands           *prometheus.CounterVec   `name:"hark_commands_total" labels:"command,outcome" help:"Uses of commands, buttons and forms, by how they came out: answered, refused or failed."`
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

// New returns metrics at zero.
func New() *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	for field, value := range reflect.ValueOf(m).Elem().Fields() {
		d := Metric{Name: field.Tag.Get("name"), Help: field.Tag.Get("help")}
		if d.Name == "" {
			continue
		}
		if labels := field.Tag.Get("labels"); labels != "" {
			d.Labels = strings.Split(labels, ",")
		}
		counter := func() *prometheus.CounterVec {
			d.Type = "counter"
			v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
			m.Registry.MustRegister(v)
			return v
		}
		histogram := func() *prometheus.HistogramVec {
			d.Type = "histogram"
			bounds := prometheus.ExponentialBuckets(500, 2, 9)
			if strings.HasSuffix(d.Name, "_seconds") { // from a commit to a long answer
				bounds = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}
			}
			v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
				Name:    d.Name,
				Help:    d.Help,
				Buckets: bounds,
			}, d.Labels)
			m.Registry.MustRegister(v)
			return v
		}
		switch to := value.Addr().Interface().(type) {
		case *Gauge:
			d.Type = "gauge"
			*to = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
		case *Counter:
			*to = counter().WithLabelValues()
		case **prometheus.CounterVec:
			*to = counter()
		case *prometheus.Observer:
			*to = histogram().WithLabelValues()
		case **prometheus.HistogramVec:
			*to = histogram()
		}
		m.List = append(m.List, d)
	}
	m.Questions.WithLabelValues(Answered) // served as 0 until there is one
	m.Questions.WithLabelValues(Failed)
	return m
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
