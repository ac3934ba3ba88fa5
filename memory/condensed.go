package memory

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	MaxCondensedText    = 1200 // characters
	MaxCondensedSources = 150
)

// Condensed replaces the older part of a running session. A channel has at most one: the next is made from it
// and the messages since, and has the sources of both. Once the session is over, a Summary replaces it.
//
// It may be told only where its session may be read. It goes when a source goes or its text changes.
type Condensed struct {
	Guild   GuildID
	Channel ChannelID
	Until   MessageID // the last message covered
	Text    string
	Sources []SummarySource // every source message, by id, Hark's own answers included
	Made    time.Time       // to the millisecond; the later of two versions holds
	Model   string
}

// SessionCondensed sets a channel's Condensed. It is refused unless Condensed.Checked accepts it. It isn't kept if
// a source is gone or has changed, or if one with a later Made exists.
type SessionCondensed struct{ Condensed Condensed }

// Place implements Event.
func (e SessionCondensed) Place() (GuildID, ChannelID) { return e.Condensed.Guild, e.Condensed.Channel }

// Checked returns e ready to store, as Condensed.Checked.
func (e SessionCondensed) Checked() (Event, error) {
	checked, err := e.Condensed.Checked()
	if err != nil {
		return nil, fmt.Errorf("keep what a session was condensed to: %w", err)
	}
	return SessionCondensed{checked}, nil
}

// CondensedGone means that a channel's session up to Until is over. It removes a Condensed that ends by then.
type CondensedGone struct {
	Guild   GuildID
	Channel ChannelID
	Until   MessageID
}

// Place implements Event.
func (e CondensedGone) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// Checked returns c ready to store: its text clean, its sources by id, each once. The error says why it is
// invalid.
func (c Condensed) Checked() (Condensed, error) {
	c.Text = strings.TrimSpace(Clean(c.Text))
	c.Model = Clean(c.Model)
	c.Sources = inOrder(c.Sources)
	c.Made = c.Made.Truncate(time.Millisecond)
	switch {
	case c.Channel == 0 || c.Made.IsZero():
		return c, errors.New("it needs a channel and a time")
	case c.Text == "":
		return c, errors.New("it needs a text")
	case utf8.RuneCountInString(c.Text) > MaxCondensedText:
		return c, fmt.Errorf("it is longer than %d characters", MaxCondensedText)
	case len(c.Sources) == 0 || len(c.Sources) > MaxCondensedSources:
		return c, fmt.Errorf("it needs from 1 to %d sources", MaxCondensedSources)
	case c.Sources[len(c.Sources)-1].Message != c.Until:
		return c, fmt.Errorf("it must be made from the last message that it tells of, which is %d", c.Until)
	}
	return c, nil
}
