package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text, of which terms are made.
type word struct {
	text     string
	unspaced bool
}

// eachTerm calls f for every word of s, in order: of an identifier first the whole and then its parts, of an
// emoji first itself and then its name. In a question, where each term takes weight from the others, words with
// dashes count only by their parts.
func eachTerm(s string, isQuestion bool, f func(word)) {
	s = fold(withoutLinks(withoutTags(s)))
	var chain []token
	for at := 0; ; {
		t, end := next(s, at)
		emojiIn(s[at:end-len(t.text)], f)
		if t.text == "" {
			return
		}
		at = end
		if t.unspaced {
			f(word{t.text, true})
			continue
		}
		joint := jointAt(s, at)
		if joint == 0 {
			emit(t, f)
			continue
		}
		chain = append(chain[:0], t)
		for ; joint > 0; joint = jointAt(s, at) {
			t, at = tokenAt(s, at+joint)
			chain = append(chain, t)
		}
		emitChain(s, chain, len(chain) <= maxJoined && !(isQuestion && isDashed(s, chain)), f)
	}
}

// jointAt returns the length of the joint at i between two tokens, as in "snake_case", "e-mail", "foo.bar",
// "std::vector" and "1.2.3"; 0 if there is none. A dash between numbers is a span or a minus.
func jointAt(s string, i int) int {
	if i+1 >= len(s) {
		return 0
	}
	n := 1
	switch s[i] {
	case '_', '.':
	case '-':
		if classes[s[i-1]] == digit && classes[s[i+1]] == digit {
			return 0
		}
	case ':':
		n = 2
		if s[i+1] != ':' || i+2 >= len(s) {
			return 0
		}
	default:
		return 0
	}
	if class := classes[s[i+n]]; class == other {
		return 0
	} else if class == wide {
		if r, _ := utf8.DecodeRuneInString(s[i+n:]); !isWordRune(r) || unicode.Is(unicode.M, r) || IsUnspaced(r) {
			return 0
		}
	}
	return n
}

// maxJoined is the most tokens of an identifier. A longer chain is a sentence.
const maxJoined = 5

// emitChain emits the whole chain if joined, numbers with dots in it, and each of its tokens. The whole has no
// joints except dots between digits, so that it is the same for "user_name", "user-name" and "userName".
func emitChain(s string, chain []token, joined bool, f func(word)) {
	if len(chain) > 2 && strings.EqualFold(chain[0].text, "www") {
		chain = chain[1:]
	}
	var whole strings.Builder
	number := 0 // where in whole the current number begins
	var numbers []string
	for i, t := range chain {
		w := t.word()
		dotted := i > 0 && s[t.start-1] == '.' && classes[s[t.start-2]] == digit && classes[s[t.start]] == digit
		if dotted {
			whole.WriteByte('.')
		} else {
			number = whole.Len() + len(strings.TrimRight(w, digits))
		}
		begun := whole.Len()
		whole.WriteString(w)
		if goesOn := i+1 < len(chain) && s[t.end] == '.' && isNumber(w) &&
			classes[s[t.end+1]] == digit; dotted && !goesOn {
			end := begun + len(w) - len(strings.TrimLeft(w, digits))
			numbers = append(numbers, strings.TrimLeft(whole.String()[number:end], "."))
			number = begun + len(strings.TrimRight(w, digits))
		}
	}
	if joined {
		numbers = append([]string{whole.String()}, numbers...)
	}
	for i, n := range numbers {
		n = Cut(n, maxTerm)
		if n != "" && (i == 0 || n != numbers[0]) {
			f(word{n, false})
		}
	}
	for _, t := range chain {
		emit(t, f)
	}
}

// isDashed reports whether chain is words with dashes, such as "full-time", but not "e-mail".
func isDashed(s string, chain []token) bool {
	for i, t := range chain {
		if len(t.text) == 1 || i > 0 && s[t.start-1] != '-' {
			return false
		}
	}
	return true
}

const digits = "0123456789"

func isNumber(w string) bool { return strings.Trim(w, digits) == "" }

// emit emits a token and the parts of one like "parseHTTPRequest".
func emit(t token, f func(word)) {
	w := t.word()
	if w == "" {
		return
	}
	f(word{w, false})
	if !t.humps || len(t.text) > maxTerm {
		return
	}
	for _, part := range humps(t.text) {
		if len(part) > 1 {
			f(word{strings.ToLower(part), false})
		}
	}
}

// humps returns the parts of a name in camel case; none if there is only one, or if they are too short to mean
// anything, as in "LoCoMo", "eBay" and random keys.
func humps(name string) []string {
	if i := strings.IndexFunc(name, isApostrophe); i >= 0 {
		name = name[:i]
	}
	if strings.HasPrefix(name, "0x") {
		return nil
	}
	var parts []string
	runes := []rune(name)
	start := 0
	digitsFrom := 0
	hasSmall := false // of the current part
	cut := func(at int) {
		if at > start {
			parts = append(parts, string(runes[start:at]))
			start = at
			hasSmall = false
		}
	}
	for i := 1; i < len(runes); i++ {
		before := runes[i-1]
		r := runes[i]
		small := func(at int) bool { return at < len(runes) && unicode.IsLower(runes[at]) }
		hasSmall = hasSmall || unicode.IsLower(before)
		if unicode.IsDigit(r) && !unicode.IsDigit(before) {
			digitsFrom = i
		}
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(before):
			cut(i)
		case unicode.IsUpper(r) && unicode.IsDigit(before) && digitsFrom > start: // HTTP2Port, user2FA
			if small(i + 1) {
				cut(i)
			} else if hasSmall {
				cut(digitsFrom)
			}
		case unicode.IsLower(r) && unicode.IsUpper(before) && (r != 's' || small(i+1)): // HTTPRequest, but not URLs
			cut(i - 1)
		}
	}
	cut(len(runes))
	if len(parts) < 2 || 2*len(runes) < 5*len(parts) {
		return nil
	}
	return parts
}

// atHark matches "@hark" as typed without a Discord mention.
var atHark = regexp.MustCompile(`(?i)(^|[^\w@])@hark\b`)

// SpeaksToHark reports whether s has "@hark" in it.
func SpeaksToHark(s string) bool { return atHark.MatchString(s) }

// WithoutHark returns s without "@hark".
func WithoutHark(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return atHark.ReplaceAllString(s, "$1")
}

// citations matches links to sources, and their numbers.
var citations = regexp.MustCompile(`[ \t]*(?:\[\\?\[\d+\\?\]\]\(<[^<>]*>\)|\[\d{1,3}\])`)

// note matches a line in which Hark comments on its answer, or on itself.
var note = regexp.MustCompile(`^\*[^* ].*[.。]\*$`)

// OwnWords returns Hark's answer without the footer, notes, and lines and numbers of sources.
func OwnWords(answer string) string {
	var kept []string
	for line := range strings.Lines(answer) {
		line = strings.TrimRight(line, "\n")
		if !note.MatchString(line) && !strings.HasPrefix(line, "-# ") && !strings.HasPrefix(line, "— ") {
			kept = append(kept, citations.ReplaceAllString(line, ""))
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// interrogatives are words that a question begins with.
var interrogatives = strings.Fields(
	"who whom whose what when where why which how is are was were do does did can could will would should has have")

// Asks reports whether s looks like a question: by its mark in any language, by its first word in English.
func Asks(s string) bool {
	if strings.ContainsAny(s, "?？؟") {
		return true
	}
	words := Words(WithoutHark(s))
	return len(words) > 0 && slices.Contains(interrogatives, words[0])
}
