package memorytest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hark/internal/text"
	"hark/memory"

	"pgregory.net/rapid"
)

// machine does the same to a store and to the model.
type machine struct {
	*trial
	t       *rapid.T
	model   *model
	vectors *vectorModel
	answers int
}

// checkRandom draws operations. reopen, if not nil, opens a store again that was closed.
func checkRandom(t *testing.T, open, reopen func(t testing.TB) memory.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{
			trial: &trial{fataler: rt, ctx: context.Background(), store: open(t)},
			t:     rt, model: newModel(), vectors: newVectorModel(),
		}
		defer func() {
			if err := m.store.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		m.both(memory.GuildSeen{Guild: town()},
			memory.ChannelSeen{Channel: memory.Channel{ID: local, Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: "local"}})
		actions := map[string]func(*rapid.T){
			"messages":  m.someMessages,
			"messages2": m.someMessages,
			"structure": func(t *rapid.T) { m.both(drawStructureEvent(t)) },
			"answer":    m.answer,
			"embed":     m.embed,
			"log":       m.compareLog,
			"search":    m.compareSearch,
			"guilds":    m.compareGuilds,
		}
		if reopen != nil {
			actions["reopen"] = func(*rapid.T) {
				if err := m.store.Close(); err != nil {
					rt.Fatalf("close: %v", err)
				}
				m.store = reopen(t)
			}
		}
		rt.Repeat(actions)
		m.compareLog(rt)
		m.compareGuilds(rt)
		m.compareSearch(rt)
		m.checkQueue()
		m.embedAllAsModel()
		m.compareSearch(rt)
	})
}

// both applies events to the store and to the model.
func (m *machine) both(events ...memory.Event) {
	m.apply(events...)
	m.model.apply(events...)
}

func (m *machine) someMessages(t *rapid.T) {
	var batch []memory.Event
	for range rapid.IntRange(1, 6).Draw(t, "events") {
		e := drawMessageEvent(t)
		batch = append(batch, e)
		if p, ok := e.(memory.Posted); ok && rapid.IntRange(0, 3).Draw(t, "named?") == 0 {
			name := rapid.SampledFrom([]string{"a", "b", "D1:1", "it's \"so\""}).Draw(t, "name")
			batch = append(batch, memory.Named{Channel: p.Message.Channel, ID: p.Message.ID, Name: name})
		}
	}
	m.both(batch...)
}

// answer has Hark answer from a message, which may be gone or yet to come.
func (m *machine) answer(t *rapid.T) {
	channel, slot := drawSlot(t)
	m.answers++
	reply := said(channel, slotID(slots)+memory.MessageID(100*m.answers), hark, "so I heard")
	reply.Kind = memory.FromHark
	source, n := drawSlot(t)
	recalled := func(channel memory.ChannelID, slot int) int64 {
		if now, ok := m.model.message(place{channel, slotID(slot)}); ok && rapid.IntRange(0, 3).Draw(t, "as it is?") > 0 {
			return editedAt(now)
		}
		return editedAt(version(channel, slot, rapid.IntRange(0, versions-1).Draw(t, "version recalled")))
	}
	trace := memory.Trace{
		Guild: reply.Guild, Channel: channel, Answer: reply.ID, Question: slotID(slot), QuestionEdited: recalled(channel, slot), Asker: ada,
		Recalled: []memory.TraceHit{
			{Channel: source, Message: slotID(n), Why: []string{"words"}, Number: rapid.IntRange(0, 1).Draw(t, "number"), Edited: recalled(source, n)},
			{Channel: source, Message: slotID(n) + 1<<30, Why: []string{"around"}, Context: true},
		},
		Sections: []memory.TraceUse{{Section: "history"}},
	}
	if rapid.Bool().Draw(t, "at once") {
		m.both(memory.Posted{Message: reply}, memory.Answered{Trace: trace})
		return
	}
	m.both(memory.Posted{Message: reply})
	m.keep(trace)
	m.model.keepTrace(trace)
}

func (m *machine) compareLog(t *rapid.T) {
	channel := rapid.SampledFrom(append(channels, nowhere)).Draw(t, "channel")
	log := m.model.log(channel)
	every := idsOf(log)
	for n := range slots {
		every = append(every, slotID(n))
	}
	m.same("Messages", m.messages(channel, every...), plain(log))
	ids, before, after := drawIDs(t), rapid.IntRange(0, 4).Draw(t, "before"), rapid.IntRange(0, 4).Draw(t, "after")
	m.same("Around", m.around(channel, ids, before, after), plain(m.model.around(channel, ids, before, after)))

	names := map[memory.MessageID]string{}
	for at, name := range m.model.names {
		if at.channel == channel {
			names[at.id] = name
			m.same("MessageNamed", m.named(channel, name), at.id)
		}
	}
	m.same("NameOf", m.names(channel, every...), names)
	for _, id := range every {
		want, kept := m.model.traces[place{channel, id}]
		got, ok := m.trace(channel, id)
		m.same("whether there is a trace", ok, kept)
		m.same("Trace", got, want)
	}
}

