package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
	if err := t.exec("INSERT OR REPLACE INTO trace (channel, answer, body) VALUES (?, ?, ?)", int64(trace.Channel), int64(trace.Answer), string(body)); err != nil {
		return err
	}
	if err := t.settleRewritten(trace); err != nil {
		return err
	}
	sources, asked, same, lost, gone, hide := slices.Clone(trace.Sources), false, true, false, false, hideNone
	for i, s := range sources {
		if s.Kind == memory.SourceMessage && s.Channel == trace.Channel && s.ID == int64(trace.Question) {
			asked, sources[i].Repeats = true, true // an answer is nothing without its question
		}
		now, err := t.stand(trace.Guild, s)
		if err != nil {
			return err
		}
		if now == isAnew { // it stays where what that was made from is handed down to it
			had, err := t.hasSource(trace, s)
			if err != nil {
				return err
			} else if had {
				now = isOther
			}
		}
		same, lost, gone = same && now == isSame, lost || now == isAnew || now == isLost, gone || now == isLost
		if now == isLost && sources[i].Repeats {
			hide = hideAll
		}
	}
	if forgotten, err := t.fallsUnderSince(trace, gone); err != nil {
		return err
	} else if forgotten {
		lost, hide = true, hideAll
	}
	made := derived{kind: anAnswer, guild: trace.Guild, channel: trace.Channel, id: int64(trace.Answer), at: trace.Answer}
	if err := t.derive(made, sources, namedIn(trace)); err != nil {
		return err
	}
	if err := t.addSourcesOfSummaries(made); err != nil {
		return err
	}
	if lost || d.out[member{trace.Guild, trace.Asker}] { // a source was deleted or edited while the answer was being written
		return t.invalidate(selection{"SELECT no AS derived, 1 AS repeats, 0 AS itself FROM derived WHERE kind = ? AND place = ? AND id = ?",
			[]any{int(anAnswer), made.place(), made.id}}, cause{hide: hide})
	}
	return t.keepPrompt(trace, same && asked)
}

// hasSource reports whether a version of a message is known as what an answer was made from that is kept already.
func (t *transaction) hasSource(answer memory.Trace, s memory.Source) (bool, error) {
	return found(t.row(`SELECT 1 FROM derived d CROSS JOIN source s ON s.derived = d.no AND s.kind = ? AND s.place = ? AND s.id = ? AND s.version = ?
		WHERE d.kind = ? AND d.place = ? AND d.id = ?`, int(aMessage), int64(s.Channel), s.ID, s.Version,
		int(anAnswer), int64(answer.Channel), int64(answer.Answer)).Scan(new(int)))
}

// fallsUnderSince reports whether somebody was forgotten as a whole while an answer was being written, whom it names or, if a source
// of it is gone, who may have been the source's author: that isn't known any more.
func (t *transaction) fallsUnderSince(trace memory.Trace, sourceGone bool) (bool, error) {
	since := trace.Answer
	if trace.Prompt != nil {
		since = memory.FirstMessageID(trace.Prompt.Built)
	} else if trace.Question != 0 {
		since = trace.Question
	}
	return found(t.row("SELECT 1 FROM ("+forgottenSince+") WHERE ?6 OR user IN (SELECT value FROM json_each(?3)) LIMIT 1", int64(trace.Guild),
		int64(memory.LocalGuild), jsonOf(namedIn(trace)), int64(since-1), int64(memory.Everywhere), sourceGone).Scan(new(int)))
}

// namedIn are those whom an answer is about: who asked, and whom its prompt names.
func namedIn(trace memory.Trace) []memory.UserID {
	return append([]memory.UserID{trace.Asker}, trace.Named...)
}

// addSourcesOfSummaries notes what the summaries were made from that an answer was made from.
func (t *transaction) addSourcesOfSummaries(answer derived) error {
	return t.exec(`INSERT INTO source (derived, kind, place, id, version, repeats) SELECT a.no, o.kind, o.place, o.id, o.version, s.repeats
		FROM derived a CROSS JOIN source s ON s.derived = a.no AND s.kind = ?4 CROSS JOIN derived d ON d.kind = s.kind AND d.place = s.place AND d.id = s.id
		CROSS JOIN source o ON o.derived = d.no WHERE a.kind = ?1 AND a.place = ?2 AND a.id = ?3
		ON CONFLICT DO UPDATE SET repeats = max(repeats, excluded.repeats)`, int(anAnswer), answer.place(), answer.id, int(aSummary))
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

// loseAnswer deletes the messages of an answer that goes, and its trace and prompt.
func (t *transaction) loseAnswer(g invalid, deleted memory.Spot) error {
	trace, _, err := t.traceOf(g.channel, memory.MessageID(g.id))
	if err != nil {
		return err
	}
	if err := t.dropTrace(g.channel, trace.Answer); err != nil {
		return err
	}
	if g.hide && deleted == (memory.Spot{Channel: trace.Channel, Message: trace.Question}) {
		if err := t.withdraw(g.derived, trace.Answer, true); err != nil {
			return err
		}
	}
	left, err := t.deleteParts(trace, append([]memory.MessageID{trace.Answer}, trace.Parts...), g.hide)
	if g.hide || err != nil {
		return err
	}
	return t.leaveShown(g, trace.Question, left)
}

// traceOf is the trace that is kept under the first message of an answer.
func (t *transaction) traceOf(channel memory.ChannelID, answer memory.MessageID) (trace memory.Trace, known bool, err error) {
	var body []byte
	known, err = found(t.row("SELECT body FROM trace WHERE channel = ? AND answer = ?", int64(channel), int64(answer)).Scan(&body))
	if err == nil && known {
		err = json.Unmarshal(body, &trace)
	}
	return trace, known, err
}

// deleteParts deletes messages of an answer, and tells which were there still. Withdrawn, Discord is to show them no more.
func (t *transaction) deleteParts(trace memory.Trace, parts []memory.MessageID, withdrawn bool) (there []memory.MessageID, err error) {
	answer := derived{guild: trace.Guild, channel: trace.Channel, id: int64(trace.Answer)}
	for _, id := range parts {
		if gone, err := t.isGone(trace.Guild, trace.Channel, id); err != nil {
			return nil, err
		} else if gone {
			continue
		}
		if withdrawn {
			if err := t.withdraw(answer, id, false); err != nil {
				return nil, err
			}
		}
		if err := t.delete(trace.Channel, id, hideNone); err != nil {
			return nil, err
		}
		if err := t.exec("INSERT OR IGNORE INTO taken VALUES (?, ?)", int64(trace.Channel), int64(id)); err != nil {
			return nil, err
		}
		there = append(there, id)
	}
	return there, nil
}

// withdraw has Discord show a message of an answer no more. unasked says that the question was deleted.
func (t *transaction) withdraw(answer derived, id memory.MessageID, unasked bool) error {
	return t.exec("INSERT OR IGNORE INTO withdrawn (guild, channel, message, first, unasked) VALUES (?, ?, ?, ?, ?)",
		int64(answer.guild), int64(answer.channel), int64(id), int64(id) == answer.id, unasked)
}

// dropTrace deletes the trace of an answer, and its prompt.
func (t *transaction) dropTrace(channel memory.ChannelID, answer memory.MessageID) error {
	if err := t.dropPrompt(channel, answer); err != nil {
		return err
	}
	if _, err := t.underive(derived{kind: anAnswer, channel: channel, id: int64(answer)}); err != nil {
		return err
	}
	return t.exec("DELETE FROM trace WHERE channel = ? AND answer = ?", int64(channel), int64(answer))
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
