package memory

import (
	"errors"
	"time"
)

// What a limit can be besides a number.
const (
	Unlimited    = 0
	AsConfigured = -1 // nothing was chosen
)

// Limit is how much may be asked of Hark: a number above 0, Unlimited or AsConfigured.
type Limit struct {
	Messages int // questions within any minute
	Tokens   int // that models read and write for them, in a day of UTC
}

// RoleLimit is the limit of each member who has a role. That of @everyone, whose id is the guild's, is every
// member's for whom no other holds; that of role 0 is the whole guild's, together.
type RoleLimit struct {
	Role RoleID
	Limit
}

// LimitChosen is the limit that was chosen for a role, as RoleLimit tells them. Of several the last by At holds.
type LimitChosen struct {
	Guild GuildID
	RoleLimit
	At time.Time
}

// Spent is how many tokens models took for a question so far, however often it is told: the most that was
// told counts. Of somebody who has opted out, or has been forgotten as a whole since they asked, only the
// guild's part is kept, and of a guild that was forgotten since nothing.
type Spent struct {
	Guild    GuildID
	User     UserID    // who asked
	Question MessageID // or another id from Discord, of when it was asked
	Tokens   int
}

func (LimitChosen) isEvent() {}
func (Spent) isEvent()       {}

// Check tells what keeps a limit from being one.
func (l Limit) Check() error {
	if l.Messages < AsConfigured || l.Tokens < AsConfigured {
		return errors.New("a limit is a number above 0, or 0 for none")
	}
	return nil
}

// LimitOf is what was chosen for a role, as RoleLimit tells them.
func (g *Guild) LimitOf(role RoleID) Limit {
	for _, l := range g.Limits {
		if l.Role == role {
			return l.Limit
		}
	}
	return Limit{AsConfigured, AsConfigured}
}

// Day is the day, in UTC, that t is of.
func Day(t time.Time) (from, until time.Time) {
	year, month, day := t.UTC().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
}
