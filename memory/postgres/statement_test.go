package postgres

import "testing"

func TestStatementsAreTranslated(t *testing.T) {
	for _, c := range []struct {
		query string
		args  []any
		want  string
	}{
		{"SELECT a FROM t WHERE b = ? AND c = ?1 AND user = ?", []any{1, "x"},
			`SELECT a FROM t WHERE b = $1::bigint AND c = $1::bigint AND "user" = $2::text`},
		{"SELECT max(?3, ?1+0) FROM vector WHERE guild = ?2", []any{1, "x", nil},
			"SELECT max($1::text, $2::bigint) FROM embedding WHERE guild = $3::text"},
		{"SELECT a FROM j CROSS JOIN t ON b = j.a AND (c = ? OR d IN (SELECT 1)) ORDER BY e LIMIT ?+0", []any{1, 2},
			"SELECT a FROM j CROSS JOIN LATERAL (SELECT * FROM t WHERE b = j.a AND (c = $1::bigint OR d IN (SELECT 1)) " +
				" OFFSET 0) t ORDER BY e LIMIT $2::bigint"},
		{"SELECT 1 FROM (SELECT a FROM c CROSS JOIN said m ON m.a = c.b) x", nil,
			"SELECT 1 FROM (SELECT a FROM c CROSS JOIN LATERAL (SELECT * FROM said m WHERE m.a = c.b OFFSET 0) m ) x"},
		{"SELECT '?' FROM a CROSS JOIN b WHERE c", nil, "SELECT '?' FROM a CROSS JOIN b WHERE c"},
		{"SELECT '?' FROM trace t INDEXED BY trace_parts WHERE c", nil, "SELECT '?' FROM trace t  WHERE c"},
	} {
		if got := translate(c.query, c.args).text; got != c.want {
			t.Errorf("%s\nbecame %s\n  want %s", c.query, got, c.want)
		}
	}
}
