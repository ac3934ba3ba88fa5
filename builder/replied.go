package builder

import (
	"strings"

	"hark/builder/escape"
)

const replyBegin = "replying to "

// repliedChars are the characters that the line's forms quote, longest first.
var repliedChars = []int{200, 100, 50, 0}

// replyLines returns the forms of the line for a reply, longest first; none if the query is no reply.
func (w *work) replyLines(r Replied) []replyLine {
	if r.Name == "" {
		return nil
	}
	name := w.name(r.Name)
	if len(name) == 0 {
		return nil
	}
	replaceBytes(name, ':', ';')
	named := string(name)
	text := strings.TrimSpace(r.Text)
	var lines []replyLine
	for _, chars := range repliedChars {
		line := replyBegin + named
		if chars > 0 && text != "" {
			// Both together: the end of a name and the beginning of a text could make a heading.
			said := named + ": \"" + shortened(text, chars) + "\""
			line = replyBegin + string(w.b.escape.AppendSafe(nil, said, escape.InLine))
		}
		if len(lines) > 0 && lines[len(lines)-1].text == line+"\n" {
			continue
		}
		lines = append(lines, replyLine{line + "\n", w.b.Tokens(line) + 1})
	}
	return lines
}

// longest returns the tokens of the longest form.
func longest(lines []replyLine) (tokens int) {
	for _, l := range lines {
		tokens = max(tokens, l.tokens)
	}
	return tokens
}

// fitting returns the longest form of at most that many tokens.
func fitting(lines []replyLine, tokens int) replyLine {
	for _, l := range lines {
		if l.tokens <= tokens {
			return l
		}
	}
	return replyLine{}
}
