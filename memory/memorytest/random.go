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
	replies []memory.Trace // of answers that were told
}

// checkRandom draws operations. reopen, if not nil, opens a store again that was closed.
func checkRandom(t *testing.T, open, reopen func(t testing.TB) memory.Store) {
	rapid.Check(t, operations(t, open, reopen))
}

// operations does what is drawn to a store and to the model, and compares the two.
func operations(t testing.TB, open, reopen func(t testing.TB) memory.Store) func(*rapid.T) {
	return func(rt *rapid.T) {
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
		if rapid.Bool().Draw(rt, "settled") {
			m.settle()
		}
		actions := map[string]func(*rapid.T){
			"messages":  m.someMessages,
			"messages2": m.someMessages,
			"structure": func(t *rapid.T) { m.both(drawStructureEvent(t)) },
			"people":    m.somePeople,
			"summaries": m.someSummaries,
			"condense":  m.someCondensing,
			"hearing":   func(t *rapid.T) { m.both(drawHearingEvent(t)) },
			"forget":    m.forgetSome,
			"carry out": m.carryOn,
			"answer":    m.answer,
			"answer2":   m.answer,
			"lose":      m.loseSources,
			"again":     m.tellAgain,
			"prompts":   m.forgetOldPrompts,
			"calls":     m.someCalls,
			"calls2":    m.someCalls,
			"records":   m.forgetOldRecords,
			"rewrite":   m.rewrite,
			"embed":     m.embed,
			"log":       m.compareLog,
			"search":    m.compareSearch,
			"guilds":    m.compareGuilds,
			"heard":     m.compareHeard,
			"spend":     func(t *rapid.T) { m.both(drawSpent(t)) },
			"spending":  m.compareSpending,
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
		m.compareHeard(rt)
		m.compareSpending(rt)
		m.compareSearch(rt)
		m.compareRecords(rt)
		m.checkQueue()
		m.embedAllAsModel()
		m.carryOn(rt)
		m.compareLog(rt)
		m.compareSearch(rt)
	}
}

// settle posts every second message that there can be.
func (m *machine) settle() {
	for _, channel := range channels {
		var batch []memory.Event
		for n := range slots / 2 {
			batch = append(batch, memory.Posted{Message: version(channel, 2*n, 0)})
		}
		m.both(batch...)
	}
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
		if m.isUnclear(e) {
			continue
		}
		batch = append(batch, e)
		if p, ok := e.(memory.Posted); ok && !m.drops(p.Message) && rapid.IntRange(0, 3).Draw(t, "named?") == 0 {
			name := rapid.SampledFrom([]string{"a", "b", "D1:1", "it's \"so\""}).Draw(t, "name")
			batch = append(batch, memory.Named{Channel: p.Message.Channel, ID: p.Message.ID, Name: name})
		}
	}
	m.both(batch...)
}

// drops reports whether a message isn't logged, whatever became of it.
func (m *machine) drops(message memory.Message) bool {
	return m.model.opted[member{message.Guild, message.Author}].Out || m.model.isForgotten(message)
}

// isUnclear reports whether an event is about a message that nobody may know: it may have been dropped, so that what
// becomes of what is said about it is a store's own affair.
func (m *machine) isUnclear(e memory.Event) bool {
	switch e := e.(type) {
	case memory.Edited:
		return m.isUnknown(place{e.Channel, e.ID})
	case memory.Starred:
		return m.isUnknown(place{e.Channel, e.ID})
	case memory.FactTold:
		_, told := m.model.facts[factKey{e.Guild, e.Fact.ID}]
		return !told && len(m.model.forgettings) > 0 || e.Fact.Message != 0 && m.isUnknown(place{e.Fact.Channel, e.Fact.Message})
	case memory.LoreTold:
		return slices.ContainsFunc(e.Lore.Sources, func(s memory.Spot) bool { return m.isUnknown(place{s.Channel, s.Message}) })
	}
	return false
}

