package memory

import "time"

// PersonSeen is what is known of a person now. Empty texts and unknown roles change nothing, but with
// known roles, an empty nickname means that there is none. Nothing is kept of somebody who has opted out.
// Facts are ignored: FactTold sets them.
//
// Said, if not 0, is the message that this comes from, which may be old: it is forgotten with that
// message.
type PersonSeen struct {
	Person Person
	Said   MessageID
}

// Place implements Event.
func (e PersonSeen) Place() (GuildID, ChannelID) { return e.Person.Guild, 0 }

// PersonLeft means that a person has left: their roles and nickname become unknown.
type PersonLeft struct {
	Guild GuildID
	User  UserID
}

// Place implements Event.
func (e PersonLeft) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// FactTold adds a fact about a person, or changes the one with that id.
type FactTold struct {
	Guild GuildID
	User  UserID
	Fact  Fact
}

// Place implements Event.
func (e FactTold) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (FactTold) decides() {}

type FactGone struct {
	Guild GuildID
	User  UserID
	Fact  int64
}

// Place implements Event.
func (e FactGone) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (FactGone) decides() {}

// Opted is a user's decision about themselves in a guild. With Out, none of their messages are logged.
// The last by At holds. Opting out begins a Forgetting of earlier messages; the caller or a Janitor must
// carry it out. Opting in begins another, so that messages from meanwhile don't come back.
type Opted struct {
	Guild GuildID
	User  UserID
	Out   bool
	At    time.Time
}

// Place implements Event.
func (e Opted) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (Opted) decides() {}

// Learn switches the learning of facts on or off: for the guild, or, with User set, for what that member
// says about themselves. Facts are learned only if both are on, and only from later messages. The last by
// At holds. Switching it off removes no fact.
type Learn struct {
	Guild GuildID
	User  UserID
	On    bool
	At    time.Time
}

// Place implements Event.
func (e Learn) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (Learn) decides() {}

// Connected is a member's token of a guild, by which a program of theirs reads what they may read there. The last by
// At holds; one without a Hash takes it back, also one of the same moment, and so does leaving the guild. It goes when
// they opt out or are forgotten as a whole, and one from before that isn't kept.
type Connected struct {
	Guild GuildID
	User  UserID
	Hash  TokenHash
	At    time.Time
}

// Place implements Event.
func (e Connected) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (Connected) decides() {}

// ConnectionUsed means that a token was used Uses times until At. The greatest of each holds. It is passed over
// unless Hash is the member's token.
type ConnectionUsed struct {
	Guild GuildID
	User  UserID
	Hash  TokenHash
	Uses  int
	At    time.Time
}

// Place implements Event.
func (e ConnectionUsed) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// Learned means that a channel's messages up to and including Until were searched for facts. The newest
// Until holds.
type Learned struct {
	Guild   GuildID
	Channel ChannelID
	Until   MessageID
}

// Place implements Event.
func (e Learned) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }
