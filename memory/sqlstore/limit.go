package sqlstore

import (
	"context"
	"time"

	"hark/memory"
)

// chooseLimit keeps how much may be asked. Neither the guild nor the role need be known yet.
func (t *transaction) chooseLimit(e memory.LimitChosen) error {
	return t.exec(`INSERT INTO role_limit (guild, role, messages, tokens, at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (guild, role)
		DO UPDATE SET messages = ?3, tokens = ?4, at = ?5 WHERE ?5 > role_limit.at`, int64(e.Guild), int64(e.Role), e.Messages, e.Tokens, millis(e.At))
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
func (t *transaction) spend(e memory.Spent) error {
	d, err := t.decisions()
	if err != nil {
		return err
	}
	if d.out[member{e.Guild, e.User}] {
		e.User = 0
	}
	// The widest of those who are forgotten comes first: everybody is user 0.
	var user memory.UserID
	gone, err := Found(t.row(`SELECT user FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?1 AND guild IN (?2, ?3) AND user IN (0, ?4)
		ORDER BY user LIMIT 1`, int64(e.Question), int64(e.Guild), int64(memory.Everywhere), int64(e.User)).Scan(&user))
	if err != nil || gone && user == 0 {
		return err
	}
	if gone {
		e.User = 0
	}
	return t.exec(`INSERT INTO spent (guild, question, user, tokens) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (guild, question)
		DO UPDATE SET tokens = max(spent.tokens, ?4)`, int64(e.Guild), int64(e.Question), int64(e.User), e.Tokens)
}

// dropSpending forgets on whose questions tokens were spent, or, with all of a guild, that any were.
func (b *beginning) dropSpending() error {
	change := "UPDATE spent SET user = 0"
	if b.of.user == 0 {
		change = "DELETE FROM spent"
	}
	return b.exec(change+" WHERE (guild = ?1 OR ?1 = ?2) AND question < ?3 AND (user = ?4 OR ?4 = 0)",
		int64(b.of.guild), int64(memory.Everywhere), int64(b.of.end), int64(b.of.user))
}

// takeLimits takes over how much may be asked, and what was spent since the copy was made.
func (t *transaction) takeLimits(*Taken) error {
	t.changed.structure = true
	if err := t.exec(`INSERT INTO main.role_limit (guild, role, messages, tokens, at) SELECT guild, role, messages, tokens, at FROM old.role_limit WHERE true
		ON CONFLICT (guild, role) DO UPDATE SET messages = excluded.messages, tokens = excluded.tokens, at = excluded.at WHERE excluded.at > role_limit.at`); err != nil {
		return err
	}
	return t.exec(`INSERT INTO main.spent (guild, question, user, tokens) SELECT guild, question, user, tokens FROM old.spent WHERE true
		ON CONFLICT (guild, question) DO UPDATE SET tokens = max(spent.tokens, excluded.tokens), user = min(spent.user, excluded.user)`)
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
		int64(guild), int64(memory.FirstMessageID(from)), int64(memory.FirstMessageID(until)))
	return spent, s.failed(err, "read what was spent in guild %d", guild)
}
