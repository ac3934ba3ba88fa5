package stream

import (
	"slices"
	"strings"
)

// meaning is what a mark in a model's text does.
type meaning int

const (
	noMark   meaning = iota
	dropped          // the mark isn't shown
	ends             // the answer ends here: what follows is a turn that the model made up
	calling          // a call of a tool begins here
	thinks           // a thought begins here
	thought          // a thought ends here
	mayBegin         // it takes more text to tell
)

// mark is what a text begins with.
type mark struct {
	what   meaning
	length int
	shut   shutter // of a thought that begins
}

// shutter is what ends a thought.
type shutter struct {
	marks []string
	tag   string // a tag's name, in lower case; empty: none
}

func (s shutter) isNone() bool { return s.marks == nil && s.tag == "" }

// longestSpace bounds the white space within a tag that ends a thought, in bytes.
const longestSpace = 20

// at returns the length of what ends the thought if text begins with that; may: it takes more text to tell.
func (s shutter) at(text string) (length int, may bool) {
	for _, shut := range s.marks {
		whole, begun := begins(text, shut)
		if whole {
			return len(shut), false
		}
		may = may || begun
	}
	if s.tag == "" {
		return 0, may
	}
	start := "</" + s.tag
	whole, begun := begins(text, start)
	if !whole {
		return 0, may || begun
	}
	rest := strings.TrimLeft(text[len(start):], " \t\r\n")
	length = len(text) - len(rest)
	switch {
	case rest == "":
		return 0, length-len(start) < longestSpace
	case rest[0] == '>' && length-len(start) < longestSpace:
		return length + 1, false
	}
	return 0, may
}

// thoughtMarks open and close a model's thoughts amid its answer, besides tags such as <think>. Those in small letters
// count in any case.
var thoughtMarks = []struct {
	open, shut string
	headless   bool // a template may have written the beginning
}{
	{"[THINK]", "[/THINK]", true},                    // Mistral
	{"◁think▷", "◁/think▷", true},                    // Kimi
	{"<|START_THINKING|>", "<|END_THINKING|>", true}, // Command A
	{"<unused94>", "<unused95>", true},               // MedGemma
	{"<|begin_of_thought|>", "<|end_of_thought|>", true},
	{"<|inner_prefix|>", "<|inner_suffix|>", true},     // Apertus
	{"<|channel>thought", "<channel|>", true},          // Gemma
	{"<|channel|>analysis", "<|end|>", false},          // gpt-oss, where a server lets its channels through
	{`<details type="reasoning"`, "</details>", false}, // Open WebUI
	{"<|channel|>commentary<|message|>", "<|end|>", false},
}

// thoughtNames are the names of tags round thoughts, in lower case and with low lines for hyphens.
var thoughtNames = []string{"think", "thinking", "thought", "thoughts", "reasoning", "reason", "reflection", "scratchpad",
	"analysis", "monologue", "inner_monologue", "internal_monologue", "inner_thought", "inner_thoughts",
	"internal_thought", "internal_thoughts", "internal_thinking", "internal_reasoning", "thinking_process",
	"thought_process", "reasoning_process", "thinking_mode", "chain_of_thought", "cot", "antthinking", "seed:think",
	"think:opensource", "deliberation"}

// plainMarks are all other marks.
var plainMarks = map[meaning][]string{
	dropped: {
		"<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>final", "<|return|>", "<|call|>", "<|end|>",
		"<|begin|>assistant", "<|content|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|message|>",
		"<|begin_of_box|>", "<|end_of_box|>", "<|im_start|>assistant", "<|assistant|>", "<start_of_turn>model",
		"<|start_header_id|>assistant<|end_header_id|>", "<｜Assistant｜>", "<｜begin▁of▁sentence｜>", "<|begin_of_text|>",
		"<bos>", "<|im_sep|>", "<pad>", "<unk>", "[BOS]", "<|end_of_solution|>",
	},
	ends: {
		"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
		"<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>", "[/INST]", "[INST]", "<|user|>", "<|system|>", "<|observation|>",
		"<|im_start|>", "<EOT>", "<eos>", "<|eos|>", "<|eot|>", "[EOS]", "<</SYS>>", "<<SYS>>", "[e~[",
		"<start_of_turn>user", "<|start_header_id|>", "<｜User｜>", "<|end_of_turn|>",
		"<|END_OF_TURN_TOKEN|>", "<|endofprompt|>", "<|start|>", "<|END_OF_SENTENCE|>", "[|endofturn|]",
		"<end_of_utterance>", "<|turn_end|>", "<turn|>", "<_end>", "<extra_id_1>", "<SPECIAL_11>", "<SPECIAL_12>",
	},
	calling: {
		"<tool_call>", "<tool_call name=", "<tool_calls>", "<function=", "<function_call>", "<function_calls>",
		"<function name=", "<function(", "<function/",
		"<|tool_call|>", "<|tool_calls|>", "<|python_tag|>", "[TOOL_CALLS]", "[TOOL_CALL]",
		"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>",
		"<minimax:tool_call>", "<invoke name=", "<tool_use>", "<tool_code>", "<|action_start|>", "<|plugin|>",
		"<|channel|>commentary to=", "<start_function_call>", "<|START_ACTION|>", "<seed:tool_call>", "<|function_call|>",
		"<toolcall>", "<｜DSML｜", "<|tool_call>", "<tool>", "<tools>", "<|tool_call_start|>", "<longcat_tool_call>",
		"<|function_calls|>", "<|recipient|>", "<antml:function_calls>", "<antml:invoke name=", "✿FUNCTION✿",
	},
}

// plainMark is one of plainMarks.
type plainMark struct {
	text string
	what meaning
}

// byStart has plainMarks by their first two bytes, so that a text of many signs and no marks is read fast.
var byStart = func() map[string][]plainMark {
	all := map[string][]plainMark{}
	for what, marks := range plainMarks {
		for _, text := range marks {
			all[text[:2]] = append(all[text[:2]], plainMark{text, what})
		}
	}
	return all
}()

// signs are what marks begin with.
const signs = "<[◁✿"

// markAt returns what text begins with: of several marks, the longest.
func markAt(text string) mark {
	for _, find := range []func(string) mark{thoughtMarkAt, plainMarkAt, tagAt, tokenAt} {
		found := find(text)
		if found.what != noMark {
			return found
		}
	}
	return mark{}
}

// thoughtMarkAt finds one of thoughtMarks.
func thoughtMarkAt(text string) mark {
	may := false
	for _, t := range thoughtMarks {
		opens, mayOpen := begins(text, t.open)
		shuts, mayShut := begins(text, t.shut)
		switch {
		case opens:
			return mark{
				what:   thinks,
				length: len(t.open),
				shut:   shutter{marks: []string{t.shut}},
			}
		case shuts && t.headless:
			return mark{what: thought, length: len(t.shut)}
		}
		may = may || mayOpen || mayShut && t.headless
	}
	if may {
		return mark{what: mayBegin}
	}
	return mark{}
}

// bareThoughtAt finds the thought with which an answer of gpt-oss begins where a server left out the tokens round the
// names of its channels: "analysisWe need …assistantfinal". A word that goes on in small letters is none.
func bareThoughtAt(text string) mark {
	const open = "analysis"
	rest, is := strings.CutPrefix(text, open)
	switch {
	case !is && strings.HasPrefix(open, text) && text != "", is && rest == "":
		return mark{what: mayBegin}
	case !is || rest[0] < 'A' || 'Z' < rest[0]:
		return mark{}
	}
	return mark{
		what:   thinks,
		length: len(open),
		shut:   shutter{marks: []string{"assistantfinal", "assistantcommentary "}},
	}
}

// plainMarkAt finds the longest of plainMarks.
func plainMarkAt(text string) mark {
	found := mark{}
	may := 0
	for _, known := range marksLike(text) {
		whole, begun := begins(text, known.text)
		switch {
		case whole && len(known.text) > found.length:
			found = mark{what: known.what, length: len(known.text)}
		case begun:
			may = max(may, len(known.text))
		}
	}
	if may > found.length {
		return mark{what: mayBegin}
	}
	return found
}

// marksLike returns those of plainMarks that text may begin with.
func marksLike(text string) []plainMark {
	if len(text) < 2 {
		return []plainMark{{text: text + "…"}}
	}
	start := text[:2]
	lower := lowerASCII(start)
	if lower == start {
		return byStart[start]
	}
	return slices.Concat(byStart[start], byStart[lower])
}

