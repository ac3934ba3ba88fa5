package embed

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hark/internal/tokens"
)

// leastText is in bytes: a text isn't cut below that.
const leastText = 64

// longToken is in bytes. Hardly any token is longer.
const longToken = 32

// limitTime is for how long what a server refused counts. It may be started anew with room for longer texts.
const limitTime = time.Hour

// limits are how much a server takes at a time, as far as its refusals have taught. Servers count tokens in their own
// way, and Hark estimates them: in every language about the same estimate passes, unlike the same number of bytes.
type limits struct {
	counter *tokens.Counter
	clock   func() time.Time

	mu      sync.Mutex
	ofText  learned // tokens of a text, estimated, with its prefix
	ofBatch learned // texts of a request
}

// learned is a limit; the zero value is none.
type learned struct {
	most int
	at   time.Time
}

func newLimits(model string) *limits {
	return &limits{counter: tokens.For(model), clock: time.Now}
}

// current returns a limit that isn't out of date; 0 if there is none.
func (l *limits) current(of *learned) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.valid(of)
}

// valid is current while l.mu is locked.
func (l *limits) valid(of *learned) int {
	if l.clock().Sub(of.at) > limitTime {
		return 0
	}
	return of.most
}

// text returns how many tokens a text may have; 0 if no limit is known.
func (l *limits) text() int { return l.current(&l.ofText) }

// batch returns how many texts a request may have: at most so many as are given.
func (l *limits) batch(most int) int {
	if known := l.current(&l.ofBatch); known > 0 {
		return min(known, most)
	}
	return most
}

// learnText notes that a text of passed tokens was taken and a longer one refused. A text of which the estimate is far
// too low mustn't shorten all others that much, so a known limit shrinks by a quarter at most.
func (l *limits) learnText(passed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.valid(&l.ofText); known > 0 {
		passed = max(passed, known*3/4)
	}
	l.ofText = learned{passed, l.clock()}
}

// learnBatch notes that a request of so many texts was taken and one of more refused.
func (l *limits) learnBatch(passed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ofBatch = learned{passed, l.clock()}
}

// shortened returns texts, cut to the limit that is known.
func (l *limits) shortened(prefix string, texts []string) []string {
	most := l.text()
	if most == 0 {
		return texts
	}
	shorter := slices.Clone(texts)
	for i, text := range texts {
		shorter[i] = l.cut(prefix, text, most)
	}
	return shorter
}

// longest returns the index of the text with the most tokens.
func (l *limits) longest(texts []string) (at int) {
	most := -1
	for i, text := range texts {
		if n := l.counter.Count(text); n > most {
			most = n
			at = i
		}
	}
	return at
}

// cut returns the beginning of a text that has at most so many tokens behind its prefix, but never less than leastText.
func (l *limits) cut(prefix, text string, most int) string {
	if len(prefix)+len(text) <= most || len(text) <= leastText {
		return text // no text has more tokens than bytes
	}
	over := min(len(text), most*longToken)
	if over == len(text) && l.counter.Count(prefix+text) <= most {
		return text
	}
	fits := leastText
	for over-fits > 1 {
		middle := (fits + over) / 2
		if l.counter.Count(prefix+text[:boundary(text, middle)]) <= most {
			fits = middle
		} else {
			over = middle
		}
	}
	return withoutPiece(text[:boundary(text, fits)])
}

// boundary returns the last place at or before at that isn't inside a character.
func boundary(text string, at int) int {
	for range utf8.UTFMax - 1 {
		if at == len(text) || utf8.RuneStart(text[at]) {
			return at
		}
		at--
	}
	return at
}

// withoutPiece returns the beginning of a text without the piece of a word at its end, unless that is long.
func withoutPiece(beginning string) string {
	space := strings.LastIndexAny(beginning, " \n\t")
	if space < leastText || space < len(beginning)*7/8 {
		return beginning
	}
	return strings.TrimSpace(beginning[:space])
}
