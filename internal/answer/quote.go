package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hark/internal/answer/manifest"
	"hark/internal/digest"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

const (
	maxLoreQuotes = 2
	// odds is how many times likelier the best quote may be than another beside it. Probabilities near 1 have no
	// room to differ, odds have: beside 0.95 stands 0.91 but not 0.88, beside 0.3 also 0.18.
	odds = 2.0
)

// quote answers with the lore that the question names, and the best message with the neighbour that completes it.
// writer says why no model writes the answer.
func (e *Engine) quote(ctx context.Context, q Question, r *recalled, writer memory.AnswerWriter) (Answer, error) {
	note := noteOn[writer]
	hits, err := e.quotable(ctx, q, r)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Unranked: r.result.RerankFailed, Trace: e.trace(q, r)}
	a.Trace.Mode = ""
	var b strings.Builder
	shown := manifest.New() // instead of the prompt's manifest
	e.quoteLore(&b, r, &shown)
	shown.Hits = hits
	for _, hit := range hits {
		for _, m := range r.withNeighbour(q, hit) {
			if shown.Number(m.ID) > 0 {
				continue
			}
			s := r.source(len(a.Sources)+1, m)
			a.Sources = append(a.Sources, s)
			shown.SetNumber(m.ID, s.Number)
			shown.Add(m)
			r.addOriginal(&shown, m)
			said := m.Text()
			if m.ID == hit.Message.ID {
				said = passage(hit, quoteLength)
			}
			b.WriteString(blockQuote(r.names.quotedText(m, said)))
			by := m.Author
			if of, is := r.original(m); is {
				by = of.Author
			}
			fmt.Fprintf(&b, "— %s, %s [%d]\n\n", r.resolved.attribution(s, by), s.Time.Format("2 Jan 2006 15:04"), s.Number)
		}
	}
	origin := memory.Origin{
		Writer:   writer,
		Found:    r.found(),
		Messages: len(a.Sources),
		Lore:     len(shown.Lore),
	}
	switch {
	case origin.Quotes():
		origin.Found = memory.FoundEnough
	case origin.Found == memory.FoundEnough: // it matches loosely, or only repeats the question
		origin.Found = memory.FoundLittle
	}
	a.Trace.Origin = origin
	switch {
	case origin.Quotes():
	case note != noModel:
		b.WriteString(r.resolved.say(withoutQuotes[note]))
	case r.result.SmallTalk():
		b.WriteString(r.resolved.say(cantChat) + "\n\n")
	case q.OnlyAsker:
		b.WriteString(r.resolved.say(onlyYouNone) + "\n\n")
	default:
		b.WriteString(r.resolved.say(foundNone) + "\n\n")
	}
	if origin.Quotes() && (note != noModel || e.noteIsDue(q)) {
		b.WriteString(r.resolved.say(note))
	}
	a.Text = strings.TrimSpace(b.String())
	e.trackSources(ctx, q, r, &a, &shown)
	for i := range a.Trace.Sources {
		a.Trace.Sources[i].Repeats = true
	}
	a.Trace.Total = r.elapsed()
	return a, nil
}

// noteIsDue reports whether the answer is the day's first in its channel, or there for its asker alone.
func (e *Engine) noteIsDue(q Question) bool {
	at := noteAt{channel: q.Channel}
	if q.OnlyAsker {
		at.asker = q.Asker
	}
	return e.noted.due(at, q.Now.UTC().Format(time.DateOnly))
}

// due reports whether the note wasn't shown there on that day, and marks it as shown.
func (n *noteDays) due(at noteAt, day string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.day != day {
		n.day = day
		n.seen = map[noteAt]bool{}
	}
	seen := n.seen[at]
	n.seen[at] = true
	return !seen
}

func (e *Engine) quoteLore(b *strings.Builder, r *recalled, shown *manifest.Manifest) {
	called := len(r.result.Lore) > 0 && r.result.Lore[0].Why != "words" // the surest
	for _, hit := range r.result.Lore {
		l := hit.Lore
		if called && hit.Why == "words" || len(shown.Lore) == maxLoreQuotes {
			break
		}
		shown.Lore = append(shown.Lore, l)
		b.WriteString(blockQuote(l.Name + ": " + l.Text))
		by := ""
		if l.By != 0 {
			by = ", told by " + attribution(Source{Author: r.names.of(l.By)}, l.By)
		}
		fmt.Fprintf(b, "— lore%s, %s\n\n", by, l.At.In(r.settings.Zone).Format("2 Jan 2006 15:04"))
	}
	shown.AddSources(r.said, digest.Each(shown.Lore, manifest.OfLore))
}

// quotable returns the best hit, and perhaps a second that is hardly worse and adds words of the question, is
// newer, or is what the question replies to.
func (e *Engine) quotable(ctx context.Context, q Question, r *recalled) ([]search.Hit, error) {
	hits, err := e.findQuotes(ctx, q, r)
	if err != nil {
		return nil, err
	}
	asked := text.Words(text.WithoutHark(q.Text))
	hits = slices.DeleteFunc(hits, func(h search.Hit) bool {
		return h.Relevance < search.Floor || !r.answers(h) ||
			slices.Equal(text.Words(text.WithoutHark(h.Message.Content)), asked)
	})
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Relevance, a.Relevance) })
	if len(hits) < 2 {
		return hits, nil
	}
	best := hits[0]
	lacks := lacking(askedTerms(q.Text), r.withNeighbour(q, best)...)
	second := slices.IndexFunc(hits[1:], func(h search.Hit) bool {
		return closeTo(h.Relevance, best.Relevance) && (h.Message.ID > best.Message.ID ||
			h.Message.ID == q.ReplyTo || len(lacking(lacks, h.Message)) < len(lacks))
	})
	if second < 0 {
		return hits[:1], nil
	}
	return []search.Hit{best, hits[1+second]}, nil
}

