package memory

import "time"

// Event is a change to what is remembered. Events may come late and repeatedly: in any order, they give the
// same log.
type Event interface{ isEvent() }

type (
	// Posted is the current version of a message. Of two versions the one edited last stays. An unknown
	// channel is created unplaced. Live means that Discord sent it as it happened: it counts as heard. Only
	// Starred sets stars.
	//
	// If the author has opted out, or a Forgetting covers the message, it only counts as heard.
	Posted struct {
		Message Message
		Live    bool
	}

	// Heard is a live message that isn't logged, so that it doesn't count as missing.
	Heard struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
	}

	// Edited is an edit of which only the new text is known. One that comes before its message is kept for
	// it, like a Starred. Exception: in a guild where somebody has opted out or is forgotten, an edit of a
	// missing message isn't kept if that was heard and is in no gap, because it may have been theirs.
	Edited struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
		Content string
		At      time.Time
	}

	// Deleted removes messages for good: later ones with the same id are dropped. A store needn't keep the id
	// of a message that was dropped because of its author: it is dropped again.
	Deleted struct {
		Guild   GuildID
		Channel ChannelID
		IDs     []MessageID
		// Unlogged means that the channel isn't remembered: no message of it is on its way, and unknown ids
		// aren't kept.
		Unlogged bool
	}

	// Named is a message's name outside Discord, such as its id in an imported file. In a channel, a name
	// belongs to one message and a message has one name; the first of either stays. It goes with its message.
	// A missing message gets none.
	Named struct {
		Channel ChannelID
		ID      MessageID
		Name    string
	}

	// Starred marks a message as important, or removes the mark. The last by At holds, also if the message
	// comes later or is edited.
	Starred struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
		On      bool
		At      time.Time
	}

	// Told is what a model told of a message's file: what is said or seen in it. It is part of the message, and goes
	// with it. The first holds. That of an unknown message or file is passed over.
	Told struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
		File    int64
		Text    string
	}

	// Answered is the trace of an answer. Apply it together with the answer's own Posted. It replaces an
	// earlier one.
	//
	// The answer is deleted when one of its Sources is deleted or changes, even before the event. Only a
	// source that is Hark's own answer may grow, as it does while it is sent. A source in an unknown channel
	// counts as deleted. The messages of a source summary are sources too. The answer also goes when its
	// Asker or one of Named is forgotten as a whole. Nothing is kept of an answer to somebody who has opted
	// out.
	//
	// Withdrawn lists a deleted answer if the source is its question or one that it Repeats, or if a person,
	// a channel or a guild is forgotten as a whole; and an answer made from a deleted one, if both repeat.
	//
	// The trace's Prompt is kept if the question is among its Sources, all Sources are in the log as they
	// were used, and none of Named (in LocalGuild: of any guild) has opted out or been forgotten as a whole
	// since it was built. It goes with its trace, and when a fact or one of Hark's answers in it changes.
	Answered struct{ Trace Trace }

	// Rewritten means that Hark is rewriting messages of its own. Apply it before their new text. It deletes
	// their trace, the facts, lore, summaries and condensed sessions made from them, the records of calls
	// that led to them, and their messages that aren't among IDs. Answers made from them stay and inherit
	// their sources, except answers still being made. Messages that went with a source or their question may
	// be logged again and are no longer Withdrawn. Those that were themselves deleted or forgotten stay gone.
	Rewritten struct {
		Guild   GuildID
		Channel ChannelID
		IDs     []MessageID
	}

	// GuildSeen is a guild's whole structure. Choices stay. A channel becomes unplaced if it isn't listed,
	// unless it is a thread of a listed one; or if it is listed as unplaced, because Discord sent too little
	// about it. Hark began to listen at the first one's At, and again at the first after the guild was left.
	GuildSeen struct {
		Guild Guild
		At    time.Time
	}

	// GuildNamed is a guild's name from an old file. A known name stays.
	GuildNamed struct {
		Guild GuildID
		Name  string
	}

	// GuildLeft means that Hark was removed from a guild. All its channels become unplaced. A Janitor forgets
	// it after LeftFor.
	GuildLeft struct {
		Guild GuildID
		At    time.Time
	}

	// ChannelSeen is a channel that is new, has changed, or is about to get imported messages. If Unplaced,
	// it comes from an old file, and only changes a channel known by its messages alone. An empty name
	// changes nothing.
	ChannelSeen struct{ Channel Channel }

	// ChannelGone makes a channel unplaced. Its threads stay, but nobody counts as able to read them
	// meanwhile.
	ChannelGone struct {
		Guild   GuildID
		Channel ChannelID
	}

	// ChannelDeleted means that a channel was deleted in Discord. It and its threads become unplaced and lose
	// their names. It begins a Forgetting of their messages; the caller or a Janitor must Resume it.
	ChannelDeleted struct {
		Guild   GuildID
		Channel ChannelID
		At      time.Time
	}

	RoleSeen struct {
		Guild GuildID
		Role  Role
	}

	// RoleGone removes a role and the overwrites that name it.
	RoleGone struct {
		Guild GuildID
		Role  RoleID
	}

	// PersonSeen is what is known of a person now. Empty texts and unknown roles change nothing, but with
	// known roles, an empty nickname means that there is none. Nothing is kept of somebody who has opted out.
	// Facts are ignored: FactTold sets them.
	//
	// Said, if not 0, is the message that this comes from, which may be old: it is forgotten with that
	// message.
	PersonSeen struct {
		Person Person
		Said   MessageID
	}

	// PersonLeft means that a person has left: their roles and nickname become unknown.
	PersonLeft struct {
		Guild GuildID
		User  UserID
	}

	// FactTold adds a fact about a person, or changes the one with that id.
	FactTold struct {
		Guild GuildID
		User  UserID
		Fact  Fact
	}

	FactGone struct {
		Guild GuildID
		User  UserID
		Fact  int64
	}

	// Chose decides whether to remember a guild, or, with Channel set, a channel or a category. The last by
	// At holds. If it allows more than before, messages until At don't count as missing, and those remembered
	// from before are compared, as after an Absent.
	Chose struct {
		Guild   GuildID
		Channel ChannelID
		Choice  Choice
		By      UserID // as in SettingChosen
		At      time.Time
	}

	// Asked means that Message asked a guild's admins what to remember.
	Asked struct {
		Guild   GuildID
		Channel ChannelID
		Message MessageID
	}

	// Opted is a user's decision about themselves in a guild. With Out, none of their messages are logged.
	// The last by At holds. Opting out begins a Forgetting of earlier messages; the caller or a Janitor must
	// Resume it. Opting in begins another, so that messages from meanwhile don't come back.
	Opted struct {
		Guild GuildID
		User  UserID
		Out   bool
		At    time.Time
	}

	// Learn switches the learning of facts on or off: for the guild, or, with User set, for what that member
	// says about themselves. Facts are learned only if both are on, and only from later messages. The last by
	// At holds. Switching it off removes no fact.
	Learn struct {
		Guild GuildID
		User  UserID
		On    bool
		At    time.Time
	}

	// Connected is a member's token of a guild, by which a program of theirs reads what they may read there. The
	// last by At holds; one without a Hash takes it back, and so does leaving the guild. It goes when they opt out or
	// are forgotten as a whole, and one from before that isn't kept.
	Connected struct {
		Guild GuildID
		User  UserID
		Hash  TokenHash
		At    time.Time
	}

	// ConnectionUsed means that a token was used Uses times until At. The greatest of each holds. It is passed over
	// unless Hash is the member's token.
	ConnectionUsed struct {
		Guild GuildID
		User  UserID
		Hash  TokenHash
		Uses  int
		At    time.Time
	}

	// Learned means that a channel's messages up to and including Until were searched for facts. The newest
	// Until holds.
	Learned struct {
		Guild   GuildID
		Channel ChannelID
		Until   MessageID
	}

	// GapFound adds a stretch of a channel to fetch.
	GapFound struct{ Gap Gap }

	// GapFilled means that a gap was fetched, or compared, up to and including Through; at its Until it is
	// complete.
	GapFilled struct {
		Gap     Gap
		Through MessageID
	}

	// Absent means that Hark may have missed edits and deletions until At in a guild, or in a channel with
	// its threads or channels. Messages remembered from before must be compared with Discord; see Store.Gaps.
	Absent struct {
		Guild   GuildID
		Channel ChannelID
		At      time.Time
	}

	// ShutOut means that Hark can no longer read a channel. It is Shut until all of it is compared after an
	// Absent. Apply that when Hark can read it again.
	ShutOut struct {
		Guild   GuildID
		Channel ChannelID
	}

	// QuestionOpened means that a message asks Hark something. Apply it with the message's own Posted, so
	// that the question survives a restart, and again to have it answered anew. Or it is a message of Hark's that
	// asks whether a tool may run, until that is deleted.
	QuestionOpened struct{ Question OpenQuestion }

	// QuestionClosed means that a question was answered or won't be. If answered, apply it with the answer's
	// own Posted. The last applied of the two holds.
	QuestionClosed struct {
		Channel ChannelID
		ID      MessageID
	}

	// Marked means that Discord shows an answer as withdrawn, or no longer shows it.
	Marked struct {
		Channel ChannelID
		Message MessageID
	}
)

func (Posted) isEvent()         {}
func (Heard) isEvent()          {}
func (Edited) isEvent()         {}
func (Deleted) isEvent()        {}
func (Named) isEvent()          {}
func (Starred) isEvent()        {}
func (Told) isEvent()           {}
func (Answered) isEvent()       {}
func (Rewritten) isEvent()      {}
func (GuildSeen) isEvent()      {}
func (GuildNamed) isEvent()     {}
func (GuildLeft) isEvent()      {}
func (ChannelSeen) isEvent()    {}
func (ChannelGone) isEvent()    {}
func (ChannelDeleted) isEvent() {}
func (RoleSeen) isEvent()       {}
func (RoleGone) isEvent()       {}
func (PersonSeen) isEvent()     {}
func (PersonLeft) isEvent()     {}
func (FactTold) isEvent()       {}
func (FactGone) isEvent()       {}
func (Chose) isEvent()          {}
func (Asked) isEvent()          {}
func (Opted) isEvent()          {}
func (Learn) isEvent()          {}
func (Connected) isEvent()      {}
func (ConnectionUsed) isEvent() {}
func (Learned) isEvent()        {}
func (GapFound) isEvent()       {}
func (GapFilled) isEvent()      {}
func (Absent) isEvent()         {}
func (ShutOut) isEvent()        {}
func (QuestionOpened) isEvent() {}
func (QuestionClosed) isEvent() {}
func (Marked) isEvent()         {}

// A Forgetting is an event if another store recorded it. It begins, as by an Opted, unless one that covers as
// much exists.
func (Forgetting) isEvent() {}
