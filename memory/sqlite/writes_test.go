package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/fixture"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

func applies(events ...memory.Event) func(*Store) error {
	return func(s *Store) error { return s.Apply(bg, events...) }
}

// writes together use every statement that changes the file.
var writes = map[string]func(*Store) error{
	"apply": func(s *Store) error {
		reply := posted(general, 500, "a reply with everything")
		reply.Message.ReplyTo, reply.Message.Mentions = id(2), []memory.UserID{1}
		notice := posted(general, 501, "somebody joined")
		notice.Message.Kind = memory.FromSystem
		newer := posted(general, 3, "number3 in other words")
		newer.Message.Edited = id(600).Time()
		return s.Apply(bg, reply, notice, newer,
			posted(secret, 1, "a new channel"), posted(general, 40, "older than most"), posted(general, 90,
				"came after its edit"),
			edited(general, 4, "number4 in other words"), edited(general, 5000, "an early edit"),
			deleted(general, 5, 6, 7, 91), deleted(general, 70),
			memory.ExternalIDSeen{Channel: general, ID: id(8), ExternalID: "eight"},
			memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: "Orchard",
				Roles: []memory.Role{{ID: 1, Name: "everyone"}}, Channels: []memory.Channel{{ID: general,
					Name: "general"}, {ID: 3000, Name: "fresh"}}}},
			memory.ChannelSeen{Channel: memory.Channel{ID: secret, Guild: guild, Name: "secret"}},
			memory.RoleSeen{Guild: 200, Role: memory.Role{ID: 2}}, memory.RoleGone{Guild: guild, Role: 5},
			memory.ChannelGone{Guild: guild, Channel: general},
			memory.PersonSeen{Person: memory.Person{Guild: guild, ID: 1, Username: "ann", RolesKnown: true}})
	},
	"edit":           applies(edited(general, 4, "number4 in other words")),
	"edit early":     applies(edited(3000, 4, "a new channel")),
	"delete":         applies(deleted(general, 4)),
	"see a channel":  applies(memory.ChannelSeen{Channel: memory.Channel{ID: general, Name: "x"}}),
	"see a new role": applies(memory.RoleSeen{Guild: 200}),
	"keep a trace": func(s *Store) error {
		return s.Apply(bg, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(60),
			Question: id(9), Sources: from(general, 9), Prompt: sentPrompt("number")}})
	},
	"forget what was spent": func(s *Store) error { return s.Expire(bg, memory.Expiry{Spending: idAt(3)}) },
	"keep records": func(s *Store) error {
		named := recorded("named", 9, 4)
		named.Record.Kwargs = map[string]any{"user": 3}
		return s.Apply(bg, recorded("one", 8, 1), named, recorded("elsewhere", 0, 1))
	},
	"keep records and edit their question": applies(recorded("one", 8, 1), edited(general, 8, "another question")),
	"make a key": func(s *Store) error {
		_, err := s.FingerprintKey(bg)
		return err
	},
	"an answer grows": func(s *Store) error {
		first := posted(general, 96, "an answer")
		first.Message.Kind = memory.FromHark
		return s.Apply(bg, first, edited(general, 96, "an answer that grows"))
	},
	"write an answer anew": func(s *Store) error {
		first, more, other := ofHark(97), ofHark(98), ofHark(99)
		trace := memory.Trace{Guild: guild, Channel: general, Answer: id(97),
			Parts: []memory.MessageID{id(98)}, Question: id(9), Asker: 1, Sources: from(general, 9)}
		made := memory.Trace{Guild: guild, Channel: general, Answer: id(99), Question: id(9), Asker: 1,
			Sources: from(general, 9, 97)}
		anew := trace
		anew.Parts = nil
		return s.Apply(bg, first, more, other, memory.Answered{Trace: trace}, memory.Answered{Trace: made},
			memory.Rewritten{Guild: guild, Channel: general,
				IDs: []memory.MessageID{id(97)}}, first, memory.Answered{Trace: anew}, memory.Answered{Trace: made})
	},
	"write an answer anew that went": func(s *Store) error {
		answer := ofHark(97)
		trace := memory.Trace{Guild: guild, Channel: general, Answer: id(97), Question: id(9), Asker: 1,
			Sources: from(general, 9, 8)}
		return s.Apply(bg, answer, memory.Answered{Trace: trace},
			memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{id(8)}},
			memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{id(97)}}, answer)
	},
	"keep a trace of what is gone": func(s *Store) error {
		return s.Apply(bg, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(60),
			Parts: []memory.MessageID{id(61)}, Question: id(20), Sources: from(general, 20)}})
	},
	"store vectors": func(s *Store) error {
		segments, err := s.Pending(bg, 100)
		if err != nil {
			return err
		}
		vectors, err := memorytest.Embedder{}.Embed(bg, memory.ForStorage, make([]string, len(segments)))
		if err != nil {
			return err
		}
		for i := range vectors {
			if vectors[i] = nil; i%2 == 0 {
				vectors[i] = make([]float32, memorytest.Embedder{}.Space().Dimensions)
				vectors[i][i%7] = 1
			}
		}
		return s.Embedded(bg, segments, vectors)
	},
}