func (m *machine) isUnknown(at place) bool {
	_, ok := m.model.message(at)
	return !ok && !m.model.entry(at).deleted && len(m.model.forgettings)+len(m.model.opted) > 0
}

func (m *machine) somePeople(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "events") {
		if e := drawPeopleEvent(t); !m.isUnclear(e) {
			m.both(e)
		}
	}
}

// forgetSome forgets something in the store and in the model.
func (m *machine) forgetSome(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "forget?") > 0 {
		return
	}
	if rapid.IntRange(0, 3).Draw(t, "deleted?") == 0 {
		m.both(memory.ChannelDeleted{Guild: guild, Channel: thread, At: later})
		return
	}
	f := drawForgetting(t)
	if f.Guild == guild && f.Channel != 0 && rapid.IntRange(0, 3).Draw(t, "on record elsewhere?") == 0 {
		m.both(f)
		return
	}
	alone := len(m.model.unfinished()) == 0
	want := m.model.begin(f)
	want.done = true
	got := m.forget(f)
	if m.possible(got, want); alone {
		m.same("facts, lore, summaries, records and people forgotten", []int{got.Facts, got.Lore, got.Summaries, got.Records, got.People},
			[]int{want.Facts, want.Lore, want.Summaries, want.Records, want.People})
		if got.Messages < want.Messages-m.answers {
			m.Fatalf("the receipt is %+v, want %+v", got, want.Receipt)
		}
	}
	if rapid.Bool().Draw(t, "once more") {
		m.model.begin(f).done = true
		m.same("messages forgotten by doing it again", m.forget(f).Messages, 0)
	}
	if f.Guild != memory.LocalGuild && f.Channel == 0 && f.User == 0 && f.Before.IsZero() {
		m.both(memory.GuildSeen{Guild: town(), At: later})
	}
}

// carryOn carries out what is unfinished.
func (m *machine) carryOn(*rapid.T) {
	for _, f := range m.unfinished() {
		got := m.carryOut(f.ID)
		for _, g := range m.model.forgettings {
			if w := g.Forgetting; !g.done && w.Guild == f.Guild && w.Channel == f.Channel && w.User == f.User && w.At.Equal(f.At) {
				g.done = true
				m.possible(got, g)
			}
		}
	}
	m.same("unfinished in the model", m.model.unfinished(), []memory.Forgetting(nil))
	m.same("unfinished", m.unfinished(), []memory.Forgetting(nil))
	m.compareWithdrawn()
}

// possible fails the test if a receipt has more than there was. It may have less, if others were there before it came
// to that, and whether answers count as messages is a store's own affair.
func (m *machine) possible(got memory.Receipt, want *forgetting) {
	others := 0 // that are hidden, and wait to be carried out
	for _, g := range m.model.forgettings {
		if !g.done {
			others += g.Messages + g.Facts + g.Lore + g.Summaries + g.Records
		}
	}
	if got.Messages > want.Messages+m.answers+others || got.Facts > want.Facts+others || got.Lore > want.Lore+others || got.Summaries > want.Summaries+others || got.Records > want.Records+others || got.People > want.People ||
		got.Vectors > got.Segments || got.Answers > m.answers {
		m.Fatalf("the receipt is %+v, want %+v", got, want.Receipt)
	}
}

func (m *machine) compareWithdrawn() {
	byID := func(a, b memory.Withdrawn) int { return compare(a.Message, b.Message) }
	m.same("Withdrawn", slices.SortedFunc(slices.Values(m.withdrawn()), byID), slices.SortedFunc(slices.Values(m.model.withdrawn), byID))
}

func (m *machine) compareHeard(*rapid.T) {
	m.same("HeardUntil", m.heard(guild), m.model.listened(guild))
	m.same("Gaps", m.gaps(), m.model.missing())
	m.same("Gaps to compare", m.unswept(), m.model.unswept(guild))
	m.same("Unfinished", len(m.unfinished()), len(m.model.unfinished()))
	for _, who := range authors {
		for _, where := range []memory.GuildID{guild, memory.LocalGuild} {
			m.same("OptedOut", m.optedOut(where, who), m.model.opted[member{where, who}].Out)
		}
	}
	if len(m.model.unfinished()) == 0 {
		m.compareWithdrawn()
	}
}

