package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
)

func pears() []memory.Event {
	var events []memory.Event
	for n := range 3000 {
		events = append(events, posted(secret, 100+n, fmt.Sprintf("pears number%d", n)))
	}
	return events
}

// An interrupted reindex continues, whatever happened to the messages meanwhile, also in another process
// that opens the file alone.
func TestReindexGoesOn(t *testing.T) {
	t.Parallel()
	for _, reopened := range []bool{false, true} {
		s := populated(t)
		apply(t, s, pears()...)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		before := 0
		err := sqlstore.Reindex(ctx, s.Store, func(done, _ int) { before = done; cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		apply(t, s, deleted(secret, 3000, 3001, 101), edited(secret, 3002, "plums"), edited(secret, 102, "quinces"),
			posted(secret, 5000, "cherries"), posted(general, 5000, "cherries"))
		if got := find(t, s, in(secret), "plums quinces cherries"); len(got) != 3 {
			t.Errorf("what came meanwhile: found %v", got)
		}
		if reopened {
			closed(t, s)
			s = open(t, s.engine.dir)
		} else {
			from := -1
			if err := sqlstore.Reindex(t.Context(), s.Store, func(done, _ int) {
				if from < 0 {
					from = done
				}
			}); err != nil || before == 0 || from <= before {
				t.Errorf("it went on at %d, %v", from, err)
			}
		}
		drain(t, s)
		checkSound(t, s)
		got := terms(t, s)
		if err := sqlstore.Reindex(bg, s.Store, nil); err != nil || got != terms(t, s) {
			t.Errorf("full text that went on isn't as one that was made at once, %v", err)
		}
		if got := find(t, s, in(secret), "plums quinces cherries number1500 number2999"); len(got) != 5 {
			t.Errorf("found %v", got)
		}
	}
}

// terms returns full text's terms, with rows and positions.
func terms(t *testing.T, s *Store) string {
	t.Helper()
	execute(t, s.engine.write, `CREATE VIRTUAL TABLE IF NOT EXISTS temp.instance USING fts5vocab(main,
		fulltext, instance)`)
	var all string
	must(t, s.engine.write.QueryRowContext(bg,
		`SELECT group_concat(term || ' ' || doc || ' ' || offset ORDER BY term, doc, offset)
			FROM temp.instance`).Scan(&all))
	return all
}

var faults = map[string]string{
	"no segment":        "DELETE FROM segment WHERE id = (SELECT max(id) FROM segment)",
	"a segment too far": "INSERT INTO segment SELECT guild, max(id) + 1, channel, 1, 2, 1, 1, 1, 0 FROM segment",
	"a wrong size":      "UPDATE segment SET size = size + 1",
	"a wrong span":      "UPDATE segment SET first = last",
	"in no segment":     "UPDATE message SET segment = 0 WHERE row = (SELECT max(row) FROM message)",
	"no vector":         "DELETE FROM vector",
	"a strange vector":  "INSERT INTO vector VALUES (100, 77, x'00', x'00')",
	"a short vector":    "UPDATE vector SET steps = x'01'",
	"no words":          "INSERT INTO fulltext (fulltext) VALUES ('delete-all')",
	"too many words":    "INSERT INTO fulltext (rowid, content) VALUES (77, 'aaaaaaaa')",
	"half the words":    "DELETE FROM fulltext_docsize WHERE id % 2 = 0",
	"miscounted":        "UPDATE channel SET messages = messages - 1",
	"not present":       "DELETE FROM presence WHERE author = 1",
	"present too long":  "UPDATE presence SET last = last + 1",
	"a lost star": `INSERT INTO star SELECT c.guild, c.id, m.id, 1, 5 FROM message m
		JOIN channel c ON c.no = m.channel LIMIT 2`,
}

func TestReindexMakesAgainWhatIsMadeOfTheLog(t *testing.T) {
	t.Parallel()
	for name, sql := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, written(t))
			want := terms(t, s)
			execute(t, raw(t, s.engine.dir), sql)
			must(t, sqlstore.Reindex(bg, s.Store, nil))
			drain(t, s)
			checkSound(t, s)
			if terms(t, s) != want {
				t.Error("full text isn't as it was")
			}
			if len(nearest(t, s, in(general), "number12 of the messages")) == 0 {
				t.Error("nothing is near")
			}
		})
	}
}

func TestReindexGoesOnWithVectors(t *testing.T) {
	t.Parallel()
	s := populated(t)
	drain(t, s)
	must(t, sqlstore.Reindex(t.Context(), s.Store, nil))
	waiting, err := s.Waiting(t.Context(), memory.Everywhere)
	if err != nil || waiting < 2 {
		t.Fatal(waiting, err)
	}
	if len(nearest(t, s, in(general), "number5 of the messages")) == 0 {
		t.Error("while vectors are made again, nothing is found by them")
	}
	segments, err := s.Pending(t.Context(), 1)
	must(t, err)
	must(t, s.Embedded(t.Context(), segments, [][]float32{nil}))
	must(t, sqlstore.Reindex(t.Context(), s.Store, func(int, int) { t.Error("it began anew") }))
	if n, err := s.Waiting(t.Context(), memory.Everywhere); n != waiting-1 || err != nil {
		t.Errorf("%d of %d wait, %v", n, waiting, err)
	}
}

func TestMessagesBy(t *testing.T) {
	t.Parallel()
	s := populated(t) // 31 messages of users 1 to 3 in one channel, and an answer
	apply(t, s, memory.ChannelSeen{Channel: memory.Channel{ID: 77, Guild: guild, Parent: general,
		Kind: memory.PublicThread}}, posted(77, 300, "in a thread"), posted(secret, 300, "elsewhere"))
	for in, want := range map[memory.GuildID]int{memory.Everywhere: 12, guild: 12, 5: 0} {
		var ids []memory.MessageID
		must(t, s.MessagesBy(bg, in, 1, func(m memory.Message) error {
			if m.Author != 1 || m.Guild != guild || m.Content == "" {
				t.Errorf("%+v", m)
			}
			ids = append(ids, m.ID)
			return nil
		}))
		if len(ids) != want || want > 0 && !slices.Contains(ids, id(300)) {
			t.Errorf("of guild %d: %d messages, want %d", in, len(ids), want)
		}
	}
	stop := errors.New("enough")
	if err := s.MessagesBy(bg, guild, 1, func(memory.Message) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}
