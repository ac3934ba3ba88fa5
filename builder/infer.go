package builder

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// InferMode tells what kind of work a question asks for, and by which words. tools are the names of the tools
// that the model used before in the same talk, oldest first. No model is asked: each cue that matches speaks
// for a mode with its weight, the heaviest mode is taken if it weighs enough, more so where cues speak for
// plain talk, and of equals the first of search, modification, analysis and creation.
func InferMode(question string, tools []string) (Mode, string) {
	q := plainQuestion(question)
	weights, why := map[Mode]int{}, map[Mode][]string{}
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
	best, least := ModeGeneral, enough+weights[ModeGeneral]-1
	for _, m := range []Mode{ModeSearch, ModeModification, ModeAnalysis, ModeCreation} {
		if weights[m] > least {
			best, least = m, weights[m]
		}
	}
	return best, strings.Join(why[best], ", ")
}

// ellipticWords is how many words a question may have that goes on from what was looked up before.
const ellipticWords = 10

var elliptic = sync.OnceValue(func() *regexp.Regexp {
	return within(`\?|^(?:and|what about|how about|or|in|on|from|by|who|when|where|which|since|before|after|not|no|nope|the|und|oder|et|ou|y|o|von|en|pour|de) |\bthat one\b|^(?:那|还有|還有|じゃあ|それで)`)
})

// enough is the weight that takes a question out of the general mode.
const enough = 2

// searching are the tools that look something up.
var searching = []string{"search_memory", historyTool, "recall_lore", "get_participant"}

// historyTool queries the records of calls.
const historyTool = "conversation_history"

// cue is a form of words that speaks for a mode: 1 by itself for nothing, 2 and more for the mode.
type cue struct {
	mode    Mode
	weight  int
	pattern *regexp.Regexp
}

// readChars is how much of a question is read: who writes more says first what is wanted.
const readChars = 600

// plainQuestion returns a question in small letters, without quotes of code, mentions, and Hark's name at its
// ends.
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

// Mode is what kind of work a question asks for. It decides which instructions the model gets, and which
// sections may have more than their ceiling where the budget has room left.
type Mode string

// The modes. Whatever isn't clearly another is ModeGeneral.
const (
	ModeGeneral      Mode = "general"
	ModeCreation     Mode = "creation"     // something new is to be made
	ModeSearch       Mode = "search"       // something said or decided before is looked for
	ModeModification Mode = "modification" // something that is there is to be changed
	ModeAnalysis     Mode = "analysis"     // something is to be explained, compared, judged or summarised
)

// Modes returns all modes, ModeGeneral first.
func Modes() []Mode {
	return []Mode{ModeGeneral, ModeCreation, ModeSearch, ModeModification, ModeAnalysis}
}

// Known reports whether m is one of Modes.
func (m Mode) Known() bool { return slices.Contains(Modes(), m) }

// raised are the sections that a mode gives more room than ModeGeneral does, in thousandths of their
// ceilings. They get it of what all sections have left, so that no section of any mode has less than
// ModeGeneral would give it.
var raised = map[Mode][sectionKinds]int64{
	ModeSearch:       {kindHistory: 375},
	ModeCreation:     {kindLore: 1000, kindEarlier: 500},
	ModeModification: {kindSession: 600},
	ModeAnalysis:     {kindHistory: 200, kindSession: 300},
}
