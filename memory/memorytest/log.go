package memorytest

import (
	"context"
	"errors"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

var (
	first  = said(general, id(1), ada, "the first text")
	second = said(general, id(2), ben, "another one")
)

// linked is a message with previews of pages.
func linked(m memory.Message, titles ...string) memory.Message {
	for _, title := range titles {
		m.Links = append(m.Links, memory.Link{Title: title})
	}
	return m
}

func toldOf(m memory.Message, file int64, text string) memory.Told {
	return memory.Told{Guild: m.Guild, Channel: m.Channel, ID: m.ID, File: file, Text: text}
}

var logCases = []testCase{
	{"a message comes back as it was logged", nil, func(t *harness) {
		full := memory.Message{
			ID: id(7), Guild: guild, Channel: general, Author: ada, Kind: memory.FromWebhook,
			Content: "grüße 你好 \u202e🎉",
			Files:   []memory.File{{Name: "plan.pdf", Description: "of the lighthouse"}, {Name: "b"}},
			Edited:  began.Add(time.Hour + 7*time.Millisecond), ReplyTo: id(3), Mentions: []memory.UserID{ben, ada},
		}
		empty := said(general, id(8), ben, "")
		empty.Files = []memory.File{{Name: "only.png"}}
		before2015 := said(general, memory.FirstMessageID(time.Date(2009, 5, 1, 0, 0, 0, 0, time.UTC)), ada,
			"明日は東京へ行きます")
		t.post(full, empty, before2015)
		t.same("the messages", t.around(general, []memory.MessageID{full.ID, empty.ID, before2015.ID}, 0, 0),
			[]memory.Message{before2015, full, empty})
		t.same("found by what a file is called", t.find(in(general), "lighthouse"), []memory.MessageID{full.ID})
		t.same("found in a script without spaces", t.find(in(general), "東京"), []memory.MessageID{before2015.ID})
	}},
	{"no event at all is nothing to fail at", nil, func(t *harness) {
		t.apply()
		t.apply(deletes(nowhere))
	}},
	{"an older version never replaces a newer", steps{post(edited(first, 2, "nine o'clock")), post(first),
		edits(first, 1, "eight o'clock")}, func(t *harness) {
		t.same("the message", t.log(general), []memory.Message{edited(first, 2, "nine o'clock")})
	}},
	{"a link's preview comes after its message, in any order, and takes nothing away", steps{linked(first, "Tides at noon"),
		func(t *harness) {
			t.answers(9, repeated(general, first.ID, 0))
			t.post(first, linked(first, "Boats", "Tides at noon"), first)
			t.same("links", t.log(general)[0].Links, []memory.Link{{Title: "Boats"}, {Title: "Tides at noon"}})
			t.same("found by its preview", t.find(in(general), "boats"), []memory.MessageID{first.ID})
			_, stays := t.trace(general, id(9))
			t.same("what was made from it stays", stays, true)
			t.post(edited(first, 2, "without them"))
			t.same("after an edit", t.log(general), []memory.Message{edited(first, 2, "without them")})
			t.same("found by its old preview", t.find(in(general), "boats"), []memory.MessageID(nil))
		}}, nil},
	{"what a model told of a file is part of its message", steps{toldOf(first, 7, "too early"), func(t *harness) {
		voice := first
		voice.Files = []memory.File{{Name: "voice.ogg", ID: 7, Kind: memory.VoiceFile}, {Name: "cat.png", ID: 8, Kind: memory.ImageFile}}
		t.post(voice)
		t.answers(9, repeated(general, first.ID, 0))
		t.apply(toldOf(first, 7, "meet at the lighthouse"), toldOf(first, 7, "the second time"), toldOf(first, 9, "unknown"),
			toldOf(second, 7, "unknown"))
		voice.Files[0].Told = "meet at the lighthouse"
		t.same("the message", t.log(general)[0], voice)
		t.same("found by what is said", t.find(in(general), "lighthouse"), []memory.MessageID{first.ID})
		_, stays := t.trace(general, id(9))
		t.same("what was made from it stays", stays, true)
		newer := edited(voice, 2, "look")
		newer.Files = []memory.File{{Name: "voice.ogg", ID: 7, Kind: memory.VoiceFile}}
		t.post(newer)
		newer.Files[0].Told = "meet at the lighthouse"
		t.same("after an edit", t.log(general), []memory.Message{newer})
		t.delete(general, first.ID)
		t.apply(toldOf(first, 8, "a cat"))
		t.same("found no more", t.find(in(general), "lighthouse"), []memory.MessageID(nil))
	}}, nil},
	{"an edit that overtakes its message waits for it", steps{edits(first, 1, "an earlier text"),
		edits(first, 2, "the second text")},
		func(t *harness) {
			t.same("before it comes", t.log(general), []memory.Message(nil))
			t.post(first)
			t.same("after it came", t.log(general), []memory.Message{edited(first, 2, "the second text")})
		}},
	{"a delete that overtakes its message wins, in its channel",
		steps{edits(first, 60, "remorse"), deletes(general, first.ID),
			post(first), edits(first, 120, "remorse"),
			post(said(staff, first.ID, ada, "the same id elsewhere"))}, func(t *harness) {
			t.same("the logs", append(t.log(general), t.log(staff)...),
				[]memory.Message{said(staff, first.ID, ada, "the same id elsewhere")})
		}},
	{"a deleted message is found by nothing, nor is what was said before an edit",
		steps{post(first), post(second), memory.ExternalIDSeen{Channel: general, ID: first.ID, ExternalID: "m1"}}, func(t *harness) {
			t.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: first.ID}})
			for _, change := range []memory.Event{edits(first, 1, "we meet at the museum"),
				deletes(general, first.ID)} {
				t.embedAll()
				t.apply(change)
				t.compare() // before it is embedded again
				t.embedAll()
				t.compare()
			}
			t.same("the log", t.log(general), []memory.Message{second})
			t.same("found", t.find(in(general), "first text meet museum"), []memory.MessageID(nil))
			t.post(first)
		}},
	{"what Hark answered and what Discord noted is logged, but neither found nor counted", steps{
		post(said(general, id(1), hark, "the boiler was serviced")), post(notice(id(2))),
	}, func(t *harness) {
		t.same("the log", idsOf(t.log(general)), []memory.MessageID{id(1), id(2)})
		t.same("found", t.find(in(general), "boiler"), []memory.MessageID(nil))
		t.same("pending", t.pending(), []memory.Segment(nil))
	}},
	{"a batch is applied wholly or not at all", nil, func(t *harness) {
		ctx, cancel := context.WithCancel(t.ctx)
		cancel()
		var batch []memory.Message
		for i := range 50 {
			batch = append(batch, said(general, id(i), ada, "all or none"))
		}
		err := t.store.Apply(ctx, posted(batch...)...)
		if n := len(t.log(general)); err == nil && n != 50 || err != nil && n != 0 {
			t.Fatalf("Apply gave %v, and %d of 50 messages are there", err, n)
		}
		if err == nil {
			t.model.apply(posted(batch...)...)
		}
		if err := t.store.Apply(t.ctx, post(said(staff, id(1), ada, "beside what is refused")),
			memory.Spent{Guild: guild}); !errors.Is(err, memory.ErrRefused) {
			t.Fatalf("what can't be spent: %v", err)
		}
		t.same("what came with what is refused", t.log(staff), []memory.Message(nil))
	}},
	{"direct messages and local ones belong to guilds of their own", nil, func(t *harness) {
		direct, reply := said(931, id(1), ada, "between us"), said(931, id(2), ben, "jasmine")
		direct.Guild, reply.Guild = memory.DirectGuild, memory.DirectGuild
		t.post(direct, reply, said(general, id(1), ada, "in a guild"), said(local, id(1), ada, "at the terminal"))
		t.compare()
		t.same("how many are forgotten",
			t.forget(memory.Forgetting{Guild: memory.DirectGuild, User: ada, Why: memory.WhyMember}).Messages, 1)
		t.same("what stays", append(t.log(931), append(t.log(general), t.log(local)...)...),
			[]memory.Message{reply, said(general, id(1), ada, "in a guild"),
				said(local, id(1), ada, "at the terminal")})
	}},
	{"a message has one name, and a name one message of its channel: the first given stays", steps{
		memory.ExternalIDSeen{Channel: general, ID: first.ID, ExternalID: "early"}, post(first), post(second),
		post(said(staff, first.ID, ada, "elsewhere")), memory.ExternalIDSeen{Channel: general, ID: first.ID, ExternalID: "a"},
		memory.ExternalIDSeen{Channel: general, ID: first.ID, ExternalID: "b"},
		memory.ExternalIDSeen{Channel: general, ID: second.ID, ExternalID: "a"},
		memory.ExternalIDSeen{Channel: staff, ID: first.ID, ExternalID: "b"}, func(t *harness) {
			t.same("by name", []memory.MessageID{t.named(general, "a"), t.named(general, "b"), t.named(staff, "b"),
				t.named(general, "early")}, []memory.MessageID{first.ID, 0, first.ID, 0})
		}, deletes(general, first.ID), memory.ExternalIDSeen{Channel: general, ID: first.ID, ExternalID: "a"},
	}, func(t *harness) { t.same("of what is gone", t.named(general, "a"), memory.MessageID(0)) }},
	{"the log comes in pages", nil, func(t *harness) {
		var all []memory.Message
		for i := range 9 {
			all = append(all, said(general, id(i), ada, "page"))
		}
		t.post(all...)
		for _, c := range []struct {
			after, until memory.MessageID
			limit        int
			want         []memory.Message
		}{
			{0, never, 100, all}, {id(2), id(5), 100, all[3:6]}, {id(2), id(5), 2, all[3:5]},
			{id(2) - 1, id(5) - 1, 9, all[2:5]},
			{id(5), id(2), 9, nil}, {id(3), id(3), 9, nil}, {0, never, 0, nil}, {id(8), never, 9, nil},
		} {
			t.same("a page", got(t.store.Log(t.ctx, general, c.after, c.until, c.limit))(t), c.want)
		}
	}},
}

