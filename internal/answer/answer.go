package answer

import (
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// Question is something Hark was asked.
type Question struct {
	ID       memory.MessageID // of the message that asks; 0 where there is none, as for a slash command
	Guild    memory.GuildID
	Channel  memory.ChannelID // where the answer will be read
	Asker    memory.UserID
	Name     string // the asker's
	Text     string // without the mention of Hark
	Mentions []memory.UserID
	ReplyTo  memory.MessageID
	Now      time.Time
	// OnlyAsker is set when nobody but the asker will see the answer.
	OnlyAsker bool
}

// Answer is what Hark says.
type Answer struct {
	Text    string   // Markdown with [n] where it cites source n; unsplit, any length
	Sources []Source // those that Text cites, by number
	Model   string   // the model that wrote it; empty when it was extractive
	Trace   memory.Trace
}

// Source is a message that an answer cites.
type Source struct {
	Number  int // the n of [n]
	Guild   memory.GuildID
	Channel memory.ChannelID
	Message memory.MessageID
	Author  string // display name
	Place   string // the channel's name, without #
	Time    time.Time
}

// Recalled is what would go into an answer: what /context and "hark context" show.
type Recalled struct {
	Result search.Result
	Prompt builder.Prompt
}
