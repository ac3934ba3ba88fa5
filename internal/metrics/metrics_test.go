package metrics_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/metrics"
)

// What can't be read in time is left out, and the rest is served.
func TestHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New()
		m.Events.WithLabelValues("READY").Inc()
		began := time.Now()
		w := httptest.NewRecorder()
		m.Handler(func(ctx context.Context, set func(metrics.Gauge, float64, ...string)) {
			set(m.ModelResting, 1, "best")
			<-ctx.Done()
		}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if took := time.Since(began); w.Code != http.StatusOK || took != 2*time.Second {
			t.Errorf("status %d after %v", w.Code, took)
		}
		for _, line := range []string{`hark_events_total{event="READY"} 1`,
			`hark_model_resting{model="best"} 1`, `hark_questions_total{outcome="failed"} 0`, `hark_messages_total 0`} {
			if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
				t.Errorf("%s is missing:\n%s", line, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), "hark_traces") {
			t.Errorf("it tells what wasn't read:\n%s", w.Body)
		}
	})
}
