package postgres

import "testing"

func TestStatementsAreRestrictedToTheirGuild(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT id FROM message WHERE row = ?": "SELECT id FROM (SELECT * FROM message WHERE guild = $2::bigint) message " +
			"WHERE row = $1::bigint",
		"SELECT m.id FROM said m LEFT JOIN channel c ON c.no = m.channel WHERE c.id = ?": "SELECT m.id FROM " +
			"(SELECT * FROM said WHERE guild = $2::bigint) m LEFT JOIN (SELECT * FROM channel WHERE guild = $2::bigint) c " +
			"ON c.no = m.channel WHERE c.id = $1::bigint",
		"SELECT value FROM meta WHERE key = ?": "SELECT value FROM meta WHERE key = $1::bigint",
		"INSERT INTO tombstone (channel, id) VALUES (max(?1, 2), ?1) ON CONFLICT DO NOTHING": "INSERT INTO tombstone " +
			"(channel, id, guild) VALUES (max($1::bigint, 2), $1::bigint, $2::bigint) ON CONFLICT DO NOTHING",
		"INSERT INTO presence (channel, last) SELECT channel, max(id) FROM said WHERE channel = ? GROUP BY 1": "INSERT INTO " +
			"presence (channel, last, guild) SELECT channel, max(id) , $2::bigint FROM (SELECT * FROM said WHERE guild = " +
			"$2::bigint) said WHERE channel = $1::bigint GROUP BY 1",
		"INSERT INTO star (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET at = 1 WHERE star.at < 1": "INSERT INTO star " +
			"(id, guild) VALUES ($1::bigint, $2::bigint) ON CONFLICT (id, guild) DO UPDATE SET at = 1 WHERE star.at < 1",
		"INSERT INTO fact (guild, id) VALUES (1, ?)": "INSERT INTO fact (guild, id) VALUES (1, $1::bigint)",
		"UPDATE segment SET size = 0 WHERE id = ? OR size < 0 RETURNING channel": "UPDATE segment SET size = 0 WHERE " +
			"segment.guild = $2::bigint AND ( id = $1::bigint OR size < 0 ) RETURNING channel",
		"UPDATE segment SET next = ?": "UPDATE segment SET next = $1::bigint WHERE segment.guild = $2::bigint ",
		"SELECT 1 FROM trace t CROSS JOIN said m ON m.a = t.b WHERE t.c = ?": "SELECT 1 FROM " +
			"(SELECT * FROM trace WHERE guild = $2::bigint) t CROSS JOIN LATERAL (SELECT * FROM " +
			"(SELECT * FROM said WHERE guild = $2::bigint) m WHERE  m.a = t.b  OFFSET 0) m WHERE t.c = $1::bigint",
		"DELETE FROM gap WHERE id IN (SELECT id FROM channel WHERE no = ?)": "DELETE FROM gap WHERE gap.guild = $2::bigint " +
			"AND ( id IN (SELECT id FROM (SELECT * FROM channel WHERE guild = $2::bigint) channel WHERE no = $1::bigint)) ",
	} {
		if got := translate(query, []any{1, int64(9)}, true); got.text != want {
			t.Errorf("%s\n became %s\n and not %s", query, got.text, want)
		}
	}
}
