package llm

import (
	"strings"
	"unicode"
)

// thoughtTags are what open and close a model's thoughts amid its answer, in any case.
var thoughtTags = []struct{ open, shut string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<|channel|>analysis<|message|>", "<|end|>"}, // the channels of gpt-oss, where a server lets them through
	{"<|channel|>commentary<|message|>", "<|end|>"},
}

// channelMarks stand round what such a model says to members.
var channelMarks = []string{"<|start|>assistant", "<|channel|>final<|message|>", "<|return|>", "<|end|>"}

// longestMark is how much text it takes at most to tell whether a tag or a mark begins.
const longestMark = len("<|channel|>commentary<|message|>")

// filter leaves thoughts out of a text that comes in pieces. What it lets through depends on the text alone, not
// on where it is cut,
// as long as that is between characters. Some models' templates open the thought themselves, so that only its end is seen: such an
// end, at the beginning of a line, takes back what was shown. White space before the first word is dropped.
type filter struct {
	shown  strings.Builder // all that members may see
	held   string          // not decided yet: the beginning of a tag, or of a line
	shut   string          // what ends the thought that was opened; empty outside one
	opened bool            // a thought was
}

// write adds a piece and returns what may be shown of the text by now.
func (f *filter) write(piece string) string {
	text := f.held + piece
	f.held = ""
	var out strings.Builder
	for text != "" {
		if f.shut != "" {
			text = f.skip(text)
			continue
		}
		at := strings.IndexByte(text, '<')
		if at < 0 {
			f.show(&out, text)
			break
		}
		f.show(&out, text[:at])
		rest, undecided := f.tag(&out, text[at:])
		if undecided {
			f.held = rest
			break
		}
		text = rest
	}
	return out.String()
}

// flush ends the text and returns the last of what may be shown.
func (f *filter) flush() string {
	var out strings.Builder
	if f.shut == "" {
		f.show(&out, f.held)
	}
	f.held = ""
	return out.String()
}

// skip drops the thought that text begins with.
func (f *filter) skip(text string) string {
	lower := lowerASCII(text)
	if at := strings.Index(lower, f.shut); at >= 0 {
		text = text[at+len(f.shut):]
		f.shut = ""
		return text
	}
	for n := min(len(f.shut)-1, len(text)); n > 0; n-- {
		if strings.HasPrefix(f.shut, lower[len(lower)-n:]) {
			f.held = text[len(text)-n:]
			break
		}
	}
	return ""
}

// tag deals with text's first character, which may begin a tag, and returns what follows; undecided if it takes
// more text to tell.
func (f *filter) tag(out *strings.Builder, text string) (rest string, undecided bool) {
	lower := lowerASCII(text[:min(len(text), longestMark)])
	for _, mark := range channelMarks {
		switch {
		case strings.HasPrefix(lower, mark):
			return text[len(mark):], false
		case strings.HasPrefix(mark, lower):
			return text, true
		}
	}
	for _, t := range thoughtTags {
		switch {
		case strings.HasPrefix(lower, t.open):
			f.shut, f.opened = t.shut, true
			return text[len(t.open):], false
		case strings.HasPrefix(lower, t.shut) && !f.opened && f.lineBegins():
			f.opened = true
			f.shown.Reset()
			out.Reset()
			return text[len(t.shut):], false
		case strings.HasPrefix(t.open, lower), strings.HasPrefix(t.shut, lower):
			return text, true
		}
	}
	f.show(out, text[:1])
	return text[1:], false
}

// lineBegins tells whether nothing but space was shown of the line so far.
func (f *filter) lineBegins() bool {
	s := f.shown.String()
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:]) == ""
}

func (f *filter) show(out *strings.Builder, text string) {
	if f.shown.Len() == 0 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	f.shown.WriteString(text)
	out.WriteString(text)
}

// lowerASCII keeps every byte in its place, as strings.ToLower doesn't.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
