package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"hark/memory"
)

// traceEvents are about how answers came about.
var traceEvents = []handler{handle((*transaction).keepTrace)}

func (t *transaction) keepTrace(e memory.Answered) {
	trace, there := t.firstRemaining(e.Trace)
	if !there {
		return
	}
	body, err := json.Marshal(storedTraceOf(trace))
	ensure(err)
	t.put(table{"trace", 2, "channel, answer, question, asker, model, parts, body"}, trace.Channel, trace.Answer,
		trace.Question, trace.Asker, memory.Clean(trace.Model), jsonOf(trace.Parts),
		t.seal(tracePlace(trace.Channel, trace.Answer), string(body)))
	t.settleRewritten(trace)
	sources := slices.Clone(trace.Sources)
	asked := false
	same := true
	lost := false
	gone := false
	hide := hideNone
	for i, s := range sources {
		if s.Kind == memory.SourceMessage && s.Channel == trace.Channel && s.ID == int64(trace.Question) {
			asked = true
			sources[i].Repeats = true // an answer is nothing without its question
		}
		now := t.stateOf(trace.Guild, s)
		if now == sourceRewritten && t.hasSource(trace, s) { // the answer stays if it inherits that source's sources
			now = sourcePending
		}
		same = same && now == sourceSame
		lost = lost || now == sourceRewritten || now == sourceGone
		gone = gone || now == sourceGone
		if now == sourceGone && sources[i].Repeats {
			hide = hideAll
		}
	}
	if t.fallsUnderSince(trace, gone) {
		lost = true
		hide = hideAll
	}
	made := derived{kind: anAnswer, guild: trace.Guild, channel: trace.Channel, id: int64(trace.Answer),
		at: trace.Answer}
	t.derive(made, sources, namedIn(trace))
	t.addSourcesOfSummaries(made)
	if lost || t.decisions().hasOptedOut(trace.Guild, trace.Asker) {
		// a source was deleted or edited during the answer
		t.invalidate(selection{`SELECT no AS derived, 1 AS repeats, 0 AS itself FROM derived
			WHERE kind = ? AND place = ? AND id = ?`, []any{made.kind, made.place(), made.id}}, cause{hide: hide})
		return
	}
	t.keepPrompt(trace, same && asked)
}

func (t *transaction) hasSource(answer memory.Trace, s memory.Source) bool {
	return t.has(`SELECT 1 FROM derived d
		CROSS JOIN source s ON s.derived = d.no AND s.kind = ? AND s.place = ? AND s.id = ? AND s.version = ?
		WHERE d.kind = ? AND d.place = ? AND d.id = ?`, aMessage, s.Channel, s.ID, s.Version,
		anAnswer, answer.Channel, answer.Answer)
}

// fallsUnderSince reports whether a rule since the question forgets somebody whom the answer names or, if a
// source is gone, anybody: its author is unknown by now.
func (t *transaction) fallsUnderSince(trace memory.Trace, sourceGone bool) bool {
	since := trace.Answer
	if trace.Prompt != nil {
		since = memory.FirstMessageID(trace.Prompt.Built)
	} else if trace.Question != 0 {
		since = trace.Question
	}
	return t.has("SELECT 1 FROM ("+forgottenSince+
		") AS f WHERE ?6 OR user IN (SELECT value FROM json_each(?3)) LIMIT 1", trace.Guild,
		memory.LocalGuild, jsonOf(namedIn(trace)), since-1, memory.Everywhere, sourceGone)
}

// namedIn returns the asker and the people whom the prompt names.
func namedIn(trace memory.Trace) []memory.UserID {
	return append([]memory.UserID{trace.Asker}, trace.Named...)
}

// addSourcesOfSummaries adds the sources of an answer's summaries to the answer's own.
func (t *transaction) addSourcesOfSummaries(answer derived) {
	for _, s := range t.sourcesOfSummaries(answer) {
		t.exec("INSERT INTO source (derived, kind, place, id, version, repeats) VALUES (?, ?, ?, ?, ?, ?)"+orRepeats,
			s[0], s[1], s[2], s[3], s[4], s[5])
	}
}

// sourcesOfSummaries returns rows of source for an answer. The terminal's is made from summaries of any guild.
func (t *transaction) sourcesOfSummaries(answer derived) [][6]int64 {
	if answer.guild == memory.LocalGuild {
		defer t.in(memory.Everywhere)()
	}
	return listIn(t, func(scan Scanner, s *[6]int64) error {
		return scan(&s[0], &s[1], &s[2], &s[3], &s[4], &s[5])
	}, `SELECT a.no, o.kind, o.place, o.id, o.version, s.repeats FROM derived a
		CROSS JOIN source s ON s.derived = a.no AND s.kind = ?4
		CROSS JOIN derived d ON d.kind = s.kind AND d.place = s.place AND d.id = s.id
		CROSS JOIN source o ON o.derived = d.no WHERE a.kind = ?1 AND a.place = ?2 AND a.id = ?3`,
		anAnswer, answer.place(), answer.id, aSummary)
}

