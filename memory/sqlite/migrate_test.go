package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hark/memory"
)

// writtenBy is what Harks of each version have written, beside what earlier ones had: never changed, like migrations. A
// new version adds one.
var writtenBy = []string{`
	INSERT INTO guild (no, id, name, owner) VALUES (1, 100, 'Orchard', 7);
	INSERT INTO role VALUES (100, 100, '@everyone', 66560, 0);
	INSERT INTO channel (no, id, guild, parent, kind, name, age_limited, unplaced, overwrites, messages)
		VALUES (1048577, 1000, 100, 0, 0, 'general', 0, 0, '[{"Role":100,"User":0,"Allow":1024,"Deny":0}]', 3);
	INSERT INTO person (guild, id, username, name, nick, bot, roles, data) VALUES (100, 1, 'ann', 'Ann', 'Annie', 0, '[100]', 'sails'), (100, 2, 'ben', '', '', 0, NULL, '');
	INSERT INTO message (row, channel, id, author, kind, reply_to, edited, whole, starred, tokens, segment, content, extra) VALUES
		(281475245146113, 1048577, 1499560987852800000, 1, 0, 0, 0, 0, 0, 2, 1099511627777, 'apples ripen', NULL),
		(281475245146114, 1048577, 1499561029795840000, 2, 0, 1499560987852800000, 1777598100000, 1777598100000, 1, 2, 1099511627777, 'pears as well', '{"files":[{"Name":"pear.png"}]}'),
		(281475245146115, 1048577, 1499561071738880000, 3, 2, 0, 0, 0, 0, 2, 1099511627777, 'apples, then pears', NULL);
	INSERT INTO early_edit VALUES (1000, 1499564762726400000, 1777598100000, 'early');
	INSERT INTO tombstone VALUES (1000, 1499561826713600000);
	INSERT INTO called VALUES (1000, 1499560987852800000, 'one');
	INSERT INTO presence VALUES (1048577, 1, 1, 1499560987852800000), (1048577, 2, 1, 1499561029795840000), (1048577, 3, 1, 1499561071738880000);
	INSERT INTO segment (id, channel, first, last, size, version, pending) VALUES (1099511627777, 1048577, 1499560987852800000, 1499561071738880000, 3, 1499560987852800003, 1);
	INSERT INTO trace VALUES (1000, 1499561071738880000, '{"guild":100,"channel":1000,"answer":1499561071738880000,"question":1499561029795840000,"question_edited":1777598100000,"asker":2,"recalled":[{"channel":1000,"message":1499560987852800000,"relevance":1,"why":null,"number":1}],"sections":null,"search":0,"total":0}');
	INSERT INTO trace_source VALUES (1000, 1499560987852800000, 1000, 1499561071738880000), (1000, 1499561029795840000, 1000, 1499561071738880000);
`, `
	INSERT INTO opted VALUES (100, 9, 1, 1777598100000);
	INSERT INTO fact VALUES (100, 50, 2, 1, 2, 0, 0, 'Benny'), (100, 51, 2, 0, 1, 1000, 1499560987852800000, 'likes pears'), (100, 52, 2, 0, 2, 0, 0, NULL);
	INSERT INTO star VALUES (1000, 1499561029795840000, 1, 1777598100000);
	INSERT INTO gap VALUES (1000, 1499561071738880000, 100, 1499560987852800000, 1, 5);
	INSERT INTO forgetting (guild, channel, user, before, why, at, done, receipt) VALUES (100, 0, 8, 1499564762726400000, 'member', 1777598100000, 1, '{"messages":4}');
	INSERT INTO withdrawn (guild, channel, message, first) VALUES (100, 1000, 1499561826713600000, 1);
	UPDATE guild SET choice = 1, chosen = 1777598100000, asked = 1;
`, `
	INSERT INTO meta VALUES ('space', 'some/1/3'), ('next', 'other/1/3');
	INSERT INTO vector VALUES (1099511627777, x'010203');
	UPDATE segment SET pending = 0, next = 1;
`, `
	INSERT INTO learn VALUES (100, 0, 1, 1777598100000);
	UPDATE channel SET learned = 1499560987852800000;
	INSERT INTO forgetting (guild, channel, user, before, why, at, whole, begun, done, receipt) VALUES (100, 0, 11, 1499564762726400000, 'member', 1777598100000, 1, 1, 1, '{"messages":1}');
`, `
	INSERT INTO lore VALUES (100, 60, 2, 1000, 1499561071738880000, 'Orchard', '["garden"]', 'apples and pears'), (100, 61, 0, 0, 0, '', '', NULL);
	INSERT INTO lore_source VALUES (100, 60, 1000, 1499560987852800000);
`, `
	INSERT INTO summary VALUES (1000, 1499561029795840000, 0, 1777598100000, '', 'fact', '["apples"]', 'Ann: apples ripen', 0);
	INSERT INTO summary_source VALUES (1000, 1499560987852800000, 1499561029795840000, 0);
	UPDATE channel SET summarised = 1499561029795840000;
`, `
	INSERT INTO prompt (channel, answer, guild, built, people, body) VALUES (1000, 1499561071738880000, 100, 1777598100000, '[1,2]', '{"messages":[{"role":"user","content":"apples and pears"}]}');
`, `
	INSERT INTO mode VALUES (100, 1000, 'search', 1777598100000), (100, 1001, '', 1777598100000);
`, `
	INSERT INTO setting VALUES (100, 0, 'persona', 'You are calm.', 1777598100000);
`, `
	INSERT INTO role_limit VALUES (100, 5, 3, -1, 1777598100000);
`, `
	INSERT INTO record (call, guild, channel, question, asker, answer, at, speaker, method, tokens, named, body)
		VALUES ('old', 100, 1000, 0, 1, 0, 1777598100000, 'user', 'ask', 9, '[1]', '{"call_id":"old","timestamp":"2026-05-01T01:15:00Z","speaker":"user","method_name":"ask","args":[],"kwargs":{},"outcome_summary":"","guild":100,"channel":1000,"question":0,"asker":1}');
`, `
	INSERT INTO condensed VALUES (1000, 1499560987852800000, 1777598100000, 'm', 'apples ripen');
	INSERT INTO condensed_source VALUES (1000, 1499560987852800000, 0);
`, `
	INSERT INTO taken VALUES (1000, 77);
`}

