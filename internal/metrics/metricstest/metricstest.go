// Package metricstest reads metrics in tests.
package metricstest

import (
	"strings"
	"testing"

	"hark/internal/metrics"
)

// Counted is what was counted more than 0 times, by name and values of labels, such as "hark_tool_calls_total
// search_memory ok". Of histograms it is how many values there were.
func Counted(tb testing.TB, m *metrics.Metrics) map[string]int {
	tb.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]int{}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			key := []string{f.GetName()}
			for _, l := range one.GetLabel() {
				key = append(key, l.GetValue())
			}
			if n := int(one.GetCounter().GetValue()) + int(one.GetHistogram().GetSampleCount()); n > 0 {
				all[strings.Join(key, " ")] = n
			}
		}
	}
	return all
}
