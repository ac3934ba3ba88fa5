package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"hark/memory"
)

// KeepTrace implements memory.Store.
func (s *Store) KeepTrace(ctx context.Context, trace memory.Trace) error {
	return s.writing(ctx, func(t *transaction) error { return t.keepTrace(trace) })
}

func (t *transaction) keepTrace(trace memory.Trace) error {
	trace, there, err := t.standing(trace)
	if !there || err != nil {
		return err
	}
	body, err := json.Marshal(trace)
	if err != nil {
		return fmt.Errorf("keep a trace: %w: %w", err, memory.ErrRefused)
	}
	d, err := t.decisions()
	if err != nil {
		return err
	}
	if err := t.exec("DELETE FROM trace_source WHERE answer_channel = ? AND answer = ?", int64(trace.Channel), int64(trace.Answer)); err != nil {
		return err
	}
	if err := t.exec("INSERT OR REPLACE INTO trace (channel, answer, body) VALUES (?, ?, ?)", int64(trace.Channel), int64(trace.Answer), string(body)); err != nil {
		return err
	}
	if err := t.settleRewritten(trace); err != nil {
		return err
	}
	lost := false
	for _, source := range sources(trace) {
		gone, err := t.isLost(trace.Guild, source)
		if err != nil {
			return err
		}
		anew, err := t.isRewritten(source)
		if err != nil {
			return err
		}
		gone = gone || anew
		changed, err := t.isChanged(source)
		if err != nil {
			return err
		}
		lost = lost || gone || changed
		if err := t.exec("INSERT OR IGNORE INTO trace_source VALUES (?, ?, ?, ?)", int64(source.Channel), int64(source.Message),
			int64(trace.Channel), int64(trace.Answer)); err != nil {
			return err
		}
	}
	for _, fact := range trace.Facts {
		gone, err := found(t.row("SELECT 1 FROM fact WHERE guild = ? AND id = ? AND text IS NULL", int64(trace.Guild), fact).Scan(new(int)))
		if err != nil {
			return err
		}
		lost = lost || gone
	}
	for i, lore := range trace.Lore {
		var at memory.MessageID
		there, err := found(t.row("SELECT at FROM lore WHERE id = ? AND text IS NOT NULL", lore).Scan(&at))
		if err != nil {
			return err
		}
		there = there && (i >= len(trace.LoreAt) || at == trace.LoreAt[i])
		lost = lost || !there
	}
	for i, id := range trace.Summaries {
		made := int64(0)
		if i < len(trace.SummariesMade) {
			made = trace.SummariesMade[i]
		}
		there, err := t.hasSummary(trace.Channel, id, made)
		if err != nil {
			return err
		}
		lost = lost || !there
	}
	if lost || d.out[member{trace.Guild, trace.Asker}] { // a source was deleted or edited while the answer was being written
		return t.deleteAnswer(trace, lost)
	}
	return t.keepPrompt(trace)
}

// isLost reports whether a source is gone, as it is with a guild whose channels aren't known any more.
func (t *transaction) isLost(guild memory.GuildID, source memory.TraceHit) (bool, error) {
	if gone, err := t.isGone(guild, source.Channel, source.Message); gone || err != nil {
		return gone, err
	}
	c, err := t.knownChannel(source.Channel)
	return c == nil, err
}

// isChanged reports whether a source's text is another than the answer was made from. Hark's own answers grow while they are
// sent, go when they are taken back, and are gone for who used them when they are written anew (isRewritten).
func (t *transaction) isChanged(source memory.TraceHit) (bool, error) {
	c, err := t.knownChannel(source.Channel)
	if c == nil || err != nil {
		return false, err
	}
	now, row, err := t.stored(c, source.Message)
	return row != 0 && now.Kind != memory.FromHark && millis(now.Edited) != source.Edited, err
}

// sources are the messages that a trace's answer was made from: all that the model was shown.
func sources(trace memory.Trace) []memory.TraceHit {
	var used []memory.TraceHit
	for _, hit := range trace.Recalled {
		if hit.Number > 0 || hit.Context {
			used = append(used, hit)
		}
	}
	for i, id := range trace.Condensed {
		hit := memory.TraceHit{Channel: trace.Channel, Message: id}
		if i < len(trace.CondensedEdited) {
			hit.Edited = trace.CondensedEdited[i]
		}
		used = append(used, hit)
	}
	if trace.Question != 0 {
		used = append(used, memory.TraceHit{Channel: trace.Channel, Message: trace.Question, Edited: trace.QuestionEdited})
	}
	return used
}

// Trace implements memory.Store.
func (s *Store) Trace(ctx context.Context, channel memory.ChannelID, answer memory.MessageID) (memory.Trace, error) {
	var trace memory.Trace
	var body []byte
	ok := false
	var err error
	for _, query := range []string{"SELECT body FROM trace WHERE channel = ? AND answer = ?", traceByPart} {
		if ok || err != nil {
			break
		}
		ok, err = found(s.read.QueryRowContext(ctx, query, int64(channel), int64(answer)).Scan(&body))
	}
	if err == nil && !ok {
		err = memory.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(body, &trace)
	}
	if err != nil {
		return trace, fmt.Errorf("trace of answer %d: %w", answer, explain(err))
	}
	return trace, nil
}