// ofVersion is the directory of a database that a Hark of some version has written.
func ofVersion(t *testing.T, version int) string {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for v := range version {
		if _, err := db.Exec(migrations[v] + writtenBy[v]); err != nil {
			t.Fatalf("version %d: %v", v+1, err)
		}
	}
	if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDatabasesOfEveryEarlierVersion(t *testing.T) {
	t.Parallel()
	if len(writtenBy) != len(migrations)-1 {
		t.Fatalf("there are %d versions before this one, and tests of %d", len(migrations)-1, len(writtenBy))
	}
	for version := 1; version < len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			s := open(t, ofVersion(t, version))
			checkOldest(t, s)
			if version > 1 {
				checkSecond(t, s)
			}
			if version > 5 {
				checkSummaries(t, s)
			}
			if version > 7 {
				checkModes(t, s)
			}
			apply(t, s, recorded("one", 0, 2)) // a table that no earlier version had
			if all, err := s.Records(bg, memory.RecordQuery{Channels: []memory.ChannelID{general}}); err != nil || (len(all) == 2) != (version > 10) {
				t.Errorf("the records are %+v, %v", all, err)
			}
			drain(t, s)
			checkSound(t, s)
			if got := nearest(t, s, in(general), "apples"); len(got) == 0 {
				t.Error("nothing is near")
			}
			receipt, err := s.Forget(bg, memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: time.Now()}, nil)
			if err != nil || receipt.Messages < 2 || receipt.People != 2 {
				t.Errorf("forgot %+v, %v", receipt, err)
			}
			if left := find(t, s, in(general), "apples"); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
			checkSound(t, s)
		})
	}
}

