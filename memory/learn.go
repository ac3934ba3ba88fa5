package memory

import "time"

type (
	// Learn switches the learning of facts on or off: with User set for what that member says about
	// themselves, else for the guild. Facts are learned only if both are on, and only from later messages.
	// The last by At holds. Switching it off removes no fact; FactGone does.
	Learn struct {
		Guild GuildID
		User  UserID
		On    bool
		At    time.Time
	}

	// Learned means that a channel's messages up to and including Until have been searched for facts. The
	// newest Until holds.
	Learned struct {
		Guild   GuildID
		Channel ChannelID
		Until   MessageID
	}
)

func (Learn) isEvent()   {}
func (Learned) isEvent() {}