// answers reports whether a hit has words of the question, or is what it points to.
func (r *recalled) answers(h search.Hit) bool {
	pointed := func(w search.Reason) bool { return w.Kind == whyChannel || w.Kind == whyLinked }
	return slices.ContainsFunc(h.Why, pointed) || r.result.MatchesWords(h)
}

// askedTerms returns a question's terms, except those that only ask.
func askedTerms(question string) []string {
	return slices.DeleteFunc(text.QueryTerms(question), search.OnlyAsks)
}

func lacking(terms []string, messages ...memory.Message) []string {
	var held []string
	for _, m := range messages {
		held = append(held, text.Terms(m.Text())...)
	}
	return slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return slices.Contains(held, t) })
}

// withNeighbour returns a hit's message and the neighbour that completes it, in order: a reply to it or what it
// replies to, else its answer, its question or what is said to its author, else what has a word of the question
// that it lacks.
func (r *recalled) withNeighbour(q Question, h search.Hit) []memory.Message {
	asks := text.Asks(h.Message.Content)
	lacks := lacking(askedTerms(q.Text), h.Message)
	var other memory.Message
	best := 0
	for _, m := range h.Excerpt {
		after := m.ID > h.Message.ID
		others := m.Author != h.Message.Author
		fit := 0
		switch {
		case m.ID == h.Message.ID || m.ID == q.ID, strings.TrimSpace(m.Text()) == "", isRequest(m) && r.addressesHark(m):
		case m.ReplyTo == h.Message.ID || h.Message.ReplyTo == m.ID:
			fit = 3
		case others && (asks && after && !text.Asks(m.Content) || !asks && !after && text.Asks(m.Content)),
			others && after && slices.Contains(m.Mentions, h.Message.Author):
			fit = 2
		case len(lacking(lacks, m)) < len(lacks):
			fit = 1
		}
		if fit > best {
			other = m
			best = fit
		}
	}
	if best == 0 {
		return []memory.Message{h.Message}
	}
	return sortByID([]memory.Message{h.Message, other})
}

// findQuotes searches for what to quote. Those present may be quoted what is being said now, even if not all can
// read the channel's past.
func (e *Engine) findQuotes(ctx context.Context, q Question, r *recalled) ([]search.Hit, error) {
	if len(r.session) == 0 || r.unlogged {
		return slices.Clone(confidentHits(r.result)), nil
	}
	skip := []memory.MessageID{q.ID}
	if slices.Contains(r.scope.Channels, q.Channel) {
		result, _, err := e.findAgain(ctx, q, r, skip) // with the session's words where it refers back
		return confidentHits(result), err
	}
	scope := r.narrowed
	scope.Channels = q.Filter.channels([]memory.ChannelID{q.Channel}, r.names.channels)
	if r.asked.elsewhere(q.Channel) {
		scope.Channels = nil
	}
	if scope.Since.Before(r.from.Time()) {
		scope.Since = r.from.Time()
	}
	present, _, err := e.find(ctx, q, r, scope, skip)
	return slices.Concat(confidentHits(present), confidentHits(r.result)), err
}

func closeTo(relevance, best float64) bool {
	return odds*relevance*(1-best) >= best*(1-relevance)
}

const (
	quoteLength = 700
	nameLength  = 64 // of a name
	placeLength = 100
)

// attribution is attribution in the language of the answer, also of a forward.
func (v resolvedSettings) attribution(s Source, author memory.UserID) string {
	by := attribution(s, author)
	if !s.Forwarded {
		return by
	}
	return fmt.Sprintf(v.say(forwardedBy), by)
}

// attribution returns the author and place of a quote; a tag for an unknown author.
func attribution(s Source, author memory.UserID) string {
	name := escapeName(s.Author)
	if s.Author == tag(author) {
		name = s.Author
	}
	if s.Place == "" {
		return "**" + name + "**"
	}
	return "**" + name + "** in #" + escapeShort(s.Place, placeLength)
}

// escapeName makes a name one line that Markdown shows as it is: no markup, mentions, links or changes of
// direction.
func escapeName(name string) string { return escapeShort(name, nameLength) }

// escapeShort is escapeName for so many characters.
func escapeShort(name string, most int) string {
	var b strings.Builder
	for _, r := range text.Clip(strings.Join(strings.Fields(name), " "), most) {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Bidi_Control):
		case r == '`':
			b.WriteByte('\'')
		case strings.ContainsRune(`\*_~|<>[]@:`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// blockQuote returns a Markdown quotation, shortened. Fences can't open a block, and numbers in brackets
// aren't citations.
func blockQuote(said string) string {
	said = strings.ReplaceAll(text.Clip(strings.TrimSpace(said), quoteLength), "```", "'''")
	said = manifest.Citation.ReplaceAllString(said, `[$1\]`)
	return "> " + strings.Join(strings.FieldsFunc(said, isLineBreak), "\n> ") + "\n"
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// passage returns a hit's message from where so many characters hold what was found; all of it if its beginning
// holds that.
func passage(hit search.Hit, characters int) string {
	said := hit.Message.Text()
	before := []rune(said[:hit.From])
	found := utf8.RuneCountInString(said[hit.From:hit.To])
	if len(before)+found <= characters {
		return said
	}
	room := max(0, characters-found-2) // without the ellipsis
	before = before[len(before)-room:]
	if i := slices.IndexFunc(before, unicode.IsSpace); i >= 0 { // a word isn't cut
		before = before[i:]
	}
	return "… " + strings.TrimSpace(string(before)+said[hit.From:])
}