// checkOldest checks what databases of the first version hold.
func checkOldest(t *testing.T, s *Store) {
	t.Helper()
	if got := find(t, s, in(general), "pears"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	g, err := s.Guild(bg, guild)
	if err != nil || g.Name != "Orchard" || len(g.Roles) != 1 || len(g.Channels) != 1 || len(g.Channels[0].Overwrites) != 1 || g.Channels[0].Unplaced {
		t.Errorf("the guild is %+v, %v", g, err)
	}
	people, err := s.People(bg, guild)
	if err != nil || len(people) != 2 || people[0].DisplayName() != "Annie" || !people[0].RolesKnown || len(people[0].Facts) != 1 || people[0].Facts[0].Text != "sails" {
		t.Errorf("the people are %+v, %v", people, err)
	}
	heard, err := s.HeardUntil(bg, guild)
	if err != nil || heard[general] != 1499561071738880000 {
		t.Errorf("heard until %v, %v", heard, err)
	}
	log, err := s.Log(bg, general, 0, 1<<62, 10)
	if err != nil || len(log) != 3 || !log[1].Starred || log[1].Files[0].Name != "pear.png" || log[1].ReplyTo != log[0].ID {
		t.Errorf("the log is %+v, %v", log, err)
	}
	if trace, err := s.Trace(bg, general, 1499561071738880000); err != nil || trace.Asker != 2 {
		t.Errorf("the trace is %+v, %v", trace, err)
	}
	apply(t, s, memory.Posted{Message: memory.Message{ID: 1499564762726400000, Guild: guild, Channel: general, Author: 1, Content: "late"}},
		memory.Posted{Message: memory.Message{ID: 1499561826713600000, Guild: guild, Channel: general, Author: 1, Content: "deleted"}})
	log, err = s.Log(bg, general, 1499561071738880000, 1<<62, 10)
	if err != nil || len(log) != 1 || log[0].Content != "early" {
		t.Errorf("what came late is %+v, %v", log, err)
	}
}

// checkSummaries checks what databases hold from the sixth version on.
func checkSummaries(t *testing.T, s *Store) {
	t.Helper()
	all, err := s.Summaries(bg, general)
	if err != nil || len(all) != 1 || all[0].Text != "Ann: apples ripen" || len(all[0].Sources) != 1 {
		t.Errorf("the summaries are %+v, %v", all, err)
	}
}

// checkModes checks that the modes of the eighth version are settings.
func checkModes(t *testing.T, s *Store) {
	t.Helper()
	g, err := s.Guild(bg, guild)
	if err != nil {
		t.Fatal(err)
	}
	if mode, at := g.Setting(general, memory.SettingMode); mode != "search" || at != general {
		t.Errorf("the mode is %q of %d", mode, at)
	}
	older, newer := time.UnixMilli(1777598099000), time.UnixMilli(1777598101000)
	apply(t, s, memory.SettingChosen{Guild: guild, Channel: general, Key: memory.SettingMode, Value: "analysis", At: older})
	if g, err = s.Guild(bg, guild); err != nil || g.Channels[0].Settings[memory.SettingMode] != "search" {
		t.Errorf("after an older one: %+v, %v", g, err)
	}
	apply(t, s, memory.SettingChosen{Guild: guild, Channel: general, Key: memory.SettingMode, At: newer})
	if g, err = s.Guild(bg, guild); err != nil || g.Channels[0].Settings != nil {
		t.Errorf("taken back: %+v, %v", g, err)
	}
}

// checkSecond checks what databases hold from the second version on.
func checkSecond(t *testing.T, s *Store) {
	t.Helper()
	apply(t, s, memory.Posted{Message: memory.Message{ID: 1499561826713600009, Guild: guild, Channel: general, Author: 9, Content: "out"}},
		memory.Posted{Message: memory.Message{ID: 1499561826713600010, Guild: guild, Channel: general, Author: 8, Content: "forgotten"}})
	if got, err := s.Messages(bg, general, []memory.MessageID{1499561826713600009, 1499561826713600010}); err != nil || len(got) > 0 {
		t.Errorf("logged %+v, %v", got, err)
	}
	people, err := s.People(bg, guild)
	if err != nil || !slices.Equal(people[1].Aliases(), []string{"Benny"}) || len(people[1].Facts) != 2 {
		t.Errorf("the people are %+v, %v", people, err)
	}
	gaps, err := s.Gaps(bg)
	if err != nil || len(gaps) != 1 || !gaps[0].Past || gaps[0].Fetched != 5 {
		t.Errorf("gaps: %+v, %v", gaps, err)
	}
	if receipt, err := s.CarryOut(bg, 1, nil); err != nil || receipt.Messages != 4 || receipt.Forgetting.User != 8 {
		t.Errorf("the receipt is %+v, %v", receipt, err)
	}
	if withdrawn, err := s.Withdrawn(bg, 9); err != nil || len(withdrawn) != 1 {
		t.Errorf("withdrawn: %v, %v", withdrawn, err)
	}
	if g, err := s.Guild(bg, guild); err != nil || g.Choice != memory.Remember || !g.Asked {
		t.Errorf("the guild is %+v, %v", g, err)
	}
}
