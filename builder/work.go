package builder

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"hark/builder/escape"
	"hark/memory"
)

// work is the state of building one prompt.
type work struct {
	b          *Builder
	in         Input
	charsCount bool                     // characters are limited
	allTurns   bool                     // the number of exchanges is unlimited
	alone      bool                     // this is a Part, without titles
	first      int                      // the history's first number
	whoHas     map[string]memory.UserID // by name; see namesakes

	sections [sectionKinds]section
	shortSum size // of the section being planned
	charRoom [sectionKinds]int

	mode         Mode
	rules        *instructions
	modest       bool // the mode has no more room than ModeGeneral
	rulesShown   int  // lines
	persona      string
	personaSize  int
	personaShown string
	query        string
	querySize    int
	queryShown   string
	queryFixed   int
	queryHead    bool // the time and the asker precede the query
	replied      []replyLine
	repliedShown replyLine
	placeFixed   int
	queryPlace   bool // and so does the thread that it is asked in
	bare         bool // optional parts are left out

	scratch []byte
	nameBuf []byte
	buf     []byte
	ends    []int    // of the messages in buf
	roles   []string // of the messages
	bounds  []Boundary
	spans   []Span
	tokens  int // as decided
}

// replyLine is a form of the line before the query that says what it replies to.
type replyLine struct {
	text   string // with its new line
	tokens int
}

// instructions are a mode's rules.
type instructions struct {
	lines  []string
	tokens []int // by n: of the first n lines
}

// costs are the tokens of the builder's own words, counted once in their usual context. All digits cost the
// same, so times needn't be counted each time.
type costs struct {
	stamp       int // of a new line and "[07-24 12:30] "
	stampYear   int // of a new line and "[2024-07-24 12:30] "
	gap         int // of an empty line before a line
	neighbour   int // of a new line and its mark
	besideClock int // of these and "[08:08] "
	besideStamp int // of these and "[07-24 12:30] "
	besideYear  int // of these and "[2024-07-24 12:30] "
	person      int // of a participant's line without name, id and time
	data        int // of the data line without the data
	around      int // of the signs around a name
	earlierMark int
	condensed   int // of its title with the new lines around it
	titles      [sectionKinds]int
	persona     int // of the sentence used without a persona
	systemHead  int // of the title of the system instructions, or of their replacement
	reminder    int // of the last line
	nothing     int // of the line for "nothing recalled"; in the plain layout, of the title over recalled data
}

// tally caches token counts. It keeps hashes and no texts: forgotten text mustn't live on here.
type tally struct {
	count Counter
	seed  maphash.Seed

	mu   sync.Mutex
	seen map[uint64]int
}

// rules returns a layout's instructions in a mode, one a line, the most important first.
func rules(o Options, m Mode, t tooling) []string {
	if o.Layout == LayoutPlain {
		var lines []string
		if o.Citations {
			lines = append(lines, plainCiteRule)
		}
		if t != noTools {
			lines = append(lines, plainToolsRule)
		}
		return lines
	}
	lines := slices.Clone(rulesFirst)
	lines[ruleNewer] = fmt.Sprintf(lines[ruleNewer], o.Labels.earlier())
	if o.Citations {
		lines = append(lines, ruleCite)
	}
	if t != noTools {
		lines = append(lines, ruleTools)
	}
	if t == toolsAndHistory {
		lines = append(lines, ruleHistory)
	}
	lines = append(lines, rulesThen...)
	if marks := o.Labels.legend(); marks != "" {
		lines = append(lines, marks)
	}
	return append(lines, modules[m]...)
}

// size is an amount of both budgets.
type size struct{ tokens, chars int }

// section is a section's items and the decisions on them.
type section struct {
	kind    kind
	head    size
	entries []entry // best first, as far as they can ever fit
	items   int     // in the input
	need    size    // of all items; above any ceiling if entries are left out

	absent bool // in this mode

	floor, ceiling int // in tokens
	shown          int // entries in the prompt
	more           bool
	used, room     size
}

// Builder builds prompts. It is safe for concurrent use.
type Builder struct {
	options Options
	labels  Labels
	marks   [6]string
	escape  *escape.Escaper
	tally   *tally
	costs   costs
	shares  shares
	modes   [toolsAndHistory + 1]map[Mode]*instructions
	fixed   int // tokens of a prompt without persona, rules, recalled text, session and query
	least   int // the smallest budget
}

// Options configure a Builder.
type Options struct {
	Layout    Layout // empty: LayoutSections
	MaxTokens int    // of all messages with their overhead; 0: the layout's DefaultTokens
	Window    int    // tokens of prompt and answer together that the model takes; 0: unknown
	Answer    int    // tokens of Window reserved for the answer
	MaxChars  int    // characters of recalled data; 0: no limit
	Citations bool   // number history items, and tell the model to cite them
	Labels    Labels // the zero value: DefaultLabels

	// LineChars and DataChars are the characters of a history line and of a person's data that are shown at
	// first; a neighbour's line gets four fifths. They grow while the section has room, best items first.
	// 0: the defaults.
	LineChars, DataChars int
	// Sections replace limits of the layout's DefaultSections.
	Sections map[SectionType]Limits
}

// entry is an item: the builder's own words around members' text.
type entry struct {
	index  int // in the input
	fixed  size
	pieces []piece
	lead   int     // the piece that grows first
	claim  claim   // of that piece
	marks  [6]bool // of a history item
}

// claim is a longer form of a piece that gets room before any later entry.
type claim struct {
	at   int // bytes; 0 if nothing is claimed
	size size
}

// piece is a measured text of a member.
type piece struct {
	text  string
	block *escape.Block
	safe  bool // needs no escaping
	chars int  // of text, where it is cut; else 0
	cut   int  // bytes shown at first
	short size // of those bytes
	whole size // of all bytes
	at    int  // bytes shown, as decided
	taken size // of those bytes
}
