package memory

import (
	"slices"
	"time"
)

// Segment is a run of messages of one conversation in a channel, the unit that is embedded.
type Segment struct {
	ID       int64
	Channel  ChannelID
	Version  int64 // grows with each change of the segment's text
	Messages []Message
}

// The limits by which a channel's stream is cut into segments. People answer what stands within a few
// minutes; where several talk at once, the message before is the one answered only one time in three, so
// that there only a reply, a mention or the author's own last message joins.
const (
	MaxSegment = 8                // messages in a segment
	LookBack   = 24               // messages before, among which a segment to join is looked for
	ownGap     = 15 * time.Minute // from the author's own last message, or from the one mentioned
	quietGap   = 5 * time.Minute  // from the last message of a quiet channel
	quietLast  = 8                // the messages by which it is judged whether a channel is quiet
	quietCount = 3                // authors in a quiet channel, at most
)

// Placed is a message that lies in a segment already.
type Placed struct {
	ID      MessageID
	Author  UserID
	Segment int64
	Size    int // messages in the segment
}

// Join is the segment that m continues, given up to LookBack messages before it, oldest first; 0 if m begins
// a segment of its own. It depends on nothing else, so that a stream is cut the same way whenever it comes.
func Join(m Message, before []Placed) int64 {
	replied := slices.IndexFunc(before, func(p Placed) bool { return p.ID == m.ReplyTo })
	if m.ReplyTo != 0 && replied >= 0 && before[replied].Size < MaxSegment {
		return before[replied].Segment
	}
	if p, ok := lastBy(m.Mentions, before); ok && near(m, p, ownGap) {
		return p.Segment
	}
	if p, ok := lastBy([]UserID{m.Author}, before); ok && near(m, p, ownGap) {
		return p.Segment
	}
	if len(before) > 0 && isQuiet(m.Author, before) && near(m, before[len(before)-1], quietGap) {
		return before[len(before)-1].Segment
	}
	return 0
}

// near reports whether p's segment has room, and m follows p within gap.
func near(m Message, p Placed, gap time.Duration) bool {
	return p.Size < MaxSegment && m.Time().Sub(p.ID.Time()) <= gap
}

func lastBy(authors []UserID, before []Placed) (Placed, bool) {
	for _, p := range slices.Backward(before) {
		if slices.Contains(authors, p.Author) {
			return p, true
		}
	}
	return Placed{}, false
}

func isQuiet(author UserID, before []Placed) bool {
	authors := []UserID{author}
	for _, p := range before[max(0, len(before)-quietLast):] {
		if !slices.Contains(authors, p.Author) {
			authors = append(authors, p.Author)
		}
	}
	return len(authors) <= quietCount
}
