package memory

import "errors"

// Answered is the trace of an answer. Apply it together with the answer's own Posted. It replaces an
// earlier one.
//
// The answer is deleted when one of its Sources is deleted or changes, even before the event. Only a
// source that is Hark's own answer may grow, as it does while it is sent. A source in an unknown channel
// counts as deleted. The messages of a source summary are sources too. Only an answer in LocalGuild has
// sources of other guilds than its own. The answer also goes when its Asker or one of Named is forgotten
// as a whole. Nothing is kept of an answer to somebody who has opted out.
//
// Withdrawn lists a deleted answer if the source is its question or one that it Repeats, or if a person,
// a channel or a guild is forgotten as a whole; and an answer made from a deleted one, if both repeat.
//
// The trace's Prompt is kept if the question is among its Sources, all Sources are in the log as they
// were used, and none of Named (in LocalGuild: of any guild) has opted out or been forgotten as a whole
// since it was built. It goes with its trace, and when a fact or one of Hark's answers in it changes.
type Answered struct{ Trace Trace }

// Place implements Event.
func (e Answered) Place() (GuildID, ChannelID) { return e.Trace.Guild, e.Trace.Channel }

// Checked returns an error unless e is of an answer.
func (e Answered) Checked() (Event, error) {
	if e.Trace.Answer == 0 || e.Trace.Channel == 0 {
		return nil, errors.New("keep a trace: its answer has no id or no channel")
	}
	return e, nil
}

// Rewritten means that Hark is rewriting messages of its own. Apply it before their new text. It deletes
// their trace, the facts, lore, summaries and condensed sessions made from them, the records of calls
// that led to them, and their messages that aren't among IDs. Answers made from them stay and inherit
// their sources, except answers still being made. Messages that went with a source or their question may
// be logged again and are no longer Withdrawn. Those that were themselves deleted or forgotten stay gone.
type Rewritten struct {
	Guild   GuildID
	Channel ChannelID
	IDs     []MessageID
}

// Place implements Event.
func (e Rewritten) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// QuestionOpened means that a message asks Hark something. Apply it with the message's own Posted, so
// that the question survives a restart, and again to have it answered anew. Or it is a message of Hark's that
// asks whether a tool may run, until that is deleted.
type QuestionOpened struct{ Question OpenQuestion }

// Place implements Event.
func (e QuestionOpened) Place() (GuildID, ChannelID) { return e.Question.Guild, e.Question.Channel }

// QuestionClosed means that a question was answered or won't be. If answered, apply it with the answer's
// own Posted. The last applied of the two holds.
type QuestionClosed struct {
	Channel ChannelID
	ID      MessageID
}

// Place implements Event.
func (e QuestionClosed) Place() (GuildID, ChannelID) { return Everywhere, e.Channel }

// Marked means that Discord shows an answer as withdrawn, or no longer shows it.
type Marked struct {
	Channel ChannelID
	Message MessageID
}

// Place implements Event.
func (e Marked) Place() (GuildID, ChannelID) { return Everywhere, e.Channel }
