package answer

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"hark/memory"
)

// Evidence is whether and how the model reached for the history, and what it did again and again, as the records of calls
// tell it: in shapes and counts, never with what was asked for.
type Evidence struct {
	Questions int `json:"questions"`  // with at least one record
	WithTools int `json:"with_tools"` // questions for which the model called a tool
	Reached   int `json:"reached"`    // questions for which it reached for the history
	Accesses  int `json:"accesses"`   // calls of conversation_history
	// Shapes are those of its queries of the history: which filters, fields, order and slice. The most frequent first.
	Shapes []Counted `json:"shapes"`
	// Tools is how often each tool was called, the most frequent first.
	Tools []Counted `json:"tools"`
	// Repeated are queries of the history that were made before for the same question, alike in everything.
	Repeated Pattern `json:"repeated_queries"`
	// Loops are calls of a tool that are the one before them again.
	Loops Pattern `json:"tool_loops"`
	// AskedAgain are calls that ask a tool what it was asked before in the channel, by the fingerprint of what was looked for,
	// for whatever question. Of calls that weren't made, or that failed, nothing was asked.
	AskedAgain Pattern `json:"asked_again"`
	// Decomposed are attempts to break a task into parts: see partsOf.
	Decomposed Pattern `json:"decomposed"`
}

// Counted is how often there was something.
type Counted struct {
	What  string `json:"what"`
	Calls int    `json:"calls"`
}

// Pattern is something that the model does for want of a tool that does it.
type Pattern struct {
	Calls     int     `json:"calls"`
	Questions int     `json:"questions"` // for which there was at least one such call
	Share     float64 `json:"share"`     // of all questions, from 0 to 1
	AtLeast   float64 `json:"at_least"`  // the share that it has most likely, at 95 %, however few questions there were
	// Justifies says that a tool of its own would pay: see ToolShare.
	Justifies bool `json:"justifies_a_tool"`
}

// A pattern justifies a tool if it was met for ToolQuestions questions at least and if its share of all questions is, at
// 95 %, ToolShare or more. A tool's description is paid for with every prompt, whether it is called or not, and spares a round
// where it is: the two are even at 8.8 and 9.4 % of questions (docs/decisions/0016-history-records.md).
const (
	ToolShare     = 0.1
	ToolQuestions = 10
)

// EvidenceOf is what records tell, which may be of several channels.
func EvidenceOf(records []memory.Record) Evidence {
	var e Evidence
	shapes, tools := map[string]int{}, map[string]int{}
	seen := map[string]bool{} // what was asked of tools
	for _, calls := range byQuestion(records) {
		e.Questions++
		made := toolCalls(calls)
		if len(made) == 0 {
			continue
		}
		e.WithTools++
		reached := false
		var repeated, loops, again int
		known := map[string]bool{}
		for i, c := range made {
			tools[c.Method]++
			if c.Method == HistoryMethod {
				reached = true
				e.Accesses++
				shapes[c.shape()]++
				if known[c.key] {
					repeated++
				}
			}
			if i > 0 && made[i-1].key == c.key {
				loops++
			}
			known[c.key] = true
			if c.asked != "" {
				what := c.Channel.String() + " " + c.Method + " " + c.asked
				if seen[what] {
					again++
				}
				seen[what] = true
			}
		}
		if reached {
			e.Reached++
		}
		e.Repeated.add(repeated)
		e.Loops.add(loops)
		e.AskedAgain.add(again)
		e.Decomposed.add(partsOf(made))
	}
	e.Shapes, e.Tools = counted(shapes), counted(tools)
	for _, p := range []*Pattern{&e.Repeated, &e.Loops, &e.AskedAgain, &e.Decomposed} {
		p.judge(e.Questions)
	}
	return e
}

func (p *Pattern) add(calls int) {
	if p.Calls += calls; calls > 0 {
		p.Questions++
	}
}

// judge works out p's shares.
func (p *Pattern) judge(of int) {
	if of == 0 {
		return
	}
	p.Share = float64(p.Questions) / float64(of)
	p.AtLeast = atLeast(p.Questions, of)
	p.Justifies = p.Questions >= ToolQuestions && p.AtLeast >= ToolShare
}

