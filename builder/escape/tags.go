package escape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bytes searched for the end of a tag, of brackets, and of a link.
const (
	tagSpan     = 96
	bracketSpan = 128 // lookalike letters have more bytes
	linkSpan    = 160
)

// token breaks a control token of chat models at byte i, at its sign r, of n bytes.
func (l suspicion) token(i int, r rune, n int) edit {
	before := l.line[max(0, i-tagSpan):i]
	after := l.line[i+n : min(len(l.line), i+tagSpan)]
	is := false
	shown := "‹"
	switch r {
	case '<', '＜', '﹤':
		is = isAngled(before, after)
	case '[', '［': // [|system|], [INST], [ /INST]
		inner := InBrackets(l.line[i+n:])
		is = isSquared(inner) || l.tag != "" && inner != "" && string(Fold(inner)) == l.tag
	case '◁': // ◁think▷
		name, rest := tokenName(after)
		is = strings.HasPrefix(rest, "▷") && isControl(name, inAngle|inSquare)
	case '~': // ]~b], ]~!b[, [e~[, ]!p~[
		const letters = "!abcdefghijklmnopqrstuvwxyz"
		start := strings.TrimRight(before, letters)
		end := strings.TrimLeft(after, letters)
		between := len(before) - len(start) + len(after) - len(end)
		is = between > 0 && between < 4 && (strings.HasSuffix(start, "]") || strings.HasSuffix(start, "[") &&
			start != before) &&
			(strings.HasPrefix(end, "[") || strings.HasPrefix(end, "]") && strings.HasSuffix(start, "]"))
		shown = "∼"
	}
	if is {
		return edit{n, shown, false}
	}
	return edit{}
}

// isSquared reports whether inner is a token in brackets: |system|, INST, *INST* or " /INST".
func isSquared(inner string) bool {
	where := inSquare
	if unbarred(inner) != inner {
		where |= inAngle
	}
	decorated := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_/|｜~.!", r) }
	name, rest := tokenName(strings.TrimFunc(inner, decorated))
	return rest == "" && isControl(name, where)
}

// isAngled reports whether a "<" between before and after begins a token: <|turn>, <turn|>, <|"|>,
// </｜DSML｜x>, <tool_call>, <seed:think>, <_user>, <SPECIAL_10>, ]<]image[>[ or >>ANSWER<<.
func isAngled(before, after string) bool {
	inner := strings.TrimPrefix(after, "/")
	if barred := unbarred(inner); barred != inner {
		if name, rest := tokenName(strings.TrimLeft(barred, " ")); strings.HasPrefix(barred, " ") {
			rest = strings.TrimLeft(rest, " ")
			return unbarred(rest) != rest && isControl(name, inAngle|inSquare) // <| im_start |>
		}
		r, _ := utf8.DecodeRuneInString(barred)
		end := strings.IndexAny(barred, "|｜ ")
		return unicode.IsLetter(r) || r == '_' || end > 0 && end < 4 && strings.HasPrefix(unbarred(barred[end:]), ">")
	}
	if strings.HasPrefix(after, "]") && strings.HasSuffix(before, "]") {
		return true
	}
	if start := strings.TrimRight(before, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); strings.HasPrefix(after, "<") &&
		strings.HasSuffix(start, ">>") {
		return isControl(before[len(start):], inArrows)
	}
	name, rest := tokenName(strings.TrimPrefix(after, "<"))
	if name == "" || rest == "" {
		return false
	}
	if unbarred(rest) != rest {
		return strings.HasPrefix(unbarred(rest), ">")
	}
	if !endsName(rest) || !strings.ContainsFunc(rest, closes) {
		return false
	}
	if tag, _, _ := strings.Cut(inner, ">"); inner != after &&
		strings.HasSuffix(strings.TrimRight(tag, "0123456789"), ":") {
		return false // Discord's own, </memory show:12>
	}
	// List<User>, Box<S>. But List<user> is made plain: so is hello<user>.
	if r, _ := utf8.DecodeLastRuneInString(before); isWord(r) && unicode.IsUpper(rune(name[0])) &&
		(len(name) == 1 || strings.ToUpper(name) != name) {
		return false
	}
	where := inAngle
	if rest[0] == '>' {
		where |= alone
	}
	if name[0] == '_' {
		where |= beside
	}
	first, last, _ := strings.Cut(name, ":")
	return isControl(first, where) || isControl(last, where)
}

