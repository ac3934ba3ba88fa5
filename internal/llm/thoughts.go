package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// thoughtTags open and close a model's thoughts amid its answer: those in small letters in any case, others as
// they stand here.
var thoughtTags = []struct{ open, shut string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"},
	{"<think:opensource>", "</think:opensource>"}, // Hunyuan
	{"[THINK]", "[/THINK]"},                       // Mistral
	{"◁think▷", "◁/think▷"},                       // Kimi
	{"<|START_THINKING|>", "<|END_THINKING|>"},    // Command A
	{"<|begin_of_thought|>", "<|end_of_thought|>"},
	{"<|inner_prefix|>", "<|inner_suffix|>"}, // Apertus
	{"<|channel>thought", "<channel|>"},      // Gemma
	{"<|channel|>analysis", "<|end|>"},       // gpt-oss, where a server lets its channels through
	{"<|channel|>commentary", "<|end|>"},
	{"<|think|>", "<|end|>"}, // Solar
}

// channelMarks stand round what gpt-oss and the like say to members.
var channelMarks = []string{"<|start|>assistant", "<|channel|>final<|message|>", "<|return|>", "<|call|>", "<|end|>",
	"<|begin|>assistant", "<|content|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"}

// tagSigns are what tags and marks begin with.
const tagSigns = "<[◁"

// filter leaves thoughts out of a text that comes in pieces. What it lets through doesn't depend on where the text
// is cut, as long as that is between characters. Some models' templates open the thought themselves: an end at the
// beginning of a line, without a beginning, takes back what was shown. White space before the first word is
// dropped.
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
		at := strings.IndexAny(text, tagSigns)
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
	for i := range len(text) {
		whole, begun := begins(text[i:], f.shut)
		if whole {
			text = text[i+len(f.shut):]
			f.shut = ""
			return text
		}
		if begun {
			f.held = text[i:]
			break
		}
	}
	return ""
}

// begins reports whether text begins with tag, and whether it may once there is more of it.
func begins(text, tag string) (whole, begun bool) {
	start := text[:min(len(text), len(tag))]
	if !strings.HasPrefix(tag, start) && !strings.HasPrefix(tag, lowerASCII(start)) {
		return false, false
	}
	return len(start) == len(tag), len(start) < len(tag)
}

// tag deals with text's first character, which may begin a tag, and returns what follows; undecided if it
// takes more text to tell.
func (f *filter) tag(out *strings.Builder, text string) (rest string, undecided bool) {
	for _, mark := range channelMarks {
		switch whole, begun := begins(text, mark); {
		case whole:
			return text[len(mark):], false
		case begun:
			return text, true
		}
	}
	for _, t := range thoughtTags {
		opens, mayOpen := begins(text, t.open)
		shuts, mayShut := begins(text, t.shut)
		switch {
		case opens:
			f.shut, f.opened = t.shut, true
			return text[len(t.open):], false
		case shuts && !f.opened && f.lineBegins():
			f.opened = true
			f.shown.Reset()
			out.Reset()
			return text[len(t.shut):], false
		case mayOpen, mayShut:
			return text, true
		}
	}
	_, n := utf8.DecodeRuneInString(text)
	f.show(out, text[:n])
	return text[n:], false
}

// lineBegins reports whether nothing but space was shown of the line so far.
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