// traceByPart selects the trace of the answer in a channel of which a message is a further part. SQLite would else read all of the
// channel's traces.
const traceByPart = `SELECT body FROM trace INDEXED BY trace_parts WHERE channel = ?1 AND body ->> '$.parts' IS NOT NULL
	AND EXISTS (SELECT 1 FROM json_each(body, '$.parts') p WHERE p.value = ?2)`

// withdrawUnasked has Discord show no more of the answers to a question that is about to go.
func (t *transaction) withdrawUnasked(channel memory.ChannelID, question memory.MessageID) error {
	return t.exec(`INSERT OR IGNORE INTO withdrawn (guild, channel, message, first, unasked) SELECT t.body ->> '$.guild', t.channel, t.answer, 1, 1
		FROM trace_source s JOIN trace t ON t.channel = s.answer_channel AND t.answer = s.answer
		WHERE s.channel = ?1 AND s.id = ?2 AND t.channel = ?1 AND t.body ->> '$.question' = ?2`, int64(channel), int64(question))
}

// dropAnswers deletes the answers that were made from a message.
func (t *transaction) dropAnswers(channel memory.ChannelID, id memory.MessageID) error {
	_, err := t.deleteAnswers(`SELECT t.body FROM trace_source s JOIN trace t ON t.channel = s.answer_channel AND t.answer = s.answer
		WHERE s.channel = ? AND s.id = ?`, int64(channel), int64(id))
	return err
}

// answersByFacts begins to select the traces of a guild, the first argument, of answers made from facts for which a
// condition on f.value holds, which follows, with a bracket.
const answersByFacts = `SELECT t.body FROM trace t WHERE t.body LIKE '%"facts":[%' AND ?1 IN (t.body ->> '$.guild', -1)
	AND EXISTS (SELECT 1 FROM json_each(t.body, '$.facts') f WHERE `

// deleteAnswers withdraws the answers of the traces that a query gives, and tells how many.
func (t *transaction) deleteAnswers(query string, args ...any) (int, error) {
	var traces []memory.Trace
	err := t.each(func(scan func(...any) error) error {
		var body []byte
		var trace memory.Trace
		if err := scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &trace); err != nil {
			return err
		}
		traces = append(traces, trace)
		return nil
	}, query, args...)
	if err != nil {
		return 0, err
	}
	for _, trace := range traces {
		if err := t.deleteAnswer(trace, true); err != nil {
			return 0, err
		}
	}
	return len(traces), nil
}

// deleteAnswer deletes the messages of an answer, and its trace. Withdrawn, Discord is to show it no more: else it may, since
// nothing is kept of whoever asked.
func (t *transaction) deleteAnswer(trace memory.Trace, withdrawn bool) error {
	if err := t.dropTrace(trace.Channel, trace.Answer); err != nil {
		return err
	}
	return t.deleteParts(trace, append([]memory.MessageID{trace.Answer}, trace.Parts...), withdrawn)
}

// deleteParts deletes messages of an answer.
func (t *transaction) deleteParts(trace memory.Trace, parts []memory.MessageID, withdrawn bool) error {
	for _, id := range parts {
		if gone, err := t.isGone(trace.Guild, trace.Channel, id); err != nil {
			return err
		} else if gone {
			continue
		}
		if withdrawn {
			if err := t.exec("INSERT OR IGNORE INTO withdrawn (guild, channel, message, first) VALUES (?, ?, ?, ?)",
				int64(trace.Guild), int64(trace.Channel), int64(id), id == trace.Answer); err != nil {
				return err
			}
		}
		if err := t.delete(trace.Channel, id); err != nil {
			return err
		}
		if err := t.exec("INSERT OR IGNORE INTO taken VALUES (?, ?)", int64(trace.Channel), int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// dropTrace deletes the trace of an answer, and its prompt.
func (t *transaction) dropTrace(channel memory.ChannelID, answer memory.MessageID) error {
	if err := t.dropPrompt(channel, answer); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM trace WHERE channel = ?1 AND answer = ?2",
		"DELETE FROM trace_source WHERE answer_channel = ?1 AND answer = ?2",
	} {
		if err := t.exec(query, int64(channel), int64(answer)); err != nil {
			return err
		}
	}
	return nil
}

// Withdrawn implements memory.Store.
func (s *Store) Withdrawn(ctx context.Context, limit int) ([]memory.Withdrawn, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT guild, channel, message, first, unasked FROM withdrawn ORDER BY no LIMIT ?", max(limit, 0))
	var all []memory.Withdrawn
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var w memory.Withdrawn
			err := scan(&w.Guild, &w.Channel, &w.Message, &w.First, &w.Unasked)
			all = append(all, w)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read which answers were withdrawn: %w", explain(err))
	}
	return all, nil
}