// endsName reports whether a tag's name may end before rest: <think(x)>, <system.>; not <system.web>,
// <user@host> or i<s;.
func endsName(rest string) bool {
	if next, ok := strings.CutPrefix(rest, "."); ok {
		r, _ := utf8.DecodeRuneInString(next)
		return !isWord(r)
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return strings.HasPrefix(rest, "/>") || strings.ContainsRune(" \t=>,(!?", r) || r >= utf8.RuneSelf && r != '’'
}

func closes(r rune) bool { return r == '>' || r == '＞' || r == '﹥' }

// tokenName returns the token's name that s begins with, without its slash, and the rest.
func tokenName(s string) (name, rest string) {
	s = strings.TrimPrefix(s, "/")
	end := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) && r != '-' && r != ':' })
	if end < 0 {
		end = len(s)
	}
	if end == 0 || s[0] == '-' || s[0] == ':' {
		return "", s
	}
	return s[:end], s[end:]
}

func isWord(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// unbarred returns s without leading bars.
func unbarred(s string) string { return strings.TrimLeft(s, "|｜") }

// angle breaks mention tags, and reduces a server's own emoji to their names. Channels (<#1>), times (<t:1>) and
// commands (</x:1>) stay.
func (l suspicion) angle(i, n int) edit {
	if l.operator {
		return edit{}
	}
	change := mention(l.line[i+n:])
	if change.width == 0 {
		change = l.emoji(l.line[i+n:])
	}
	if change.width > 0 {
		change.width += n
	}
	return change
}

// mention replaces "@123>" at the beginning of s, also with the signs of nicknames and roles, by ‹@123› or
// ‹@&123›.
func mention(s string) edit {
	at, width := utf8.DecodeRuneInString(s)
	if at != '@' && at != '＠' && at != '﹫' {
		return edit{}
	}
	digits := strings.TrimLeft(s[width:], "!& ")
	role := strings.Contains(s[width:len(s)-len(digits)], "&")
	end := strings.TrimLeftFunc(digits, func(r rune) bool { return r == ' ' || unicode.IsDigit(r) })
	digits = strings.TrimSpace(digits[:len(digits)-len(end)])
	r, width := utf8.DecodeRuneInString(end)
	if digits == "" || r != '>' && r != '＞' && r != '﹥' {
		return edit{}
	}
	shown := "‹@" + digits + "›"
	if role {
		shown = "‹@&" + digits + "›"
	}
	return edit{len(s) - len(end) + width, shown, false}
}

// emoji replaces ":name:123>" or "a:name:123>" at the beginning of s by :name:, unless the name is taken.
func (l suspicion) emoji(s string) edit {
	name, ok := strings.CutPrefix(strings.TrimPrefix(s, "a"), ":")
	if !ok {
		return edit{}
	}
	end := strings.IndexFunc(name[:min(len(name), tagSpan+1)], func(r rune) bool {
		return r != '_' && (r >= utf8.RuneSelf || !isWordByte(byte(r)))
	})
	if end <= 0 || name[end] != ':' {
		return edit{}
	}
	rest := strings.TrimLeft(name[end+1:], "0123456789")
	if rest == name[end+1:] || !strings.HasPrefix(rest, ">") || l.IsTaken(Fold(name[:end])) {
		return edit{}
	}
	return edit{len(s) - len(rest) + 1, ":" + name[:end] + ":", false}
}

// Where a word is a token by itself. People write [document](…), but rarely <document>; <img src=…>, but rarely
// [IMG].
const (
	beside   = 1 << iota // only beside a word that is a token
	joined               // only beside other words: <start_of_turn>, not <turn>
	alone                // alone in angles: <image>, not <image src="a.png">
	inAngle              // <system>
	inSquare             // [INST]
	inArrows             // >>ANSWER<<

	withNumber  = 6  // bits shifted for a word that needs a number: <ctrl99>, not <ctrl>
	withCapital = 12 // bits shifted for a word that needs a capital: [MASK], not [mask]
)

// isControl reports whether name has only words of tokens, one of which is a token by itself.
func isControl(name string, where int) bool {
	whole := string(Fold(name))
	word := strings.TrimRight(whole, "0123456789 ")
	if word != whole {
		where |= where << withNumber
	}
	if strings.ContainsFunc(name, unicode.IsUpper) {
		where |= where << withCapital
	}
	if found := controls[whole] | controls[word]; found != 0 {
		return found&where != 0
	}
	words := strings.Fields(word)
	if len(words) > 1 {
		where |= joined
	}
	found := 0
	for _, word := range words {
		if controls[word] == 0 {
			return false
		}
		found |= controls[word]
	}
	return found&where != 0
}

// controls are the words of tokens. Of [unused1] and so on, only those in a model's template count.
var controls = func() map[string]int {
	values := map[string]int{}
	for where, list := range map[int]string{
		beside: `of start end begin beginning call calls result results response output key value content token tokens text
			fake around declaration`,
		joined:         `turn sentence utterance audio soft jupyter unused`,
		alone | joined: `image`,
		inAngle: `s human bot ai role message messages document documents answer context prompt history memory conversation
			unused developer function functions invoke parameter instruction instructions reserved scratchpad scratch_pad
			system-reminder im_start im_end im_sep seed endoftext endofturn end_of_text begin_of_text tool tools fim tool_use
			file_sep repo_name escape co current_session current_query 用户`,
		inAngle << withNumber:              `special extra_id ctrl`,
		(inAngle | inSquare) << withNumber: `control`,
		inAngle << withCapital:             `pre suf mid`,
		inSquare:                           `unused9 unused10 unused11 unused12 unused16 unused17`,
		inSquare << withCapital:            `audio img img_break img_end begin_audio transcribe model_settings call_id`,
		inAngle | inSquare: `inst sys system user assistant available_tools think thinking reasoning tool_call toolcall
			toolcalls tool_calls tool_content tool_results system_prompt previous_context`,
		inAngle | inSquare<<withCapital: `arg args thought gmask mask smask sop eop eod eoh eoa ` +
			`eot cls sep pad unk bos eos`,
		inAngle | inSquare<<withCapital | inArrows: `prefix middle suffix`,
		inArrows: `question answer summary introduction title abstract comment domain`,
	} {
		for _, word := range strings.Fields(list) {
			values[string(Fold(word))] |= where
		}
	}
	return values
}()

// bracket breaks a time at the beginning of a line, and numbers that look like citations.
func (l suspicion) bracket(i, n int) edit {
	if l.begins && stampFollows(l.line[i+n:]) && (l.without(i, unicode.IsLetter) || l.marked(i)) {
		return edit{n, "[", true}
	}
	if n == 1 && l.numbers && !l.operator {
		if change := l.citation(i); change.width > 0 {
			return change
		}
	}
	return edit{}
}

// InBrackets returns the beginning of s, the text after a "[", up to its "]"; empty if that is far, or another
// "[" is nearer.
func InBrackets(s string) string {
	inner := s[:min(len(s), bracketSpan)]
	end := strings.IndexAny(inner, "[［]］")
	if end < 0 || strings.HasPrefix(inner[end:], "[") || strings.HasPrefix(inner[end:], "［") {
		return ""
	}
	return inner[:end]
}

// stampFollows reports whether s begins like "07-24" or "2024-07".
func stampFollows(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	n := len(s) - len(rest)
	return (n == 2 || n == 4) && len(rest) > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9'
}

// citation replaces the brackets of adjacent numbers at byte i by parentheses: they aren't of this prompt's
// history, and a model that repeats them would cite a wrong source. An index after a name, "a[3]", stays, and so
// does a year.
func (l suspicion) citation(i int) edit {
	before, _ := utf8.DecodeLastRuneInString(l.line[:i])
	if i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_' || before == ')' ||
		before == ']') {
		return edit{}
	}
	var shown []byte
	end := i
	for {
		width, digits := numberAt(l.line[end:])
		if width == 0 {
			break
		}
		shown = append(append(append(shown, '('), digits...), ')')
		end += width
	}
	return edit{end - i, string(shown), false}
}

