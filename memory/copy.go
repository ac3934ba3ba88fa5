package memory

import "time"

// Original is the message that a copy was made of. A forward is a copy, and so is the crosspost of a message in a
// channel that another follows.
//
// Who wrote the original isn't kept here: the log says so, if the original is in it.
type Original struct {
	Guild   GuildID   `json:"guild,omitempty"` // 0: not known, or a direct message
	Channel ChannelID `json:"channel"`
	Message MessageID `json:"message"`
	// Version is the version that was copied: when the original's text was last edited before, in milliseconds since
	// 1970, 0 if never.
	Version int64 `json:"version,omitempty"`
	// Gone says that the copy has no text any more, because the original's is gone. The store sets it.
	Gone bool `json:"gone,omitempty"`
}

// Of returns o for the version that was edited at a time; zero: never.
func (o Original) Of(edited time.Time) Original {
	o.Version = Message{Edited: edited}.AsSource(false).Version
	return o
}

// IsCopy reports whether m copies another message.
func (m Message) IsCopy() bool { return m.Original.Message != 0 }

// CopiedHere returns the source of a copy of a message of the same server. Deleting, editing or forgetting the source
// takes the copy's text. Of other servers' messages Hark doesn't learn what becomes of them.
func (m Message) CopiedHere() (from Source, is bool) {
	o := m.Original
	isEarlier := o.Message < m.ID // so that nothing copies itself, not even through others
	if !m.IsCopy() || !isEarlier || o.Guild != m.Guild || m.Guild == DirectGuild {
		return Source{}, false
	}
	return Source{
		Kind:    SourceMessage,
		Channel: o.Channel,
		ID:      int64(o.Message),
		Version: o.Version,
		Repeats: true,
	}, true
}

// WithoutCopy returns a copy without what it copied.
func (m Message) WithoutCopy() Message {
	m.Content = ""
	m.Files = nil
	m.Links = nil
	m.Mentions = nil
	m.Original.Gone = true
	return m
}

// clean returns o ready to store: whole, or none.
func (o Original) clean() Original {
	if o.Channel == 0 || o.Message == 0 {
		return Original{}
	}
	o.Version = max(o.Version, 0)
	o.Gone = false // only the store sets it
	return o
}
