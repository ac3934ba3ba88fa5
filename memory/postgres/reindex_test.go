package postgres_test

import (
	"testing"

	"hark/memory"
	"hark/memory/postgres/postgrestest"
	"hark/memory/sqlstore"
)

// Making full text anew skips a message that is in it already, also after a message of another guild that isn't.
func TestFullTextOfSeveralGuildsIsFinished(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openToy(t, url).(*sqlstore.Store)
	defer s.Close()
	for guild := memory.GuildID(101); guild <= 103; guild++ {
		channel := memory.ChannelID(guild * 10)
		must(t, s.Apply(t.Context(), memory.Posted{Message: memory.Message{ID: id(1), Guild: guild, Channel: channel,
			Author: 7, Content: "apples"}}))
	}
	db := connect(t, url)
	exec(t, db, "DELETE FROM fulltext WHERE guild = 101")
	exec(t, db, "INSERT INTO meta (key, value) VALUES ('reindex', '-1')")
	must(t, sqlstore.Reindex(t.Context(), s, nil))
	var rows int
	must(t, db.QueryRow(t.Context(), "SELECT count(*) FROM fulltext").Scan(&rows))
	if rows != 3 {
		t.Errorf("full text has %d messages", rows)
	}
}
