package memorytest

import (
	"context"
	"slices"
	"testing"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

type machine struct {
	*harness
	replies []memory.Trace // answers so far
}

// operations applies random operations to a store and the model, and compares the two. reopen, if not nil,
// opens a closed store again.
func operations(t testing.TB, open, reopen func(t testing.TB) memory.Opened) func(*rapid.T) {
	return func(rt *rapid.T) {
		m := &machine{harness: newHarness(rt, context.Background(), open(t))}
		defer func() {
			if err := m.store.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		m.settle(rt)
		actions := m.actions()
		if reopen != nil {
			actions["reopen"] = func(*rapid.T) {
				if err := m.store.Close(); err != nil {
					rt.Fatalf("close: %v", err)
				}
				m.store = reopen(t)
			}
		}
		rt.Repeat(actions)
		m.compare()
		m.embedAll()
		m.carryOut()
		m.compare()
	}
}

// settle begins with the town and the terminal, and perhaps with what was said there.
func (m *machine) settle(t *rapid.T) {
	m.apply(memory.GuildSeen{Guild: town()}, memory.ChannelSeen{Channel: memory.Channel{ID: local,
		Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: "local"}})
	if coin(t, "settled") {
		m.postHalf()
	}
}

// actions are all that a machine may do, by name.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"messages":  m.someMessages,
		"messages2": m.someMessages,
		"structure": m.some(drawStructure),
		"people":    m.some(drawPeople),
		"hearing":   m.some(drawHearing),
		"spent":     m.some(drawSpent),
		"summaries": m.some(m.drawSummary),
		"condense":  m.some(m.drawCondensed),
		"calls":     m.some(drawCall),
		"questions": m.some(m.drawQuestion),
		"calls2":    m.some(drawCall),
		"answer":    m.answer,
		"answer2":   m.answer,
		"lose":      m.loseSources,
		"again":     m.answerAgain,
		"rewrite":   m.rewrite,
		"forget":    m.forgetSome,
		"carry out": m.carryOn,
		"expire":    m.expireSome,
		"embed":     m.embedSome,
		"log":       m.compareSomeLog,
		"search":    m.compareSearch,
		"records":   m.compareSomeRecords,
		"traces":    m.compareSomeTraces,
		"guilds":    func(*rapid.T) { m.compareGuilds() },
		"heard":     func(*rapid.T) { m.compareHeard() },
	}
}

func (m *machine) postHalf() {
	for _, channel := range channels {
		var batch []memory.Message
		for n := range slots / 2 {
			batch = append(batch, version(channel, 2*n, 0))
		}
		m.post(batch...)
	}
}

// some applies some events of a kind, one by one.
func (m *machine) some(draw func(*rapid.T) memory.Event) func(*rapid.T) {
	return func(t *rapid.T) {
		for range between(t, "events", 1, 4) {
			if e := draw(t); e != nil && !m.isUnclear(e) {
				m.apply(e)
			}
		}
	}
}

func (m *machine) someMessages(t *rapid.T) {
	var batch []memory.Event
	for range between(t, "events", 1, 6) {
		e := drawMessageEvent(t)
		if m.isUnclear(e) {
			continue
		}
		batch = append(batch, e)
		if p, ok := e.(memory.Posted); ok && between(t, "named?", 0, 3) == 0 &&
			!m.model.isOut(p.Message.Guild, p.Message.Author) && !m.model.isForgotten(p.Message) {
			name := pick(t, "name", "a", "b", "D1:1", "it's \"so\"")
			batch = append(batch, memory.ExternalIDSeen{Channel: p.Message.Channel, ID: p.Message.ID, ExternalID: name})
		}
	}
	m.apply(batch...)
}

// isUnclear reports whether an event is about a message that may have been dropped: stores may differ in what
// they keep of it.
func (m *machine) isUnclear(e memory.Event) bool {
	switch e := e.(type) {
	case memory.Posted:
		from, is := e.Message.CopiedHere()
		return is && m.isUnknown(from.Channel, memory.MessageID(from.ID))
	case memory.Edited:
		if now, there := m.model.message(place{e.Channel, e.ID}); there {
			from, is := now.CopiedHere()
			return is && m.isUnknown(from.Channel, memory.MessageID(from.ID))
		}
		return m.isUnknown(e.Channel, e.ID)
	case memory.Starred:
		return m.isUnknown(e.Channel, e.ID)
	case memory.FactTold:
		_, told := m.model.facts[inGuild{e.Guild, e.Fact.ID}]
		return !told && len(m.model.forgettings) > 0 || m.isUnknown(e.Fact.Channel, e.Fact.Message)
	case memory.LoreTold:
		return slices.ContainsFunc(e.Lore.Sources, func(s memory.MessageRef) bool {
			return m.isUnknown(s.Channel, s.Message)
		})
	case memory.Recorded:
		return m.isUnknown(e.Record.Channel, e.Record.Question, e.Record.Answer)
	}
	return false
}

