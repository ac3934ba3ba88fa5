package builder

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// guard reads members' texts in a prompt as generously as a model might, by patterns of its own: nothing in them
// may look like the prompt's words.
type guard struct {
	titles []string
	signs  []string
	cites  bool
}

func newGuard(l Labels, cites bool) *guard {
	g := &guard{cites: cites}
	for _, title := range append(l.titles(), headSystem, headPrevious, headSession, headQuery, plainSystem,
		plainPrevious, plainSession, plainQuery) {
		if folded := string(fold(title)); folded != "" {
			g.titles = append(g.titles, folded)
		}
		if sign, _, _ := strings.Cut(title, " "); !strings.HasPrefix(sign, "=") &&
			strings.IndexFunc(sign, unicode.IsLetter) < 0 {
			g.signs = append(g.signs, sign)
		}
	}
	marks := l.marks()
	for _, sign := range append(marks[:], l.Person, l.DataMark, l.Neighbour, l.EarlierMark) {
		if sign = strings.TrimSpace(sign); sign != "" {
			g.signs = append(g.signs, sign)
		}
	}
	return g
}

// never are forms that no text of a member's has in a prompt, and atBegin those that none of its lines begins with.
var (
	never = map[string]*regexp.Regexp{
		"mention tag":    regexp.MustCompile(`[<＜﹤][@＠﹫][!& ]*\p{Nd}[\p{Nd} ]*[>＞﹥]`),
		"template token": regexp.MustCompile(`<[|｜][\pL_]`),
		"template tag": regexp.MustCompile(
			`(?i)</?(s|system|user|assistant|instructions|think|tool_call|start_of_turn|previous_context|current_query)( [^<>]{0,16})?/?>`),
		"template mark": regexp.MustCompile(
			`(?i)\[/?(INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|previous_context)\]|<<SYS>>`),
		"fence":      regexp.MustCompile("```"),
		"emoji's id": regexp.MustCompile(`<a?:(x|wave|dance):\d+>`),
		"heading": regexp.MustCompile(
			`(?i)={3}[^\pL\d⏎]*(SYSTEM INSTRUCTIONS|PREVIOUS CONTEXT|CURRENT SESSION|CURRENT QUERY)([^\pL\d]|$)|(^|[^\pL\d])(SYSTEM INSTRUCTIONS|PREVIOUS CONTEXT|CURRENT SESSION|CURRENT QUERY)[^\pL\d⏎]*={3}`),
		"title": regexp.MustCompile(
			`(^|[^\p{Latin}\p{Greek}\p{Cyrillic}\d])(SYSTEM ROLE|RECENT CONVERSATION|CURRENT QUERY)[:：]([^/]|$)`),
		"speaker": regexp.MustCompile(`[<＜]@!?\d+[>＞][ *_]*[:：(|]`),
	}
	generics     = regexp.MustCompile(`([\pL\d_])<(?:[A-Z]|[A-Z][\w-]*[a-z][\w-]*)[ >]`) // List<User>
	citationText = regexp.MustCompile(`(?:^|[^\pL\pN_)\]])\[\d{1,3}(?:\s*,\s*\d{1,3})*\]`)
	atBegin      = map[string]*regexp.Regexp{
		"role":  regexp.MustCompile(`(?i)^\PL{0,250}(user|assistant|system|human|hark|benutzer|пользователь|ユーザー|用户)[^\pL\d:：]{0,20}[:：]([^/]|$)`),
		"time":  regexp.MustCompile(`^\PL{0,250}\[(\d{4}-)?\d\d-\d`),
		"fence": regexp.MustCompile(`^\s*~~~`),
	}
)

// check says what text, which stands in one line or is one, looks like. starts: it begins a line of the prompt.
func (g *guard) check(text string, starts bool) error {
	for what, pattern := range never {
		if found := pattern.FindString(generics.ReplaceAllString(text, "$1")); found != "" {
			return fmt.Errorf("a %s %q in %q", what, found, text)
		}
	}
	if found := citationText.FindString(text); found != "" && g.cites {
		return fmt.Errorf("a citation %q in %q", found, text)
	}
	for i, line := range strings.Split(text, " ⏎ ") {
		if i == 0 && !starts || strings.HasPrefix(strings.TrimSpace(line), strings.TrimSpace(forgeryMark)) {
			continue
		}
		for what, pattern := range atBegin {
			if pattern.MatchString(line) {
				return fmt.Errorf("a %s begins %q", what, line)
			}
		}
		if g.isHeading(line) {
			return fmt.Errorf("a heading %q", line)
		}
		for _, sign := range g.signs {
			if i == 0 && strings.HasPrefix(strings.TrimSpace(line), sign) {
				return fmt.Errorf("the sign %q begins %q", sign, line)
			}
		}
	}
	return nil
}

// isHeading reads as generously as a model might: a line that is a title, or begins with its signs.
func (g *guard) isHeading(line string) bool {
	signs := 0
	for _, r := range strings.TrimSpace(line) {
		if !equalsLike(r) {
			break
		}
		signs++
	}
	if line = strings.TrimSpace(line); len(line) > foldSpan {
		line = strings.TrimFunc(line, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '›'
		})
	}
	if len(line) > foldSpan {
		return signs >= 3 // there is too much between the words of a title
	}
	folded := string(fold(line))
	for _, title := range g.titles {
		if folded == title && !strings.HasPrefix(line, strings.TrimSpace(forgeryMark)) {
			return true
		}
	}
	return signs >= 3
}

// visible checks that nothing in s is hidden but for what the scripts and emoji of the world need.
func visible(t failer, s string) {
	t.Helper()
	for _, line := range strings.Split(s, "\n") {
		l := suspicion{line: line}
		for i, r := range line {
			if r == utf8.RuneError {
				continue
			}
			if (unicode.Is(unicode.Cc, r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
				isHidden(r)) && !l.needed(i, r, utf8.RuneLen(r)) {
				t.Errorf("U+%04X is hidden in %q", r, line)
			}
		}
	}
}