// work is a write of several transactions: its preparation, and the write.
type work struct{ before, do func(*Store) error }

var works = map[string]work{
	"carry out a forgetting": {
		func(s *Store) error {
			return s.Apply(bg, append(notes(), memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyPurge,
				At: id(2000).Time()},
				memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: id(2000).Time()})...)
		}, goOn,
	},
	"take what was restored out": {
		func(s *Store) error {
			_, err := s.engine.write.ExecContext(bg, `INSERT INTO forgetting (id, guild, channel, user,
				before, why, at, done, receipt) VALUES (7, 100, 1000, 3, ?, 'purge', 0, 0, '{}')`, int64(id(20)))
			return err
		}, goOn,
	},
	"index again": {
		func(s *Store) error {
			_, err := s.engine.write.ExecContext(bg, faults["miscounted"])
			return err
		},
		func(s *Store) error { return sqlstore.Reindex(bg, s.Store, nil) },
	},
	"change the space twice": {
		func(*Store) error { return nil },
		func(s *Store) error { return errors.Join(inSpace(s, "one"), inSpace(s, "two")) },
	},
	"switch over and sweep": {
		func(s *Store) error { return inSpace(s, "one") },
		func(s *Store) error {
			beside := sqlstore.New(s.engine, sqlstore.Options{Space: memory.Space{Name: "one", Dimensions: 2},
				Tokens: words})
			if err := sqlstore.Open(bg, beside); err != nil {
				return err
			}
			segments, err := beside.Pending(bg, 100)
			if err == nil {
				err = beside.Embedded(bg, segments, slices.Repeat([][]float32{{1, 0}}, len(segments)))
			}
			if err == nil {
				_, err = beside.Pending(bg, 100)
			}
			return err
		},
	},
}

func goOn(s *Store) error {
	begun, err := s.Forgettings(bg, memory.Everywhere, 0)
	for _, r := range begun {
		if err == nil {
			_, err = s.Forget(bg, r.Forgetting, nil)
		}
	}
	return err
}

func inSpace(s *Store, name string) error {
	return sqlstore.Open(bg, sqlstore.New(s.engine,
		sqlstore.Options{Space: memory.Space{Name: name, Dimensions: 2}, Tokens: words}))
}

// notes are events about everything kept besides messages and structure.
func notes() []memory.Event {
	fact := func(id int64, message memory.MessageID) memory.FactTold {
		return memory.FactTold{Guild: guild, User: 1, Fact: memory.Fact{ID: id, Text: "sails", By: 1,
			Channel: general, Message: message}}
	}
	lore := func(id int64, n int, sources ...memory.MessageRef) memory.LoreTold {
		return memory.LoreTold{Lore: memory.Lore{ID: id, Guild: guild, Name: "Project X", Text: "is due",
			Own: []string{"it"}, By: 1, Channel: general, At: idAt(n), Sources: sources}}
	}
	late := summed(general, 11)
	late.Summary.Sources[0].Edited = 5
	at := id(9).Time()
	star := func(n int) memory.Starred {
		return memory.Starred{Guild: guild, Channel: general, ID: id(n), On: true, At: at}
	}
	chose := func(channel memory.ChannelID) memory.Chose {
		return memory.Chose{Guild: guild, Channel: channel, Choice: memory.Remember, At: at}
	}
	answer := func(n int, trace memory.Trace) memory.Answered {
		trace.Guild, trace.Channel, trace.Answer, trace.Asker = guild, general, id(n), 1
		return memory.Answered{Trace: trace}
	}
	message := func(n int, kind memory.Kind, author memory.UserID) memory.Posted {
		return memory.Posted{Message: memory.Message{ID: id(n), Guild: guild, Channel: general, Kind: kind,
			Author: author}}
	}
	return []memory.Event{
		memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: "Orchard", Roles: []memory.Role{{ID: 5, Name: "crew"}},
			Channels: []memory.Channel{
				{ID: general, Name: "general", Overwrites: []memory.Overwrite{{Role: 5, Allow: 1}, {Role: 6}}},
				{ID: 3000, Kind: memory.PublicThread, Parent: general},
			}}, At: id(1).Time()},
		memory.PersonSeen{Person: memory.Person{ID: 1, Guild: guild, Username: "ann"}},
		memory.PersonLeft{Guild: guild, User: 1},
		fact(1, 0), fact(2, id(7)), fact(3, id(20)), fact(4, id(8)),
		memory.FactGone{Guild: guild, User: 1, Fact: 4}, fact(4, 0),
		lore(1, 4), lore(2, 4, memory.MessageRef{Channel: general, Message: id(7)}), lore(1, 5), lore(1, 3),
		lore(3, 4, memory.MessageRef{Channel: general, Message: id(20)}),
		memory.LoreGone{Guild: guild, ID: 5}, lore(5, 4), lore(6, 4),
		message(88, memory.FromHark, 0), answer(88, memory.Trace{Sources: fromLore(6)}), lore(6, 5),
		summed(general, 7), summed(general, 9), summed(general, 9), late,
		memory.Summarised{Guild: guild, Channel: general, Until: id(13), Evicted: []memory.MessageID{id(9)}},
		summed(general, 9), summed(general, 14),
		message(89, memory.FromHark, 0), usedSummary(id(89), id(14)), usedSummary(id(97), id(14)), summed(9999, 3),
		memory.Learn{Guild: guild, On: true, At: at}, memory.Learn{Guild: guild, User: 1, On: true, At: at},
		memory.Learned{Guild: guild, Channel: general, Until: id(3)},
		memory.Opted{Guild: guild, User: 9, Out: true, At: at},
		message(801, memory.FromMember, 9), message(90, memory.FromMember, 9),
		chose(0), chose(3000), chose(3001), memory.Chose{Guild: guild, Choice: memory.Ignore, At: id(8).Time()},
		memory.Asked{Guild: guild, Channel: general, Message: id(2)},
		memory.SettingChosen{Guild: guild, Channel: general, Key: memory.SettingMode, Value: "search", At: at},
		memory.LimitChosen{Guild: guild, At: at}, spent(1, 3, 10), spent(1, 3, 12), spent(9, 4, 5),
		star(3), star(91), star(20), posted(general, 91, "was starred before"),
		memory.Heard{Guild: guild, Channel: 3000, ID: id(11)},
		memory.Posted{Message: posted(general, 802, "live").Message, Live: true},
		memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: general, Until: 9}}, memory.GapFound{},
		memory.GapFilled{Gap: memory.Gap{Channel: general, Until: 9}, Through: 9},
		answer(95, memory.Trace{Question: id(9), Sources: from(general, 9), Named: []memory.UserID{1, 2},
			Prompt: sentPrompt("number")}),
		answer(29, memory.Trace{Question: id(3), Sources: slices.Concat(from(general, 3), fromFacts(1), fromLore(1))}),
		memory.Marked{Channel: general, Message: id(71)},
		memory.RoleGone{Guild: guild, Role: 5}, memory.RoleGone{Guild: guild, Role: 8},
		memory.GuildLeft{Guild: guild, At: id(900).Time()},
	}
}

func usedSummary(answer, id memory.MessageID) memory.Event {
	return memory.Answered{Trace: memory.Trace{
		Guild: guild, Channel: general, Answer: answer, Asker: 1,
		Sources: []memory.Source{{Kind: memory.SourceSummary, Channel: general, ID: int64(id),
			Version: id.Time().UnixMilli(), Repeats: true}},
	}}
}

