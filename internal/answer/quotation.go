package answer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/answer/manifest"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

const (
	quoteLength = 700 // graphemes of a quoted message
	nameLength  = 64  // of a name
)

// attribution returns the author and place of a quote; a tag for an unknown author.
func attribution(s Source, author memory.UserID) string {
	name := escapeName(s.Author)
	if s.Author == tag(author) {
		name = s.Author
	}
	if s.Place == "" {
		return "**" + name + "**"
	}
	return "**" + name + "** in #" + escapeName(s.Place)
}

// escapeName makes a name one line that Markdown shows as it is: no markup, mentions, links or changes of
// direction.
func escapeName(name string) string {
	var b strings.Builder
	for _, r := range text.Clip(strings.Join(strings.Fields(name), " "), nameLength) {
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

// passage returns a hit's message, from where so many characters hold the passage that was found; all of it if
// they hold it from the beginning.
func passage(hit search.Hit, characters int) string {
	said := hit.Message.Text()
	before, found := []rune(said[:hit.From]), utf8.RuneCountInString(said[hit.From:hit.To])
	if len(before)+found <= characters {
		return said
	}
	room := max(0, characters-found-2) // besides what marks that something is left out
	before = before[len(before)-room:]
	if i := slices.IndexFunc(before, unicode.IsSpace); i >= 0 { // a word isn't cut
		before = before[i:]
	}
	return "… " + strings.TrimSpace(string(before)+said[hit.From:])
}

func tag(id memory.UserID) string { return "<@" + id.String() + ">" }

// oneLine returns at most n characters of s, on one line.
func oneLine(s string, n int) string {
	return text.Cut(strings.Join(strings.Fields(s), " "), n)
}
