package stream

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/chat"
)

// text leaves out of what a model writes all that members don't see: thoughts, marks, calls of tools, and turns that
// the model made up. What it lets through doesn't depend on where the text is cut into pieces, as long as that is
// between characters. Some models' templates open the thought themselves: an end at the beginning of a line, without a
// beginning, takes back what was shown. White space before the first word is dropped.
type text struct {
	tools    []string // names of those that the model knows
	headings []string // of the prompt, trimmed

	shown   strings.Builder // all that members may see
	at      place           // where that ends
	held    string          // not decided yet: the beginning of a mark, or of a call
	shut    shutter         // of the thought that was opened
	opened  bool            // a thought was
	first   bool            // the thought was opened before anything was shown
	nested  bool            // the thought seems to hold another
	wrapper string          // the tag round the answer, such as </answer>, when it was opened; empty: none
	ended   bool            // the answer has
	skips   bool            // a heading was left out, and so are line feeds that follow it
	repeats bool            // it ended because it repeated itself
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
		case !t.shut.isNone():
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
		said := t.call.String()
		if t.repeats {
			said = withoutRepeats(said)
		}
		calls = t.calls(said)
		if len(calls) == 0 && t.isPlain && !triesToCall(said, t.tools) {
			inner := &text{headings: t.headings}
			begun := inner.write(said)
			rest, _ := inner.end()
			t.show(&out, begun+rest)
		}
	case t.shut.isNone() && !isTornMark(t.held) && !isHeading(t.held, t.headings):
		t.show(&out, t.held)
	}
	t.held = ""
	t.isCall = false
	if t.repeats {
		said := withoutRepeats(t.shown.String())
		t.shown.Reset()
		t.shown.WriteString(said)
	}
	return out.String(), calls
}

// cutShort ends a text that repeats itself. Of what was shown of that, one repetition stays.
func (t *text) cutShort() {
	t.ended = true
	t.repeats = true
}

// calls returns the calls that a text is. One of a tool that the model made up counts if a mark says that it is one, or
// if there is no other text: the model is told that there is no such tool.
func (t *text) calls(said string) []chat.Call {
	found := written(said, t.tools)
	if len(found) == 0 && (!t.isPlain || !t.at.begun) {
		found = strange(said, t.isPlain)
	}
	return found
}

// isTornMark reports whether an answer ends amid a mark that can be nothing else, or with that of a call.
func isTornMark(held string) bool {
	return strings.HasPrefix(held, "<|") || strings.HasPrefix(held, "<｜") || plainMarkAt(held).what == calling
}

// longestOpening is how many bytes of a line tell whether a call may begin there.
const longestOpening = 256

// step deals with the beginning of rest, which stands outside thoughts and calls, and returns what follows.
func (t *text) step(out *strings.Builder, rest string) string {
	if !t.at.begun {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		bare := bareThoughtAt(rest)
		if bare.what != noMark {
			return t.follow(out, rest, bare)
		}
	}
	if t.skips {
		rest = strings.TrimLeft(rest, "\r\n")
		t.skips = rest == ""
	}
	if !t.at.amidLine && !t.at.isCode() {
		length, may := headingAt(rest, t.headings)
		switch {
		case may:
			t.held = rest
			return ""
		case length > 0:
			t.skips = true
			return rest[length:]
		}
		start := rest[:min(len(rest), longestOpening)]
		found := beginsCall(start, t.tools)
		switch {
		case found == maybe && len(start) < longestOpening:
			t.held = rest
			return ""
		case found != no:
			t.isCall = true
			t.isPlain = true
			return rest
		}
	}
	at := strings.IndexAny(rest, signs+"\n")
	switch {
	case at < 0:
		t.show(out, rest)
		return ""
	case rest[at] == '\n': // what begins a line is looked at by the next step
		t.show(out, rest[:at+1])
		return rest[at+1:]
	}
	t.show(out, rest[:at])
	return t.mark(out, rest[at:])
}

// mark deals with rest's first character, which may begin a mark, and returns what follows.
func (t *text) mark(out *strings.Builder, rest string) string {
	return t.follow(out, rest, t.markAt(rest))
}

// follow does what a mark with which rest begins says, if there is one.
func (t *text) follow(out *strings.Builder, rest string, found mark) string {
	switch found.what {
	case mayBegin:
		t.held = rest
		return ""
	case dropped:
		return rest[found.length:]
	case ends:
		t.ended = true
		return ""
	case calling:
		t.isCall = true
		t.isPlain = false
		return rest
	case thinks:
		t.shut = found.shut
		t.opened = true
		t.first = !t.at.begun
		return rest[found.length:]
	case thought:
		t.opened = true
		t.nested = false
		t.shown.Reset()
		t.at = place{}
		out.Reset()
		return rest[found.length:]
	}
	_, n := utf8.DecodeRuneInString(rest)
	t.show(out, rest[:n])
	return rest[n:]
}

