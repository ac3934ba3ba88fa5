package bot

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// messageLimit is how long a message may be. Discord says "characters"; UTF-16 units are never fewer.
	messageLimit = 2000

	fence = "```"
	// closing is the most that ending a code block adds to a piece.
	closing = len("\n" + fence)
)

// piece is one message's worth of an answer: open + body + shut. Only body is of the answer; the rest reopens
// and closes a code block that a cut went through.
type piece struct{ open, body, shut string }

func (p piece) String() string { return p.open + p.body + p.shut }

// split cuts text into pieces of at most limit units, each citation counted as the link it becomes. Bodies
// joined are text. A cut falls after a paragraph, else a line, a sentence, a word; never inside a grapheme, a
// link, a mention or a citation, unless one alone is longer than a piece. What comes later in text doesn't
// move a cut that was well before its end.
func split(text string, limit int) []piece {
	atoms := atomize(text, limit/2)
	var pieces []piece
	for start, open := 0, ""; start < len(atoms); {
		end := cut(text, atoms, start, limit-units(open))
		p := piece{open: open, body: text[atoms[start].start:atoms[end].end]}
		start, open = end+1, ""
		if lang := atoms[end].code; lang != "" {
			p.shut = "\n" + fence
			if strings.HasSuffix(p.body, "\n") {
				p.shut = fence
			}
			open = lang
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// cut is the last atom of the piece that begins with atoms[start].
func cut(text string, atoms []atom, start, limit int) int {
	var best [ranks]int
	for r := range best {
		best[r] = -1
	}
	used := 0
	for i := start; i < len(atoms); i++ {
		used += atoms[i].width
		if used > limit {
			break
		}
		if atoms[i].code != "" && used+closing > limit {
			continue
		}
		if i == len(atoms)-1 {
			return i
		}
		r := rank(text, atoms, i)
		if used >= leastFill[r]*limit/100 {
			best[r] = i
		}
	}
	for r := ranks - 1; r >= 0; r-- {
		if best[r] >= 0 {
			return best[r]
		}
	}
	return start
}

// How good a place for a cut is.
const (
	atBad       = iota // would leave an empty code block
	atAny              // between two graphemes
	atWord             // after a space
	atSentence         // after a sentence's end
	atLine             // after a line
	atParagraph        // after an empty line
	ranks
)

// leastFill is the percentage of a piece that must be in use for a cut of a rank to be taken.
var leastFill = [ranks]int{atWord: 25, atSentence: 50, atLine: 50, atParagraph: 50}

func rank(text string, atoms []atom, i int) int {
	if atoms[i].opens || atoms[i+1].closes {
		return atBad
	}
	before := text[:atoms[i].end]
	switch {
	case strings.HasSuffix(before, "\n\n"):
		return atParagraph
	case strings.HasSuffix(before, "\n"):
		return atLine
	}
	last, size := utf8.DecodeLastRuneInString(before)
	if strings.ContainsRune("。！？", last) {
		return atSentence
	}
	if !unicode.IsSpace(last) {
		return atAny
	}
	if end, _ := utf8.DecodeLastRuneInString(before[:len(before)-size]); strings.ContainsRune(".!?…", end) {
		return atSentence
	}
	return atWord
}

// atom is a stretch of text that no cut goes through.
type atom struct {
	start, end int    // in bytes
	width      int    // units that it takes in a message
	code       string // what reopens the code block that is open after it; "" if none is
	opens      bool   // it begins a code block
	closes     bool   // it ends one
}

// atomize cuts text into its atoms. A grapheme wider than most, which no prose has, counts as its runes.
func atomize(text string, most int) []atom {
	w := walk{text: text, spans: findSpans(text), atoms: make([]atom, 0, len(text))}
	rest, state := text, -1
	for len(rest) > 0 {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if units(cluster) <= most {
			w.step(len(cluster))
			continue
		}
		for len(cluster) > 0 {
			_, size := utf8.DecodeRuneInString(cluster)
			w.step(size)
			cluster = cluster[size:]
		}
	}
	return w.atoms
}

// walk goes through a text and joins what a span holds together.
type walk struct {
	text  string
	spans []span // those not yet passed
	code  string
	cur   atom
	atoms []atom
}

func (w *walk) step(size int) {
	end := w.cur.end + size
	w.cur.width += units(w.text[w.cur.end:end])
	w.cur.end = end
	for len(w.spans) > 0 && w.spans[0].end <= end {
		s := w.spans[0]
		w.cur.width += s.extra
		w.cur.opens = w.cur.opens || s.opens
		w.cur.closes = w.cur.closes || s.closes
		w.code, w.spans = s.code, w.spans[1:]
	}
	if len(w.spans) > 0 && w.spans[0].start < end {
		return
	}
	w.cur.code = w.code
	w.atoms = append(w.atoms, w.cur)
	w.cur = atom{start: end, end: end}
}

// span is a stretch that is never torn.
type span struct {
	start, end    int
	extra         int    // units by which it grows when it is rendered
	opens, closes bool   // a code block
	code          string // what reopens the code block that is open after it
}

// whole matches what is never torn: code fences, Markdown links, URLs, mentions and time stamps, citations. None
// of the others may hold a fence or a citation, which would then not be counted.
var whole = regexp.MustCompile("```" +
	"|\\[[^\\[\\]\n`]{0,100}\\]\\(<?https?://[^\\s()<>`\\[\\]]{1,400}>?\\)" +
	"|<?https?://[^\\s<>`\\[\\]]{1,400}>?" +
	"|<[@#:/a-z][^<>\\s`\\[\\]]{0,80}>" +
	"|\\[[0-9]{1,3}\\]")

// info is what may follow an opening fence: the language, alone on the line.
var info = regexp.MustCompile(`^[A-Za-z0-9_+\-.#]{1,20}\n`)

func findSpans(text string) []span {
	var spans []span
	code := ""
	for at := 0; ; {
		m := whole.FindStringIndex(text[at:])
		if m == nil {
			return spans
		}
		s := span{start: at + m[0], end: at + m[1]}
		token := text[s.start:s.end]
		switch {
		case token == fence && code == "":
			language := info.FindString(text[s.end:])
			s.end += len(language)
			s.opens = true
			code = fence + language
			if language == "" {
				code += "\n"
			}
		case token == fence:
			s.closes, code = true, ""
		case token[0] == '[' && token[len(token)-1] == ']':
			s.extra = citationWidth - len(token)
		}
		s.code = code
		spans, at = append(spans, s), s.end
	}
}

// units is the length of s in UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