// isUnknown reports whether any of ids, except 0, may have been dropped.
func (m *machine) isUnknown(channel memory.ChannelID, ids ...memory.MessageID) bool {
	return slices.ContainsFunc(ids, func(id memory.MessageID) bool {
		at := place{channel, id}
		_, ok := m.model.message(at)
		return id != 0 && !ok && !m.model.entry(at).deleted && len(m.model.forgettings) > 0
	})
}

func (m *machine) areUnknown(sources []memory.Source) bool {
	return slices.ContainsFunc(sources, func(s memory.Source) bool {
		return s.Kind == memory.SourceMessage && m.isUnknown(s.Channel, memory.MessageID(s.ID))
	})
}

func (m *machine) forgetSome(t *rapid.T) {
	if between(t, "forget?", 0, 2) > 0 {
		return
	}
	if between(t, "deleted?", 0, 3) == 0 {
		m.apply(memory.ChannelDeleted{Guild: guild, Channel: thread, At: later})
		return
	}
	f := drawForgetting(t)
	if f.Guild == guild && f.Channel != 0 && between(t, "on record elsewhere?", 0, 3) == 0 {
		m.apply(f)
		return
	}
	m.forget(f)
	if coin(t, "once more") {
		m.same("messages forgotten by doing it again", m.forget(f).Messages, 0)
	}
	if f.Guild != memory.LocalGuild && f.Channel == 0 && f.User == 0 && f.Before.IsZero() {
		m.apply(memory.GuildSeen{Guild: town(), At: later})
	}
}

func (m *machine) carryOn(*rapid.T) {
	m.carryOut()
	m.compareHeard()
}

func (m *machine) expireSome(t *rapid.T) {
	e := memory.Expiry{
		Prompts:  pick(t, "prompts", began, built, built.Add(time.Minute)),
		Spending: slotID(between(t, "spent before", 0, slots/4)).Time(),
		Records:  memory.RecordLimits{Count: pick(t, "count", 0, 1, 3, 5)},
	}
	if coin(t, "by age") {
		e.Records.Before = minute(between(t, "before", 0, slots))
	}
	m.expire(e)
}

// embedSome embeds some pending segments. Sometimes something happens before the vectors arrive.
func (m *machine) embedSome(t *rapid.T) {
	m.checkQueue()
	segments := got(m.store.Pending(m.ctx, between(t, "pending", 1, 20)))(m.harness)
	if between(t, "meanwhile?", 0, 3) == 0 {
		if e := drawMessageEvent(t); !m.isUnclear(e) {
			m.apply(e)
		}
	}
	m.embedded(segments)
}

// answer posts an answer to a message, which may be gone or yet to come.
func (m *machine) answer(t *rapid.T) {
	channel, slot := drawSlot(t)
	reply := said(channel, slotID(slots)+memory.MessageID(100*(m.replied+1)), hark, "so I heard")
	source, n := drawSlot(t)
	if source == local {
		source = channel // only answers at the terminal are made from what is said there
	}
	recalled := func(channel memory.ChannelID, slot int) memory.Source {
		v := between(t, "version recalled", 0, versions-1)
		s := repeated(channel, slotID(slot), editedAt(version(channel, slot, v)))
		if now, ok := m.model.message(place{channel, slotID(slot)}); ok && between(t, "as it is?", 0, 3) > 0 {
			s.Version = editedAt(now)
		}
		return s
	}
	trace := memory.Trace{
		Guild: reply.Guild, Channel: channel, Answer: reply.ID, Question: slotID(slot),
		Asker: pick(t, "asker", ada, ada, 503), Model: pick(t, "model", "", "toy", "other"),
		Recalled: []memory.TraceHit{{Channel: source, Message: slotID(n), Why: []string{"words"}}},
		Sections: []memory.TraceUse{{Section: "history"}},
		Sources:  []memory.Source{recalled(channel, slot)},
		Named:    pick(t, "named", [][]memory.UserID{nil, {ben}, {ada, 503}, {503, 504}}...),
	}
	use := func(sources ...memory.Source) { trace.Sources = append(trace.Sources, sources...) }
	if coin(t, "recalled?") {
		use(recalled(source, n))
	}
	if coin(t, "context") {
		use(repeated(source, slotID(n)+1<<30, 0))
	}
	for _, id := range pick(t, "facts", [][]int64{nil, nil, {1}, {2, 5}}...) {
		use(factSource(id))
	}
	use(m.drawUsedLore(t, channel)...)
	use(m.drawRepeated(t, channel)...)
	use(m.drawUsedSummary(t, channel)...)
	if coin(t, "condensed?") {
		use(recalled(channel, between(t, "condensed from", 0, slots-1)))
	}
	all := coin(t, "repeats all")
	for i := range trace.Sources {
		trace.Sources[i].Repeats = all || coin(t, "repeats")
	}
	var part []memory.Message
	if between(t, "in two parts?", 0, 3) == 0 {
		part = []memory.Message{said(channel, reply.ID+1, hark, "and that is all")}
		trace.Parts = idsOf(part)
	}
	if m.areUnknown(trace.Sources) {
		return
	}
	m.replies = append(m.replies, trace)
	trace.Prompt = drawPrompt(t, reply.ID)
	m.post(part...)
	if coin(t, "at once") {
		m.apply(post(reply), memory.Answered{Trace: trace})
		return
	}
	m.apply(post(reply))
	m.apply(memory.Answered{Trace: trace})
}

