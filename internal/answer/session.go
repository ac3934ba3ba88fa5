package answer

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/digest"
	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

// How much a session may have, however much was said since the last silence.
const (
	// sessionMessages is how many messages are read: enough for turns of a few messages each.
	sessionMessages = digest.SessionMessages
	// sessionLate is among how many messages after the question answers to those before it are looked for.
	sessionLate = 20
)

// How messages are joined to a turn: those of one author that follow one another, each within joinWithin of
// the one before.
const (
	joinWithin = 3 * time.Minute
	joinMost   = 10  // messages
	joinRunes  = 400 // of all together: what the builder shows of a turn at the least
)

// dialogue is what a prompt shows as the current session, or could.
type dialogue struct {
	// oldest first: what the session goes back to, a message each, then what was said in it
	turns     [][]memory.Message
	older     int               // how many of turns aren't of the session itself
	session   []memory.Message  // those of turns, one after the other
	condensed *memory.Condensed // tells of what was said in the session before; nil if nothing does
	sources   []memory.Message  // what condensed was made from
	from      memory.MessageID  // the first of the session: everybody present has seen what was said from here on
}

// dialogueBefore is what was said before the question: since the last silence, the newest of it, and what
// that goes back to. An operator sees no direct messages.
func (e *Engine) dialogueBefore(ctx context.Context, q Question, now reach) (dialogue, error) {
	if q.Operator && q.Guild == memory.DirectGuild {
		return dialogue{}, nil
	}
	before, sitting, err := e.sittingBefore(ctx, q, now)
	if err != nil {
		return dialogue{}, err
	}
	t, said, err := e.saidIn(ctx, q, now, sitting)
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
	t.older = len(older)
	t.turns = append(digest.Each(older, func(m memory.Message) []memory.Message {
		return []memory.Message{m}
	}), turns...)
	t.session = slices.Concat(t.turns...)
	return t, nil
}

// askedAt is the id that what was said before the question is smaller than.
func askedAt(q Question) memory.MessageID {
	if q.ID == 0 {
		return memory.FirstMessageID(q.Now)
	}
	return q.ID
}

// sittingBefore are the last messages before the question that may be in a session, oldest first, and those
// of them since the last silence: of the question's own session where nothing is logged, else of the log, if
// it may be used. All who will read the answer could read them.
func (e *Engine) sittingBefore(ctx context.Context, q Question, now reach) (before, sitting []memory.Message,
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
		// A question that waited its turn comes after the answers to those before it, although they were sent later.
		late := m.Kind == memory.FromHark && m.ReplyTo != 0 && m.ReplyTo < asked
		return m.ID == asked || m.ID > asked && !late || m.Kind == memory.FromSystem || m.ID < now.attended
	})
	before, err = now.consents.given(ctx, before[max(0, len(before)-sessionMessages):])
	return before, before[digest.LastSession(before, q.Now, e.options.SessionGap):], err
}

// saidIn is a dialogue without its turns, and the messages of the sitting that may be shown: those that its
// summary doesn't tell of.
func (e *Engine) saidIn(ctx context.Context, q Question, now reach, sitting []memory.Message) (t dialogue,
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
		own = now.derivation(q.Channel, t.from)
	} else {
		sitting = digest.After(sitting, t.condensed.Until)
	}
	said, err = own.allowed(ctx, sitting)
	return t, said, err
}

// joined are messages as turns. Those that follow one another in the sitting, of one author and within a few
// minutes, are one, but for a reply to somebody else.
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

