package memory

import (
	"slices"
	"strings"
	"time"
)

// Segment is a run of messages of one conversation in a channel: the unit of embedding.
type Segment struct {
	ID       int64
	Channel  ChannelID
	Version  int64  // grows with each change of the segment's text
	Title    string // the name of the thread; empty in other channels
	Messages []Message
}

// Text returns what is embedded: the title and the messages' text, a line each.
func (s Segment) Text() string {
	var b strings.Builder
	if s.Title != "" {
		b.WriteString(s.Title)
		b.WriteByte('\n')
	}
	for _, m := range s.Messages {
		b.WriteString(m.Text())
		b.WriteByte('\n')
	}
	return b.String()
}

// The limits that cut a channel into segments. People answer messages of the last few minutes. If several
// talk at once, only one message in three answers the one before, so only a reply, a mention or the author's
// own last message joins a segment.
const (
	MaxSegment = 8                // messages in a segment
	LookBack   = 24               // previous messages searched for a segment to join
	ownGap     = 15 * time.Minute // to the author's own last message, or a mentioned person's
	quietGap   = 5 * time.Minute  // to the last message of a quiet channel
	quietLast  = 8                // messages that show whether a channel is quiet
	quietCount = 3                // authors in a quiet channel, at most
)

// Placed is a message that is already in a segment.
type Placed struct {
	ID      MessageID
	Author  UserID
	Segment int64
	Size    int // messages in the segment
}

// Join returns the segment that m continues, given up to LookBack messages before it, oldest first; 0 if m
// begins a new one. It depends on nothing else, so a stream is always cut the same way.
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
