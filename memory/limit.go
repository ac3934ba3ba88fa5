package memory

import (
	"errors"
	"fmt"
	"time"
)

const (
	Unlimited    = 0
	AsConfigured = -1 // not set
)

// Limit is how much may be asked: each field is above 0, Unlimited or AsConfigured.
type Limit struct {
	Messages int // questions within any minute
	Tokens   int // that models read and write for them in a UTC day
}

// RoleLimit is the limit of each member with a role. That of @everyone, whose id is the guild's, applies to
// members without another; that of role 0 to the whole guild together.
type RoleLimit struct {
	Role RoleID
	Limit
	By UserID // as in SettingChosen
}

// LimitChosen sets the limit of a role. The last by At holds.
type LimitChosen struct {
	Guild GuildID
	RoleLimit
	At time.Time
}

// Place implements Event.
func (e LimitChosen) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (LimitChosen) decides() {}

// Checked returns an error unless the limit is valid.
func (e LimitChosen) Checked() (Event, error) {
	err := e.Check()
	if err != nil {
		return nil, fmt.Errorf("keep a limit: %w", err)
	}
	return e, nil
}

// Spent is how many tokens models took for a question so far. The largest counts. If the user has opted out,
// or was forgotten as a whole since they asked, only the guild's total is kept; if the guild was forgotten
// since, nothing.
type Spent struct {
	Guild    GuildID
	User     UserID    // who asked
	Question MessageID // or another id from Discord of that time
	Tokens   int
}

// Place implements Event.
func (e Spent) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// Checked returns an error unless e is of a question and its tokens are a number of tokens.
func (e Spent) Checked() (Event, error) {
	if e.Question == 0 || e.Tokens < 0 {
		return nil, errors.New("keep what a question took: it has no id, or less than none")
	}
	return e, nil
}

// Check returns an error unless l is valid.
func (l Limit) Check() error {
	if l.Messages < AsConfigured || l.Tokens < AsConfigured {
		return errors.New("a limit is a number above 0, or 0 for none")
	}
	return nil
}

// Day returns the UTC day of t.
func Day(t time.Time) (from, until time.Time) {
	year, month, day := t.UTC().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
}
