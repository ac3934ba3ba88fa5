package builder

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// noLimit is more than any text has tokens or characters.
const noLimit = 1 << 40

// size is how much of both budgets something takes.
type size struct{ tokens, chars int }

func (s size) plus(o size) size      { return size{s.tokens + o.tokens, s.chars + o.chars} }
func (s size) atLeast(o size) size   { return size{max(s.tokens, o.tokens), max(s.chars, o.chars)} }
func (s size) minus(o size) size     { return size{s.tokens - o.tokens, s.chars - o.chars} }
func (s size) within(room size) bool { return s.tokens <= room.tokens && s.chars <= room.chars }

// tallySize bounds the texts whose counts are remembered.
const tallySize = 1 << 14

// tally counts each text once. It remembers hashes, never the texts: what is forgotten elsewhere must not
// live on here.
type tally struct {
	count Counter
	seed  maphash.Seed

	mu   sync.Mutex
	seen map[uint64]int
}

func newTally(count Counter) *tally {
	return &tally{count: count, seed: maphash.MakeSeed(), seen: map[uint64]int{}}
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

// costs are the tokens of what the builder itself writes, counted once, in the company that it stands in. Digits
// cost the same whatever they are, so that ids and times needn't be counted each time.
type costs struct {
	tags        [21]int // of "<@1>:" by the number's digits, from 1 to 20
	numbers     [10]int // of "[1]" by its digits, from 1 to 9
	stamp       int     // of a new line and "[07-24 12:30] "
	stampYear   int     // of a new line and "[2024-07-24 12:30] "
	marks       [64]int // of an item's marks, by marksIndex
	neighbour   int     // of a new line and its mark
	person      int     // of a participant's line but for name, id and time
	data        int     // of the line of data but for it
	around      int     // of the signs round a name
	earlierMark int
	condensed   int // of its title with the new lines round it
	titles      [sectionKinds]int
	persona     int // of the sentence that stands where no persona is set
	systemHead  int // of the title of the system instructions, or what stands for all of them
	reminder    int // of the last line
	nothing     int // of what stands where nothing was recalled; in the plain layout, of the title where something was
}

// spare is what a prompt can do without at the worst.
func (c *costs) spare() int { return c.reminder + c.nothing }

// nameMost is how long a name may be, in characters and in bytes: Discord allows 32 characters.
const nameMost = 32

func newCosts(l *Labels, layout Layout, citations bool, count Counter) costs {
	lineStart := func(start string) int {
		return max(0, count.Count("x\n"+start+"<@")-count.Count("x")-count.Count("<@"))
	}
	c := costs{
		stamp:       lineStart("[08-08 08:08] "),
		stampYear:   lineStart("[2008-08-08 08:08] "),
		neighbour:   lineStart(l.Neighbour),
		person:      lineStart(l.Person) + activeTokens(l, count),
		data:        count.Count("\n"+l.DataMark) + count.Count(l.Data),
		around:      count.Count(" (") + count.Count(")"),
		earlierMark: count.Count(l.EarlierMark) + 1,
		condensed:   count.Count(l.Condensed) + 3,
		persona:     count.Count(defaultPersona) + 2,
		reminder:    count.Count(reminder) + 2,
	}
	for i := range c.tags {
		c.tags[i] = count.Count("<@" + strings.Repeat("8", i) + ">:")
	}
	for i := range c.numbers {
		c.numbers[i] = count.Count("[" + strings.Repeat("8", i) + "]")
	}
	marks := l.marks()
	for i := range c.marks {
		shown, rest := string(appendMarks(nil, &marks, marksOf(i))), c.stamp
		if citations {
			shown += "[8]"
			rest += c.numbers[1]
		}
		c.marks[i] = max(0, lineStart(shown+" [08-08 08:08] ")-rest)
	}
	for kind, title := range [...]string{headSession, l.Participants, l.History, l.Earlier, l.Lore} {
		c.titles[kind] = count.Count(title) + 2
	}
	c.systemHead = max(count.Count(headSystem), count.Count(plainSystem)) + count.Count(leastRule) + 2
	if layout == LayoutPlain {
		c.persona, c.nothing = count.Count(plainPersona)+2, count.Count(plainPrevious)+2
	} else {
		c.nothing = max(count.Count(l.Nothing), count.Count(fmt.Sprintf(l.More, 88_888_888)), count.Count(l.MoreOne)) + 1
	}
	return c
}

// activeTokens are the most that " | Last Active: 59 minutes ago" takes, in any of its forms.
func activeTokens(l *Labels, count Counter) (most int) {
	for _, form := range l.agoForms() {
		most = max(most, count.Count(" | "+l.LastActive+form))
	}
	return most
}

// marksIndex is a number below 64 for each set of marks.
func marksIndex(on [6]bool) (n int) {
	for i := range on {
		if on[i] {
			n |= 1 << i
		}
	}
	return n
}

// marksOf is the set of marks whose marksIndex is n.
func marksOf(n int) (on [6]bool) {
	for i := range on {
		on[i] = n&(1<<i) != 0
	}
	return on
}

// tag is the tokens of the mention tag of id, with what follows it.
func (c *costs) tag(id int64) int { return c.tags[min(digits(id), len(c.tags)-1)] }

func (c *costs) number(n int) int { return c.numbers[min(digits(int64(n)), len(c.numbers)-1)] }

// digits is how many characters n has.
func digits(n int64) int {
	d := 1
	if n < 0 {
		n, d = -n, 2
	}
	for n >= 100_000 {
		n /= 100_000
		d += 5
	}
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}

func appendTag(dst []byte, id int64) []byte {
	dst = append(dst, "<@"...)
	dst = strconv.AppendInt(dst, id, 10)
	return append(dst, '>')
}

func runes(text []byte) int { return utf8.RuneCount(text) }
