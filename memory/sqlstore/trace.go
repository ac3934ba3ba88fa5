package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"hark/memory"
)

func (t *transaction) hasSource(answer memory.Trace, s memory.Source) bool {
	return t.has(`SELECT 1 FROM derived d CROSS JOIN source s
		WHERE d.guild = ?1 AND d.kind = ?2 AND d.place = ?3 AND d.id = ?4
		AND s.guild = ?1 AND s.derived = d.no AND s.kind = ?5 AND s.place = ?6 AND s.id = ?7 AND s.version = ?8`,
		answer.Guild, anAnswer, answer.Channel, answer.Answer, aMessage, s.Channel, s.ID, s.Version)
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

// addSourcesOfSummaries adds the sources of an answer's summaries to the answer's own. The terminal's is made from
// summaries of any guild.
func (t *transaction) addSourcesOfSummaries(answer derived) {
	type summary struct {
		no, repeats int64 // of the answer
		channel     memory.ChannelID
		id          memory.MessageID
	}
	read := func(scan Scanner, s *summary) error { return scan(&s.no, &s.repeats, &s.channel, &s.id) }
	summaries := listIn(t, read, `SELECT d.no, s.repeats, s.place, s.id FROM derived d CROSS JOIN source s
		WHERE d.guild = ?1 AND d.kind = ?2 AND d.place = ?3 AND d.id = ?4
		AND s.guild = ?1 AND s.derived = d.no AND s.kind = ?5`, answer.guild, anAnswer, answer.place(), answer.id, aSummary)
	for _, s := range summaries {
		for _, source := range t.sourcesOfSummary(answer.guild, s.channel, s.id) {
			source[4] = s.repeats
			t.addSource(answer.guild, s.no, source)
		}
	}
}

// sourcesOfSummary returns the sources of a summary. guild is used if its channel is unknown.
func (t *transaction) sourcesOfSummary(guild memory.GuildID, channel memory.ChannelID,
	id memory.MessageID) []storedSource {
	read := func(scan Scanner, s *storedSource) error { return scan(&s[0], &s[1], &s[2], &s[3]) }
	return listIn(t, read, `SELECT s.kind, s.place, s.id, s.version FROM derived d CROSS JOIN source s
		WHERE d.guild = ?1 AND d.kind = ?2 AND d.place = ?3 AND d.id = ?4 AND s.guild = ?1 AND s.derived = d.no`,
		t.guildAt(guild, channel), aSummary, channel, id)
}

var (
	// It chooses by an index alone, and reads only the chosen traces.
	tracesBefore = `(SELECT guild, channel, answer FROM trace k
		WHERE answer < ?1 AND (?9 = -1 OR guild = ?9) AND (?2 = 0 OR channel = ?2)
		AND (?3 = 0 OR asker = ?3) AND (?4 = '' OR model = ?4) AND (NOT ?5 OR model <> '') AND (NOT ?6 OR model = '')
		AND (?7 IS NULL OR guild IN (SELECT value FROM json_each(?7)))
		ORDER BY answer DESC, channel LIMIT ?8+0) k CROSS JOIN trace t
		WHERE t.guild = k.guild AND t.channel = k.channel AND t.answer = k.answer ORDER BY t.answer DESC, t.channel`
	ofChannel = "(t.guild = ?1 OR ?1 = -1) AND t.channel = ?2"
	traceOf   = "trace t WHERE " + ofChannel + " AND t.answer = ?3"
	// Without the index, SQLite reads all of the channel's traces.
	byPart        = "trace t INDEXED BY trace_parts WHERE " + ofChannel + " AND t.parts <> '[]'"
	traceByPart   = byPart + " AND ?3 IN (SELECT value FROM json_each(t.parts))"
	answersOf     = "trace t WHERE " + ofChannel + " AND t.answer IN (SELECT value FROM json_each(?3))"
	answersByPart = byPart + ` AND EXISTS (SELECT 1 FROM json_each(t.parts) p
		WHERE p.value IN (SELECT value FROM json_each(?3)))`
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
		guild := s.guildOf(q.Channel)
		all, err = s.traces(ctx, q.Prompts, traceOf, guild, q.Channel, q.Answer)
		if err == nil && len(all) == 0 {
			all, err = s.traces(ctx, q.Prompts, traceByPart, guild, q.Channel, q.Answer)
		}
	}
	return all[:min(limit, len(all))], s.failed(err, "read how answers came about")
}

