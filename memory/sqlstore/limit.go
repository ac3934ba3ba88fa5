package sqlstore

import (
	"context"
	"time"

	"hark/memory"
)

// chooseLimit keeps how much may be asked. Neither the guild nor the role need be known yet.
func (t *transaction) chooseLimit(e memory.LimitChosen) {
	t.putNewer(limitTable, e.Guild, e.Role, e.Messages, e.Tokens, millis(e.At))
}

// readLimits adds what was chosen to the guilds that are known.
func readLimits(ctx context.Context, q Querier, guilds map[memory.GuildID]*memory.Guild) error {
	return Each(ctx, q, func(scan Scanner) error {
		var guild memory.GuildID
		var l memory.RoleLimit
		err := scan(&guild, &l.Role, &l.Messages, &l.Tokens)
		if g := guilds[guild]; g != nil {
			g.Limits = append(g.Limits, l)
		}
		return err
	}, `SELECT guild, role, messages, tokens FROM role_limit WHERE messages <> ?1 OR tokens <> ?1
		ORDER BY guild, role`, memory.AsConfigured)
}

// spend keeps what a question took, as far as that may be kept.
func (t *transaction) spend(e memory.Spent) {
	// The widest of those who are forgotten comes first: everybody is user 0.
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
	spent := map[memory.UserID]int{}
	err := Each(ctx, s.engine, func(scan Scanner) error {
		var user memory.UserID
		var tokens int
		err := scan(&user, &tokens)
		spent[user] = tokens
		return err
	}, "SELECT user, sum(tokens) FROM spent WHERE guild = ? AND question >= ? AND question < ? GROUP BY user",
		guild, memory.FirstMessageID(from), memory.FirstMessageID(until))
	return spent, s.failed(err, "read what was spent in guild %d", guild)
}