// asTurns are the turns as the builder takes them.
func (t *dialogue) asTurns(q Question, n names) []builder.Turn {
	turns := make([]builder.Turn, len(t.turns))
	for i, messages := range t.turns {
		turns[i] = asTurn(messages, n)
		if own := n.spoken(messages[0], turns[i].Content); own != turns[i].Content {
			turns[i].Content, turns[i].Tokens = own, 0
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

// asTurn is a turn of messages of one author.
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

// spoken is what m says, or the turn that it begins, as a model is to read it: of Hark's own only the words, and with
// the name of Hark, or of another bot, in the place of a mention.
func (n names) spoken(m memory.Message, said string) string {
	if m.Kind == memory.FromHark {
		if said = text.OwnWords(said); said == "" {
			return m.Text() // it was nothing else
		}
	}
	if !strings.Contains(said, "<@") {
		return said
	}
	return mentioned.ReplaceAllStringFunc(said, func(tag string) string {
		id, _ := strconv.ParseInt(strings.Trim(tag, "<@!>"), 10, 64)
		if p, known := n.person(memory.UserID(id)); known && p.Bot && p.DisplayName() != "" {
			return "@" + p.DisplayName()
		}
		return tag
	})
}

// name puts the names of bots in the place of their mentions in items.
func (n names) name(items []builder.Item) {
	for _, item := range items {
		for i := range item.Lines {
			line := &item.Lines[i]
			if said := n.spoken(memory.Message{}, line.Content); said != line.Content {
				line.Content, line.Tokens = said, 0
			}
		}
	}
}

// inOrder sorts messages by their ids, which is by time.
func inOrder(messages []memory.Message) []memory.Message {
	slices.SortFunc(messages, func(a, b memory.Message) int { return cmp.Compare(a.ID, b.ID) })
	return messages
}

// askedOfHark is what tells of a message that it is a question to Hark by what it says itself; nil where the question
// is what Hark was asked.
func (r *recalled) askedOfHark(q Question) func(*memory.Message) bool {
	if asksWhatWasAsked(q.Text) {
		return nil
	}
	return func(m *memory.Message) bool { return r.addressed(*m) && bids(*m) }
}

var askedBefore = pattern.Of(`(?i)\b(?:did|do|does)\b.*\bask\b.*\b(?:you|hark)\b|` +
	`\b(?:asked|asking|(?:i|we) (?:told|tell)|questions|requests)\b.*\b(?:you|hark)\b|` +
	`\bmy (?:last |first |previous |earlier )?questions?\b|\b(?:dich|dir)\b.*\bgefragt|\bdemand(?:é|e\b|er\b|ais\b)|\bpregunt\w*|聞いた|問你|问你`)

// asksWhatWasAsked reports whether a question is about what Hark was asked: "what did I ask you yesterday?".
func asksWhatWasAsked(question string) bool {
	return text.Asks(question) && askedBefore().MatchString(text.WithoutHark(question))
}

var (
	// bidding are words that what is asked of Hark begins with, besides an English question's.
	bidding = text.SetOf("tell show find give write make explain summarize summarise list search look translate " +
		"draft say sing help recap sag zeig such schreib dis montre cherche dime busca " +
		"wer wen wem wann wo wohin woher warum wie wieso welche welcher welches " +
		"qui quoi quand ou comment pourquoi combien quel quelle quien que cuando donde como cual cuanto")
	courtesies = text.SetOf("thanks thank thx hi hello hey good ok okay please " +
		"danke hallo bitte merci bonjour salut gracias hola")
	asksUnspaced = pattern.Of(`[か吗嗎呢][。\s]*$`)
	sentencesOf  = pattern.Of(`[^.!?…؟。！？\n]*(?:[.!?…؟]+\S*)?[。！？\n]*`)
)

// bids reports whether m, if it is said to Hark, only asks for something, is polite, or is no more than a name. A
// message that tells something besides doesn't: "Thanks! The barbecue is on Sunday." In direct messages all is said to
// Hark, and people make lists and notes there: only a question or thanks bid.
func bids(m memory.Message) bool {
	said := text.WithoutHark(m.Content)
	direct := m.Guild == memory.DirectGuild
	switch words := text.Words(said); {
	case len(words) == 0:
		return text.SpeaksToHark(m.Content)
	case len(words) == 1 && len(text.QueryTerms(said)) < 2 && m.ReplyTo == 0 && !direct: // a topic, and no answer
		return !strings.ContainsAny(words[0], "0123456789")
	}
	is := false
	for _, sentence := range sentencesOf().FindAllString(said, -1) {
		words := text.Words(sentence)
		all := len(words)
		for len(words) > 0 && courtesies[words[0]] {
			words = words[1:]
		}
		rest := strings.Join(words, " ")
		own := text.QueryTerms(rest)
		switch {
		case text.Asks(sentence), text.Asks(rest), asksUnspaced().MatchString(sentence):
			is = true
		case len(words) > 0 && bidding[words[0]] && !direct:
			is = true
		case all > len(words) && len(own) == 0: // no more than polite
			is = true
		case len(own) > 1:
			return false
		}
	}
	return is
}

// putToHark reports whether m is something that Hark, or another bot, was asked, or no more than its name.
func (e *Engine) putToHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	if !bids(m) {
		return false, nil
	}
	return e.saidToHark(ctx, r, m)
}

// addressed reports whether m is addressed to Hark or another bot by what it says itself.
func (r *recalled) addressed(m memory.Message) bool {
	return m.Guild == memory.DirectGuild || text.SpeaksToHark(m.Content) ||
		slices.ContainsFunc(m.Mentions, func(id memory.UserID) bool {
			p, ok := r.names.person(id)
			return ok && p.Bot
		})
}

// saidToHark reports whether m was said to Hark or another bot.
func (e *Engine) saidToHark(ctx context.Context, r *recalled, m memory.Message) (bool, error) {
	if r.addressed(m) {
		return true, nil
	}
	if m.ReplyTo == 0 {
		return false, nil
	}
	replied, err := e.log.Around(ctx, m.Channel, []memory.MessageID{m.ReplyTo}, 0, 0)
	return len(replied) == 1 && replied[0].Kind == memory.FromHark, err
}