// markAt returns the mark that rest begins with, if it means here what it does elsewhere.
func (t *text) markAt(rest string) mark {
	found := t.wrapperAt(rest)
	if found.what == noMark {
		found = markAt(rest)
	}
	if found.what == noMark {
		found = t.toolTagAt(rest)
	}
	switch {
	case found.what == mayBegin:
	case found.what == thought:
		headless := !t.opened && !t.at.inked
		if !headless && !t.nested {
			return mark{}
		}
	case t.at.isCode(), found.what == ends && t.at.hasStruck && strings.HasPrefix(rest, "</s>"):
		return mark{}
	case found.what == calling && isTag(rest[:found.length]):
		return t.decide(found, rest)
	}
	return found
}

// isTag reports whether a mark is a tag without attributes, which people may speak of.
func isTag(mark string) bool {
	return strings.HasSuffix(mark, ">") && !strings.HasSuffix(mark, "|>") && !strings.HasSuffix(mark, "｜>")
}

// decide says whether the tag of a call begins one, or the text speaks of it: then words follow, or a punctuation mark.
func (t *text) decide(found mark, rest string) mark {
	after := rest[found.length:]
	trimmed := strings.TrimLeft(after, " ")
	spaces := len(after) - len(trimmed)
	switch {
	case spaces > longestSpace:
		return found
	case trimmed == "":
		return mark{what: mayBegin}
	case strings.IndexByte(",.;:!?)'`*", trimmed[0]) >= 0:
		return mark{}
	case spaces == 0 || !isWord(trimmed[0]):
		return found
	}
	for _, name := range t.tools {
		whole, begun := begins(trimmed, name)
		if whole {
			return found
		}
		if begun {
			return mark{what: mayBegin}
		}
	}
	return mark{}
}

// isWord reports whether b may belong to a word.
func isWord(b byte) bool { return isNameByte(b) || b >= utf8.RuneSelf }

// toolTagAt finds a tag that has the name of a tool, as some models call it.
func (t *text) toolTagAt(rest string) mark {
	for _, name := range t.tools {
		whole, begun := begins(rest, "<"+name)
		switch {
		case begun || whole && len(rest) == len("<"+name):
			return mark{what: mayBegin}
		case whole && strings.IndexByte(">/ \n\t", rest[len("<"+name)]) >= 0:
			return mark{what: calling, length: len("<" + name)}
		}
	}
	return mark{}
}

// wrappers are tags round the whole answer.
var wrappers = []string{"answer", "response", "final_answer", "final"}

// wrapperAt finds the tag round the answer.
func (t *text) wrapperAt(rest string) mark {
	tags := []string{t.wrapper}
	if !t.at.begun {
		tags = nil
		for _, name := range wrappers {
			tags = append(tags, "<"+name+">")
		}
	}
	for _, tag := range slices.DeleteFunc(tags, func(tag string) bool { return tag == "" }) {
		whole, begun := begins(rest, tag)
		switch {
		case begun:
			return mark{what: mayBegin}
		case whole:
			t.wrapper = "</" + strings.TrimLeft(tag, "</")
			return mark{what: dropped, length: len(tag)}
		}
	}
	return mark{}
}

// skip drops the thought that rest begins with.
func (t *text) skip(rest string) string {
	for i := range len(rest) {
		length, may := t.shut.at(rest[i:])
		if length > 0 {
			t.shut = shutter{}
			return rest[i+length:]
		}
		if may {
			t.held = rest[i:]
			break
		}
		again, may := t.opensAgain(rest[i:])
		if may {
			t.held = rest[i:]
			break
		}
		t.nested = t.nested || again
	}
	return ""
}

// opensAgain reports whether a thought with which the text began holds another beginning, so that it may end twice.
func (t *text) opensAgain(rest string) (again, may bool) {
	if t.shut.tag == "" || !t.first || t.nested {
		return false, false
	}
	return begins(rest, "<"+t.shut.tag+">")
}

func (t *text) show(out *strings.Builder, said string) {
	if !t.at.begun {
		said = strings.TrimLeftFunc(said, unicode.IsSpace)
	}
	t.shown.WriteString(said)
	t.at.pass(said)
	out.WriteString(said)
}