// loseSources deletes some of an answer's sources, one by one, or one of its messages.
func (m *machine) loseSources(t *rapid.T) {
	was, _ := m.drawReply(t)
	if was.Answer != 0 && between(t, "itself?", 0, 3) == 0 {
		m.delete(was.Channel, was.Answer)
	}
	for _, s := range was.Sources {
		at := place{s.Channel, memory.MessageID(s.ID)}
		if _, there := m.model.message(at); there && s.Kind == memory.SourceMessage && !coin(t, "stays") {
			m.delete(at.channel, at.id)
			m.compareUnfinished()
		}
	}
}

func (m *machine) answerAgain(t *rapid.T) {
	was, _ := m.drawReply(t)
	if again, kept := m.model.traceOf(was.Channel, was.Answer); kept && !m.areUnknown(again.Sources) {
		m.apply(memory.Answered{Trace: again})
	}
}

func (m *machine) rewrite(t *rapid.T) {
	was, some := m.drawReply(t)
	if !some {
		return
	}
	was.Recalled, was.Parts = nil, nil
	was.Sources = was.Sources[:between(t, "sources", 1, len(was.Sources))]
	if m.areUnknown(was.Sources) {
		return
	}
	again := edited(said(was.Channel, was.Answer, hark, ""), m.replied+1, "so I hear now")
	m.apply(memory.Rewritten{Guild: was.Guild, Channel: was.Channel, IDs: []memory.MessageID{was.Answer}},
		memory.Posted{Message: again}, memory.Answered{Trace: was})
}

func (m *machine) compareSomeLog(t *rapid.T) {
	channel := pick(t, "channel", append(channels, nowhere)...)
	m.compareLog(channel)
	ids, before, after := drawIDs(t), between(t, "before", 0, 4), between(t, "after", 0, 4)
	m.same("Around", m.around(channel, ids, before, after), m.model.around(channel, ids, before, after))

	reach := map[memory.MessageRef]int{}
	for _, channel := range channels {
		for _, id := range drawIDs(t) {
			reach[memory.MessageRef{Channel: channel, Message: id}] = between(t, "reach", 1, 4)
		}
	}
	by := map[memory.ChannelID][][]memory.Message{}
	for _, stretch := range got(m.store.Windows(m.ctx, reach))(m.harness) {
		by[stretch[0].Channel] = append(by[stretch[0].Channel], stretch)
	}
	for _, channel := range channels {
		m.same("Windows", by[channel], m.model.stretches(channel, reach))
	}
}

func (m *machine) compareSearch(t *rapid.T) {
	m.checkQueue()
	scope, terms, limit := drawScope(t), drawTerms(t), pick(t, "limit", 1, 2, 5, 12, 40)
	m.compareFound(scope, terms, limit)
	m.compareCounts(scope, terms, limit)
}

func (m *machine) compareSomeRecords(t *rapid.T) {
	scope := drawScope(t)
	q := memory.RecordQuery{
		Channels: scope.Channels, Since: scope.Since, Until: scope.Until, Oldest: coin(t, "oldest"),
		Limit:   between(t, "limit", 0, 4),
		Speaker: pick(t, "speaker", "", "", memory.SpeakerTool),
		Method:  pick(t, "method", "", "", "ask"),
	}
	if len(scope.Authors) > 0 {
		q.Asker = scope.Authors[0]
	}
	m.same("Records", m.records(q), m.model.recordsFor(q))
}

func (m *machine) compareSomeTraces(t *rapid.T) {
	answer := slotID(slots) + memory.MessageID(100*between(t, "before", 0, m.replied+1))
	m.compareTraces(memory.TraceQuery{
		Guilds:     pick(t, "guilds", nil, nil, []memory.GuildID{guild}, []memory.GuildID{memory.LocalGuild, village}),
		Channel:    pick(t, "channel", append(channels, 0, 0)...),
		Asker:      pick(t, "asker", 0, 0, ada, ben),
		Model:      pick(t, "model", "", "", "toy", "another"),
		Generated:  between(t, "generated?", 0, 3) == 0,
		Extractive: between(t, "extractive?", 0, 3) == 0,
		Before:     pick(t, "bound", 0, answer),
		Limit:      between(t, "limit", 0, 4),
	})
}
