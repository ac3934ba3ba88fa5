package memorytest

import (
	"cmp"
	"maps"
	"slices"

	"hark/memory"
)

var answerRules = []modelRule{
	on(func(m *model, e memory.Answered) { m.keepTrace(e.Trace) }),
	on((*model).rewrite),
	on(func(m *model, e memory.Marked) { delete(m.withdrawn, place{e.Channel, e.Message}) }),
}

// answer is a kept answer with its sources, including inherited ones.
type answer struct {
	memory.Trace
	from []memory.Source
}

// stored is the trace as the store returns it: with all sources, in order and each once.
func (a answer) stored() memory.Trace {
	t := a.Trace
	t.Sources = nil
	t = t.WithSources(a.from...)
	kinds := []memory.SourceKind{memory.SourceMessage, memory.SourceFact, memory.SourceLore, memory.SourceSummary}
	place := func(s memory.Source) memory.ChannelID {
		if s.Kind == memory.SourceFact {
			return 0
		}
		return s.Channel
	}
	slices.SortFunc(t.Sources, func(a, b memory.Source) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(place(a), place(b)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Channel, b.Channel))
	})
	for i, s := range t.Sources {
		t.Sources[i].Channel = place(s)
	}
	t.Named = slices.DeleteFunc(about(t), func(id memory.UserID) bool { return id == 0 })
	slices.Sort(t.Named)
	t.Named = slices.Compact(t.Named)
	return t
}

func partsOf(a answer) []memory.MessageID { return append([]memory.MessageID{a.Answer}, a.Parts...) }

// keepTrace keeps a trace, unless the answer was deleted, or one of its sources deleted or edited
// meanwhile.
func (m *model) keepTrace(t memory.Trace) {
	if !m.stand(&t) {
		return
	}
	at := place{t.Channel, t.Answer}
	m.settleRewritten(t)
	asked, same, lost, gone, hide := false, true, false, false, 0
	a := answer{from: slices.Clone(t.Sources)}
	for i, s := range a.from {
		if isAt(s, place{t.Channel, t.Question}) {
			asked, a.from[i].Repeats = true, true
		} else if s.Kind == memory.SourceFact {
			a.from[i].Channel = memory.ChannelID(t.Guild)
		}
		isSame, isThere, isAnew := m.stands(t.Guild, s)
		if known := m.traces[at].from; isAnew { // it stays if it inherited that source's sources
			i := slices.IndexFunc(known, func(o memory.Source) bool {
				return isAt(o, place{s.Channel, memory.MessageID(s.ID)})
			})
			isThere = i >= 0 && known[i].Version == s.Version
			isAnew = !isThere
		}
		gone = gone || !isThere && !isAnew
		same, lost = same && isSame, lost || !isThere
		if !isThere && !isAnew && a.from[i].Repeats {
			hide = 2
		}
		if of := m.summaries[place{s.Channel, memory.MessageID(s.ID)}]; s.Kind == memory.SourceSummary && of.there() {
			for _, from := range versionsOf(s.Channel, of.Sources) {
				from.Repeats = s.Repeats
				a.from = append(a.from, from)
			}
		}
	}
	since := t.Answer
	if t.Prompt != nil {
		since = memory.FirstMessageID(t.Prompt.Built)
	} else if t.Question != 0 {
		since = t.Question
	}
	if slices.ContainsFunc(m.forgottenSince(t.Guild, since-1),
		func(user memory.UserID) bool { return gone || slices.Contains(about(t), user) }) {
		lost, hide = true, 2
	}
	a.Trace = t
	a.Prompt = nil // kept separately
	m.traces[at] = a
	delete(m.prompts, at)
	switch {
	case lost || m.isOut(t.Guild, t.Asker):
		m.invalidate(func(of thing) (going, bool) {
			return going{hide, false}, of.kind == "answer" && of.as.Channel == at.channel && of.as.ID == at.id
		}, place{})
	case t.Prompt != nil && same && asked &&
		!m.areForgotten(t.Guild, about(t), memory.FirstMessageID(t.Prompt.Built)-1):
		m.prompts[at] = *t.Prompt
	}
}

// stand keys a trace by the first message of its answer that is left, and reports whether there is one.
func (m *model) stand(t *memory.Trace) bool {
	for m.isAway(place{t.Channel, t.Answer}) {
		if len(t.Parts) == 0 {
			return false
		}
		t.Answer, t.Parts = t.Parts[0], t.Parts[1:]
	}
	return true
}

func (m *model) dropTrace(at place) {
	delete(m.traces, at)
	delete(m.prompts, at)
}

func (m *model) dropPrompts(holds func(answer, memory.Prompt) bool) {
	maps.DeleteFunc(m.prompts, func(at place, p memory.Prompt) bool { return holds(m.traces[at], p) })
}

// about returns the people whom an answer names, and its asker.
func about(t memory.Trace) []memory.UserID { return append([]memory.UserID{t.Asker}, t.Named...) }

// traceOf returns the trace of an answer by any of its messages.
func (m *model) traceOf(channel memory.ChannelID, id memory.MessageID) (memory.Trace, bool) {
	for at, a := range m.traces {
		if at.channel == channel && slices.Contains(partsOf(a), id) {
			return a.stored(), true
		}
	}
	return memory.Trace{}, false
}

// bareTraces returns the sources of a channel's answers.
func (m *model) bareTraces(channel memory.ChannelID) (all []memory.Trace) {
	for at, a := range m.traces {
		if at.channel != channel {
			continue
		}
		bare := memory.Trace{Channel: channel, Answer: a.Answer, Parts: a.Parts, Question: a.Question}
		for _, s := range a.stored().Sources {
			bare.Sources = append(bare.Sources, memory.Source{Kind: s.Kind, Channel: s.Channel, ID: s.ID,
				Version: s.Version})
		}
		all = append(all, bare)
	}
	return sorted(all, func(t memory.Trace) memory.MessageID { return t.Answer })
}

