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
		{"SELECT '?' FROM trace t INDEXED BY trace_parts WHERE c", nil, "SELECT '?' FROM trace t  WHERE c"},
	} {
		if got := translate(c.query, c.args).text; got != c.want {
			t.Errorf("%s\nbecame %s\n  want %s", c.query, got, c.want)
		}
	}
}
