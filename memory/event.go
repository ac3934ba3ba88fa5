package memory

import "time"

// Event is something that happened to what is remembered. Events may arrive twice and late: applying them
// in any order ends in the same log.
type Event interface{ isEvent() }

type (
	// Posted is a message as it is now: just sent, or after an edit. Of two versions the one edited last
	// stays. Its channel, if it was never seen, is unplaced. With Live, Discord told of it as it happened, and it
	// counts as heard. Stars are told by Starred only.
	//
	// A message whose author has opted out, or that falls under a Forgetting, only counts as heard: nothing is
	// kept of it.
	Posted struct {
		Message Message
		Live    bool
	}

	// Heard says that a message was told of live that isn't to be logged, so that nobody takes it for missing.
	Heard struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
	}

	// Edited is an edit that tells the new text only: the rest stays that of the newest Posted. It may come
	// before its message, and is kept for it, as a Starred is; unless the message was heard, is in no gap and isn't
	// there, in a guild where somebody has opted out or is forgotten: it may have been theirs.
	Edited struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
		Content string
		At      time.Time
	}

	// Deleted removes messages for good: one that arrives later under a deleted id is dropped. Nothing need be
	// kept of one that was dropped because of its author: it is dropped again.
	Deleted struct {
		Guild   GuildID
		Channel ChannelID
		IDs     []MessageID
		// Unlogged says that the channel isn't remembered: no message of it is on its way, and nothing is kept
		// of those that aren't known.
		Unlogged bool
	}

	// Named keeps what a message is called outside Discord, as in the file it was imported from, one name for
	// one message of a channel: the first given of either stays. It goes with its message, and one that isn't
	// there gets none.
	Named struct {
		Channel ChannelID
		ID      MessageID
		Name    string
	}

	// Starred marks a message as important, or takes the mark away. Of several the last by At holds, also if
	// the message comes later or is edited.
	Starred struct {
		Guild   GuildID
		Channel ChannelID
		ID      MessageID
		On      bool
		At      time.Time
	}

	// Answered is how an answer came about, told together with the answer's own Posted. It takes the place of
	// an earlier one.
	//
	// The answer is deleted with any of its Sources, and when one of them changes, also if that happened
	// before; an answer of Hark's may grow, as it does while it is sent. A source in a channel that isn't known
	// counts as deleted. The messages of a summary that is a source are sources as well. The answer also goes
	// when its Asker or one of Named is forgotten as a whole. Nothing is kept of what was answered to somebody
	// who has opted out.
	//
	// Withdrawn tells of an answer that is deleted if the source is its question or one that it Repeats, or
	// if a person, a channel or a guild is forgotten as a whole; of one made from an answer that goes, if both
	// repeat.
	//
	// The trace's Prompt is kept with it if the question is among its Sources, all Sources are in the log as
	// they were used, and none of Named (in LocalGuild: of any guild) has opted out or has been forgotten as a
	// whole since it was built. It goes with its trace, when the text of an answer of Hark's in it changes, and
	// when a fact in it is told anew.
	Answered struct{ Trace Trace }

	// Rewritten says that messages of Hark's in Discord are written anew. It is told before what they became.
	// Their trace goes, and so do facts, lore, summaries and condensed turns that were made from them, the
	// records of calls that came to them, and their messages that aren't among IDs. Answers that were made from
	// them stay, and have what they were made from for sources as well; one that is being
	// made from them isn't kept. Those that went with a source or their question may be logged again, and
	// aren't withdrawn any more; those that were deleted themselves, or forgotten, stay gone.
	Rewritten struct {
		Guild   GuildID
		Channel ChannelID
		IDs     []MessageID
	}

	// GuildSeen is a guild's whole structure. Channels that it doesn't list become unplaced, except threads of
	// those that it lists, and so do those it lists as unplaced: of them Discord told too little. What was chosen
	// stays. At of the first, and of the first after the guild was left, is from when on Hark listens there.
	GuildSeen struct {
		Guild Guild
		At    time.Time
	}

	// GuildNamed is a guild's name as an old file tells it. It changes nothing where a name is known.
	GuildNamed struct {
		Guild GuildID
		Name  string
	}

	// GuildLeft says that Hark was removed from a guild. All its channels become unplaced; whoever keeps house
	// forgets it when it has been gone for LeftFor.
	GuildLeft struct {
		Guild GuildID
		At    time.Time
	}

	// ChannelSeen is a channel that is new, has changed, or that messages are about to be imported into. With
	// Unplaced set it is from an old file, and changes only a channel that is known merely by its messages. An
	// empty name changes none.
	ChannelSeen struct{ Channel Channel }

	// ChannelGone makes a channel unplaced. Its threads stay as they are: nobody is known to read them while it is.
	ChannelGone struct {
		Guild   GuildID
		Channel ChannelID
	}

	// ChannelDeleted says that a channel was deleted in Discord. It and its threads become unplaced and lose
	// their names, and a Forgetting of all that was said there is begun, which somebody has to carry out.
	ChannelDeleted struct {
		Guild   GuildID
		Channel ChannelID
		At      time.Time
	}

	// RoleSeen is a role that is new or has changed.
	RoleSeen struct {
		Guild GuildID
		Role  Role
	}

	// RoleGone is a role that was removed, and with it the overwrites that name it.
	RoleGone struct {
		Guild GuildID
		Role  RoleID
	}

	// PersonSeen is what is known of somebody now. Empty texts and unknown roles leave what was known, but for
	// the nickname: with roles known, an empty one says that there is none.
	//
	// Nothing is kept of somebody who has opted out. What Person says of facts and aliases is ignored: FactTold
	// tells them.
	//
	// Said, if not 0, is the message that told of them, which may be from long ago: if that is forgotten, so is this.
	PersonSeen struct {
		Person Person
		Said   MessageID
	}

	// PersonLeft says that somebody is no longer in the guild: their roles and nickname aren't known any more.
	PersonLeft struct {
		Guild GuildID
		User  UserID
	}

	// FactTold adds something to what is known of somebody, or changes the fact with that id.
	FactTold struct {
		Guild GuildID
		User  UserID
		Fact  Fact
	}

	// FactGone takes a fact away for good.
	FactGone struct {
		Guild GuildID
		User  UserID
		Fact  int64
	}

	// Chose is what was decided about remembering a guild, or, with Channel set, a channel or a category. Of
	// several the last by At holds. Where more may be remembered than before, what was said until At doesn't
	// count as missing, and what is remembered from before is compared, as after an Absent.
	Chose struct {
		Guild   GuildID
		Channel ChannelID
		Choice  Choice
		At      time.Time
	}

	// Asked says that a guild's admins were asked what to remember, by that message.
	Asked struct {
		Guild   GuildID
		Channel ChannelID
		Message MessageID
	}

	// Opted is somebody's decision about themselves in a guild: Out, and nothing of theirs is logged any more. Of
	// several the last by At holds. A Forgetting of what was logged before is begun, which somebody has to carry
	// out; opting in again begins another, so that what was said meanwhile doesn't come back.
	Opted struct {
		Guild GuildID
		User  UserID
		Out   bool
		At    time.Time
	}

	// GapFound is a stretch of a channel that has to be fetched.
	GapFound struct{ Gap Gap }

	// GapFilled says that a gap was fetched, or compared, up to and with Through; wholly if that isn't before
	// the gap's Until.
	GapFilled struct {
		Gap     Gap
		Through MessageID
	}

	// Absent says that nobody told Hark of edits and deletions in a guild, or in a channel and what lies in it,
	// until At. What is remembered there from before is to be compared with Discord, as Store.Gaps tells.
	Absent struct {
		Guild   GuildID
		Channel ChannelID
		At      time.Time
	}

	// ShutOut says that Hark can't read a channel any more. The channel is Shut until all of it is compared
	// after an Absent, which is told when Hark can read it again.
	ShutOut struct {
		Guild   GuildID
		Channel ChannelID
	}

	// QuestionOpened says that a message asks Hark something that it hasn't answered yet. It is told with the
	// message's own Posted, so that a question survives the process, and again to have it answered anew.
	QuestionOpened struct{ Question OpenQuestion }

	// QuestionClosed says that a question was answered, told with the answer's own Posted, or won't be. Of
	// QuestionOpened and QuestionClosed the one applied last holds.
	QuestionClosed struct {
		Channel ChannelID
		ID      MessageID
	}

	// Marked says that Discord shows of a withdrawn answer that it was withdrawn, or shows it no more.
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
func (GapFound) isEvent()       {}
func (GapFilled) isEvent()      {}
func (Absent) isEvent()         {}
func (ShutOut) isEvent()        {}
func (QuestionOpened) isEvent() {}
func (QuestionClosed) isEvent() {}
func (Marked) isEvent()         {}

// A Forgetting is an event where another store had it on record: it is begun, as an Opted begins one, unless
// one that covers as much is.
func (Forgetting) isEvent() {}
