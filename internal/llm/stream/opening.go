package stream

import (
	"regexp"
	"slices"
	"strings"
)

// verdict says whether a text is a call of a tool.
type verdict int

const (
	no verdict = iota
	maybe
	yes
)

// callKeys are the first keys of calls that are written as JSON.
var callKeys = []string{"name", "function", "tool", "tool_name", "action", "tool_calls", "type", "id", "recipient_name",
	"function_call", "function_name", "arguments", "parameters", "thought"}

// openings are what calls begin with that no mark announces, besides JSON and tools' names.
var openings = []string{"Action:", "Thought:", "functools[", "to=functions.", "commentary to=",
	"tool call:", "**tool call", "print(default_api.", "default_api."}

// beforeNames may stand before a tool's name with which a call begins.
var beforeNames = []string{"", "functions.", "tools.", "call:", "print(", "await ", ">>>", "**", "`"}

// fences are the kinds of code blocks in which calls stand.
var fences = []string{"", "json", "tool_call", "tool_calls", "tool_code", "tool", "xml", "python", "text"}

// callFences hold nothing else.
var callFences = []string{"tool_call", "tool_calls", "tool_code"}

// beginsCall reports whether text, which begins a line, begins like a call of one of tools. It may be another thing all
// the same.
func beginsCall(text string, tools []string) verdict {
	if len(tools) == 0 || text == "" {
		return no
	}
	if text[0] == '[' {
		inner := strings.TrimLeft(text[1:], " \n\t")
		if inner == "" {
			return maybe
		}
		return max(beginsObject(inner, tools), beginsName(inner, tools))
	}
	found := max(beginsObject(text, tools), beginsName(text, tools), beginsFence(text, tools))
	for _, opening := range openings {
		whole, begun := begins(text, opening)
		switch {
		case whole:
			return yes
		case begun:
			found = max(found, maybe)
		}
	}
	return found
}

func beginsFence(text string, tools []string) verdict {
	const fence = "```"
	if len(text) < len(fence) {
		if strings.HasPrefix(fence, text) {
			return maybe
		}
		return no
	}
	rest, is := strings.CutPrefix(text, fence)
	if !is {
		return no
	}
	kind, body, ended := strings.Cut(rest, "\n")
	kind = strings.TrimSpace(kind)
	switch {
	case !ended && slices.ContainsFunc(fences, func(f string) bool { return strings.HasPrefix(f, kind) }):
		return maybe
	case !ended || !slices.Contains(fences, kind):
		return no
	case slices.Contains(callFences, kind):
		return yes
	}
	body = strings.TrimLeft(body, " \n\t")
	if body == "" {
		return maybe
	}
	if body[0] == '<' {
		switch plainMarkAt(body).what {
		case calling:
			return yes
		case mayBegin:
			return maybe
		}
		return no
	}
	if body[0] == '`' {
		return no
	}
	return beginsCall(body, tools)
}

// beginsObject reports whether text begins like a JSON object that is a call: with a key of calls, or a tool's name.
func beginsObject(text string, tools []string) verdict {
	rest, is := strings.CutPrefix(text, "{")
	if !is {
		return no
	}
	rest = strings.TrimLeft(rest, " \n\t")
	if rest == "" {
		return maybe
	}
	quote := rest[:1]
	if quote != `"` && quote != "'" {
		return no
	}
	key, _, ended := strings.Cut(rest[1:], quote)
	mayBecome := func(known string) bool { return strings.HasPrefix(known, key) }
	switch {
	case ended && (slices.Contains(callKeys, key) || slices.Contains(tools, key)):
		return yes
	case !ended && (slices.ContainsFunc(callKeys, mayBecome) || slices.ContainsFunc(tools, mayBecome)):
		return maybe
	}
	return no
}

// beginsName reports whether text begins with a tool's name and what follows it in a call.
func beginsName(text string, tools []string) verdict {
	found := no
	for _, name := range tools {
		for _, before := range beforeNames {
			whole, begun := begins(text, before+name)
			switch {
			case begun:
				found = max(found, maybe)
			case whole:
				found = max(found, beginsArguments(text[len(before+name):]))
			}
		}
	}
	return found
}

// beginsArguments reports whether what follows a tool's name begins like its arguments.
func beginsArguments(text string) verdict {
	text = strings.TrimLeft(text, " \n\t:*`0123456789") // Kimi counts: functions.search_memory:0
	if text == "" {
		return maybe
	}
	found := no
	for _, start := range []string{"(", "{", "[ARGS]", "json\n"} {
		whole, begun := begins(text, start)
		switch {
		case whole:
			return yes
		case begun:
			found = maybe
		}
	}
	return found
}

// triesToCall reports whether a text that is no call names a tool in the way of one.
func triesToCall(text string, tools []string) bool {
	return slices.ContainsFunc(tools, func(name string) bool {
		quoted := regexp.QuoteMeta(name)
		as := regexp.MustCompile(`["'](?:name|function|tool|tool_name|action|recipient_name|function_name)["']` +
			`\s*:\s*["'](?:functions\.)?` + quoted + `["']|(?m:^Action:\s*)` + quoted + `\b` +
			`|^\W*` + quoted + `\s*[({]\s*(?:["'{)}]|\w+\s*[=:])`)
		return as.MatchString(text)
	})
}
