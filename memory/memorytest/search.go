package memorytest

import (
	"errors"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

var searchPromises = []promise{
	{"full text finds the messages in scope that hold one of the terms, best first", func(t *trial) {
		t.post(said(general, id(1), ada, "The ferry leaves at noon"), said(general, id(2), ben, "Noon it is"),
			said(staff, id(3), ada, "The ferry is full"), said(general, id(4), ada, "Nothing of the kind"))
		t.same("one channel", sorted(t.find(in(general), "ferry noon")), []memory.MessageID{id(1), id(2)})
		t.same("two channels", sorted(t.find(in(staff, general, nowhere, general), "ferries")), []memory.MessageID{id(1), id(3)})
		t.same("nothing", t.find(in(general), "zeppelin"), []memory.MessageID(nil))
		hits, err := t.store.FullText(t.ctx, in(general, staff), []string{"ferri", "noon"}, 2)
		if err != nil || len(hits) != 2 || hits[0].Score < hits[1].Score {
			t.Fatalf("limited to two: %+v, %v", hits, err)
		}
	}},
	{"files are found by what they are called", func(t *trial) {
		m := said(general, id(1), ada, "")
		m.Files = []memory.File{{Name: "blueprint.pdf", Description: "of the lighthouse"}}
		t.post(m)
		t.same("found", t.find(in(general), "lighthouse"), []memory.MessageID{m.ID})
	}},
	{"text in scripts without spaces is found", func(t *trial) {
		t.post(said(general, id(1), ada, "明日は東京へ行きます"), said(general, id(2), ben, "大阪は雨です"))
		t.same("found", t.find(in(general), "東京"), []memory.MessageID{id(1)})
	}},
	{"the zero scope holds nothing", func(t *trial) {
		t.post(said(general, id(1), ada, "ferry"))
		t.embedAll()
		t.same("FullText", t.find(memory.Scope{}, "ferry"), []memory.MessageID(nil))
		t.same("Nearest", t.nearest(memory.Scope{}, "ferry", 5), []memory.VectorHit(nil))
		t.same("Presence", t.presence(memory.Scope{}, ada), map[memory.UserID]memory.Presence{})
		n, counts := t.frequencies(memory.Scope{}, "ferry")
		t.same("Frequencies", append(counts, n), []int{0, 0})
	}},
	{"a scope begins at Since and ends before Until", func(t *trial) {
		var all []memory.MessageID
		for i := range 5 {
			all = append(all, id(i))
			t.post(said(general, id(i), ada, "tide"))
		}
		for _, c := range []struct {
			since, until time.Duration
			want         []memory.MessageID
		}{
			{0, 0, all}, {2 * time.Second, 0, all[2:]}, {0, 2 * time.Second, all[:2]}, {time.Second, 3 * time.Second, all[1:3]},
			{time.Second + 1, 0, all[2:]}, {0, time.Second + 1, all[:2]}, {3 * time.Second, 3 * time.Second, nil}, {time.Hour, 0, nil},
		} {
			scope := in(general)
			if c.since > 0 {
				scope.Since = began.Add(c.since)
			}
			if c.until > 0 {
				scope.Until = began.Add(c.until)
			}
			t.same("between "+c.since.String()+" and "+c.until.String(), sorted(t.find(scope, "tide")), c.want)
		}
		scope := in(general)
		scope.Since = began.Add(time.Hour)
		t.same("presence, however long ago", t.presence(scope, ada)[ada].Messages, 5)
	}},
	{"a scope may be of some authors only", func(t *trial) {
		t.post(said(general, id(1), ada, "the ferry leaves"), said(general, id(2), ben, "which ferry"), said(general, id(3), ada, "that ferry"))
		t.embedAll()
		for _, c := range []struct {
			authors []memory.UserID
			want    []memory.MessageID
		}{
			{nil, []memory.MessageID{id(1), id(2), id(3)}}, {[]memory.UserID{ada}, []memory.MessageID{id(1), id(3)}},
			{[]memory.UserID{ben, ada}, []memory.MessageID{id(1), id(2), id(3)}}, {[]memory.UserID{4711}, nil},
		} {
			scope := in(general)
			scope.Authors = c.authors
			t.same("full text", sorted(t.find(scope, "ferry")), c.want)
			var near []memory.MessageID
			for _, h := range t.nearest(scope, "ferry", 5) {
				near = append(near, h.Messages...)
			}
			t.same("nearest", sorted(near), c.want)
			t.same("presence of all the same", t.presence(scope, ben)[ben].Messages, 1)
			n, counts := t.frequencies(scope, "ferry")
			t.same("frequencies of all the same", append(counts, n), []int{3, 3})
		}
	}},
	{"what is starred is found in scope", func(t *trial) {
		t.post(said(general, id(1), ada, "one"), said(general, id(2), ben, "two"), said(staff, id(3), ada, "three"), said(general, id(4), ada, "four"))
		answer := said(general, id(5), ben, "five")
		answer.Kind = memory.FromHark
		t.post(answer)
		star := func(channel memory.ChannelID, message memory.MessageID, on bool, minutes int) {
			t.apply(memory.Starred{Guild: guild, Channel: channel, ID: message, On: on, At: began.Add(time.Duration(minutes) * time.Minute)})
		}
		for i, channel := range []memory.ChannelID{general, general, staff, general, general} {
			star(channel, id(i+1), i != 3, 1)
		}
		one, two, three := memory.Spot{Channel: general, Message: id(1)}, memory.Spot{Channel: general, Message: id(2)}, memory.Spot{Channel: staff, Message: id(3)}
		t.same("everywhere, newest first", t.starred(in(general, staff), 9), []memory.Spot{three, two, one})
		t.same("the newest", t.starred(in(general, staff), 2), []memory.Spot{three, two})
		t.same("in a channel", t.starred(in(general), 9), []memory.Spot{two, one})
		t.same("nowhere", t.starred(in(nowhere), 9), []memory.Spot(nil))
		scope := in(general, staff)
		scope.Authors = []memory.UserID{ada}
		t.same("by somebody", t.starred(scope, 9), []memory.Spot{three, one})
		scope.Since = id(2).Time()
		t.same("since", t.starred(scope, 9), []memory.Spot{three})
		star(general, id(2), false, 2)
		t.delete(staff, id(3))
		t.same("marked no longer, or gone", t.starred(in(general, staff), 9), []memory.Spot{one})
	}},
	{"full text never fails for what the terms are", func(t *trial) {
		t.post(said(general, id(1), ada, "AND OR NOT NEAR * ferry"))
		for _, terms := range [][]string{
			nil, {}, {""}, {`"`}, {"'"}, {"*"}, {"a*"}, {"AND"}, {"OR", "NOT"}, {"NEAR(a b)"}, {"content:ferri"}, {"^ferri"}, {"-"},
			{"a b"}, {"\x00"}, {"\xff"}, {")("}, {"ferri", "", `"`}, {"\u202e"}, slices.Repeat([]string{"ferri"}, 500),
		} {
			hits, err := t.store.FullText(t.ctx, in(general), terms, 10)
			if err != nil || len(hits) > 1 {
				t.Fatalf("FullText(%q): %v, %v", terms, hits, err)
			}
			if _, counts, err := t.store.Frequencies(t.ctx, in(general), terms, 10); err != nil || len(counts) != len(terms) {
				t.Fatalf("Frequencies(%q): %v, %v", terms, counts, err)
			}
		}
		hits, err := t.store.FullText(t.ctx, in(general), []string{"ferri"}, 0)
		if err != nil || len(hits) != 0 {
			t.Fatalf("none wanted: %v, %v", hits, err)
		}
	}},
	{"frequencies are of the scope's channels only", func(t *trial) {
		t.post(said(general, id(1), ada, "ferry ferry"), said(staff, id(2), ben, "ferry noon"), said(local, id(3), ben, "ferry"))
		n, counts := t.frequencies(in(general), "ferry noon zeppelin")
		t.same("counts", append(counts, n), []int{1, 0, 0, 1})
		n, counts = t.frequencies(in(general, staff, local, nowhere), "ferry noon")
		t.same("counts of two guilds", append(counts, n), []int{3, 1, 3})
		t.delete(staff, id(2))
		n, counts = t.frequencies(in(general, staff), "ferry noon")
		t.same("counts after a delete", append(counts, n), []int{1, 0, 1})
	}},
	{"presence is of the scope's channels only", func(t *trial) {
		t.post(said(general, id(1), ada, "a"), said(general, id(5), ada, "b"), said(staff, id(9), ada, "c"), said(staff, id(2), ben, "d"))
		want := map[memory.UserID]memory.Presence{ada: {Messages: 2, Last: id(5).Time()}}
		t.same("one channel", t.presence(in(general), ada, ben, hark), want)
		want = map[memory.UserID]memory.Presence{ada: {Messages: 3, Last: id(9).Time()}, ben: {Messages: 1, Last: id(2).Time()}}
		t.same("two channels", t.presence(in(general, staff), ada, ben), want)
		t.delete(general, id(5))
		t.same("after a delete", t.presence(in(general), ada)[ada], memory.Presence{Messages: 1, Last: id(1).Time()})
	}},
	{"there are no vectors until something is embedded", func(t *trial) {
		t.post(said(general, id(1), ada, "ferry"))
		if _, err := t.store.Nearest(t.ctx, in(general), Embedder{}.Space(), embed("ferry"), 5); !errors.Is(err, memory.ErrNoVectors) {
			t.Fatalf("Nearest: %v", err)
		}
	}},
	{"the nearest segment is the one that speaks of it", func(t *trial) {
		t.topics()
		for _, c := range topics {
			hits := t.nearest(in(general, staff), c, 3)
			if len(hits) == 0 || !slices.ContainsFunc(hits[0].Messages, func(id memory.MessageID) bool {
				return t.messages(hits[0].Channel, id)[0].Content == c
			}) {
				t.Fatalf("%q found %+v", c, hits)
			}
			if !slices.IsSortedFunc(hits, func(a, b memory.VectorHit) int {
				if a.Similarity >= b.Similarity {
					return -1
				}
				return 1
			}) {
				t.Fatalf("not nearest first: %+v", hits)
			}
		}
		if hits := t.nearest(in(general, staff), topics[0], 2); len(hits) != 2 {
			t.Fatalf("%d hits of two wanted", len(hits))
		}
	}},
	{"the nearest segments are in scope, and of them only the messages in scope", func(t *trial) {
		t.topics()
		for _, hit := range t.nearest(in(staff), topics[0], 50) {
			if hit.Channel != staff {
				t.Fatalf("a hit in channel %d", hit.Channel)
			}
		}
		scope := in(general)
		scope.Since, scope.Until = began.Add(time.Hour), began.Add(3*time.Hour)
		hits := t.nearest(scope, topics[0], 50)
		if len(hits) == 0 {
			t.Fatalf("no hits between the bounds")
		}
		for _, hit := range hits {
			if len(hit.Messages) == 0 || !slices.IsSorted(hit.Messages) {
				t.Fatalf("messages %v", hit.Messages)
			}
			for _, id := range hit.Messages {
				if !within(scope, memory.Message{ID: id}) {
					t.Fatalf("a message of %s", id.Time())
				}
			}
		}
		t.same("an unknown channel", t.nearest(in(nowhere), topics[0], 5), []memory.VectorHit(nil))
	}},
}

// topics are as many texts that share no word.
var topics = []string{
	"the ferry leaves the harbour at noon", "tomatoes want sun and water", "our printer jams on thick paper",
	"grandmother's recipe needs cinnamon", "chess club meets on thursday", "the bicycle has a flat tyre",
}

// topics posts the texts, an hour apart, in two channels in turn, and embeds them.
func (t *trial) topics() {
	t.Helper()
	for i, content := range topics {
		t.post(said([]memory.ChannelID{general, staff}[i%2], id(i*3600), ada, content))
	}
	t.embedAll()
}

// frequencies are of the terms of a question.
func (t *trial) frequencies(scope memory.Scope, question string) (int, []int) {
	t.Helper()
	terms := text.QueryTerms(question)
	n, counts, err := t.store.Frequencies(t.ctx, scope, terms, 1000)
	if err != nil || len(counts) != len(terms) {
		t.Fatalf("Frequencies(%q): %v, %v", terms, counts, err)
	}
	return n, counts
}

func sorted(ids []memory.MessageID) []memory.MessageID {
	slices.Sort(ids)
	return ids
}