// atLeast is the lower end of Wilson's interval at 95 % for k of n.
func atLeast(k, n int) float64 {
	if k == 0 {
		return 0
	}
	const z = 1.96
	share, all := float64(k)/float64(n), float64(n)
	middle := share + z*z/(2*all)
	spread := z * math.Sqrt(share*(1-share)/all+z*z/(4*all*all))
	return (middle - spread) / (1 + z*z/all)
}

// counted is the most frequent first.
func counted(counts map[string]int) []Counted {
	all := make([]Counted, 0, len(counts))
	for what, n := range counts {
		all = append(all, Counted{what, n})
	}
	slices.SortFunc(all, func(a, b Counted) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.What, b.What)) })
	return all
}

// byQuestion are records by the question that they came of, in order of time.
func byQuestion(records []memory.Record) [][]memory.Record {
	type question struct {
		channel          memory.ChannelID
		question, answer memory.MessageID
	}
	ordered := slices.Clone(records)
	slices.SortStableFunc(ordered, func(a, b memory.Record) int { return a.Timestamp.Compare(b.Timestamp) })
	groups := map[question]int{}
	var all [][]memory.Record
	for _, r := range ordered {
		of := question{r.Channel, r.Question, r.Answer}
		i, known := groups[of]
		if !known {
			i = len(all)
			groups[of], all = i, append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}

// toolCall is a tool's call as evidence sees it.
type toolCall struct {
	memory.Record
	key        string            // of all that it was called with
	asked      string            // the fingerprints of what it looks for; empty if it wasn't made
	conditions map[string]string // what narrows it down, by where it stands, as JSON
}

// looksFor are the arguments that say what a tool is asked. Other texts only narrow that down, or, such as a time zone, are as
// good as a word of a list.
var looksFor = []string{"name", "query", "text"}

// cameToNothing are the outcomes of calls of which nobody was told anything new.
var cameToNothing = []string{callBad, callUnknown, callRepeated, callTooMany, callLate, callNoRoom, callFailed}

func toolCalls(records []memory.Record) []toolCall {
	var calls []toolCall
	for _, r := range records {
		if r.Speaker != memory.SpeakerTool {
			continue
		}
		c := toolCall{Record: r, conditions: map[string]string{}}
		c.key = r.Method + canonical([]any{r.Args, r.Kwargs})
		for i, v := range r.Args {
			c.look("args."+canonical(i), v)
		}
		for name, v := range r.Kwargs {
			c.look(name, v)
		}
		for _, path := range looksFor {
			if text, there := c.conditions[path]; there && isText(text) && !slices.Contains(cameToNothing, r.Outcome) {
				c.asked += path + "=" + text + " "
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// look takes up what v narrows down. What a call is given in, and how much of it, narrows nothing.
func (c *toolCall) look(path string, v any) {
	if object, ok := v.(map[string]any); ok && object["fingerprint"] == nil {
		for name, v := range object {
			c.look(path+"."+name, v)
		}
		return
	}
	switch last(path) {
	case "fields", "order", "limit":
	default:
		c.conditions[path] = canonical(v)
	}
}

func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?" // of a record that wasn't read from JSON
	}
	return string(b)
}

// isText reports whether a condition is a text, which a record holds as its fingerprint.
func isText(value string) bool { return strings.Contains(value, `"fingerprint"`) }

// shape is which filters, fields, order and slice a query of the history had, without their values.
func (c *toolCall) shape() string {
	var filters, fields []string
	for path := range c.conditions {
		filters = append(filters, orOther(strings.TrimPrefix(path, "filter."), "speaker", "method", "from", "until", "text"))
	}
	var b strings.Builder
	b.WriteString("filter(" + listed(filters) + ")")
	if named, ok := c.Kwargs["fields"].([]any); ok {
		for _, name := range named {
			field, _ := name.(string)
			fields = append(fields, orOther(field, append(memory.RecordFields(), textField)...))
		}
		b.WriteString(" fields(" + listed(fields) + ")")
	}
	for _, name := range []string{"order", "limit"} {
		if c.Kwargs[name] != nil {
			b.WriteString(" " + name)
		}
	}
	return b.String()
}

// orOther is a name if it is one of those known, for the model may call things by any.
func orOther(name string, known ...string) string {
	if slices.Contains(known, name) {
		return name
	}
	return "other"
}

func listed(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}
