package memory

// SourceKind says what a Source is.
type SourceKind string

// The kinds of sources.
const (
	SourceMessage SourceKind = "message"
	SourceFact    SourceKind = "fact"
	SourceLore    SourceKind = "lore"
	SourceSummary SourceKind = "summary"
)

// Source is something that a derived thing, such as an answer, was made from: whoever made it has read it. The derived thing
// goes with any of its sources.
type Source struct {
	Kind    SourceKind `json:"kind"`
	Channel ChannelID  `json:"channel,omitempty"` // of a message or a summary
	ID      int64      `json:"id"`                // within its kind: of facts in the guild, of summaries in the channel
	// Version is the version that was read: of a message when its text was last edited, in milliseconds since 1970, 0 if never;
	// of lore the first id that a message of its At can have; of a summary when it was made, in milliseconds since 1970; of a
	// fact 0.
	Version int64 `json:"version,omitempty"`
	// Repeats says that the text of the answer cites this source or repeats words of it. When the source goes, Discord shows
	// the answer no more. Without it, only what Hark keeps of the answer goes.
	Repeats bool `json:"repeats,omitempty"`
}
