package sqlite

import (
	"strings"
	"testing"
)

// Who asked, and which answer a message is a part of, is found without reading all traces.
func TestTracesAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for query, index := range map[string]string{tracesAsked: "SEARCH n USING PRIMARY KEY (user=?)", traceByPart: "trace_parts"} {
		rows, err := s.read.QueryContext(bg, "EXPLAIN QUERY PLAN "+query, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		plan := ""
		err = eachRow(rows, func(scan func(...any) error) error {
			var step string
			err := scan(new(int), new(int), new(int), &step)
			plan += step + "\n"
			return err
		})
		if err != nil || !strings.Contains(plan, index) {
			t.Errorf("%s\nis done by %s, %v", query, plan, err)
		}
	}
}