// answer has Hark answer from a message, which may be gone or yet to come.
func (m *machine) answer(t *rapid.T) {
	channel, slot := drawSlot(t)
	m.answers++
	reply := said(channel, slotID(slots)+memory.MessageID(100*m.answers), hark, "so I heard")
	reply.Kind = memory.FromHark
	source, n := drawSlot(t)
	if m.isUnknown(place{source, slotID(n)}) || m.isUnknown(place{channel, slotID(slot)}) {
		return
	}
	recalled := func(channel memory.ChannelID, slot int) memory.Source {
		s := repeated(channel, slotID(slot), editedAt(version(channel, slot, rapid.IntRange(0, versions-1).Draw(t, "version recalled"))))
		if now, ok := m.model.message(place{channel, slotID(slot)}); ok && rapid.IntRange(0, 3).Draw(t, "as it is?") > 0 {
			s.Version = editedAt(now)
		}
		return s
	}
	trace := memory.Trace{
		Guild: reply.Guild, Channel: channel, Answer: reply.ID, Question: slotID(slot), Asker: ada,
		Recalled: []memory.TraceHit{{Channel: source, Message: slotID(n), Why: []string{"words"}}},
		Sections: []memory.TraceUse{{Section: "history"}},
		Sources:  []memory.Source{recalled(channel, slot)},
		Named:    rapid.SampledFrom([][]memory.UserID{nil, {ben}, {ada, 503}, {503, 504}}).Draw(t, "named"),
	}
	use := func(sources ...memory.Source) { trace.Sources = append(trace.Sources, sources...) }
	if rapid.Bool().Draw(t, "recalled?") {
		use(recalled(source, n))
	}
	if beside := slotID(n) + 1<<30; rapid.Bool().Draw(t, "context") && !m.isUnknown(place{source, beside}) {
		use(repeated(source, beside, 0))
	}
	for _, id := range rapid.SampledFrom([][]int64{nil, nil, {1}, {2, 5}}).Draw(t, "facts") {
		use(factSource(id))
	}
	use(m.drawUsedLore(t)...)
	use(m.drawRepeated(t)...)
	use(m.drawUsedSummary(t, channel)...)
	if last := rapid.IntRange(0, slots-1).Draw(t, "condensed from"); rapid.Bool().Draw(t, "condensed?") && !m.isUnknown(place{channel, slotID(last)}) {
		use(recalled(channel, last))
	}
	all := rapid.Bool().Draw(t, "repeats all")
	for i := range trace.Sources {
		trace.Sources[i].Repeats = all || rapid.Bool().Draw(t, "repeats")
	}
	m.replies = append(m.replies, trace)
	trace.Prompt = drawPrompt(t, reply.ID)
	if rapid.Bool().Draw(t, "at once") {
		m.both(memory.Posted{Message: reply}, memory.Answered{Trace: trace})
		return
	}
	m.both(memory.Posted{Message: reply})
	m.keep(trace)
	m.model.keepTrace(trace)
}

// loseSources has some of what an answer was made from go, one after the other.
func (m *machine) loseSources(t *rapid.T) {
	if len(m.replies) == 0 {
		return
	}
	for _, s := range rapid.SampledFrom(m.replies).Draw(t, "reply that loses").Sources {
		at := place{s.Channel, memory.MessageID(s.ID)}
		if _, there := m.model.message(at); !there || s.Kind != memory.SourceMessage || rapid.Bool().Draw(t, "stays") {
			continue
		}
		if m.both(memory.Deleted{Guild: guildOf(s.Channel), Channel: s.Channel, IDs: []memory.MessageID{at.id}}); len(m.model.unfinished()) == 0 {
			m.compareWithdrawn()
		}
	}
}

