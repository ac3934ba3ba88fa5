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

// dialogueFor returns what was said before the question since the last silence, and what that goes back to. An
// operator sees no direct messages.
func (e *Engine) dialogueFor(ctx context.Context, q Question, now readableScope) (dialogue, error) {
	if q.Operator && q.Guild == memory.DirectGuild {
		return dialogue{}, nil
	}
	before, sitting, err := e.sessionBefore(ctx, q, now)
	if err != nil {
		return dialogue{}, err
	}
	t, said, err := e.dialogueIn(ctx, q, now, sitting)
	if err != nil {
		return dialogue{}, err
	}
	said = slices.DeleteFunc(slices.Clone(said),
		func(m memory.Message) bool { return isNotice(m) && m.ID != q.ReplyTo })
	turns := joined(said, sitting)
	turns = turns[max(0, len(turns)-e.options.SessionTurns):]
	var older []memory.Message
	if q.Session != nil {
		older = e.unloggedChain(q, before, slices.Concat(turns...))
	} else if older, err = e.olderThan(ctx, q, now, t, slices.Concat(turns...)); err != nil {
		return dialogue{}, err
	}
	older = q.withReplied(older, slices.Concat(turns...), now.attended)
	t.older = len(older)
	t.turns = append(digest.Each(older, func(m memory.Message) []memory.Message {
		return []memory.Message{m}
	}), turns...)
	t.session = slices.Concat(t.turns...)
	return t, nil
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

// dialogueIn returns a dialogue without its turns, and the uncondensed messages that may be shown.
func (e *Engine) dialogueIn(ctx context.Context, q Question, now readableScope, sitting []memory.Message) (t dialogue,
	said []memory.Message, err error) {
	t.from = askedAt(q)
	if q.Session != nil {
		return t, sitting, nil
	}
	if len(sitting) > 0 {
		t.from = sitting[0].ID
	}
	own, err := e.findCondensed(ctx, q, now, sitting, &t)
	if err != nil {
		return t, nil, err
	}
	if t.condensed == nil {
		own = now.audienceIn(q.Channel, t.from)
	} else {
		sitting = digest.After(sitting, t.condensed.Until)
	}
	said, err = own.repeatable(ctx, sitting)
	return t, said, err
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
				turns[last], runes = append(turn, m), runes+1+n
				continue
			}
		}
		turns, runes = append(turns, []memory.Message{m}), n
	}
	return turns
}

func (t *dialogue) asTurns(q Question, n names) []builder.Turn {
	turns := make([]builder.Turn, len(t.turns))
	for i, messages := range t.turns {
		turns[i] = asTurn(messages, n)
		if own := n.modelText(messages[0], turns[i].Content); own != turns[i].Content {
			turns[i].Content, turns[i].Tokens = own, 0
		}
		if q.isReplied(messages[0]) {
			turns[i].Speaker = q.Replied.Name
		}
		turns[i].Replied = q.ReplyTo != 0 && digest.Has(messages, q.ReplyTo)
		if m := messages[0]; m.Channel != q.Channel {
			if cut := text.Clip(turns[i].Content, starterShown); cut != turns[i].Content {
				turns[i].Content, turns[i].Tokens = cut, 0
			}
		}
	}
	return turns
}

// asTurn returns messages of one author as a turn.
func asTurn(messages []memory.Message, n names) builder.Turn {
	first := messages[0]
	turn := builder.Turn{
		Speaker: n.of(first.Author), Role: builder.RoleUser, Author: first.Author, Time: first.Time(),
		Content: first.Text(), Tokens: first.Tokens,
	}
	if first.Kind == memory.FromHark {
		turn.Role = builder.RoleAssistant
	}
	if len(messages) > 1 {
		turn.Content, turn.Tokens = strings.Join(digest.Each(messages, memory.Message.Text), "\n"), 0
	}
	return turn
}