// numberAt returns the width of "[3]" or "[3, 4]" at the beginning of s, and its content; also of the link form
// in Hark's answers, "[\[3\]](<https://…>)".
func numberAt(s string) (width int, digits string) {
	link := strings.HasPrefix(s, `[\[`)
	start := 1
	shut := "]"
	if link {
		start = 3
		shut = `\]](<`
	}
	if len(s) < start || s[0] != '[' {
		return 0, ""
	}
	digits = s[start : len(s)-len(strings.TrimLeft(s[start:], "0123456789, \t"))]
	if !strings.HasPrefix(s[start+len(digits):], shut) || !areNumbers(digits) {
		return 0, ""
	}
	width = start + len(digits) + len(shut)
	if link {
		address := s[width:min(len(s), linkSpan)]
		end := strings.Index(address, ">)")
		if end < 0 || strings.ContainsAny(address[:end], " <") {
			return 0, ""
		}
		width += end + len(">)")
	}
	return width, digits
}

// areNumbers reports whether s is a list of numbers of at most three digits.
func areNumbers(s string) bool {
	for _, number := range strings.Split(s, ",") {
		number = strings.TrimSpace(number)
		if number == "" || len(number) > 3 || strings.ContainsAny(number, " \t") {
			return false
		}
	}
	return true
}

// fence breaks the fences of code blocks, which would swallow the following text.
func (l suspicion) fence(i int) edit {
	sign := l.line[i : i+1]
	if strings.HasSuffix(l.line[:i], sign) {
		return edit{} // within a run that was left alone
	}
	width := len(l.line[i:]) - len(strings.TrimLeft(l.line[i:], sign))
	if width < 3 || sign == "~" && !l.opens(i) {
		return edit{}
	}
	return edit{width, "'''", false}
}