// tellAgain tells again how an answer came about, as when something is done with it later.
func (m *machine) tellAgain(t *rapid.T) {
	if len(m.replies) == 0 {
		return
	}
	was := rapid.SampledFrom(m.replies).Draw(t, "reply told again")
	again, kept := m.model.traces[place{was.Channel, was.Answer}]
	if kept && !slices.ContainsFunc(again.Sources, func(s memory.Source) bool {
		return s.Kind == memory.SourceMessage && m.isUnknown(place{s.Channel, memory.MessageID(s.ID)})
	}) {
		m.both(memory.Answered{Trace: again.Trace})
	}
}

// drawUsedLore is mostly of lore that is there, as it is or in whatever version.
func (m *machine) drawUsedLore(t *rapid.T) (used []memory.Source) {
	for _, id := range rapid.SampledFrom([][]int64{nil, {1, 4}, {2, 3}, {5}}).Draw(t, "lore") {
		if m.model.hasLore(id) || id == 5 {
			s := loreSource(id)
			if rapid.Bool().Draw(t, "as it is?") {
				s.Version = int64(m.model.loreAt(id))
			}
			used = append(used, s)
		}
	}
	return used
}

func (m *machine) compareLog(t *rapid.T) {
	channel := rapid.SampledFrom(append(channels, nowhere)).Draw(t, "channel")
	log := m.model.log(channel)
	every := idsOf(log)
	for n := range slots {
		every = append(every, slotID(n))
	}
	m.same("Messages", m.messages(channel, every...), plain(log))
	m.same("Log", m.log(channel), plain(log))
	ids, before, after := drawIDs(t), rapid.IntRange(0, 4).Draw(t, "before"), rapid.IntRange(0, 4).Draw(t, "after")
	m.same("Around", m.around(channel, ids, before, after), plain(m.model.around(channel, ids, before, after)))

	names := map[memory.MessageID]string{} // of what the log has or may get
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
		m.same("Trace", got, want.Trace)
		m.comparePrompt(place{channel, id})
	}
	m.same("Traces", m.lastTraces(slotID(slots)+1<<20, 3), m.model.lastTraces(slotID(slots)+1<<20, 3))
}

func (m *machine) compareGuilds(*rapid.T) {
	guilds, err := m.store.Guilds(m.ctx)
	if err != nil {
		m.Fatalf("Guilds: %v", err)
	}
	if !slices.Contains(guilds, guild) {
		m.Fatalf("Guilds: %v", guilds)
	}
	for _, id := range guilds {
		m.same("Guild", normal(m.guild(id)), normal(m.model.whole(id)))
		m.same("People", m.people(id), m.model.everybody(id))
		m.same("Lore", m.lore(id), m.model.loreOf(id))
	}
	for _, channel := range append(channels, nowhere) {
		m.same("Summaries", m.summaries(channel), m.model.summariesOf(channel))
	}
	m.same("Condensed", m.condensed(0), m.model.condensedIn(0))
	for _, since := range []memory.MessageID{0, slotID(slots / 2)} {
		m.same("SummaryBacklog", m.unsummarised(since), m.model.unsummarised(since))
	}
}

func (m *machine) compareSearch(t *rapid.T) {
	scope := drawScope(t)
	m.same("Presence", m.presence(scope, authors...), m.model.presence(scope, authors))
	terms := text.Terms(strings.Join(drawWords(t), " "))
	m.compareFullText(scope, terms, rapid.IntRange(1, 12).Draw(t, "limit"))
	m.compareFrequencies(scope, terms, rapid.IntRange(1, 40).Draw(t, "count to"))
	m.compareStarred(scope, rapid.IntRange(1, 5).Draw(t, "stars"))
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

func (m *machine) compareStarred(scope memory.Scope, limit int) {
	want := m.model.starred(scope)
	m.same("Starred", m.starred(scope, limit), want[:min(limit, len(want))])
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
