package web

import (
	"net/http"
	"strconv"
	"strings"
)

// Type is what a metric's numbers are.
type Type string

// What numbers are: those that only grow while the process runs, those that are what there is now, and how many of
// something are how large.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Metric is what is counted under one name. It is served even if there is nothing to count yet.
type Metric struct {
	Name   string // such as "hark_searches_total", by https://prometheus.io/docs/practices/naming/
	Help   string
	Type   Type
	Labels []string // the names of what tells its points apart
	Points []Point
}

// Point is one of a metric's numbers.
type Point struct {
	Labels  []string // the values of the metric's labels, in their order
	Value   float64  // of a histogram, the sum
	Buckets []Bucket // of a histogram, the smallest first, without that of all
	Count   int64    // of a histogram, how many there are
}

// Bucket is how many are at most so large.
type Bucket struct {
	Most  float64
	Count int64
}

// exposition is the text that Prometheus reads: https://prometheus.io/docs/instrumenting/exposition_formats/
func exposition(metrics []Metric) string {
	var b strings.Builder
	for _, m := range metrics {
		b.WriteString("# HELP " + m.Name + " " + helpEscapes.Replace(m.Help) + "\n# TYPE " + m.Name + " " + string(m.Type) + "\n")
		for _, p := range m.Points {
			m.write(&b, p)
		}
	}
	return b.String()
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func (m Metric) write(b *strings.Builder, p Point) {
	var pairs []string
	for i, name := range m.Labels {
		pairs = append(pairs, name+`="`+valueEscapes.Replace(strings.ToValidUTF8(p.Labels[i], "\uFFFD"))+`"`)
	}
	line := func(suffix string, value float64, more ...string) {
		b.WriteString(m.Name + suffix)
		if all := append(pairs[:len(pairs):len(pairs)], more...); len(all) > 0 {
			b.WriteString("{" + strings.Join(all, ",") + "}")
		}
		b.WriteString(" " + number(value) + "\n")
	}
	if m.Type != Histogram {
		line("", p.Value)
		return
	}
	for _, bucket := range p.Buckets {
		line("_bucket", float64(bucket.Count), `le="`+number(bucket.Most)+`"`)
	}
	line("_bucket", float64(p.Count), `le="+Inf"`)
	line("_sum", p.Value)
	line("_count", float64(p.Count))
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func replyMetrics(w http.ResponseWriter, metrics []Metric) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	reply(w, http.StatusOK, strings.TrimSuffix(exposition(metrics), "\n"))
}