func (m *machine) compareGuilds(*rapid.T) {
	guilds, err := m.store.Guilds(m.ctx)
	if err != nil {
		m.Fatalf("Guilds: %v", err)
	}
	m.same("Guilds", guilds, []memory.GuildID{memory.LocalGuild, guild})
	for _, id := range guilds {
		m.same("Guild", normal(m.guild(id)), normal(m.model.whole(id)))
		m.same("People", m.people(id), m.model.everybody(id))
	}
}

func (m *machine) compareSearch(t *rapid.T) {
	scope := drawScope(t)
	m.same("Presence", m.presence(scope, authors...), m.model.presence(scope, authors))
	terms := text.Terms(strings.Join(drawWords(t), " "))
	m.compareFullText(scope, terms, rapid.IntRange(1, 12).Draw(t, "limit"))
	m.compareFrequencies(scope, terms, rapid.IntRange(1, 40).Draw(t, "count to"))
	m.checkQueue()
	m.compareNearest(scope, strings.Join(drawWords(t), " "), rapid.IntRange(1, 12).Draw(t, "nearest"))
}

func (m *machine) compareFullText(scope memory.Scope, terms []string, limit int) {
	want := m.model.fullText(scope, terms)
	hits, err := m.store.FullText(m.ctx, scope, terms, limit)
	if err != nil || len(hits) != min(limit, len(want)) {
		m.Fatalf("FullText(%+v, %q, %d) gave %d hits of %d, %v", scope, terms, limit, len(hits), len(want), err)
	}
	met := map[place]bool{}
	for i, h := range hits {
		at := place{h.Channel, h.ID}
		if !want[at] || met[at] {
			m.Fatalf("FullText(%+v, %q): hit %+v doesn't match, or comes twice", scope, terms, h)
		}
		if met[at] = true; i > 0 && h.Score > hits[i-1].Score {
			m.Fatalf("FullText: not best first: %+v", hits)
		}
	}
}

func (m *machine) compareFrequencies(scope memory.Scope, terms []string, limit int) {
	total, counts := m.model.frequencies(scope, terms)
	gotTotal, got, err := m.store.Frequencies(m.ctx, scope, terms, limit)
	if err != nil || len(got) != len(terms) {
		m.Fatalf("Frequencies(%q): %v, %v", terms, got, err)
	}
	m.same("messages", gotTotal, total)
	for i := range counts {
		m.same("how many hold "+terms[i], min(limit, got[i]), min(limit, counts[i]))
	}
}

// checkOrders applies the same events in two orders, in batches of any size.
func checkOrders(t *testing.T, open func(t testing.TB) memory.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawMessageEvent), 2, 24).Draw(rt, "events")
		orders := [][]memory.Event{events, rapid.Permutation(events).Draw(rt, "permutation")}
		want := newModel()
		want.apply(events...)
		for _, order := range orders {
			check := &trial{fataler: rt, ctx: context.Background(), store: open(t)}
			for rest := slices.Clone(order); len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(rt, "batch")
				check.apply(rest[:n]...)
				rest = rest[n:]
			}
			for _, channel := range channels {
				var every []memory.MessageID
				for n := range slots {
					every = append(every, slotID(n))
				}
				check.same("the log", check.messages(channel, every...), plain(want.log(channel)))
			}
			if err := check.store.Close(); err != nil {
				rt.Fatalf("close: %v", err)
			}
		}
	})
}

// normal is g with its roles and channels by id, and no slice nil.
func normal(g memory.Guild) memory.Guild {
	g.Roles = append([]memory.Role{}, g.Roles...)
	slices.SortFunc(g.Roles, func(a, b memory.Role) int { return compare(a.ID, b.ID) })
	channels := append([]memory.Channel{}, g.Channels...)
	slices.SortFunc(channels, func(a, b memory.Channel) int { return compare(a.ID, b.ID) })
	for i := range channels {
		channels[i].Overwrites = append([]memory.Overwrite{}, channels[i].Overwrites...)
	}
	g.Channels = channels
	return g
}
