package stream

import (
	"fmt"
	"strings"
	"testing"
)

var tools = []string{"search_memory", "current_time"}

// called is what a text in pieces of n characters shows and calls.
func called(said string, n int) string {
	f := text{tools: tools}
	var out strings.Builder
	piece := 0
	begun := 0
	for at := range said {
		if piece == n {
			out.WriteString(f.write(said[begun:at]))
			begun = at
			piece = 0
		}
		piece++
	}
	out.WriteString(f.write(said[begun:]))
	rest, calls := f.end()
	out.WriteString(rest)
	for _, c := range calls {
		fmt.Fprintf(&out, "⟶%s(%s)", c.Name, c.Arguments)
	}
	return out.String()
}

// A text that is a call of a tool is one, in whatever way models write it, and isn't shown.
func TestCallsInText(t *testing.T) {
	t.Parallel()
	const (
		object = `{"name":"search_memory","arguments":{"query":"x"}}`
		want   = `⟶search_memory({"query":"x"})`
		prefix = "an" + "tml:"
	)
	for text, want := range map[string]string{
		object: want,
		"```tool_code\nprint(search_memory(query=\"x\"))\n```":                                   want,
		`<tool_call name="search_memory">{"query":"x"}</tool_call>`:                              want,
		"<search_memory>\n<query>x</query>\n</search_memory>":                                    want,
		`<search_memory query="x"/>`:                                                             want,
		"I look:\n\n" + object:                                                                   "I look:\n\n" + want,
		"I look:\n\n```json\n" + object + "\n```":                                                "I look:\n\n" + want,
		"// I look\n" + object:                                                                   "// I look\n" + want,
		`{'name': 'search_memory', 'arguments': {'query': 'x'}}`:                                 want,
		`<tool_call>{"name":"search_memory","arguments":{"query":"x",}}</tool_call>`:             want,
		"<tool_call>{\"name\":\"search_memory\",\"arguments\":{\"query\":\"x\ny\"}}</tool_call>": `⟶search_memory({"query":"x\ny"})`,
		"**search_memory**\n```json\n{\"query\":\"x\"}\n```":                                     want,
		"`search_memory(query=\"x\")`":                                                           want,
		"<tools>\n" + object + "\n</tools>":                                                      want,
		"✿FUNCTION✿: search_memory\n✿ARGS✿: {\"query\": \"x\"}\n✿RESULT✿":                        `⟶search_memory({"query": "x"})`,
		`<|tool_call>call:search_memory{query:<|"|>x<|"|>}<tool_call|>`:                          want,
		"<" + prefix + "function_calls>\n<" + prefix + "invoke name=\"search_memory\">\n<" + prefix +
			"parameter name=\"query\">x</" + prefix + "parameter>\n</" + prefix + "invoke>": want,
		`<tool_call>{"name":"web_search","arguments":{"query":"x"}}</tool_call>`:  `⟶web_search({"query":"x"})`,
		`{"name":"web_search","arguments":{"query":"x"}}`:                         `⟶web_search({"query":"x"})`,
		"```json\n{\"name\":\"web_search\",\"arguments\":{\"query\":\"x\"}}\n```": `⟶web_search({"query":"x"})`,
		"<tool_call>my_search_memory search_memory{\"query\":\"x\"}":              want,
		`<tool_call>{"name":"search_memory","argu`:                                "",
		"<tool_call>":  "",
		"<tool_call> ": "",
	} {
		for n := 1; n < 40; n++ {
			if got := called(text, n); got != want {
				t.Errorf("%q in pieces of %d: %q; want %q", text, n, got, want)
				break
			}
		}
	}
}

// A text that only begins like a call, or speaks of one, is shown.
func TestNoCallsInText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Write <tool> and <tool_call>, or <tools>.",
		"search_memory (my tool) says: it is Friday.",
		"It is so:\nsearch_memory (my tool) says it.",
		`{"name":"Tom","age":5}`,
		`{"name":"Tom","arguments":{"for":1}} is what he wrote.`,
		"Thought: it is Friday.\nAction: none",
		">>> quoted\ntext",
		"[1] says so.\n[ 2 ] too.",
		"**Sources**\n`a`\n```go\nfunc f() {}\n```\n",
		"```python\nprint(1)\n```\nThat is all.",
		"[" + strings.Repeat(" ", 300) + "1]",
		"{" + strings.Repeat("\t", 300) + "}",
		"<current_timer>",
	} {
		for n := 1; n < 40; n++ {
			if got := called(text, n); got != text {
				t.Errorf("%q in pieces of %d: %q", text, n, got)
				break
			}
		}
	}
}

func FuzzCalls(f *testing.F) {
	f.Add("I look:\n```json\n{\"name\":\"search_memory\",\"arguments\":{}}\n```", uint8(3))
	f.Add("<tool_call>search_memory(query='x')", uint8(1))
	f.Add("[search_memory(a=1), current_time()]", uint8(5))
	f.Add("<search_memory a=\"1\"/><answer>x</answer>", uint8(2))
	f.Add("{'name': None, \"parameters\": {a: [1,],},}", uint8(0))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		text = strings.ToValidUTF8(text, "?")
		whole := called(text, len(text)+1)
		pieces := called(text, int(n)+1)
		if !strings.HasSuffix(pieces, whole) && !strings.HasSuffix(whole, pieces) {
			t.Fatalf("%q whole, %q in pieces of %d", whole, pieces, int(n)+1)
		}
	})
}

// Text that is made to be slow to read takes no longer than other text: else this test runs for many minutes.
func TestHostileText(t *testing.T) {
	t.Parallel()
	const size = 1 << 18
	for _, part := range []string{"<", "[", "{", "{\"", "[[", "<|", "`<s>", "``` </s>", "x</think>", "</think>",
		"<think><think>", "<think></think", "[ ", "Action: ", "search_memory ", "\n{", "\n[", "\n```\n", "<tool> ", "<|x|>",
		"<answer>", "\n`", "◁", "<｜▁", "</think ", "<tool_call"} {
		called(strings.Repeat(part, size/len(part)), 4096)
		called(strings.Repeat(part, size/16/len(part)), 1)
	}
	for _, part := range []string{"[", "{\"", "{'", "{}", "search_memory(", "search_memory{", "<parameter=a>", "a=", "<a>"} {
		called("<tool_call>search_memory"+strings.Repeat(part, size/len(part)), 4096)
		called("<tool_call>search_memory"+strings.Repeat(part, maxWritten/2/len(part)), 1)
	}
}
