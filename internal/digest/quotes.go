package digest

import (
	"strings"

	"hark/memory"
)

// highlights returns the most informative messages, in order of time, in so many characters.
func highlights(session []memory.Message, name func(memory.UserID) string, bot func(memory.UserID) bool,
	characters int) []said {
	turns := make([]said, len(session))
	among := map[string]int{}
	for i, m := range session {
		turns[i] = saidIn(m, name(m.Author), bot)
		for _, term := range turns[i].terms {
			among[term]++
		}
	}
	return quotedOf(turns, quotings(turns, among), characters)
}

// extracted sums up a session by its most informative messages, word for word, in order of time; nil if none tells
// anything. A question is quoted with its answer, and alone only if nothing else tells anything, or there is room.
// Topics and kind come from the quotes, so that nothing else is a source.
func extracted(session []memory.Message, name func(memory.UserID) string,
	bot func(memory.UserID) bool) *memory.Summary {
	quoted := highlights(session, name, bot, memory.MaxSummaryText)
	if len(quoted) == 0 {
		return nil
	}
	s := &memory.Summary{}
	var lines []string
	for _, t := range quoted {
		lines = append(lines, t.line)
		s.Sources = append(s.Sources, memory.SourcesOf([]memory.Message{t.Message})...)
	}
	s.Text = strings.Join(lines, between)
	s.Topics = topicsOf(quoted)
	s.Kind = kindOfSession(quoted)
	return s
}

// Quotes returns the most telling messages, in order of time, in so many characters; if none tells anything, the
// newest few.
func Quotes(messages []memory.Message, people memory.People, characters, few int) []Quote {
	best := highlights(messages, people.Name, people.IsBot, characters)
	if len(best) == 0 {
		for _, m := range messages[max(0, len(messages)-few):] {
			best = append(best, saidIn(m, people.Name(m.Author), people.IsBot))
		}
	}
	return Each(best, func(s said) Quote { return Quote{s.Message, s.text} })
}

// Quote is a message with its quoted text.
type Quote struct {
	memory.Message
	Text string
}
