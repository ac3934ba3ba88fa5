package memory

import "time"

// Event is something that happened to what is remembered. Events may arrive twice and late: applying them
// in any order ends in the same log.
type Event interface{ isEvent() }

type (
	// Posted is a message as it is now: just sent, or after an edit. Of two versions the one edited last
	// stays. Its channel, if it was never seen, is unplaced.
	Posted struct{ Message Message }

	// Edited is an edit that tells the new text only: the rest stays that of the newest Posted. One that
	// overtakes its message waits for it.
	Edited struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
		Content string
		At      time.Time
	}

	// Deleted removes messages for good: one that arrives later under a deleted id is dropped.
	Deleted struct {
		Guild   GuildID
		Channel ChannelID
		IDs     []MessageID
	}

	// Named keeps what a message is called outside Discord, as in the file it was imported from. A name
	// stands for one message of its channel and a message has one name: the first given of either stays.
	// It goes with its message: a deleted one has none and gets none.
	Named struct {
		Channel ChannelID
		ID      MessageID
		Name    string
	}

	// Answered is how an answer came about, told together with the answer's own Posted, so that none is kept
	// without its sources; as KeepTrace.
	Answered struct{ Trace Trace }

	// GuildSeen is a guild's whole structure. Channels it doesn't list become unplaced, threads of channels
	// it lists excepted.
	GuildSeen struct{ Guild Guild }

	// ChannelSeen is a channel that is new, has changed, or that messages are about to be imported into.
	// With Unplaced set it tells only what an old file says, so it changes nothing of a channel that was
	// seen before; of one known merely by its messages it fills in everything.
	ChannelSeen struct{ Channel Channel }

	// ChannelGone makes a channel and its threads unplaced.
	ChannelGone struct {
		Guild   GuildID
		Channel ChannelID
	}

	// RoleSeen is a role that is new or has changed.
	RoleSeen struct {
		Guild GuildID
		Role  Role
	}

	// RoleGone is a role that was removed.
	RoleGone struct {
		Guild GuildID
		Role  RoleID
	}

	// PersonSeen is what is known of somebody now. Empty texts and unknown roles leave what was known, but for
	// the nickname: with roles known, an empty one says that there is none.
	PersonSeen struct{ Person Person }
)

func (Posted) isEvent()      {}
func (Edited) isEvent()      {}
func (Deleted) isEvent()     {}
func (Named) isEvent()       {}
func (Answered) isEvent()    {}
func (GuildSeen) isEvent()   {}
func (ChannelSeen) isEvent() {}
func (ChannelGone) isEvent() {}
func (RoleSeen) isEvent()    {}
func (RoleGone) isEvent()    {}
func (PersonSeen) isEvent()  {}
