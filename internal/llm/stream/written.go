package stream

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"

	"hark/internal/chat"
	"hark/internal/pattern"
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
var openings = []string{"Action:", "Thought:", "functools[", "to=functions.", "print(default_api.", "default_api.",
	"functions.", ">>>"}

// fences are the kinds of code blocks in which calls stand.
var fences = []string{"", "json", "tool_call", "tool_calls", "tool_code", "tool", "xml", "python", "text"}

// beginsCall reports whether text, which is what a model writes first, begins like a call of one of tools. It may be
// another thing all the same.
func beginsCall(text string, tools []string) verdict {
	if len(tools) == 0 || text == "" {
		return no
	}
	if text[0] == '`' {
		return beginsFence(text, tools)
	}
	if text[0] == '[' {
		inner := strings.TrimLeft(text[1:], " \n\t")
		if inner == "" {
			return maybe
		}
		return max(beginsObject(inner), beginsName(inner, tools))
	}
	found := max(beginsObject(text), beginsName(text, tools))
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
	}
	body = strings.TrimLeft(body, " \n\t")
	if body == "" {
		return maybe
	}
	if body[0] == '<' {
		what, _, _ := markAt(body)
		switch what {
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

// beginsObject reports whether text begins like a JSON object that is a call.
func beginsObject(text string) verdict {
	rest, is := strings.CutPrefix(text, "{")
	if !is {
		return no
	}
	rest = strings.TrimLeft(rest, " \n\t")
	if rest == "" {
		return maybe
	}
	rest, is = strings.CutPrefix(rest, `"`)
	if !is {
		return no
	}
	key, _, ended := strings.Cut(rest, `"`)
	switch {
	case ended && slices.Contains(callKeys, key):
		return yes
	case !ended && slices.ContainsFunc(callKeys, func(k string) bool { return strings.HasPrefix(k, key) }):
		return maybe
	}
	return no
}

// beginsName reports whether text begins with a tool's name and what follows it in a call.
func beginsName(text string, tools []string) verdict {
	found := no
	for _, name := range tools {
		if len(text) <= len(name) {
			if strings.HasPrefix(name, text) {
				found = maybe
			}
			continue
		}
		rest, is := strings.CutPrefix(text, name)
		if !is {
			continue
		}
		rest = strings.TrimLeft(rest, " \n\t")
		switch {
		case rest == "":
			found = maybe
		case strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[ARGS]"):
			return yes
		}
	}
	return found
}

// triesToCall reports whether a text that is no call names a tool in the way of one.
func triesToCall(text string, tools []string) bool {
	return slices.ContainsFunc(tools, func(name string) bool {
		as := regexp.MustCompile(`"(?:name|function|tool|tool_name|action|recipient_name|function_name)"\s*:\s*"(?:functions\.)?` +
			regexp.QuoteMeta(name) + `"|(?m:^Action:\s*)` + regexp.QuoteMeta(name) + `\b|^\W*` + regexp.QuoteMeta(name) + `\s*[({]`)
		return as.MatchString(text)
	})
}

// written returns the calls of tools that a text is, in the order in which they stand there. Models write them in the
// ways of many templates: as JSON with a name and arguments, as a name before JSON, as tags, and as Python.
func written(text string, tools []string) []chat.Call {
	found := objects(text, tools)
	if len(found) == 0 {
		found = named(text, tools)
	}
	all := make([]chat.Call, 0, min(len(found), maxCalls))
	for _, c := range found[:min(len(found), maxCalls)] {
		if len(c.Arguments) <= maxArguments {
			c.ID = newID()
			all = append(all, c)
		}
	}
	return all
}

// objects returns the calls that are written as JSON objects.
func objects(text string, tools []string) (found []chat.Call) {
	for text != "" {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		value, rest, is := valueAt(text[at:])
		if !is {
			text = text[at+1:]
			continue
		}
		calls := callsIn(value, tools, 0)
		found = append(found, calls...)
		text = rest
	}
	return found
}

// valueAt returns the JSON value that text begins with, and what follows it.
func valueAt(text string) (value json.RawMessage, rest string, is bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&value) != nil {
		return nil, "", false
	}
	return value, text[d.InputOffset():], true
}

// callsIn returns the calls that a JSON value is: one, or a list of them.
func callsIn(value json.RawMessage, tools []string, depth int) (found []chat.Call) {
	const deepest = 4
	if depth > deepest {
		return nil
	}
	for _, item := range listOf(value) {
		found = append(found, callsIn(item, tools, depth+1)...)
	}
	fields := objectOf(value)
	if len(fields["tool_calls"]) > 0 {
		return callsIn(fields["tool_calls"], tools, depth+1)
	}
	for _, key := range []string{"function", "function_call", "tool", "action"} {
		if objectOf(fields[key]) != nil {
			return callsIn(fields[key], tools, depth+1)
		}
	}
	for _, key := range []string{"name", "function", "tool", "tool_name", "action", "recipient_name", "function_name"} {
		name := toolOf(textOf(fields[key]), tools)
		if name != "" {
			return append(found, chat.Call{Name: name, Arguments: argumentsIn(fields)})
		}
	}
	return found
}

func argumentsIn(fields map[string]json.RawMessage) string {
	for _, key := range []string{"arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs",
		"tool_parameters", "params"} {
		if len(fields[key]) > 0 {
			return argumentsOf(fields[key])
		}
	}
	return "{}"
}

// toolOf returns the tool that a written name means; empty if none. Kimi writes functions.search_memory:0.
func toolOf(name string, tools []string) string {
	name = strings.TrimPrefix(strings.TrimSpace(name), "functions.")
	name, _, _ = strings.Cut(name, ":")
	if slices.Contains(tools, name) {
		return name
	}
	return ""
}

// longestGap bounds what stands between a tool's name and its arguments, in bytes.
const longestGap = 120

// named returns the calls that are written as a tool's name and then its arguments.
func named(text string, tools []string) (found []chat.Call) {
	for {
		name, rest := nextName(text, tools)
		if name == "" {
			return found
		}
		end := len(rest)
		following, after := nextName(rest, tools)
		if following != "" {
			end = len(rest) - len(after) - len(following)
		}
		arguments, is := argumentsAfter(rest[:end])
		if is {
			found = append(found, chat.Call{Name: name, Arguments: arguments})
		}
		text = rest
	}
}

// nextName returns the first tool that text names, and what follows the name.
func nextName(text string, tools []string) (name, rest string) {
	first := len(text)
	for _, tool := range tools {
		at := strings.Index(text, tool)
		if at >= 0 && (at < first || at == first && len(tool) > len(name)) && standsAlone(text, at, len(tool)) {
			first = at
			name = tool
		}
	}
	if name == "" {
		return "", ""
	}
	return name, text[first+len(name):]
}

// standsAlone reports whether no letter or digit stands beside a part of text.
func standsAlone(text string, at, length int) bool {
	end := at + length
	return (at == 0 || !isNameByte(text[at-1])) && (end == len(text) || !isNameByte(text[end]))
}

func isNameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

var (
	parameterTag = pattern.Of(`(?s)<parameter(?:=|\s+name=)"?([\w.-]+)"?[^>]*>(.*?)</parameter>`)
	parameterBar = pattern.Of(`(?s)<｜DSML｜parameter name="([\w.-]+)"[^>]*>(.*?)</｜DSML｜parameter>`)
	argumentPair = pattern.Of(`(?s)<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	pythonCall   = pattern.Of(`(?s)^\s*\((.*?)\)\s*(?:\]|\)|$|,|\n|<|` + "`" + `)`)
	pythonValue  = pattern.Of(`(?s)\s*([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"']+)\s*(?:,|$)`)
)

// argumentsAfter returns the arguments that stand in what follows a tool's name.
func argumentsAfter(rest string) (arguments string, is bool) {
	for _, tags := range []func() *regexp.Regexp{parameterTag, parameterBar, argumentPair} {
		pairs := tags().FindAllStringSubmatch(rest, -1)
		if len(pairs) > 0 {
			return fromPairs(pairs), true
		}
	}
	python := pythonCall().FindStringSubmatch(rest)
	if python != nil {
		pairs := pythonValue().FindAllStringSubmatch(python[1], -1)
		for _, p := range pairs {
			p[2] = unquoted(strings.TrimSpace(p[2]))
		}
		return fromPairs(pairs), true
	}
	at := strings.IndexByte(rest, '{')
	if at >= 0 && at <= longestGap {
		value, _, ok := valueAt(rest[at:])
		return string(value), ok
	}
	// Without arguments, nothing but marks may follow.
	return "{}", at < 0 && !hasWords(rest)
}

// fromPairs returns a JSON object of names and values. A value that is a JSON number, list or the like stays one.
func fromPairs(pairs [][]string) string {
	fields := map[string]any{}
	for _, p := range pairs {
		value := html.UnescapeString(strings.TrimSpace(p[2]))
		fields[strings.TrimSpace(p[1])] = value
		if json.Valid([]byte(value)) {
			fields[strings.TrimSpace(p[1])] = json.RawMessage(value)
		}
	}
	data, _ := json.Marshal(fields) // texts and valid JSON always encode
	return string(data)
}

// unquoted returns a value of Python as JSON, or as it is.
func unquoted(value string) string {
	switch {
	case value == "True" || value == "False":
		return strings.ToLower(value)
	case value == "None":
		return "null"
	case len(value) >= 2 && value[0] == '\'':
		inner := strings.ReplaceAll(value[1:len(value)-1], `\'`, `'`)
		data, _ := json.Marshal(inner) // a text always encodes
		return string(data)
	}
	return value
}

// marks are what may follow a call that has no arguments.
var marksAfter = pattern.Of(`<[^<>]*>|\[[^\[\]]*\]|Action Input:|Observation:|` + "`" + `|\W`)

func hasWords(text string) bool { return marksAfter().ReplaceAllString(text, "") != "" }
