package memory

import "context"

// Member is what a user decided about themselves in a guild.
type Member struct {
	OptedOut   bool
	Connection Connection // zero if they have none
}

// HasOptedOut reports whether a user has opted out in a guild.
func HasOptedOut(ctx context.Context, in Members, guild GuildID, user UserID) (bool, error) {
	m, err := in.Member(ctx, guild, user)
	return m.OptedOut, err
}