var searchCases = []testCase{
	{"a scope is of channels, times and authors, and the zero scope holds nothing", nil, func(t *harness) {
		var all []memory.MessageID
		for i := range 5 {
			all = append(all, id(i))
			t.post(said(general, id(i), []memory.UserID{ada, ben}[i%2], "tide"), said(staff, id(i), ada, "tides"))
		}
		t.embedAll()
		for _, c := range []struct {
			scope memory.Scope
			want  []memory.MessageID
		}{
			{memory.Scope{}, nil}, {in(nowhere), nil}, {in(general), all},
			{memory.Scope{Since: began.Add(2 * time.Second)}, all[2:]},
			{memory.Scope{Until: began.Add(2 * time.Second)}, all[:2]},
			{memory.Scope{Since: began.Add(time.Second + 1)}, all[2:]},
			{memory.Scope{Until: began.Add(time.Second + 1)}, all[:2]},
			{memory.Scope{Since: began.Add(3 * time.Second), Until: began.Add(3 * time.Second)}, nil},
			{memory.Scope{Authors: []memory.UserID{ben}}, []memory.MessageID{id(1), id(3)}},
			{memory.Scope{Authors: []memory.UserID{4711}}, nil},
		} {
			if len(c.scope.Authors) > 0 || !c.scope.Since.IsZero() || !c.scope.Until.IsZero() {
				c.scope.Channels = []memory.ChannelID{general, nowhere, general}
			}
			t.same("found", t.find(c.scope, "tide"), c.want)
			t.compareFound(c.scope, text.QueryTerms("tide"), 100)
		}
	}},
	{"activity is counted by day in UTC, from the newest messages of each channel, whatever their kind", nil,
		func(t *harness) {
			march := func(year, day, hour int) time.Time { return time.Date(year, 3, day, hour, 0, 0, 0, time.UTC) }
			at := func(year, day, hour int) memory.MessageID { return memory.FirstMessageID(march(year, day, hour)) }
			on := func(year, day int, author memory.UserID, messages int) memory.Activity {
				return memory.Activity{Day: march(year, day, 0), Author: author, Messages: messages}
			}
			t.post(said(general, at(1969, 1, 23), ada, "then"), said(general, at(2014, 1, 0), ben, "then"),
				said(general, at(2024, 1, 0)-1, ada, "before midnight"), said(general, at(2024, 1, 0), ada, "midnight"),
				said(general, at(2024, 1, 12), hark, "at noon"), notice(at(2024, 1, 13)),
				said(general, at(2024, 2, 0)-1, ben, "late"),
				said(staff, at(2024, 1, 5), ada, "at work"), said(square, at(2024, 1, 6), ada, "outside"))
			all := in(general, staff, square)
			since := all
			since.Since, since.Until = march(2024, 1, 0), march(2024, 1, 13)
			of := since
			of.Authors = []memory.UserID{ada}
			for _, c := range []struct {
				scope    memory.Scope
				byAuthor bool
				limit    int
				want     []memory.Activity
			}{
				{memory.Scope{}, false, 0, nil}, {in(nowhere), true, 0, nil},
				{in(general, nowhere, general), false, 2, []memory.Activity{on(2024, 1, 0, 2)}},
				{all, false, 0, []memory.Activity{on(1969, 1, 0, 1), on(2014, 1, 0, 1), on(2024, 0, 0, 1),
					on(2024, 1, 0, 6)}},
				{all, false, 1, []memory.Activity{on(2024, 1, 0, 3)}},
				{since, true, 0, []memory.Activity{on(2024, 1, ada, 3), on(2024, 1, hark, 1)}},
				{since, true, 1, []memory.Activity{on(2024, 1, ada, 2), on(2024, 1, hark, 1)}},
				{of, true, 1, []memory.Activity{on(2024, 1, ada, 2)}},
				{of, false, 0, []memory.Activity{on(2024, 1, 0, 3)}},
			} {
				t.same("activity", got(t.store.Activity(t.ctx, c.scope, c.byAuthor, c.limit))(t), c.want)
				t.same("by the model", t.model.activity(c.scope, c.byAuthor, c.limit), c.want)
			}
			t.forget(memory.Forgetting{Guild: guild, User: ada})
			t.same("what is left", got(t.store.Activity(t.ctx, since, true, 0))(t),
				[]memory.Activity{on(2024, 1, ada, 1), on(2024, 1, hark, 1)})
		}},
	{"what is starred is found, the newest first", nil, func(t *harness) {
		for i, channel := range []memory.ChannelID{general, general, staff, general, general} {
			t.apply(stars(channel, id(i), true, 2),
				post(said(channel, id(i), []memory.UserID{ada, ben, ada, ada, hark}[i], "ferry")),
				stars(channel, id(i), false, 1))
		}
		t.apply(stars(general, id(3), false, 3))
		t.same("starred", got(t.store.Starred(t.ctx, in(general, staff), 2))(t),
			[]memory.MessageRef{spot(staff, id(2)), spot(general, id(1))})
	}},
	{"full text never fails for what the terms are", nil, func(t *harness) {
		t.post(said(general, id(1), ada, "AND OR NOT NEAR * ferry"))
		for _, terms := range [][]string{
			nil, {}, {""}, {`"`}, {"'"}, {"*"}, {"a*"}, {"AND"}, {"OR", "NOT"}, {"NEAR(a b)"}, {"content:ferri"},
			{"^ferri"}, {"-"}, {"a b"}, {"\x00"}, {"\xff"}, {")("},
			{"ferri", "", `"`}, {"\u202e"}, slices.Repeat([]string{"ferri"}, 500),
		} {
			if hits := got(t.store.FullText(t.ctx, in(general), terms, 10))(t); len(hits) > 1 {
				t.Fatalf("FullText(%q): %v", terms, hits)
			}
			if _, counts, err := t.store.Frequencies(t.ctx, in(general), terms, 10); err != nil ||
				len(counts) != len(terms) {
				t.Fatalf("Frequencies(%q): %v, %v", terms, counts, err)
			}
		}
		t.same("none wanted", got(t.store.FullText(t.ctx, in(general), []string{"ferri"}, 0))(t), []memory.TextHit(nil))
	}},
	{"there are no vectors until something is embedded, nor in another space", nil, func(t *harness) {
		t.post(said(general, id(1), ada, "ferry"))
		near := func(space memory.Space) error {
			_, err := t.store.Nearest(t.ctx, in(general), space, embedText("ferry"), 5)
			return err
		}
		space := Embedder{}.Space()
		t.same("before", errors.Is(near(space), memory.ErrNoVectors), true)
		t.embedAll()
		t.same("in the space in use", near(space), error(nil))
		t.same("that space", got(t.store.Space(t.ctx))(t), space)
		for _, other := range []memory.Space{{}, {Name: "another", Version: 1, Dimensions: space.Dimensions},
			{Name: space.Name, Version: space.Version + 1, Dimensions: space.Dimensions}} {
			t.same("in another", errors.Is(near(other), memory.ErrNoVectors), true)
		}
	}},
	{"the nearest segment is the one that speaks of it", nil, func(t *harness) {
		for i, topic := range topics {
			t.post(said([]memory.ChannelID{general, staff}[i%2], id(i*3600), ada, topic))
		}
		t.embedAll()
		for i, topic := range topics {
			hits := t.nearest(in(general, staff), topic, 3)
			if len(hits) == 0 || !slices.Contains(hits[0].Messages, id(i*3600)) {
				t.Fatalf("%q found %+v", topic, hits)
			}
			t.compareFound(in(general, staff), text.QueryTerms(topic), 3)
		}
	}},
	{"a segment is pending from the commit that changed it, and the queue wakes", nil, func(t *harness) {
		for _, change := range []memory.Event{post(first), edits(first, 1, "the ferry leaves at two")} {
			t.apply(change)
			select {
			case <-t.store.Wake():
			default:
				t.Fatalf("the queue didn't wake")
			}
			t.same("pending", len(t.pending()), 1)
			t.embedAll()
		}
	}},
	{"what is pending comes the oldest first, as much as is wanted, and counts down to nothing", nil, func(t *harness) {
		for i := range 6 {
			t.post(said(general, id(i*7200), ada, topics[i]))
		}
		for i := range 6 {
			t.same("waiting", got(t.store.Waiting(t.ctx, guild))(t), 6-i)
			segments := got(t.store.Pending(t.ctx, 1))(t)
			if len(segments) != 1 || segments[0].Messages[0].ID != id(i*7200) {
				t.Fatalf("Pending(1): %+v", segments)
			}
			t.embedded(segments)
		}
		t.same("at the end", t.pending(), []memory.Segment(nil))
	}},
	{"every message lies in exactly one segment, in order, however late it comes", nil, func(t *harness) {
		var all []memory.MessageID
		for i := range 60 {
			m := said(general, id(i*70+i/20*3600), authors[i*i%4], topics[i%len(topics)])
			if i%5 == 3 {
				m.ReplyTo = all[i-2]
			}
			all = append(all, m.ID)
			t.post(m)
		}
		t.compare()
		t.post(said(general, id(35), ben, "this came late"))
	}},
	{"a vector of a segment that has changed meanwhile is dropped", steps{post(first)}, func(t *harness) {
		stale := t.pending()
		for _, change := range []memory.Event{edits(first, 1, "never mind"), deletes(general, first.ID)} {
			t.apply(change)
			t.embedded(stale)
			t.same("near", t.nearest(in(general), "the first text", 5), []memory.VectorHit(nil))
		}
	}},
	{"what is embedded, changed or deleted after somebody has looked is near, or near no more", nil, func(t *harness) {
		for _, change := range []memory.Event{post(first), post(said(general, id(7200), ada, "barley")),
			edits(first, 1, "cinnamon"), edits(first, 2, "?!"), deletes(general, first.ID)} {
			t.apply(change)
			t.compare()
			t.embedAll()
			t.compare()
		}
		t.same("near what is left", len(t.nearest(in(general), "barley", 5)), 1)
	}},
}

var topics = []string{
	"the ferry leaves the harbour at noon", "tomatoes want sun and water", "our printer jams on thick paper",
	"grandmother's recipe needs cinnamon", "chess club meets on thursday", "the bicycle has a flat tyre",
}
