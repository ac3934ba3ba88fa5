package sqlite

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Who asked, and which answer a message is a part of, is found without reading all traces.
func TestTracesAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for index, q := range map[string]memory.TraceQuery{"SEARCH n USING PRIMARY KEY (user=?)": {Asker: 1},
		"trace_parts": {Channel: general, Answer: 1}} {
		s.engine.statements.by = nil
		_, err := s.Traces(bg, q)
		must(t, err)
		queries, plan := slices.Collect(maps.Keys(s.engine.statements.by)), ""
		query := queries[slices.IndexFunc(queries, func(q string) bool {
			return strings.Contains(q, "FROM named n") || strings.Contains(q, "INDEXED BY trace_parts")
		})]
		err = sqlstore.Each(bg, s.engine.read, func(scan func(...any) error) error {
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
