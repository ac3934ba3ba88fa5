package memory

import (
	"fmt"
)

// Event is a change to what is remembered. Events may come late and repeatedly: in any order, they give the
// same log.
//
// Each type of event says beside it what it is about, what makes it invalid (Checked), and whether somebody decided
// it (Decides). What a store does with it stands with the store's statements.
type Event interface {
	// Place returns the guild that the event is about, and the channel; 0: the whole guild. The guild is Everywhere
	// if only the channel is known. A known channel's own guild is the one that counts.
	Place() (GuildID, ChannelID)
}

// checker is an event that may be invalid or has text to clean.
type checker interface {
	// Checked returns the event ready to store, or says why it is invalid.
	Checked() (Event, error)
}

// Checked returns an event ready to store: its texts clean. An invalid one is an ErrRefused.
func Checked(e Event) (Event, error) {
	c, is := e.(checker)
	if !is {
		return e, nil
	}
	checked, err := c.Checked()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrRefused)
	}
	return checked, nil
}

// decision is an event that a person decided.
type decision interface{ decides() }

// Decides reports whether an event is something that a person decided or told Hark: a setting, a consent, lore, a fact,
// a star, what is to be forgotten or was deleted. Nobody would say it again, so that it must last when Apply has
// returned. Everything else can be learned again: messages and the structure of guilds from Discord.
func Decides(e Event) bool {
	_, is := e.(decision)
	return is
}