// tracesBefore returns the traces that match q, newest first.
func (s *Store) tracesBefore(ctx context.Context, q memory.TraceQuery, limit int) ([]memory.Trace, error) {
	guild := s.guildOf(q.Channel)
	var guilds any
	if len(q.Guilds) > 0 {
		guilds = jsonOf(q.Guilds)
	}
	if len(q.Guilds) == 1 {
		guild = q.Guilds[0]
	}
	return s.traces(ctx, q.Prompts, tracesBefore, cmp.Or(q.Before, endless), q.Channel, q.Asker,
		memory.Clean(q.Model), q.Generated, q.Extractive, guilds, limit, guild)
}

func (s *Store) traces(ctx context.Context, prompts bool, from string, args ...any) ([]memory.Trace, error) {
	prompt := "0, NULL, NULL"
	if prompts {
		const of = " FROM prompt p WHERE p.guild = t.guild AND p.channel = t.channel AND p.answer = t.answer)"
		prompt = "EXISTS (SELECT 1" + of + ", (SELECT built" + of + ", (SELECT body" + of
	}
	return list(ctx, s.engine, func(scan Scanner, t *memory.Trace) error {
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
		found, err := list(ctx, s.engine, func(scan Scanner, t *memory.Trace) error {
			t.Channel = channel
			var sources []storedSource
			err := scan(&t.Answer, &t.Question, asJSON{&t.Parts}, asJSON{&sources})
			for _, s := range sources {
				t.Sources = append(t.Sources, s.source())
			}
			return err
		}, "SELECT t.answer, t.question, t.parts, "+bareSources+" FROM "+from, s.guildOf(channel), channel, jsonOf(answers))
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

// keepPrompt replaces a trace's prompt, which has a table of its own. It keeps one only if its sources are
// unchanged (same) and nobody in it has opted out or been forgotten since.
func (t *transaction) keepPrompt(trace memory.Trace, same bool) {
	p := trace.Prompt
	t.dropPrompt(trace.Guild, trace.Channel, trace.Answer)
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

func (t *transaction) dropPrompt(guild memory.GuildID, channel memory.ChannelID, answer memory.MessageID) {
	t.dropPromptsWhere("guild = ? AND channel = ? AND answer = ?", guild, channel, answer)
}

// dropPromptsFrom deletes the prompts made from something of a guild, but not the answers.
func (t *transaction) dropPromptsFrom(guild memory.GuildID, k kind, place, id any) {
	for _, in := range citing(guild) {
		t.dropPromptsWhere(`guild = ?1 AND (channel, answer) IN (SELECT d.place, d.id FROM source s CROSS JOIN derived d
			WHERE s.guild = ?1 AND s.kind = ?2 AND s.place = ?3 AND s.id = ?4
			AND d.guild = ?1 AND d.no = s.derived AND d.kind = ?5)`, in, k, place, id, anAnswer)
	}
}

// dropPromptsWhere deletes prompts by a condition and returns how many.
func (t *transaction) dropPromptsWhere(where string, args ...any) int {
	n := t.exec("DELETE FROM prompt WHERE "+where, args...)
	t.changed.Text = t.changed.Text || n > 0
	return n
}

func (s *Store) forgetPrompts(ctx context.Context, before time.Time) (int, error) {
	return s.inSteps(ctx, 0, 0, nil, func(t *transaction, limit int) (n int) {
		old := map[memory.GuildID][]int64{}
		eachKey(t, func(guild memory.GuildID, no int64) { old[guild] = append(old[guild], no) },
			"SELECT guild, no FROM prompt WHERE built < ? ORDER BY built LIMIT ?+0", millis(before), limit)
		for guild, nos := range old {
			n += t.dropPromptsWhere("guild = ? AND no IN (SELECT value FROM json_each(?))", guild, jsonOf(nos))
		}
		return n
	})
}
