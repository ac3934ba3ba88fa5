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
		{"SELECT a FROM j CROSS JOIN t ON b = j.a AND (c = ? OR d IN (SELECT 1)) ORDER BY e LIMIT ?+0", []any{1, 2},
			"SELECT a FROM j CROSS JOIN LATERAL (SELECT * FROM t WHERE  b = j.a AND (c = $1::bigint OR d IN (SELECT 1))" +
				"  OFFSET 0) t ORDER BY e LIMIT $2::bigint"},
		{"SELECT 1 FROM (SELECT a FROM c CROSS JOIN said m ON m.a = c.b) x", nil,
			"SELECT 1 FROM (SELECT a FROM c CROSS JOIN LATERAL (SELECT * FROM said m WHERE  m.a = c.b OFFSET 0) m ) x"},
		{"SELECT '?' FROM a CROSS JOIN b WHERE c", nil, "SELECT '?' FROM a CROSS JOIN b WHERE c"},
	} {
		if got := translate(c.query, c.args, false).text; got != c.want {
			t.Errorf("%s\nbecame %s\n  want %s", c.query, got, c.want)
		}
	}
}

func TestStatementsAreRestrictedToAGuild(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT a FROM message WHERE b = ?": "SELECT a FROM (SELECT * FROM message WHERE guild = $2::bigint) message WHERE b = $1::bigint",
		"SELECT 1 FROM trace t CROSS JOIN said m ON m.a = t.b WHERE t.c = ?": "SELECT 1 FROM " +
			"(SELECT * FROM trace WHERE guild = $2::bigint) t CROSS JOIN LATERAL (SELECT * FROM " +
			"(SELECT * FROM said WHERE guild = $2::bigint) m WHERE  m.a = t.b  OFFSET 0) m WHERE t.c = $1::bigint",
		"INSERT INTO star (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET b = 1": "INSERT INTO star (a, guild) " +
			"VALUES ($1::bigint, $2::bigint) ON CONFLICT (a, guild) DO UPDATE SET b = 1",
		"UPDATE segment SET a = 1 WHERE b = ? OR c RETURNING d": "UPDATE segment SET a = 1 WHERE " +
			"segment.guild = $2::bigint AND ( b = $1::bigint OR c ) RETURNING d",
		"DELETE FROM star WHERE a IN (SELECT b FROM fact WHERE c = ?)": "DELETE FROM star WHERE star.guild = $2::bigint AND " +
			"( a IN (SELECT b FROM (SELECT * FROM fact WHERE guild = $2::bigint) fact WHERE c = $1::bigint)) ",
		"SELECT a FROM meta WHERE b = ?": "SELECT a FROM meta WHERE b = $1::bigint",
	} {
		if got := translate(query, []any{1, 7}, true).text; got != want {
			t.Errorf("%s\nbecame %s\n  want %s", query, got, want)
		}
	}
}