func idAt(n int) time.Time { return id(n).Time() }

// forgets is the work of hiding and deleting what an event makes the store forget.
func forgets(f memory.Event) work {
	named := recorded("named", 9, 4)
	named.Record.Kwargs = map[string]any{"user": 3}
	return work{applies(append(notes(), recorded("one", 8, 1), named)...), func(s *Store) error {
		return errors.Join(s.Apply(bg, f), goOn(s))
	}}
}

func init() {
	writes["edit what lore is from"] = func(s *Store) error {
		l := memory.Lore{ID: 4, Guild: guild, Name: "Project X", Text: "is due", By: 1, At: idAt(9),
			Sources: []memory.MessageRef{{Channel: general, Message: id(19)}}}
		return s.Apply(bg, memory.LoreTold{Lore: l}, edited(general, 19, "otherwise"))
	}
	writes["sum up"] = func(s *Store) error {
		e := summed(general, 19)
		e.Evicted = []memory.MessageID{id(20)}
		return s.Apply(bg, e)
	}
	writes["edit what a summary is from"] = applies(summed(general, 19), edited(general, 19, "otherwise"))
	writes["condense"] = applies(condensed(general, "it is long", 13, 19))
	writes["condense again"] = applies(condensed(general, "it is long", 13, 19),
		condensed(general, "it is longer", 1, 22, 23), deleted(general, 22))
	writes["end a session"] = applies(condensed(general, "it is long", 13, 19),
		memory.CondensedGone{Guild: guild, Channel: general, Until: id(29)})
	writes["notes"] = applies(slices.DeleteFunc(notes(), func(e memory.Event) bool { // that is a work: it hides
		_, opts := e.(memory.Opted)
		return opts
	})...)
	for name, e := range map[string]memory.Event{ // the first to ask what was decided
		"lore": memory.LoreTold{Lore: memory.Lore{ID: 9, Guild: guild, Name: "Project Y", Text: "is off",
			At: idAt(9)}},
		"connect": memory.Connected{Guild: guild, User: 1, Hash: memory.TokenHash{1}, At: id(9).Time()},
		"learn":   memory.Learn{Guild: guild, On: true, At: id(9).Time()},
		"trace": memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(95),
			Question: id(9), Asker: 1, Sources: append(from(general, 9), fromFacts(1)...)}},
	} {
		writes[name] = applies(e)
	}
	for name, f := range map[string]memory.Forgetting{
		"forget somebody":      {Guild: guild, User: 1},
		"forget a channel":     {Guild: guild, Channel: general, User: 2},
		"forget who asked":     {Guild: guild, User: 3},
		"forget what was said": {Guild: guild, Before: id(9).Time()},
		"forget a guild":       {Guild: guild},
		"forget everything":    {Guild: memory.Everywhere},
	} {
		f.Why, f.At = memory.WhyPurge, id(2000).Time()
		works[name] = forgets(f)
	}
	works["forget a guild that was left"] = forgets(memory.Forgetting{Guild: guild, Why: memory.WhyLeft,
		At: id(2000).Time()})
	works["delete a channel"] = forgets(memory.ChannelDeleted{Guild: guild, Channel: general, At: id(2000).Time()})
	works["opt out"] = forgets(memory.Opted{Guild: guild, User: 1, Out: true, At: id(2000).Time()})
}

func populated(t *testing.T) *Store {
	t.Helper()
	return open(t, fixture.Dir(t, "populated", func(dir string) {
		s := openOnce(t, dir)
		populate(t, s)
		closed(t, s)
	}))
}

func populate(t *testing.T, s *Store) {
	t.Helper()
	for n := range 30 {
		apply(t, s, posted(general, n, fmt.Sprintf("number%d of the messages", n)))
	}
	drain(t, s)
	apply(t, s, posted(general, 95, "the newest"), deleted(general, 20, 92),
		edited(general, 90, "came before its message"), edited(general, 91, "never"),
		posted(general, 71, "an answer"), memory.ExternalIDSeen{Channel: general, ID: id(7), ExternalID: "seven"})
	apply(t, s, memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(71),
		Parts: []memory.MessageID{id(72)}, Question: id(6), Sources: from(general, 6),
		Prompt: sentPrompt("number")}})
}
