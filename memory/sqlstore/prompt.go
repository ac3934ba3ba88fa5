package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"hark/memory"
)

// A prompt's text lies in a table of its own, beside the numbers in trace, so that it can be taken away without them.

// promptBody is what the file keeps of a prompt's text.
type promptBody struct {
	Messages   []memory.PromptMessage `json:"messages"`
	Boundaries []memory.Boundary      `json:"boundaries"`
}

// keepPrompt keeps the prompt of a trace in the place of an earlier one, if it may be kept: its question and
// all else that it is made from is in the log as it was used (same), so that what becomes of that later takes
// the prompt away, and nobody in it has opted out or been forgotten since it was built.
func (t *transaction) keepPrompt(trace memory.Trace, same bool) error {
	p := trace.Prompt
	if err := t.dropPrompt(trace.Channel, trace.Answer); err != nil || p == nil || !same {
		return err
	}
	if gone, err := t.namesForgotten(trace.Guild, namedIn(trace), memory.FirstMessageID(p.Built)-1); gone ||
		err != nil {
		return err
	}
	body, err := json.Marshal(promptBody{p.Messages, p.Boundaries})
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO prompt (channel, answer, guild, built, body) VALUES (?, ?, ?, ?, ?)",
		int64(trace.Channel), int64(trace.Answer), int64(trace.Guild), millis(p.Built), string(body))
}

// namesForgotten reports whether any of named has opted out, or was forgotten as a whole, with the guild or
// alone, since a moment. What is asked at the command line may name people of any guild.
func (t *transaction) namesForgotten(guild memory.GuildID, named []memory.UserID,
	since memory.MessageID) (bool, error) {
	if len(named) == 0 {
		return false, nil
	}
	return Found(t.row(`SELECT 1 FROM opted WHERE out = 1 AND (guild = ?1 OR ?1 = ?2) AND user IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT 1 FROM (`+forgottenSince+
		`) AS f WHERE user = 0 OR user IN (SELECT value FROM json_each(?3)) LIMIT 1`, int64(guild), int64(memory.LocalGuild), jsonOf(named),
		int64(since), int64(memory.Everywhere)).Scan(new(int)))
}

// forgottenSince selects who was forgotten as a whole in a guild (?1), or with any if that is the command
// line's (?2), since a moment (?4): 0 is everybody. ?5 is memory.Everywhere.
const forgottenSince = `SELECT user FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?4
	AND (guild IN (?1, ?5) OR ?1 = ?2)`

// dropPrompt takes the prompt of an answer away.
func (t *transaction) dropPrompt(channel memory.ChannelID, answer memory.MessageID) error {
	_, err := t.dropPromptsWhere("channel = ? AND answer = ?", int64(channel), int64(answer))
	return err
}

// dropPromptsFrom takes the prompts away that something is in, whose answers stay.
func (t *transaction) dropPromptsFrom(k kind, place, id int64) error {
	_, err := t.dropPromptsWhere(`(channel, answer) IN (SELECT d.place, d.id FROM source s CROSS JOIN derived d ON d.no = s.derived AND d.kind = ?
		WHERE s.kind = ? AND s.place = ? AND s.id = ?)`, int(anAnswer), int(k), place, id)
	return err
}

// dropPromptsWhere takes the prompts away that a condition holds for, and tells how many.
func (t *transaction) dropPromptsWhere(where string, args ...any) (n int, err error) {
	n, err = t.Exec("DELETE FROM prompt WHERE "+where, args...)
	t.changed.Text = t.changed.Text || n > 0
	return n, err
}

// forgetStep bounds how many prompts are taken away in one transaction, so that nobody waits long.
const forgetStep = 200

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

// readPrompt reads what the file keeps of a prompt.
func readPrompt(built int64, body []byte) (*memory.Prompt, error) {
	var text promptBody
	err := json.Unmarshal(body, &text)
	return &memory.Prompt{Built: FromMillis(built), Messages: text.Messages, Boundaries: text.Boundaries}, err
}
