package memory

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what the older part of a session is condensed to.
const (
	MaxCondensedText    = 1200 // characters
	MaxCondensedSources = 150
)

// Condensed tells of the older part of a session that goes on, in the place of its messages. A channel has
// one at most: the next is made from it and from what was said since, and has the sources of both. It isn't
// for later: once the session is over, a Summary tells of it.
//
// It may be told only where its session may. It is forgotten with any of its sources, and when the text of
// one changes.
type Condensed struct {
	Guild   GuildID
	Channel ChannelID
	Until   MessageID // the last message that it tells of
	Text    string
	Sources []SummarySource // every message that the text was made from, by id; Hark's own answers among them
	Made    time.Time       // to the millisecond: of two versions the later one holds
	Model   string          // that wrote it
}

type (
	// SessionCondensed puts a text in the place of the older part of a channel's session, and of the text
	// there was before. It is refused if it isn't as Condensed.Checked has it, and not kept if a source isn't
	// there, or isn't as it was any more, or if that of a later Made is there.
	SessionCondensed struct{ Condensed Condensed }

	// CondensedGone says that a channel's session is over of which a text tells up to Until or to an earlier
	// message, and takes that away.
	CondensedGone struct {
		Guild   GuildID
		Channel ChannelID
		Until   MessageID
	}
)

func (SessionCondensed) isEvent() {}
func (CondensedGone) isEvent()    {}

// Checked is c as it can be stored: its text clean, no source twice, the sources by id. The error says what can't be.
func (c Condensed) Checked() (Condensed, error) {
	c.Text, c.Model = strings.TrimSpace(Clean(c.Text)), Clean(c.Model)
	c.Sources, c.Made = inOrder(c.Sources), c.Made.Truncate(time.Millisecond)
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
