package memory

// SourceKind is the kind of a Source.
type SourceKind string

const (
	SourceMessage SourceKind = "message"
	SourceFact    SourceKind = "fact"
	SourceLore    SourceKind = "lore"
	SourceSummary SourceKind = "summary"
)

// Source is what a derived thing, such as an answer, was made from. The derived thing goes with any of them.
type Source struct {
	Kind    SourceKind `json:"kind"`
	Channel ChannelID  `json:"channel,omitempty"` // of a message or a summary
	ID      int64      `json:"id"`                // unique for a fact in the guild, for a summary in the channel
	// Version is the version used: of a message when its text was last edited, in milliseconds since 1970, 0
	// if never, and negative for a copy that has lost its text and for a message that isn't logged; of lore the
	// first id that a message of its At can have; of a summary when it was made, in milliseconds since 1970; of a
	// fact 0.
	Version int64 `json:"version,omitempty"`
	// Repeats means that the answer cites this source or repeats words of it: when it goes, Discord no longer
	// shows the answer. Otherwise only what Hark keeps of the answer goes.
	Repeats bool `json:"repeats,omitempty"`
}

// AsSource returns m in its current version as a source.
func (m Message) AsSource(repeats bool) Source {
	s := Source{
		Kind:    SourceMessage,
		Channel: m.Channel,
		ID:      int64(m.ID),
		Repeats: repeats,
	}
	if !m.Edited.IsZero() {
		s.Version = m.Edited.UnixMilli()
	}
	if m.Original.Gone {
		s.Version = -1 - s.Version
	}
	return s
}

// AsSource returns l in its current version as a source.
func (l Lore) AsSource(repeats bool) Source {
	return Source{
		Kind:    SourceLore,
		ID:      l.ID,
		Version: int64(FirstMessageID(l.At)),
		Repeats: repeats,
	}
}
