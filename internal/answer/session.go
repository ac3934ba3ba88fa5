package answer

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/digest"
	"hark/internal/text"
	"hark/memory"
)

// Bounds of a session, however much was said since the last silence.
const (
	// sessionMessages are read: enough for turns of a few messages each.
	sessionMessages = digest.SessionMessages
	// Among sessionLate messages after the question, answers to earlier ones are looked for.
	sessionLate = 20
)

// A turn joins messages of one author that follow one another, each within joinWithin of the one before.
const (
	joinWithin = 3 * time.Minute
	joinMost   = 10  // messages
	joinRunes  = 400 // of all: what the builder shows of a turn at least
)

// dialogue is what a prompt may show as the current session.
type dialogue struct {
	// oldest first: what the session goes back to, a message each, then the session
	turns     [][]memory.Message
	older     int               // turns before the session
	session   []memory.Message  // all messages of turns
	condensed *memory.Condensed // what was said in the session before; nil: nothing is condensed
	sources   []memory.Message  // what condensed was made from
	from      memory.MessageID  // the first of the session, which everybody present has seen from here on
}

// askedAt returns an id above those of all earlier messages.
func askedAt(q Question) memory.MessageID {
	if q.ID == 0 {
		return memory.FirstMessageID(q.Now)
	}
	return q.ID
}

// sessionBefore returns the last messages before the question, oldest first, and those since the last silence: of
// q.Session if nothing is logged, else of the log if it may be used. All readers of the answer could read them.
func (e *Engine) sessionBefore(ctx context.Context, q Question, now readableScope) (before, sitting []memory.Message,
	err error) {
	asked := askedAt(q)
	before = slices.Clone(q.Session)
	if q.Session == nil && now.here {
		before, err = e.log.Around(ctx, q.Channel, []memory.MessageID{asked}, sessionMessages, sessionLate)
	}
	if err != nil {
		return nil, nil, err
	}
	before = slices.DeleteFunc(before, func(m memory.Message) bool {
		// A question that waited its turn comes after answers to earlier ones that were sent later.
		late := m.Kind == memory.FromHark && m.ReplyTo != 0 && m.ReplyTo < asked
		return m.ID == asked || m.ID > asked && !late || m.Kind == memory.FromSystem || m.ID < now.attended
	})
	before, err = now.consents.withConsent(ctx, before[max(0, len(before)-sessionMessages):])
	return before, before[digest.LastSession(before, q.Now, e.options.SessionGap):], err
}

// joined groups messages into turns: consecutive ones of one author within minutes, except replies to others.
func joined(messages, sitting []memory.Message) [][]memory.Message {
	follows := make(map[memory.MessageID]memory.MessageID, len(sitting))
	authors := make(map[memory.MessageID]memory.UserID, len(sitting))
	for i, m := range sitting {
		authors[m.ID] = m.Author
		if i > 0 {
			follows[m.ID] = sitting[i-1].ID
		}
	}
	var turns [][]memory.Message
	runes := 0
	for _, m := range messages {
		n := utf8.RuneCountInString(m.Text())
		if last := len(turns) - 1; last >= 0 {
			turn := turns[last]
			before := turn[len(turn)-1]
			follow := follows[m.ID] == before.ID && m.Author == before.Author && m.Kind == before.Kind &&
				m.Time().Sub(before.Time()) <= joinWithin
			toOther := m.ReplyTo != 0 && authors[m.ReplyTo] != m.Author
			if follow && !toOther && len(turn) < joinMost && runes+n < joinRunes {
				turns[last] = append(turn, m)
				runes = runes + 1 + n
				continue
			}
		}
		turns = append(turns, []memory.Message{m})
		runes = n
	}
	return turns
}

func (t *dialogue) asTurns(q Question, n names) []builder.Turn {
	turns := make([]builder.Turn, len(t.turns))
	for i, messages := range t.turns {
		turns[i] = asTurn(messages, n)
		if own := n.modelText(messages[0], turns[i].Content); own != turns[i].Content {
			turns[i].Content = own
			turns[i].Tokens = 0
		}
		if q.isReplied(messages[0]) {
			turns[i].Speaker = q.Replied.Name
		}
		turns[i].Replied = q.ReplyTo != 0 && digest.Has(messages, q.ReplyTo)
		if m := messages[0]; m.Channel != q.Channel {
			if cut := text.Clip(turns[i].Content, starterShown); cut != turns[i].Content {
				turns[i].Content = cut
				turns[i].Tokens = 0
			}
		}
	}
	return turns
}

// asTurn returns messages of one author as a turn.
func asTurn(messages []memory.Message, n names) builder.Turn {
	first := messages[0]
	turn := builder.Turn{
		Speaker: n.of(first.Author),
		Role:    builder.RoleUser,
		Author:  first.Author,
		Time:    first.Time(),
		Content: first.Text(),
		Tokens:  first.Tokens,
	}
	if first.Kind == memory.FromHark {
		turn.Role = builder.RoleAssistant
	}
	if len(messages) > 1 {
		turn.Content = strings.Join(digest.Each(messages, memory.Message.Text), "\n")
		turn.Tokens = 0
	}
	return turn
}

// A session goes back to the replies that the question ends, to those that end in the session, and to what a thread
// began from.
const (
	chainDepth   = 8   // replies in one chain
	chainMost    = 12  // messages of all chains
	starterShown = 600 // graphemes of what a thread began from
)
