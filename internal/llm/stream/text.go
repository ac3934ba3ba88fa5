package stream

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/chat"
)

// text leaves out of what a model writes all that members don't see: thoughts, marks, calls of tools, and turns that the
// model made up. What it lets through doesn't depend on where the text is cut into pieces, as long as that is between
// characters. Some models' templates open the thought themselves: an end at the beginning of a line, without
// a beginning, takes back what was shown. White space before the first word is dropped.
type text struct {
	tools []string // names of those that the model knows

	shown   strings.Builder // all that members may see
	held    string          // not decided yet: the beginning of a mark, or of a call
	shut    string          // what ends the thought that was opened; empty outside one
	opened  bool            // a thought was
	ended   bool            // the answer has
	call    strings.Builder // what may be a call of a tool, and all that follows
	isCall  bool            // it is being written to call
	isPlain bool            // it may be no call: no mark says so
}

// write adds a piece and returns what may be shown of the text by now.
func (t *text) write(piece string) string {
	rest := t.held + piece
	t.held = ""
	var out strings.Builder
	for rest != "" && !t.ended {
		switch {
		case t.isCall:
			t.call.WriteString(rest)
			rest = ""
		case t.shut != "":
			rest = t.skip(rest)
		default:
			rest = t.step(&out, rest)
		}
	}
	return out.String()
}

// end ends the text. It returns the last of what may be shown, and the calls that the text turned out to be.
func (t *text) end() (shown string, calls []chat.Call) {
	var out strings.Builder
	switch {
	case t.isCall:
		calls = written(t.call.String(), t.tools)
		if len(calls) == 0 && t.isPlain && !triesToCall(t.call.String(), t.tools) {
			inner := &text{}
			said := inner.write(t.call.String())
			rest, _ := inner.end()
			t.show(&out, said+rest)
		}
	case t.shut == "":
		t.show(&out, t.held)
	}
	t.held = ""
	t.isCall = false
	return out.String(), calls
}

// step deals with the beginning of rest, which stands outside thoughts and calls, and returns what follows.
func (t *text) step(out *strings.Builder, rest string) string {
	if t.shown.Len() == 0 {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		switch beginsCall(rest, t.tools) {
		case maybe:
			t.held = rest
			return ""
		case yes:
			t.isCall = true
			t.isPlain = true
			return rest
		}
	}
	at := strings.IndexAny(rest, signs)
	if at < 0 {
		t.show(out, rest)
		return ""
	}
	t.show(out, rest[:at])
	return t.mark(out, rest[at:])
}

// mark deals with rest's first character, which may begin a mark, and returns what follows.
func (t *text) mark(out *strings.Builder, rest string) string {
	what, length, shut := markAt(rest)
	if (what == ends || what == calling) && isCode(t.shown.String()) {
		what = noMark
	}
	switch what {
	case mayBegin:
		t.held = rest
		return ""
	case dropped:
		return rest[length:]
	case ends:
		t.ended = !isStruck(rest, t.shown.String())
		if t.ended {
			return ""
		}
	case calling:
		t.isCall = true
		t.isPlain = false
		return rest
	case thinks:
		t.shut = shut
		t.opened = true
		return rest[length:]
	case thought:
		if !t.opened && t.lineBegins() {
			t.opened = true
			t.shown.Reset()
			out.Reset()
			return rest[length:]
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	t.show(out, rest[:n])
	return rest[n:]
}

// isStruck reports whether rest begins with the end of a text that <s> strikes out.
func isStruck(rest, shown string) bool {
	return strings.HasPrefix(rest, "</s>") && strings.Contains(shown, "<s>")
}

// skip drops the thought that rest begins with.
func (t *text) skip(rest string) string {
	for i := range len(rest) {
		whole, begun := begins(rest[i:], t.shut)
		if whole {
			rest = rest[i+len(t.shut):]
			t.shut = ""
			return rest
		}
		if begun {
			t.held = rest[i:]
			break
		}
	}
	return ""
}

// lineBegins reports whether nothing but space was shown of the line so far.
func (t *text) lineBegins() bool {
	s := t.shown.String()
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:]) == ""
}

func (t *text) show(out *strings.Builder, said string) {
	if t.shown.Len() == 0 {
		said = strings.TrimLeftFunc(said, unicode.IsSpace)
	}
	t.shown.WriteString(said)
	out.WriteString(said)
}
