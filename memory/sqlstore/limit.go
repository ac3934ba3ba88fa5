package sqlstore

import (
	"context"
	"time"

	"hark/memory"
)

// spend keeps a question's tokens: without its user if they are forgotten or have opted out, and nothing if the
// guild is forgotten.
func (t *transaction) spend(e memory.Spent) {
	// The widest rule comes first: user 0 is everybody.
	var user memory.UserID
	gone := t.row(`SELECT user FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?1
		AND guild IN (?2, ?3) AND user IN (0, ?4) ORDER BY user LIMIT 1`,
		e.Question, e.Guild, memory.Everywhere, e.User).into(&user)
	if gone && user == 0 {
		return
	}
	if gone || t.decisions().OptedOut(e.Guild, e.User) {
		e.User = 0
	}
	t.exec(`INSERT INTO spent (guild, question, user, tokens) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (guild, question)
		DO UPDATE SET tokens = max(spent.tokens, ?4)`, e.Guild, e.Question, e.User, e.Tokens)
}

// Spending implements memory.Store.
func (s *Store) Spending(ctx context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error) {
	from, until := memory.Day(day)
	spent, err := mapOf[memory.UserID, int](ctx, s.engine, `SELECT user, sum(tokens) FROM spent
		WHERE guild = ? AND question >= ? AND question < ? GROUP BY user`,
		guild, memory.FirstMessageID(from), memory.FirstMessageID(until))
	return spent, s.failed(err, "read what was spent in guild %d", guild)
}
