package stream

import "unicode"

// place is where a text ends: what is shown next stands there. It is kept up to date, since to look through all of
// a long text for each mark would take too long.
type place struct {
	begun     bool // something was shown
	inked     bool // something other than space stands on the line
	amidLine  bool // something stands on the line
	fences    int  // of blocks of code, three back-ticks each
	ticks     int  // back-ticks on the line
	run       int  // back-ticks in a row that are no fence yet
	strikes   int  // characters of <s> just now
	hasStruck bool // a <s> was shown
}

// pass moves on by what was shown.
func (p *place) pass(said string) {
	for _, r := range said {
		p.begun = true
		p.passTick(r)
		p.passStrike(r)
		switch {
		case r == '\n':
			p.amidLine = false
			p.inked = false
		default:
			p.amidLine = true
			p.inked = p.inked || !unicode.IsSpace(r)
		}
	}
}

func (p *place) passTick(r rune) {
	switch r {
	case '`':
		p.ticks++
		p.run++
	case '\n':
		p.ticks = 0
		p.run = 0
	default:
		p.run = 0
	}
	if p.run == 3 {
		p.run = 0
		p.fences++
	}
}

func (p *place) passStrike(r rune) {
	const strike = "<s>"
	switch {
	case r == rune(strike[p.strikes]):
		p.strikes++
	case r == '<':
		p.strikes = 1
	default:
		p.strikes = 0
	}
	if p.strikes == len(strike) {
		p.strikes = 0
		p.hasStruck = true
	}
}

// isCode reports whether what follows stands in a block or a span of code.
func (p *place) isCode() bool { return p.fences%2 == 1 || p.ticks%2 == 1 }