var (
	// It chooses by an index alone, and reads only the chosen traces.
	tracesBefore = `(SELECT channel, answer FROM trace k WHERE answer < ?1 AND (?2 = 0 OR channel = ?2)
		AND (?3 = 0 OR asker = ?3) AND (?4 = '' OR model = ?4) AND (NOT ?5 OR model <> '') AND (NOT ?6 OR model = '')
		AND (?7 IS NULL OR channel IN (SELECT c.id FROM channel c WHERE c.guild IN (SELECT value FROM json_each(?7))))
		ORDER BY answer DESC, channel LIMIT ?8+0) k
		CROSS JOIN trace t ON t.channel = k.channel AND t.answer = k.answer ORDER BY t.answer DESC, t.channel`
	traceOf = "trace t WHERE t.channel = ? AND t.answer = ?"
	// Without the index, SQLite reads all of the channel's traces.
	traceByPart = `trace t INDEXED BY trace_parts WHERE t.channel = ? AND t.parts <> '[]'
		AND ? IN (SELECT value FROM json_each(t.parts))`
	answersOf     = "trace t WHERE t.channel = ? AND t.answer IN (SELECT value FROM json_each(?))"
	answersByPart = `trace t INDEXED BY trace_parts WHERE t.channel = ? AND t.parts <> '[]'
		AND EXISTS (SELECT 1 FROM json_each(t.parts) p WHERE p.value IN (SELECT value FROM json_each(?)))`
)

// Traces implements memory.Store.
func (s *Store) Traces(ctx context.Context, q memory.TraceQuery) (all []memory.Trace, err error) {
	limit := cmp.Or(max(q.Limit, 0), math.MaxInt)
	switch {
	case len(q.Answers) > 0:
		all, err = s.sourcesOf(ctx, q.Channel, q.Answers)
	case q.Answer == 0:
		all, err = s.tracesBefore(ctx, q, limit)
	default:
		in := s.inGuildOf(q.Channel)
		all, err = s.traces(ctx, in, q.Prompts, traceOf, q.Channel, q.Answer)
		if err == nil && len(all) == 0 {
			all, err = s.traces(ctx, in, q.Prompts, traceByPart, q.Channel, q.Answer)
		}
	}
	return all[:min(limit, len(all))], s.failed(err, "read how answers came about")
}

// tracesBefore returns the traces that match q, newest first.
func (s *Store) tracesBefore(ctx context.Context, q memory.TraceQuery, limit int) ([]memory.Trace, error) {
	in := s.inGuildOf(q.Channel)
	var guilds any
	if len(q.Guilds) > 0 {
		guilds = jsonOf(q.Guilds)
	}
	if len(q.Guilds) == 1 {
		in = s.engine.In(q.Guilds[0])
	}
	return s.traces(ctx, in, q.Prompts, tracesBefore, cmp.Or(q.Before, endless), q.Channel, q.Asker,
		memory.Clean(q.Model), q.Generated, q.Extractive, guilds, limit)
}

func (s *Store) traces(ctx context.Context, in Querier, prompts bool, from string, args ...any) ([]memory.Trace, error) {
	prompt := "0, NULL, NULL"
	if prompts {
		const of = " FROM prompt p WHERE p.channel = t.channel AND p.answer = t.answer)"
		prompt = "EXISTS (SELECT 1" + of + ", (SELECT built" + of + ", (SELECT body" + of
	}
	return list(ctx, in, func(scan Scanner, t *memory.Trace) error {
		var p memory.Prompt
		var kept bool
		var sources []storedSource
		var named []memory.UserID
		var at memory.MessageRef
		body := s.vault.opened(asJSON{&p}, func() Place { return promptPlace(at) })
		err := s.vault.scanTrace(behind(scan, &at.Channel, &at.Message, asJSON{&sources}, asJSON{&named}, &kept,
			asTime{&p.Built}, body), t)
		for _, s := range sources {
			t.Sources = append(t.Sources, s.source())
		}
		t.Named = named
		if len(named) == 0 {
			t.Named = nil
		}
		if kept {
			t.Prompt = &p
		}
		return err
	}, "SELECT t.channel, t.answer, "+storedSources+", "+prompt+", "+traceColumns+" FROM "+from, args...)
}

// bareSources are the columns that sourcesOf returns.
var bareSources = sourcesOfTrace("o.kind, o.place, o.id, o.version")

