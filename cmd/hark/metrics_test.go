package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/metrics"
)

func (w *world) scrape(address string) string {
	w.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK ||
		!strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8") {
		w.Errorf("%s, %v", response.Status, err)
	}
	for _, secret := range []string{w.guild.ID.String(), w.general.ID.String(), w.ana.ID.String(),
		"lighthouse", "Garden", w.discord.Token} {
		w.lacks(string(body), secret)
	}
	return string(body)
}

// counter returns a metric's value; -1 if it is missing.
func counter(metrics, key string) float64 {
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + ` (\S+)$`).FindStringSubmatch(metrics)
	if found == nil {
		return -1
	}
	n, _ := strconv.ParseFloat(found[1], 64)
	return n
}

func TestMetricsOfARunningHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	w.env["HARK_LLM_FALLBACK_MODEL"] = "spare"
	w.env["HARK_LIMITS_MEMBER_MESSAGES"] = "0"
	w.start()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.discord.Say(w.general.ID, w.jane.ID, "the lighthouse keeper is called Ulla")
	w.later()
	for range 3 {
		w.ask(w.general, w.ana, "what is the lighthouse keeper called?")
	}
	w.discord.Inject("POST /channels/*/messages", 1, discordtest.RateLimited(10*time.Millisecond))
	w.ask(w.general, w.ana, "and what does she keep?")
	w.model.Queue(llmtest.Reply{Status: 404})
	w.traced(w.ask(w.general, w.ana, "is the lighthouse open?"))
	w.discord.Slash(w.general.ID, w.ana.ID, "limits").WaitMessage()
	all := w.scrape(address)
	for key, least := range map[string]float64{
		`hark_ready`:                                                      1,
		`hark_prompts_total`:                                              4,
		`hark_prompt_tokens_bucket{le="4000"}`:                            4,
		`hark_prompt_window_warnings_total`:                               0,
		`hark_events_total{event="MESSAGE_CREATE"}`:                       6,
		`hark_messages_total`:                                             6,
		`hark_commit_seconds_count`:                                       1,
		`hark_search_seconds_count`:                                       5,
		`hark_search_results_total`:                                       1,
		`hark_prompt_section_tokens_total{section="history"}`:             1,
		`hark_model_call_seconds_count{model="test-model"}`:               5,
		`hark_model_errors_total{kind="not_found",model="test-model"}`:    1,
		`hark_model_fallbacks_total{model="test-model"}`:                  1,
		`hark_model_call_seconds_count{model="spare"}`:                    1,
		`hark_questions_total{outcome="answered"}`:                        4,
		`hark_discord_requests_total{outcome="limited",route="messages"}`: 1,
		`hark_discord_rate_limit_wait_seconds_count{route="messages"}`:    1,
		`hark_gateway_connections_total{session="new"}`:                   1,
		`hark_traces`:                            4,
		`hark_records`:                           1,
		`hark_database_bytes`:                    4096,
		`hark_start_time_seconds`:                1,
		`hark_memory_bytes`:                      1 << 20,
		`hark_segments_waiting`:                  0,
		`hark_events_waiting`:                    0,
		`hark_model_resting{model="test-model"}`: 0,
		`hark_gateway_lost_total`:                0,
	} {
		if got := counter(all, key); got < least {
			t.Errorf("%s is %v, want at least %v", key, got, least)
		}
	}
	known := map[string]string{}
	for _, m := range metrics.New().List {
		known[m.Name] = m.Type
	}
	for _, served := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(all, -1) {
		if known[served[1]] != served[2] {
			t.Errorf("docs/metrics.md doesn't have %q", served)
		}
	}
}

func metricsPage(all []metrics.Metric) string {
	var b strings.Builder
	b.WriteString("# What Hark counts\n\nServed at `/metrics` of `web.listen`, for Prometheus. All of it is numbers: " +
		"nothing that was said is in it, and nobody's name or id.\n" +
		"Counters begin at 0 when Hark starts. A metric whose labels are listed has a number for each of their values " +
		"that there were.\n\n" +
		"| metric | type | labels | what it is |\n| --- | --- | --- | --- |\n")
	for _, m := range all {
		labels := make([]string, len(m.Labels))
		for i, l := range m.Labels {
			labels[i] = "`" + l + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, strings.Join(labels, ", "), m.Help)
	}
	return b.String()
}

func TestMetricsPage(t *testing.T) {
	t.Parallel()
	all := metrics.New().List
	golden.File(t, "../../docs/metrics.md", metricsPage(all))
	for _, m := range all {
		if (m.Type == "counter") != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s is a %s: counters, and nothing else, end in _total", m.Name, m.Type)
		}
	}
}

// The dashboard shows existing metrics and labels; counters and histograms by rate.
func TestDashboardShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	known, shown := map[string]metrics.Metric{}, map[string]bool{}
	for _, m := range metrics.New().List {
		known[m.Name] = m
	}
	use, part := regexp.MustCompile(`((?:rate|increase)\()?\b(hark_[a-z0-9_]+)`),
		regexp.MustCompile(`_(bucket|sum|count)$`)
	for line := range strings.Lines(string(content(t, "../../deploy/grafana.json"))) {
		labels := []string{"le"}
		for _, found := range use.FindAllStringSubmatch(line, -1) {
			m, there := known[found[2]]
			if !there {
				m, there = known[part.ReplaceAllString(found[2], "")]
			}
			if !there || (m.Type == "histogram") != (m.Name != found[2]) || (m.Type == "gauge") != (found[1] == "") {
				t.Errorf("%s: it is %+v", found[0], m)
			}
			shown[m.Name], labels = true, append(labels, m.Labels...)
		}
		if by := regexp.MustCompile(`by \(([a-z, ]+)\)`).FindStringSubmatch(line); by != nil {
			for label := range strings.SplitSeq(by[1], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("there is no label %s in %s", label, line)
				}
			}
		}
	}
	if len(shown) < 25 {
		t.Errorf("only %d metrics are shown", len(shown))
	}
}
