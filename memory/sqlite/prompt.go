package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hark/memory"
)

// A prompt's text lies in a table of its own, beside the numbers in trace, so that it can be taken away without them.

// promptBody is what the file keeps of a prompt's text.
type promptBody struct {
	Messages   []memory.PromptMessage `json:"messages"`
	Boundaries []memory.Boundary      `json:"boundaries"`
}

// keepPrompt keeps the prompt of a trace in the place of an earlier one, if all that it holds may be kept.
func (t *transaction) keepPrompt(trace memory.Trace) error {
	if err := t.dropPrompt(trace.Channel, trace.Answer); err != nil || trace.Prompt == nil {
		return err
	}
	holds, err := t.promptHolds(trace)
	if !holds || err != nil {
		return err
	}
	p := trace.Prompt
	body, err := json.Marshal(promptBody{p.Messages, p.Boundaries})
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO prompt (channel, answer, guild, built, people, body) VALUES (?, ?, ?, ?, ?, ?)",
		int64(trace.Channel), int64(trace.Answer), int64(trace.Guild), millis(p.Built), jsonOf(p.People), string(body))
}

// promptHolds reports whether a prompt's words may be kept: all that it is made from is in the log as it was used, so that
// what becomes of it later takes the prompt away, and nobody in it has opted out or been forgotten since it was built.
func (t *transaction) promptHolds(trace memory.Trace) (bool, error) {
	if trace.Question == 0 { // nothing would tell that the question was deleted
		return false, nil
	}
	for _, source := range sources(trace) {
		c, err := t.knownChannel(source.Channel)
		if c == nil || err != nil {
			return false, err
		}
		now, row, err := t.stored(c, source.Message)
		if row == 0 || now.doomed || millis(now.Edited) != source.Edited || err != nil {
			return false, err
		}
	}
	people := jsonOf(trace.Prompt.People)
	out, err := found(t.row("SELECT 1 FROM opted WHERE out = 1 AND ?1 IN (guild, ?2) AND user IN (SELECT value FROM json_each(?3)) LIMIT 1",
		int64(trace.Guild), int64(memory.LocalGuild), people).Scan(new(int)))
	if out || err != nil {
		return false, err
	}
	gone, err := found(t.row(`SELECT 1 FROM forgetting WHERE whole = 1 AND channel = 0 AND before >= ?1 AND (guild IN (?2, ?3) OR ?2 = ?4)
		AND (user = 0 OR user IN (SELECT value FROM json_each(?5))) LIMIT 1`, int64(memory.FirstMessageID(trace.Prompt.Built)),
		int64(trace.Guild), int64(memory.Everywhere), int64(memory.LocalGuild), people).Scan(new(int)))
	return !gone, err
}

// dropPrompt takes the prompt of an answer away.
func (t *transaction) dropPrompt(channel memory.ChannelID, answer memory.MessageID) error {
	_, err := t.dropPromptsWhere("channel = ? AND answer = ?", int64(channel), int64(answer))
	return err
}

// dropPromptsFrom takes the prompts away that a message is in, whose answers stay.
func (t *transaction) dropPromptsFrom(channel memory.ChannelID, id memory.MessageID) error {
	_, err := t.dropPromptsWhere("(channel, answer) IN (SELECT answer_channel, answer FROM trace_source WHERE channel = ? AND id = ?)", int64(channel), int64(id))
	return err
}

// dropPromptsByFact takes the prompts away that a fact is in.
func (t *transaction) dropPromptsByFact(guild memory.GuildID, id int64) error {
	_, err := t.dropPromptsWhere(`EXISTS (SELECT 1 FROM trace t, json_each(t.body, '$.facts') f
		WHERE t.channel = prompt.channel AND t.answer = prompt.answer AND t.body ->> '$.guild' = ?1 AND f.value = ?2)`, int64(guild), id)
	return err
}

// dropPromptsWhere takes the prompts away that a condition holds for, and tells how many.
func (t *transaction) dropPromptsWhere(where string, args ...any) (n int, err error) {
	if err := t.exec("DELETE FROM prompt WHERE "+where, args...); err != nil {
		return 0, err
	}
	if err := t.row("SELECT changes()").Scan(&n); err != nil {
		return 0, err
	}
	t.changed.text = t.changed.text || n > 0
	return n, nil
}

// dropPrompts takes the prompts away that somebody is in of whom everything is forgotten, and those of a guild that is
// forgotten. What is asked at the command line may tell of the people of any guild.
func (b *beginning) dropPrompts() error {
	if b.of.channel != 0 || !b.of.whole {
		return nil
	}
	people := "?1"
	if b.of.user == 0 {
		people = "SELECT id FROM person WHERE ?2 IN (guild, ?3)"
	}
	_, err := b.dropPromptsWhere("(?1 = 0 AND ?2 IN (guild, ?3)) OR (?2 IN (guild, ?3) OR guild = ?4) AND EXISTS (SELECT 1 FROM json_each(people) WHERE value IN ("+people+"))",
		int64(b.of.user), int64(b.of.guild), int64(memory.Everywhere), int64(memory.LocalGuild))
	return err
}

// forgetStep bounds how many prompts are taken away in one transaction, so that nobody waits long.
const forgetStep = 200

// ForgetPrompts implements memory.Store.
func (s *Store) ForgetPrompts(ctx context.Context, before time.Time) (int, error) {
	total, err := s.forgetPrompts(ctx, before)
	if err == nil && total > 0 {
		err = s.EmptyLog(ctx)
	}
	if err != nil {
		return total, fmt.Errorf("forget old prompts: %w", err)
	}
	return total, nil
}

func (s *Store) forgetPrompts(ctx context.Context, before time.Time) (total int, err error) {
	for {
		n := 0
		if err := s.writing(ctx, func(t *transaction) (err error) {
			n, err = t.dropPromptsWhere("no IN (SELECT no FROM prompt WHERE built < ? ORDER BY built LIMIT ?)", millis(before), forgetStep)
			return err
		}); err != nil {
			return total, err
		}
		if total += n; n < forgetStep {
			return total, nil
		}
	}
}

// Prompt implements memory.Store.
func (s *Store) Prompt(ctx context.Context, channel memory.ChannelID, answer memory.MessageID) (memory.Prompt, error) {
	var built int64
	var people, body []byte
	var text promptBody
	p := memory.Prompt{}
	ok, err := found(s.read.QueryRowContext(ctx, "SELECT built, people, body FROM prompt WHERE channel = ? AND answer = ?", int64(channel), int64(answer)).
		Scan(&built, &people, &body))
	if err == nil && !ok {
		err = memory.ErrNotFound
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(people, &p.People), json.Unmarshal(body, &text))
	}
	if err != nil {
		return memory.Prompt{}, fmt.Errorf("prompt of answer %d: %w", answer, explain(err))
	}
	p.Built, p.Messages, p.Boundaries = fromMillis(built), text.Messages, text.Boundaries
	return p, nil
}

// Traces implements memory.Store.
func (s *Store) Traces(ctx context.Context, before memory.MessageID, limit int) ([]memory.Trace, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT body FROM trace WHERE answer < ? ORDER BY answer DESC, channel LIMIT ?", int64(before), max(limit, 0))
	var all []memory.Trace
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var body []byte
			var trace memory.Trace
			if err := scan(&body); err != nil {
				return err
			}
			err := json.Unmarshal(body, &trace)
			all = append(all, trace)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the last traces: %w", explain(err))
	}
	return all, nil
}
