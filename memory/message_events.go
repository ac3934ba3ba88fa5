package memory

import (
	"errors"
	"time"
)

// Posted is the current version of a message. Of two versions the one edited last stays. An unknown
// channel is created unplaced. Live means that Discord sent it as it happened: it counts as heard. Only
// Starred sets stars.
//
// If the author has opted out, or a Forgetting covers the message, it only counts as heard.
type Posted struct {
	Message Message
	Live    bool
}

// Place implements Event.
func (e Posted) Place() (GuildID, ChannelID) { return e.Message.Guild, e.Message.Channel }

// Checked returns e ready to store: its texts clean.
func (e Posted) Checked() (Event, error) {
	if e.Message.ID == 0 || e.Message.Channel == 0 {
		return nil, errors.New("log a message: it has no id or no channel")
	}
	e.Message = e.Message.clean()
	return e, nil
}

// Heard is a live message that isn't logged, so that it doesn't count as missing.
type Heard struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
}

// Place implements Event.
func (e Heard) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// Edited is an edit of which only the new text is known. One that comes before its message is kept for
// it, like a Starred. Exception: in a guild where somebody has opted out or is forgotten, an edit of a
// missing message isn't kept if that was heard and is in no gap, because it may have been theirs.
type Edited struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
	Content string
	At      time.Time
	// Unlogged means that the message isn't logged, such as that of a bot or of a channel that isn't remembered. The
	// edit only deletes what was made from an older version.
	Unlogged bool
}

// Place implements Event.
func (e Edited) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// Checked returns e ready to store: its text clean.
func (e Edited) Checked() (Event, error) {
	e.Content = Clean(e.Content)
	return e, nil
}

// Deleted removes messages for good: later ones with the same id are dropped. A store needn't keep the id
// of a message that was dropped because of its author: it is dropped again.
type Deleted struct {
	Guild   GuildID
	Channel ChannelID
	IDs     []MessageID
	// Unlogged means that the channel isn't remembered: no message of it is on its way, and unknown ids
	// aren't kept.
	Unlogged bool
}

// Place implements Event.
func (e Deleted) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

func (Deleted) decides() {}

// ExternalIDSeen is a message's id outside Discord, such as in the file that it was imported from. In a channel, an
// external id belongs to one message and a message has one external id; the first of either stays. It goes with its
// message. A missing message gets none.
type ExternalIDSeen struct {
	Channel    ChannelID
	ID         MessageID
	ExternalID string
}

// Place implements Event.
func (e ExternalIDSeen) Place() (GuildID, ChannelID) { return Everywhere, e.Channel }

// Starred marks a message as important, or removes the mark. The last by At holds, also if the message
// comes later or is edited.
type Starred struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
	On      bool
	At      time.Time
}

// Place implements Event.
func (e Starred) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

func (Starred) decides() {}

// Told is what a model told of a message's file: what is said or seen in it. It is part of the message, and goes
// with it. The first holds. That of an unknown message or file is passed over.
type Told struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
	File    int64
	Text    string
}

// Place implements Event.
func (e Told) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// Checked returns e ready to store: its text clean.
func (e Told) Checked() (Event, error) {
	e.Text = Clean(e.Text)
	return e, nil
}
