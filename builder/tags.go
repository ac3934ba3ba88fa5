package builder

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much is looked at for the end of a tag, of what stands in brackets, and of a link.
const (
	tagSpan     = 96
	bracketSpan = 128 // letters that look like others have more bytes
	linkSpan    = 160
)

// angle takes their form from mention tags and from the tags of chat templates. Of a server's own emoji the name
// is left, which is all that can be read of it. Channels (<#1>), times (<t:1>) and commands (</x:1>) stay.
func (l suspicion) angle(i, n int) edit {
	rest := l.line[i+n:]
	if !l.operator {
		if change := mention(rest); change.width > 0 {
			return edit{n + change.width, change.text, false}
		}
		if change := l.emoji(rest); change.width > 0 {
			return edit{n + change.width, change.text, false}
		}
	}
	if templateTag(rest) {
		return edit{n, "‹", false}
	}
	return edit{}
}

// mention is "@123>" at the beginning of s, also with the signs of nicknames and roles, as ‹@123› or ‹@&123›.
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

// emoji is ":name:123>" or "a:name:123>" at the beginning of s, as :name:, unless that is a title or a role's name.
func (l suspicion) emoji(s string) edit {
	name, ok := strings.CutPrefix(strings.TrimPrefix(s, "a"), ":")
	if !ok {
		return edit{}
	}
	end := strings.IndexFunc(name[:min(len(name), tagSpan+1)], func(r rune) bool { return r != '_' && (r >= utf8.RuneSelf || !isWordByte(byte(r))) })
	if end <= 0 || name[end] != ':' {
		return edit{}
	}
	digits := strings.TrimLeft(name[end+1:], "0123456789")
	if digits == name[end+1:] || !strings.HasPrefix(digits, ">") {
		return edit{}
	}
	if l.isTaken(fold(name[:end])) {
		return edit{}
	}
	return edit{len(s) - len(digits) + 1, ":" + name[:end] + ":", false}
}

// templateTag reports whether s continues a "<" to a token that chat models are steered by.
func templateTag(s string) bool {
	for _, bar := range []string{"|", "｜"} {
		if after, ok := strings.CutPrefix(s, bar); ok {
			r, _ := utf8.DecodeRuneInString(after)
			return unicode.IsLetter(r) || r == '_'
		}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(s, "<"), "/")
	name = name[:min(len(name), tagSpan)]
	end := strings.IndexFunc(name, func(r rune) bool { return r != '_' && r != '-' && (r >= utf8.RuneSelf || !isWordByte(byte(r))) })
	if end <= 0 || strings.IndexByte(name[end:], '>') < 0 {
		return false
	}
	return templateNames[strings.TrimRight(strings.ToLower(name[:end]), "0123456789")]
}

// templateNames are the tags of models' templates, and those that prompts are divided by; without numbers at the end.
var templateNames = names(`s sys system user assistant human inst bos eos pad unk mask sep cls start_of_turn end_of_turn start_of_image
	tool tools tool_call tool_calls tool_response tool_result tool_results tool_use function function_call function_calls
	function_results invoke system_prompt system_message system-prompt system-reminder instruction instructions prompt developer
	think thinking reasoning scratchpad answer context previous_context current_session current_query history memory conversation
	document documents message messages role fim_prefix fim_middle fim_suffix file_sep unused reserved_ extra_id_ sop eop eod
	im_start im_end im_sep endoftext`)

// bracketNames are those in brackets.
var bracketNames = names(`inst sys system system_prompt available_tools tool_calls tool_results tool_content think args call_id img prefix
	middle suffix gmask mask sop cls sep pad unk bos eos user assistant previous_context`)

func names(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(list) {
		set[name], set[string(fold(name))] = true, true
	}
	return set
}

// bracket is angle for tags in brackets, the prompt's own among them, and keeps a line from beginning with a
// time as those of the history do, and numbers from being taken for citations.
func (l suspicion) bracket(i, n int) edit {
	if l.begins && stampFollows(l.line[i+n:]) && (l.without(i, unicode.IsLetter) || l.marked(i)) {
		return edit{n, "[", true}
	}
	if n == 1 && l.numbers && !l.operator {
		if change := l.citation(i); change.width > 0 {
			return change
		}
	}
	if name := bracketed(l.line[i+n:]); name != "" && (name == l.tag || bracketNames[name]) {
		return edit{n, "‹", false}
	}
	return edit{}
}

// bracketed is what s, the text after a "[", has before its "]", folded; empty if that isn't near.
func bracketed(s string) string {
	name := s[:min(len(s), bracketSpan)]
	end := strings.IndexAny(name, "]］")
	return string(fold(name[:max(0, end)]))
}

// stampFollows reports whether s begins like "07-24" or "2024-07".
func stampFollows(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	n := len(s) - len(rest)
	return (n == 2 || n == 4) && len(rest) > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9'
}

// citation is the numbers in brackets at byte i, one after the other, in parentheses: they aren't those of this
// prompt's history, and a model that repeats them would name a wrong source. As it stands after a name, "a[3]", it is
// an index, and stays. So does a year.
func (l suspicion) citation(i int) edit {
	before, _ := utf8.DecodeLastRuneInString(l.line[:i])
	if i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_' || before == ')' || before == ']') {
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

// numberAt is the width of "[3]" or "[3, 4]" at the beginning of s, and what stands in it; or of the link that such
// a number is in Hark's answers as Discord shows them: "[\[3\]](<https://…>)".
func numberAt(s string) (width int, digits string) {
	link := strings.HasPrefix(s, `[\[`)
	start, shut := 1, "]"
	if link {
		start, shut = 3, `\]](<`
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

// areNumbers reports whether s is one number of at most three digits, or several.
func areNumbers(s string) bool {
	for _, number := range strings.Split(s, ",") {
		number = strings.TrimSpace(number)
		if number == "" || len(number) > 3 || strings.ContainsAny(number, " \t") {
			return false
		}
	}
	return true
}

// fence breaks the fences of code blocks, which would swallow what follows.
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