// sourcesOf returns the sources of some answers of a channel, by the ids of any of their messages.
// It reads no body: a long session asks for many answers.
func (s *Store) sourcesOf(ctx context.Context, channel memory.ChannelID,
	answers []memory.MessageID) (all []memory.Trace, err error) {
	for _, from := range []string{answersOf, answersByPart} {
		found, err := list(ctx, s.inGuildOf(channel), func(scan Scanner, t *memory.Trace) error {
			t.Channel = channel
			var sources []storedSource
			err := scan(&t.Answer, &t.Question, asJSON{&t.Parts}, asJSON{&sources})
			for _, s := range sources {
				t.Sources = append(t.Sources, s.source())
			}
			return err
		}, "SELECT t.answer, t.question, t.parts, "+bareSources+" FROM "+from, channel, jsonOf(answers))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		answers = slices.DeleteFunc(slices.Clone(answers), func(id memory.MessageID) bool {
			return slices.ContainsFunc(found, func(t memory.Trace) bool {
				return t.Answer == id || slices.Contains(t.Parts, id)
			})
		})
	}
	return all, nil
}

const traceColumns = "t.channel, t.answer, t.parts, t.body"

// scanTrace reads traceColumns.
func (v *Vault) scanTrace(scan Scanner, t *memory.Trace) error {
	var k storedTrace
	var channel memory.ChannelID
	var answer memory.MessageID
	var parts []memory.MessageID
	place := func() Place { return tracePlace(channel, answer) }
	body := v.opened(asJSON{&k}, place)
	err := scan(&channel, &answer, asJSON{&parts}, body)
	if err == nil {
		*t, err = k.trace()
		if err != nil {
			err = fmt.Errorf("the trace of answer %d is damaged: %w", answer, err)
		}
	}
	t.Channel = channel
	t.Answer = answer
	if len(parts) > 0 {
		t.Parts = parts
	}
	return err
}

// deleteAnswer deletes an answer's messages, trace and prompt.
func (t *transaction) deleteAnswer(g invalid, deleted memory.MessageRef) {
	trace, _ := t.traceOf(g.channel, memory.MessageID(g.id))
	t.dropTrace(g.channel, trace.Answer)
	if g.hide != hideNone && deleted == (memory.MessageRef{Channel: trace.Channel, Message: trace.Question}) {
		t.withdraw(g.derived, trace.Answer, true)
	}
	left := t.deleteParts(trace, append([]memory.MessageID{trace.Answer}, trace.Parts...), g.hide != hideNone)
	if g.hide == hideNone {
		t.leaveShown(g, trace.Question, left)
	}
}

// traceOf returns the trace under the first message of an answer, without sources and names.
func (t *transaction) traceOf(channel memory.ChannelID, answer memory.MessageID) (trace memory.Trace, known bool) {
	ensure(t.store.vault.scanTrace(func(dest ...any) error {
		known = t.row("SELECT "+traceColumns+" FROM trace t WHERE channel = ? AND answer = ?", channel, answer).
			into(dest...)
		return nil
	}, &trace))
	return trace, known
}

// deleteParts deletes messages of an answer and returns those that were there. If withdrawn, Discord must stop
// showing them.
func (t *transaction) deleteParts(trace memory.Trace, parts []memory.MessageID,
	withdrawn bool) (there []memory.MessageID) {
	answer := derived{guild: trace.Guild, channel: trace.Channel, id: int64(trace.Answer)}
	for _, id := range parts {
		if t.isGone(trace.Guild, trace.Channel, id) {
			continue
		}
		if withdrawn {
			t.withdraw(answer, id, false)
		}
		t.delete(trace.Channel, id, hideNone)
		t.exec("INSERT INTO taken (channel, id) VALUES (?, ?) ON CONFLICT DO NOTHING", trace.Channel, id)
		there = append(there, id)
	}
	return there
}

