package sqlite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Traces are chosen, and an answer's other messages found, without reading all traces.
func TestTracesAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for _, c := range []struct {
		q     memory.TraceQuery
		index string
		args  []any
	}{
		{memory.TraceQuery{Asker: 1}, "SEARCH k USING COVERING INDEX trace_answer", make([]any, 9)},
		{memory.TraceQuery{Channel: general, Answer: 1}, "trace_parts", []any{1, 1, 1}},
	} {
		s.engine.statements.by = nil
		_, err := s.Traces(bg, c.q)
		must(t, err)
		queries, plan := slices.Collect(maps.Keys(s.engine.statements.by)), ""
		query := queries[slices.IndexFunc(queries, func(q string) bool {
			return strings.Contains(q, "FROM trace k") || strings.Contains(q, "INDEXED BY trace_parts")
		})]
		err = sqlstore.Each(bg, s.engine.read, func(scan func(...any) error) error {
			var step string
			err := scan(new(int), new(int), new(int), &step)
			plan += step + "\n"
			return err
		}, "EXPLAIN QUERY PLAN "+query, c.args...)
		if err != nil || !strings.Contains(plan, c.index) {
			t.Errorf("%s\nis done by %s, %v", query, plan, err)
		}
	}
}

// An answer's sources are always in the same order: facts by number, also those of another server.
func TestSourcesComeInOneOrder(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples?"), posted(general, 2, "pears"), memory.Answered{Trace: memory.Trace{
		Guild: guild, Channel: general, Answer: id(2), Question: id(1), Asker: 3, Sources: []memory.Source{
			{Kind: memory.SourceMessage, Channel: general, ID: int64(id(1))}, {Kind: memory.SourceFact, ID: 2}}}})
	execute(t, s.engine.write, fmt.Sprintf("INSERT INTO source SELECT guild, 2, %d, 1, no, 0, 0 FROM derived", guild+1))
	for _, q := range []memory.TraceQuery{{Channel: general, Answer: id(2)}, {Asker: 3},
		{Channel: general, Answers: []memory.MessageID{id(2)}}} {
		all, err := s.Traces(bg, q)
		must(t, err)
		var facts []int64
		for _, source := range all[0].Sources {
			if source.Kind == memory.SourceFact {
				facts = append(facts, source.ID)
			}
		}
		if !slices.Equal(facts, []int64{1, 2}) {
			t.Errorf("the facts of %+v are %d", q, facts)
		}
	}
}

// A long session asks for the sources of many answers: they are read without what is large.
func TestSourcesAreReadWithoutBodies(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples?"), memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general,
		Answer: id(2), Question: id(1), Asker: 3, Sources: from(general, 1)}})
	execute(t, s.engine.write, "UPDATE trace SET body = '{'")
	all, err := s.Traces(bg, memory.TraceQuery{Channel: general, Answers: []memory.MessageID{id(2)}})
	if err != nil || len(all) != 1 || all[0].Question != id(1) || len(all[0].Sources) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
