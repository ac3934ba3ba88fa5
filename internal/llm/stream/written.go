package stream

import (
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"

	"hark/internal/chat"
	"hark/internal/pattern"
)

// written returns the calls of tools that a text is, in the order in which they stand there. Models write them in the
// ways of many templates: as JSON with a name and arguments, as a name before JSON, as tags, and as Python.
func written(text string, tools []string) []chat.Call {
	if len(text) > maxWritten {
		return nil
	}
	text = quotes.Replace(text)
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

// quotes are written by Gemma and FunctionGemma as tokens.
var quotes = strings.NewReplacer(`<|"|>`, `"`, "<escape>", `"`)

// What a text of calls may cost to read.
const (
	maxWritten = 256 << 10 // bytes
	maxTorn    = 50        // values that begin and don't end
)

// objects returns the calls that are written as JSON objects.
func objects(text string, tools []string) (found []chat.Call) {
	torn := 0
	for torn < maxTorn && len(found) < maxCalls {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		value, rest, is := valueAt(text[at:])
		if !is {
			torn++
			text = text[at+1:]
			continue
		}
		found = append(found, callsIn(value, tools, 0)...)
		text = rest
	}
	return found
}

// strange returns the calls that a text is, of tools that the model doesn't know. plain: nothing says that it is
// a call, so no other text may stand beside it.
func strange(text string, plain bool) (found []chat.Call) {
	if len(text) > maxWritten {
		return nil
	}
	at := max(0, strings.IndexAny(text, "{["))
	value, rest, is := valueAt(text[at:])
	if !is || plain && (!isFence(text[:at]) || !isFence(rest)) {
		return nil
	}
	items := listOf(value)
	if items == nil {
		items = []json.RawMessage{value}
	}
	for _, item := range items[:min(len(items), maxCalls)] {
		fields := objectOf(item)
		name := textOf(fields["name"])
		arguments, has := argumentsIn(fields)
		if strangeName().MatchString(name) && has && isObject(arguments) && len(arguments) <= maxArguments {
			found = append(found, chat.Call{
				ID:        newID(),
				Name:      name,
				Arguments: arguments,
			})
		}
	}
	return found
}

var strangeName = pattern.Of(`^[A-Za-z][\w.-]{0,63}$`)

// isFence reports whether nothing but the beginning or the end of a block of code stands in text.
func isFence(text string) bool {
	return strings.Trim(text, "` \r\n\tjson") == ""
}

// valueAt returns the JSON value that text begins with, and what follows it. What models often write wrongly is mended.
func valueAt(text string) (value json.RawMessage, rest string, is bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&value) == nil {
		return value, text[d.InputOffset():], true
	}
	return mended(text)
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
		if name != "" && fields["description"] == nil { // what a tool is for stands in its definition
			arguments, _ := argumentsIn(fields)
			return append(found, chat.Call{Name: name, Arguments: arguments})
		}
	}
	return found
}

// argumentsIn returns a call's arguments, and whether it has any.
func argumentsIn(fields map[string]json.RawMessage) (arguments string, has bool) {
	for _, key := range []string{"arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs",
		"tool_parameters", "params"} {
		if len(fields[key]) > 0 {
			return argumentsOf(fields[key]), true
		}
	}
	return "{}", false
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
	places := namesIn(text, tools)
	for i, at := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1].start
		}
		arguments, is := argumentsAfter(text[at.end:end])
		if is {
			call := chat.Call{
				Name:      text[at.start:at.end],
				Arguments: arguments,
			}
			found = append(found, call)
		}
	}
	return found
}

// span is a part of a text.
type span struct{ start, end int }

// namesIn returns where text names tools, but for tags that end and for more than calls may be.
func namesIn(text string, tools []string) (all []span) {
	for _, tool := range tools {
		from := 0
		for count := 0; count < maxCalls && tool != ""; count++ {
			at := strings.Index(text[from:], tool)
			if at < 0 {
				break
			}
			found := span{from + at, from + at + len(tool)}
			if standsAlone(text, found) && !strings.HasSuffix(text[:found.start], "</") {
				all = append(all, found)
			}
			from = found.end
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	return slices.CompactFunc(all, func(a, b span) bool { return a.start == b.start })
}

// standsAlone reports whether no letter or digit stands beside a part of text.
func standsAlone(text string, part span) bool {
	before := part.start > 0 && isNameByte(text[part.start-1])
	after := part.end < len(text) && isNameByte(text[part.end])
	return !before && !after
}

func isNameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

var (
	parameterTag = pattern.Of(`(?s)<(?:[a-z]+:)?parameter(?:=|\s+name=)"?([\w.-]+)"?[^>]*>(.*?)` +
		`</(?:[a-z]+:)?parameter>`)
	parameterBar = pattern.Of(`(?s)<｜DSML｜parameter name="([\w.-]+)"[^>]*>(.*?)</｜DSML｜parameter>`)
	argumentPair = pattern.Of(`(?s)<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	childTag     = pattern.Of(`(?s)<([A-Za-z_][\w.-]*)>(.*?)</([A-Za-z_][\w.-]*)>`)
	attribute    = pattern.Of(`([A-Za-z_][\w.-]*)="([^"]*)"`)
	ownTag       = pattern.Of(`^(?:\s+[A-Za-z_][\w.-]*="[^"]*")*\s*/?>`)
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
	pairs := pairsInTag(rest)
	if len(pairs) > 0 {
		return fromPairs(pairs), true
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

// pairsInTag returns the names and values in a tag that has the tool's name, as attributes or as tags within it.
func pairsInTag(rest string) [][]string {
	start := ownTag().FindString(rest)
	if start == "" {
		return nil
	}
	pairs := attribute().FindAllStringSubmatch(start, -1)
	for _, child := range childTag().FindAllStringSubmatch(rest[len(start):], -1) {
		if child[1] == child[3] {
			pairs = append(pairs, child)
		}
	}
	return pairs
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
