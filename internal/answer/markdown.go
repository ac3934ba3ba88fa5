package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"hark/memory"
)

const (
	quoteLength = 700 // graphemes of a quoted message
	nameLength  = 64  // of a name
	// runesEach is how many code points a grapheme may take on average: a family emoji has seven.
	runesEach = 4
)

// who is the author and the place of a quote. Somebody whose name isn't known is shown by their tag.
func who(s Source, author memory.UserID) string {
	name := escapeName(s.Author)
	if s.Author == tag(author) {
		name = s.Author
	}
	if s.Place == "" {
		return "**" + name + "**"
	}
	return "**" + name + "** in #" + escapeName(s.Place)
}

// escapeName makes a name one line that Markdown shows as it is: no markup, mention or link, and nothing that
// turns the direction of what follows.
func escapeName(name string) string {
	var b strings.Builder
	for _, r := range clip(strings.Join(strings.Fields(name), " "), nameLength) {
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

// quoted is text as a Markdown quotation, shortened where it is long. Fences are kept from opening a block that
// would swallow what follows, and numbers in brackets from being taken for citations.
func quoted(text string) string {
	text = strings.ReplaceAll(clip(strings.TrimSpace(text), quoteLength), "```", "'''")
	text = citation.ReplaceAllString(text, `[$1\]`)
	return "> " + strings.Join(strings.FieldsFunc(text, isLineBreak), "\n> ") + "\n"
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// clip is the first n graphemes of s, or fewer where these are monstrous.
func clip(s string, n int) string {
	rest, state, room := s, -1, n*runesEach
	for range n {
		if rest == "" {
			return s
		}
		var cluster string
		before := rest
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= utf8.RuneCountInString(cluster); room < 0 {
			rest = before
			break
		}
	}
	if rest == "" {
		return s
	}
	return strings.TrimRightFunc(s[:len(s)-len(rest)], unicode.IsSpace) + "…"
}