// listed returns the traces that q selects without naming answers.
func (m *model) listed(q memory.TraceQuery) []memory.Trace {
	var all []memory.Trace
	for at, a := range m.traces {
		c := m.channels[at.channel]
		if (q.Before == 0 || at.id < q.Before) && (q.Channel == 0 || at.channel == q.Channel) &&
			(len(q.Guilds) == 0 || c != nil && slices.Contains(q.Guilds, c.Guild)) &&
			(q.Asker == 0 || a.Asker == q.Asker) && (q.Model == "" || a.Model == q.Model) &&
			(!q.Generated || a.Model != "") && (!q.Extractive || a.Model == "") {
			all = append(all, a.stored())
		}
	}
	sorted(all, func(t memory.Trace) memory.ChannelID { return t.Channel })
	slices.SortStableFunc(all, func(a, b memory.Trace) int { return cmp.Compare(b.Answer, a.Answer) })
	if q.Limit > 0 {
		all = all[:min(q.Limit, len(all))]
	}
	return all
}

// unshow records that Discord no longer shows a message, or shows it changed.
func (m *model) unshow(at place) {
	for key, a := range m.shown {
		parts := partsOf(a)
		if i := slices.Index(parts, at.id); key.channel == at.channel && i >= 0 {
			delete(m.shown, key)
			m.leaveShown(a, slices.Delete(parts, i, i+1))
		}
	}
}

// leaveShown records which messages of a deleted answer Discord still shows.
func (m *model) leaveShown(a answer, messages []memory.MessageID) {
	if len(messages) > 0 {
		a.Answer, a.Parts = messages[0], messages[1:]
		m.shown[place{a.Channel, a.Answer}] = a
	}
}

func (m *model) dropPart(t memory.Trace, id memory.MessageID, withdrawn bool) bool {
	at := place{t.Channel, id}
	if m.isAway(at) {
		return false
	}
	if withdrawn {
		m.withdraw(memory.Withdrawn{Guild: t.Guild, Channel: t.Channel, Message: id, First: id == t.Answer})
	}
	m.delete(at, 0)
	m.entry(at).taken = true
	return true
}

func (m *model) withdraw(w memory.Withdrawn) {
	if at := (place{w.Channel, w.Message}); m.withdrawn[at].Message == 0 {
		m.withdrawn[at] = w
	}
}

// rewrite deletes the traces of rewritten messages and what was derived from them, except other answers,
// which inherit their sources. Messages that went with a source count as never logged.
func (m *model) rewrite(e memory.Rewritten) {
	for _, id := range e.IDs {
		was, kept := m.traces[place{e.Channel, id}]
		if !kept {
			was = m.shown[place{e.Channel, id}]
		}
		m.handDown(was, e.IDs, kept)
	}
	for _, id := range e.IDs {
		at := place{e.Channel, id}
		m.dropTrace(at)
		m.unshow(at)
		m.invalidate(fromMessage(at, 0, "fact", "lore", "summary", "record", "copy"), place{})
		now := m.known(at)
		now.Guild = e.Guild // the channel may be forgotten
		if m.entry(at).taken && !m.isForgotten(now) {
			*m.entry(at) = entry{}
			delete(m.withdrawn, at)
		}
		m.entry(at).anew, m.entry(at).since = true, nil
	}
}

// handDown gives an answer's sources to the answers made from it, and deletes its parts that don't stay. kept
// is false if only Discord still shows it.
func (m *model) handDown(was answer, stay []memory.MessageID, kept bool) {
	stale := slices.DeleteFunc(slices.Clone(was.Parts), func(id memory.MessageID) bool {
		return slices.Contains(stay, id)
	})
	for _, all := range []map[place]answer{m.traces, m.shown} {
		for at, a := range all {
			for _, id := range partsOf(was) {
				i := slices.IndexFunc(a.from, func(s memory.Source) bool { return isAt(s, place{was.Channel, id}) })
				if i < 0 || at == (place{was.Channel, was.Answer}) {
					continue
				}
				for _, s := range was.from {
					s.Repeats = s.Repeats && a.from[i].Repeats
					a.from = append(slices.Clone(a.from), s)
				}
				a.Named = slices.Concat(a.Named, about(was.Trace))
				if slices.Contains(stale, id) {
					a.from = slices.DeleteFunc(a.from, func(s memory.Source) bool {
						return isAt(s, place{was.Channel, id})
					})
				}
			}
			all[at] = a
		}
	}
	for _, id := range stale {
		if kept {
			m.dropPart(was.Trace, id, true)
			continue
		}
		m.withdraw(memory.Withdrawn{Guild: was.Guild, Channel: was.Channel, Message: id})
		m.unshow(place{was.Channel, id})
	}
}

// settleRewritten records the version from which the messages of an answer match a trace.
func (m *model) settleRewritten(t memory.Trace) {
	for _, id := range partsOf(answer{Trace: t}) {
		at := place{t.Channel, id}
		if now, ok := m.message(at); ok && m.entry(at).anew && m.entry(at).since == nil {
			edited := editedAt(now)
			m.entry(at).since = &edited
		}
	}
}

// isRewritten reports whether a message was rewritten since it was used.
func (m *model) isRewritten(s memory.Source) bool {
	e := m.entry(place{s.Channel, memory.MessageID(s.ID)})
	return e.anew && (e.since == nil || s.Version < *e.since)
}
