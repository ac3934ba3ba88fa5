package memory

import "time"

type (
	// Learn switches the learning of facts on or off: with User set for what that member says of themselves, else
	// for the guild. Facts are learned only where both have it on, and only from what was said since both had. Of
	// several the last by At holds; switching off takes away no fact, FactGone does.
	Learn struct {
		Guild GuildID
		User  UserID
		On    bool
		At    time.Time
	}

	// Learned says that what was said in a channel up to and with Until needs no more looking at for facts. The
	// newest Until holds.
	Learned struct {
		Guild   GuildID
		Channel ChannelID
		Until   MessageID
	}
)

func (Learn) isEvent()   {}
func (Learned) isEvent() {}
