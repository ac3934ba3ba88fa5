package sqlite

import (
	"strings"
	"testing"
)

// Who asked, and which answer a message is a part of, is found without reading all traces.
func TestTracesAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for from, index := range map[string]string{tracesNaming: "SEARCH n USING PRIMARY KEY (user=?)", traceByPart: "trace_parts"} {
		query, plan := "SELECT t.body FROM "+from, ""
		err := each(bg, s.read, func(scan func(...any) error) error {
			var step string
			err := scan(new(int), new(int), new(int), &step)
			plan += step + "\n"
			return err
		}, "EXPLAIN QUERY PLAN "+query, 1, 1)
		if err != nil || !strings.Contains(plan, index) {
			t.Errorf("%s\nis done by %s, %v", query, plan, err)
		}
	}
}