// begins reports whether text begins with mark, and whether it may once there is more of it. The small letters of
// a mark stand for capitals, too.
func begins(text, mark string) (whole, begun bool) {
	n := min(len(text), len(mark))
	for i := range n {
		if text[i] != mark[i] && lowerByte(text[i]) != mark[i] {
			return false, false
		}
	}
	return n == len(mark), n < len(mark)
}

// longestTag bounds a tag with its attributes, in bytes.
const longestTag = 200

// tagAt returns what the tag does that text begins with: <think>, </think>, or with attributes.
func tagAt(text string) mark {
	rest, isTag := strings.CutPrefix(text, "<")
	if !isTag {
		return mark{}
	}
	rest, closes := strings.CutPrefix(rest, "/")
	name := rest[:nameLength(rest)]
	after := rest[len(name):]
	lower := strings.ReplaceAll(lowerASCII(name), "-", "_")
	mayBecome := func(known string) bool { return strings.HasPrefix(known, lower) }
	if after == "" && slices.ContainsFunc(thoughtNames, mayBecome) {
		return mark{what: mayBegin}
	}
	if !slices.Contains(thoughtNames, lower) || after == "" {
		return mark{}
	}
	end := strings.IndexAny(after, "<>\n")
	length := len(text) - len(after) + end + 1
	switch {
	case end < 0 && len(after) < longestTag && (isSpace(after[0]) || after == "/"):
		return mark{what: mayBegin}
	case end < 0 || after[end] != '>':
		return mark{}
	case strings.TrimLeft(after[:end], " \t") == "/":
		return mark{what: dropped, length: length}
	case end > 0 && !isSpace(after[0]):
		return mark{}
	case closes:
		return mark{what: thought, length: length}
	}
	return mark{
		what:   thinks,
		length: length,
		shut:   shutter{tag: lowerASCII(name)},
	}
}

// nameLength returns how many bytes of text are a tag's name.
func nameLength(text string) (n int) {
	for n < len(text) && n <= longestName {
		c := lowerByte(text[n])
		if c != ':' && c != '_' && c != '-' && (c < 'a' || c > 'z') {
			break
		}
		n++
	}
	return n
}

// longestName bounds the name of a tag or a token, in bytes.
const longestName = 60

// tokenAt returns what the token does that text begins with, such as <|end_of_message|>: models have many, and none is
// for members.
func tokenAt(text string) mark {
	bar := ""
	for _, known := range []string{"|", "｜"} {
		whole, begun := begins(text, "<"+known)
		if begun {
			return mark{what: mayBegin}
		}
		if whole {
			bar = known
		}
	}
	if bar == "" {
		return mark{}
	}
	rest := text[len("<"+bar):]
	name := rest[:tokenLength(rest)]
	rest = rest[len(name):]
	whole, begun := begins(rest, bar+">")
	switch {
	case name == "" && rest != "" || len(name) > longestName:
		return mark{}
	case begun:
		return mark{what: mayBegin}
	case !whole:
		return mark{}
	}
	length := len(text) - len(rest) + len(bar+">")
	return token(strings.ReplaceAll(lowerASCII(name), "▁", "_"), length)
}

// tokenLength returns how many bytes of text are a token's name.
func tokenLength(text string) (n int) {
	const low = "▁"
	for n < len(text) && n <= longestName {
		c := lowerByte(text[n])
		switch {
		case c == '_' || c == '-' || c == '/' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z':
			n++
		case strings.HasPrefix(text[n:], low):
			n += len(low)
		default:
			return n
		}
	}
	return n
}

// turns are the names of tokens with which a turn begins that isn't the model's.
var turns = []string{"user", "human", "system", "developer", "tool", "tool_response", "tool_result", "observation",
	"context", "ipython", "knowledge", "function_response"}

// token returns what a token of that name does.
func token(name string, length int) mark {
	switch {
	case slices.Contains(thoughtNames, name):
		return mark{
			what:   thinks,
			length: length,
			shut:   shutter{marks: []string{"<|/" + name + "|>", "<|end|>"}},
		}
	case slices.Contains(turns, name), strings.HasPrefix(name, "end"), strings.HasPrefix(name, "eo"),
		strings.HasPrefix(name, "stop"), strings.HasSuffix(name, "_end"):
		return mark{what: ends, length: length}
	case strings.HasPrefix(name, "tool"):
		return mark{what: calling, length: length}
	}
	return mark{what: dropped, length: length}
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' }

func lowerByte(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// lowerASCII keeps every byte in its place, as strings.ToLower doesn't.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}
