package sqlstore

import (
	"context"
	"time"

	"hark/memory"
)

// Prompts have a table of their own, so they can be deleted without the trace.

// keepPrompt replaces the prompt of a trace. It keeps one only if its sources are unchanged (same), so
// later changes to them delete it, and if nobody in it has opted out or been forgotten since.
func (t *transaction) keepPrompt(trace memory.Trace, same bool) {
	p := trace.Prompt
	t.dropPrompt(trace.Channel, trace.Answer)
	if p == nil || !same || t.namesForgotten(trace.Guild, namedIn(trace), memory.FirstMessageID(p.Built)-1) {
		return
	}
	t.exec("INSERT INTO prompt (channel, answer, guild, built, body) VALUES (?, ?, ?, ?, ?)", trace.Channel,
		trace.Answer, trace.Guild, millis(p.Built), jsonText(p))
}

// namesForgotten reports whether any of named has opted out, or was forgotten as a whole since a moment,
// alone or with the guild. A question at the command line may name people of any guild.
func (t *transaction) namesForgotten(guild memory.GuildID, named []memory.UserID, since memory.MessageID) bool {
	return len(named) > 0 && t.has(`SELECT 1 FROM opted WHERE out = 1 AND (guild = ?1 OR ?1 = ?2)
			AND user IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT 1 FROM (`+forgottenSince+`) AS f
			WHERE user = 0 OR user IN (SELECT value FROM json_each(?3)) LIMIT 1`,
		guild, memory.LocalGuild, jsonOf(named), since, memory.Everywhere)
}

// forgottenSince selects the users forgotten as a whole in guild ?1 since moment ?4; 0 is everybody. If ?1
// is the command line's guild (?2), it selects from all guilds. ?5 is memory.Everywhere.
const forgottenSince = `SELECT user FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?4
	AND (guild IN (?1, ?5) OR ?1 = ?2)`

func (t *transaction) dropPrompt(channel memory.ChannelID, answer memory.MessageID) {
	t.dropPromptsWhere("channel = ? AND answer = ?", channel, answer)
}

// dropPromptsFrom deletes the prompts made from something, and leaves the answers.
func (t *transaction) dropPromptsFrom(k kind, place, id any) {
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