// withdraw makes Discord stop showing a message of an answer. unasked says that the question was deleted.
func (t *transaction) withdraw(answer derived, id memory.MessageID, unasked bool) {
	t.exec(`INSERT INTO withdrawn (guild, channel, message, first, unasked) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, answer.guild, answer.channel, id, int64(id) == answer.id, unasked)
}

func (t *transaction) dropTrace(channel memory.ChannelID, answer memory.MessageID) {
	t.dropPrompt(channel, answer)
	t.underive(derived{kind: anAnswer, channel: channel, id: int64(answer)})
	t.exec("DELETE FROM trace WHERE channel = ? AND answer = ?", channel, answer)
}

// Withdrawn implements memory.Store.
func (s *Store) Withdrawn(ctx context.Context, limit int) ([]memory.Withdrawn, error) {
	all, err := list(ctx, s.engine, func(scan Scanner, w *memory.Withdrawn) error {
		return scan(&w.Guild, &w.Channel, &w.Message, &w.First, &w.Unasked)
	}, "SELECT guild, channel, message, first, unasked FROM withdrawn ORDER BY no LIMIT ?+0", max(limit, 0))
	return all, s.failed(err, "read which answers were withdrawn")
}

// firstRemaining returns a trace keyed by the answer's first remaining message; false if none remains.
func (t *transaction) firstRemaining(trace memory.Trace) (memory.Trace, bool) {
	for t.isGone(trace.Guild, trace.Channel, trace.Answer) {
		if len(trace.Parts) == 0 {
			return trace, false
		}
		trace.Answer = trace.Parts[0]
		trace.Parts = trace.Parts[1:]
	}
	return trace, true
}

// rekeyTrace moves the trace of an answer whose first message is gone to the next, and deletes its prompt.
func (t *transaction) rekeyTrace(channel memory.ChannelID, answer memory.MessageID) {
	trace, known := t.traceOf(channel, answer)
	if !known {
		return
	}
	trace, there := t.firstRemaining(trace)
	if !there {
		t.dropTrace(channel, answer)
		return
	}
	t.dropPrompt(channel, answer)
	t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE kind = ?2 AND place = ?3 AND id = ?4",
		trace.Answer, anAnswer, channel, answer)
	var body string
	t.row("SELECT body FROM trace WHERE channel = ? AND answer = ?", channel, answer).
		into(t.store.vault.opened(&body, func() Place { return tracePlace(channel, answer) }))
	t.exec("UPDATE trace SET answer = ?, parts = ?, body = ? WHERE channel = ? AND answer = ?",
		trace.Answer, jsonOf(trace.Parts), t.seal(tracePlace(channel, trace.Answer), body), channel, answer)
}

// keepPrompt replaces a trace's prompt, which has a table of its own. It keeps one only if its sources are
// unchanged (same) and nobody in it has opted out or been forgotten since.
func (t *transaction) keepPrompt(trace memory.Trace, same bool) {
	p := trace.Prompt
	t.dropPrompt(trace.Channel, trace.Answer)
	if p == nil || !same || t.namesForgotten(trace.Guild, namedIn(trace), memory.FirstMessageID(p.Built)-1) {
		return
	}
	t.exec("INSERT INTO prompt (channel, answer, guild, built, body) VALUES (?, ?, ?, ?, ?)", trace.Channel,
		trace.Answer, trace.Guild, millis(p.Built), t.seal(
			promptPlace(memory.MessageRef{Channel: trace.Channel, Message: trace.Answer}), t.jsonText(p)))
}

// namesForgotten reports whether any of named has opted out, or was forgotten as a whole since a moment, alone
// or with the guild. A question at the command line may name people of any guild.
func (t *transaction) namesForgotten(guild memory.GuildID, named []memory.UserID, since memory.MessageID) bool {
	if guild == memory.LocalGuild {
		defer t.in(memory.Everywhere)()
	}
	return len(named) > 0 && t.has(`SELECT 1 FROM opted WHERE out = 1 AND (guild = ?1 OR ?1 = ?2)
			AND user IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT 1 FROM (`+forgottenSince+`) AS f
			WHERE user = 0 OR user IN (SELECT value FROM json_each(?3)) LIMIT 1`,
		guild, memory.LocalGuild, jsonOf(named), since, memory.Everywhere)
}

// forgottenSince selects the users forgotten as a whole in guild ?1 since moment ?4; 0 is everybody. If ?1 is
// the command line's guild (?2), it covers all guilds. ?5 is memory.Everywhere.
const forgottenSince = `SELECT user FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?4
	AND (guild IN (?1, ?5) OR ?1 = ?2)`

func (t *transaction) dropPrompt(channel memory.ChannelID, answer memory.MessageID) {
	t.dropPromptsWhere("channel = ? AND answer = ?", channel, answer)
}

// dropPromptsFrom deletes the prompts made from something, but not the answers.
func (t *transaction) dropPromptsFrom(k kind, place, id any) {
	defer t.inAnyThatCites()()
	t.dropPromptsWhere(`(channel, answer) IN (SELECT d.place, d.id FROM source s
		CROSS JOIN derived d ON d.no = s.derived AND d.kind = ? WHERE s.kind = ? AND s.place = ? AND s.id = ?)`,
		anAnswer, k, place, id)
}

// dropPromptsWhere deletes prompts by a condition and returns how many.
func (t *transaction) dropPromptsWhere(where string, args ...any) int {
	n := t.exec("DELETE FROM prompt WHERE "+where, args...)
	t.changed.Text = t.changed.Text || n > 0
	return n
}

func (s *Store) forgetPrompts(ctx context.Context, before time.Time) (int, error) {
	return s.inSteps(ctx, 0, 0, nil, func(t *transaction, limit int) int {
		return t.dropPromptsWhere("no IN (SELECT no FROM prompt WHERE built < ? ORDER BY built LIMIT ?+0)",
			millis(before), limit)
	})
}
