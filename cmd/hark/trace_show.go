package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"hark/builder"
	"hark/memory"
)

// printTrace prints how an answer came about: a line about it and one for each section of its prompt, of which p, if it is
// there, tells where they stand.
func (k *kept) printTrace(w io.Writer, t memory.Trace, p memory.Prompt) {
	fmt.Fprintf(w, "%s  %d  #%s in %s, %s, %.1f s\n", t.Answer.Time().In(k.config.Answer.Location()).Format(toTheMinute), t.Answer,
		oneLine(k.channelName(t.Guild, t.Channel)), oneLine(guildName(k.guildOf(t.Guild))), oneLine(cmp.Or(t.Model, "no model")), t.Total.Seconds())
	if len(t.Sections) == 0 {
		return
	}
	printSections(w, "  ", t.Sections, p)
	if n := condensedIn(t); n > 0 {
		fmt.Fprintf(w, "  %-18s %6d messages of the session\n", "condensed", n)
	}
	all := fmt.Sprintf("  %-18s %6d tokens of %d", "all", t.Tokens, t.MaxTokens)
	if t.Window > 0 {
		all += fmt.Sprintf(", %.0f %% of the model's window of %d", 100*t.Use(), t.Window)
	}
	if t.Use() >= memory.NearlyFull {
		all += ": nearly full"
	}
	fmt.Fprintln(w, all)
	printCalls(w, t.Calls)
}

// condensedIn is how many messages the summary of the session's older part was made from: no other source is neither the question
// nor told among the recalled.
func condensedIn(t memory.Trace) int {
	told := map[int64]bool{int64(t.Question): true}
	for _, hit := range t.Recalled {
		told[int64(hit.Message)] = true
	}
	return len(slices.DeleteFunc(t.IDsOf(memory.SourceMessage), func(id int64) bool { return told[id] }))
}

// printCalls prints a line for each call of a tool.
func printCalls(w io.Writer, calls []memory.TraceCall) {
	for _, c := range calls {
		fmt.Fprintf(w, "  round %d: %s, %s, %s, %s, %d ms\n", c.Round, oneLine(c.Tool), oneLine(c.Outcome), plural(c.Shown, "message"), plural(c.Tokens, "token"), c.Took.Milliseconds())
	}
}

// printKept prints a prompt with a line above each of its sections.
func printKept(w io.Writer, t memory.Trace, p memory.Prompt) {
	tokens := map[string]int{}
	for _, u := range t.Sections {
		tokens[u.Section] = u.Tokens
	}
	told := map[string]bool{} // in the chat layout each turn has a line, and the first tells of all
	for _, b := range p.Boundaries {
		m := p.Messages[b.Message]
		line := fmt.Sprintf("── %s", oneLine(b.Section))
		if !told[b.Section] {
			line += " · " + plural(tokens[b.Section], "token")
			told[b.Section] = true
		}
		line += fmt.Sprintf(" · message %d, %s, bytes %d–%d ──", b.Message+1, oneLine(m.Role), b.Start, b.End)
		fmt.Fprintf(w, "\n%s\n%s\n", line, printable(m.Content[b.Start:b.End]))
	}
}

// joined is a prompt as the model got it, its messages one after the other as "hark context" prints them.
func joined(t memory.Trace, p memory.Prompt) string {
	messages := make([]builder.ChatMessage, len(p.Messages))
	for i, m := range p.Messages {
		messages[i] = builder.ChatMessage{Role: m.Role, Content: m.Content}
	}
	return builder.Layout(t.Layout).Join(messages)
}

// jsonTrace is a trace as --json prints it.
type jsonTrace struct {
	Answer    string        `json:"answer"`
	Time      time.Time     `json:"time"`
	Server    string        `json:"server"`
	Channel   string        `json:"channel"`
	ChannelID string        `json:"channel_id"`
	Question  string        `json:"question"`
	Model     string        `json:"model,omitempty"` // empty: the answer quotes
	Layout    string        `json:"layout,omitempty"`
	Mode      string        `json:"mode,omitempty"`
	Tokens    int           `json:"tokens"`
	MaxTokens int           `json:"max_tokens"`
	Window    int           `json:"window,omitempty"`     // 0 if it isn't known
	Use       float64       `json:"window_use,omitempty"` // from 0 to 1
	Warning   bool          `json:"warning"`              // the window is nearly full
	Recalled  int           `json:"recalled"`
	HeldBack  int           `json:"held_back,omitempty"`
	Condensed int           `json:"condensed,omitempty"` // messages of the session that a summary stood for
	TextOnly  bool          `json:"text_only,omitempty"`
	SearchMS  int64         `json:"search_ms"`
	TotalMS   int64         `json:"total_ms"`
	Sections  []jsonSection `json:"sections"`
	Calls     []jsonCall    `json:"tool_calls,omitempty"`
	Prompt    *jsonKept     `json:"prompt,omitempty"`
}

// jsonCall is a call of a tool.
type jsonCall struct {
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"`
	Round   int    `json:"round"`
	Shown   int    `json:"shown"`
	Tokens  int    `json:"tokens"`
	MS      int64  `json:"ms"`
}

func callsJSON(calls []memory.TraceCall) (out []jsonCall) {
	for _, c := range calls {
		out = append(out, jsonCall{c.Tool, c.Outcome, c.Round, c.Shown, c.Tokens, c.Took.Milliseconds()})
	}
	return out
}

// jsonKept is what the model was sent.
type jsonKept struct {
	Built    time.Time              `json:"built"`
	Messages []memory.PromptMessage `json:"messages"`
}

func (k *kept) traceJSON(t memory.Trace) jsonTrace {
	return jsonTrace{
		Answer: t.Answer.String(), Time: t.Answer.Time().UTC(), Server: t.Guild.String(), Channel: k.channelName(t.Guild, t.Channel), ChannelID: t.Channel.String(),
		Question: t.Question.String(), Model: t.Model, Layout: t.Layout, Mode: t.Mode, Tokens: t.Tokens, MaxTokens: t.MaxTokens,
		Window: t.Window, Use: t.Use(), Warning: t.Use() >= memory.NearlyFull, Recalled: len(t.Recalled), HeldBack: t.HeldBack, Condensed: condensedIn(t), TextOnly: t.TextOnly,
		SearchMS: t.Search.Milliseconds(), TotalMS: t.Total.Milliseconds(), Sections: sectionsJSON(t.Sections, memory.Prompt{}), Calls: callsJSON(t.Calls),
	}
}
