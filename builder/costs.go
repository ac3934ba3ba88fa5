package builder

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"unicode/utf8"
)

// noLimit exceeds the tokens and characters of any text.
const noLimit = 1 << 40

func (s size) plus(o size) size      { return size{s.tokens + o.tokens, s.chars + o.chars} }
func (s size) atLeast(o size) size   { return size{max(s.tokens, o.tokens), max(s.chars, o.chars)} }
func (s size) minus(o size) size     { return size{s.tokens - o.tokens, s.chars - o.chars} }
func (s size) within(room size) bool { return s.tokens <= room.tokens && s.chars <= room.chars }

// tallySize is the most texts whose counts are cached.
const tallySize = 1 << 14

func newTally(count Counter) *tally {
	return &tally{
		count: count,
		seed:  maphash.MakeSeed(),
		seen:  map[uint64]int{},
	}
}

func (t *tally) of(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	key := maphash.Bytes(t.seed, text)
	t.mu.Lock()
	n, ok := t.seen[key]
	t.mu.Unlock()
	if ok {
		return n
	}
	n = t.count.Count(string(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.seen) >= tallySize {
		clear(t.seen)
	}
	t.seen[key] = n
	return n
}

// spare returns what the smallest prompt can do without.
func (c *costs) spare() int { return c.reminder + c.nothing }

// nameMost is the longest name, in characters and bytes: Discord allows 32 characters.
const nameMost = 32

func newCosts(l *Labels, layout Layout, count Counter) costs {
	lineStart := func(start string) int { return lineStart(start, count.Count) }
	c := costs{
		stamp:       lineStart("[08-08 08:08] "),
		stampYear:   lineStart("[2008-08-08 08:08] "),
		gap:         lineStart("\n") - lineStart(""),
		neighbour:   lineStart(l.Neighbour),
		besideClock: lineStart(l.Neighbour + "[08:08] "),
		besideStamp: lineStart(l.Neighbour + "[08-08 08:08] "),
		besideYear:  lineStart(l.Neighbour + "[2008-08-08 08:08] "),
		person:      lineStart(l.Person) + activeTokens(l, count),
		data:        count.Count("\n"+l.DataMark) + count.Count(l.Data),
		around:      count.Count(" (") + count.Count(")"),
		earlierMark: count.Count(l.EarlierMark) + 1,
		condensed:   count.Count(l.Condensed) + 3,
		persona:     count.Count(defaultPersona) + 2,
		reminder:    count.Count(reminder) + 2,
	}
	for kind, title := range l.sectionTitles() {
		c.titles[kind] = count.Count(title) + 2
	}
	c.systemHead = max(count.Count(headSystem), count.Count(plainSystem)) + count.Count(leastRule) + 2
	if layout == LayoutPlain {
		c.persona = count.Count(plainPersona) + 2
		c.nothing = count.Count(plainPrevious) + 2
	} else {
		c.nothing = max(count.Count(l.Nothing), count.Count(fmt.Sprintf(l.More, 88_888_888)),
			count.Count(l.MoreOne)) + 1
	}
	return c
}

// activeTokens returns the most tokens of " | Last Active: 59 minutes ago" in any form.
func activeTokens(l *Labels, count Counter) (most int) {
	for _, form := range l.agoForms() {
		most = max(most, count.Count(" | "+l.LastActive+form))
	}
	return most
}

// lineStart returns the tokens of a new line with that beginning.
func lineStart(start string, count func(string) int) int {
	return max(0, count("x\n"+start+"<@")-count("x")-count("<@"))
}

// marksTokens returns the tokens of an item's marks, without what follows them.
func (b *Builder) marksTokens(on [6]bool) int {
	shown := string(appendMarks(nil, &b.marks, on))
	rest := b.costs.stamp
	if b.options.Citations {
		shown += "[8]"
		rest += b.Tokens("[8]")
	}
	return max(0, lineStart(shown+" [08-08 08:08] ", b.Tokens)-rest)
}

func appendTag(dst []byte, id int64) []byte {
	return append(strconv.AppendInt(append(dst, "<@"...), id, 10), '>')
}

func appendNumber(dst []byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, '['), int64(n), 10), ']')
}

func runes(text []byte) int { return utf8.RuneCount(text) }

// Tokens returns the tokens of a text.
func (b *Builder) Tokens(text string) int { return b.tally.of([]byte(text)) }

// stored returns the tokens of text by its stored count; 0 if text must be counted.
func (b *Builder) stored(text string, tokens int) int {
	if tokens <= 0 {
		return 0
	}
	return min(b.tally.count.Stored(text, tokens), len(text))
}

// maxTokens returns the budget of the prompt being built.
func (w *work) maxTokens() int {
	most := w.b.options.MaxTokens
	if w.in.MaxTokens > 0 {
		most = min(most, max(w.in.MaxTokens, w.b.least))
	}
	return most
}
