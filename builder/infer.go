package builder

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// InferMode returns the mode that a question asks for, and the words that say so. tools are the names of tools
// that the model used earlier in the talk, oldest first. It asks no model: each cue that matches adds its
// weight to a mode. The heaviest mode wins if it reaches enough plus the weight of plain talk; of equals, the
// first of search, modification, analysis and creation.
func InferMode(question string, tools []string) (Mode, string) {
	q := plainQuestion(question)
	weights := map[Mode]int{}
	why := map[Mode][]string{}
	for _, c := range cues() {
		if match := c.pattern.FindString(q); match != "" {
			weights[c.mode] += c.weight
			why[c.mode] = append(why[c.mode], strings.TrimSpace(match))
		}
	}
	if len(tools) > 0 && slices.Contains(searching, tools[len(tools)-1]) &&
		len(strings.Fields(q)) <= ellipticWords && elliptic().MatchString(q) {
		weights[ModeSearch] += 2
		why[ModeSearch] = append(why[ModeSearch], "after "+tools[len(tools)-1])
	}
	best := ModeGeneral
	least := enough + weights[ModeGeneral] - 1
	for _, m := range []Mode{ModeSearch, ModeModification, ModeAnalysis, ModeCreation} {
		if weights[m] > least {
			best = m
			least = weights[m]
		}
	}
	return best, strings.Join(why[best], ", ")
}

// ellipticWords is the most words of a question that follows up on a tool's search.
const ellipticWords = 10

var elliptic = sync.OnceValue(func() *regexp.Regexp {
	return within(`\?|^(?:and|what about|how about|or|in|on|from|by|who|when|where|which|since|before|after|not|no|` +
		`nope|the|und|oder|et|ou|y|o|von|en|pour|de) |\bthat one\b|^(?:那|还有|還有|じゃあ|それで)`)
})

// enough is the least weight of a mode other than ModeGeneral.
const enough = 2

// searching are tools that look something up.
var searching = []string{"search_memory", historyTool, "recall_lore", "get_participant"}

// historyTool queries the records of calls.
const historyTool = "conversation_history"

// readChars is how many characters of a question are read: long ones say first what is wanted.
const readChars = 600

// plainQuestion returns a question in lower case, without code blocks, mentions, and Hark's name at its ends.
func plainQuestion(question string) string {
	q := codeBlock.ReplaceAllString(strings.ToLower(shortened(question, readChars)), " ")
	q = addressed.ReplaceAllString(unaccented.Replace(q), " ")
	return strings.TrimSpace(strings.Join(strings.Fields(q), " "))
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?(```|$)")
	addressed = regexp.MustCompile(
		`<@[!&]?\d+>|@hark\b|^\W*(?:(?:hey|hi|hello|ok|yo|hallo|salut|hola) )?hark\b[,:!]?|\bhark\W*$`)
)

// Modes returns all modes, ModeGeneral first.
func Modes() []Mode {
	return []Mode{ModeGeneral, ModeCreation, ModeSearch, ModeModification, ModeAnalysis}
}

// Known reports whether m is one of Modes.
func (m Mode) Known() bool { return slices.Contains(Modes(), m) }

// raised is the additional room that a mode gives sections, in thousandths of their ceilings. It comes from
// what all sections leave, so no section gets less than in ModeGeneral.
var raised = map[Mode][sectionKinds]int64{
	ModeSearch:       {kindHistory: 375},
	ModeCreation:     {kindLore: 1000, kindEarlier: 500},
	ModeModification: {kindSession: 600},
	ModeAnalysis:     {kindHistory: 200, kindSession: 300},
}
