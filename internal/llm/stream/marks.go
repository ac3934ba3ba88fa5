package stream

import (
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

// thoughtMarks open and close a model's thoughts amid its answer, besides tags such as <think>. Those in small letters
// count in any case.
var thoughtMarks = []struct{ open, shut string }{
	{"[THINK]", "[/THINK]"},                    // Mistral
	{"◁think▷", "◁/think▷"},                    // Kimi
	{"<|START_THINKING|>", "<|END_THINKING|>"}, // Command A
	{"<|begin_of_thought|>", "<|end_of_thought|>"},
	{"<|inner_prefix|>", "<|inner_suffix|>"}, // Apertus
	{"<|channel>thought", "<channel|>"},      // Gemma
	{"<|channel|>analysis", "<|end|>"},       // gpt-oss, where a server lets its channels through
	{"<|channel|>commentary<|message|>", "<|end|>"},
	{"<|think|>", "<|end|>"}, // Solar
}

// thoughtNames are the names of tags round thoughts, in lower case.
var thoughtNames = []string{"think", "thinking", "thought", "thoughts", "reasoning", "reason", "reflection", "scratchpad",
	"analysis", "monologue", "inner_monologue", "internal_monologue", "inner_thoughts", "thinking_process",
	"chain_of_thought", "cot", "antthinking", "seed:think", "think:opensource", "deliberation"}

// plainMarks are all other marks.
var plainMarks = map[meaning][]string{
	dropped: {
		"<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>final", "<|return|>", "<|call|>", "<|end|>",
		"<|begin|>assistant", "<|content|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|message|>",
		"<|begin_of_box|>", "<|end_of_box|>", "<|im_start|>assistant", "<|assistant|>", "<start_of_turn>model",
		"<|start_header_id|>assistant<|end_header_id|>", "<｜Assistant｜>", "<｜begin▁of▁sentence｜>", "<|begin_of_text|>",
		"<bos>", "<|im_sep|>",
	},
	ends: {
		"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
		"<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>", "[/INST]", "[INST]", "<|user|>", "<|system|>", "<|observation|>",
		"<|im_start|>user", "<|im_start|>system", "<|im_start|>tool", "<EOT>", "<eos>", "<|eos|>", "<|eot|>",
		"<start_of_turn>user", "<|start_header_id|>user", "<|start_header_id|>system", "<｜User｜>", "<|end_of_turn|>",
		"<|END_OF_TURN_TOKEN|>", "<|endofprompt|>", "<|start|>user", "<|END_OF_SENTENCE|>", "[|endofturn|]",
		"<end_of_utterance>", "<|turn_end|>", "<turn|>",
	},
	calling: {
		"<tool_call>", "<tool_calls>", "<function=", "<function_call>", "<function_calls>", "<|tool_call|>",
		"<|tool_calls|>", "<|python_tag|>", "[TOOL_CALLS]", "[TOOL_CALL]", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>",
		"<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<minimax:tool_call>", "<invoke name=", "<tool_use>",
		"<tool_code>", "<|action_start|>", "<|plugin|>", "<|channel|>commentary to=", "<start_function_call>",
		"<|START_ACTION|>", "<seed:tool_call>", "<|function_call|>", "<toolcall>", "<｜DSML｜", "<|tool_call>", "<tool>",
		"<|tool_call_start|>", "<longcat_tool_call>", "<|function_calls|>", "<|recipient|>",
	},
}

// signs are what marks begin with.
const signs = "<[◁"

// markAt returns what text begins with, and its length. shut is what ends a thought that begins.
func markAt(text string) (what meaning, length int, shut string) {
	may := false
	for _, t := range thoughtMarks {
		opens, mayOpen := begins(text, t.open)
		shuts, mayShut := begins(text, t.shut)
		switch {
		case opens:
			return thinks, len(t.open), t.shut
		case shuts && !strings.HasPrefix(t.shut, "<|end|>"):
			return thought, len(t.shut), ""
		}
		may = may || mayOpen || mayShut
	}
	for what, marks := range plainMarks {
		for _, mark := range marks {
			whole, begun := begins(text, mark)
			if whole {
				return what, len(mark), ""
			}
			may = may || begun
		}
	}
	what, length, shut = tagAt(text)
	if what == noMark && may {
		return mayBegin, 0, ""
	}
	return what, length, shut
}

// begins reports whether text begins with mark, and whether it may once there is more of it.
func begins(text, mark string) (whole, begun bool) {
	start := text[:min(len(text), len(mark))]
	if !strings.HasPrefix(mark, start) && !strings.HasPrefix(mark, lowerASCII(start)) {
		return false, false
	}
	return len(start) == len(mark), len(start) < len(mark)
}

// longestTag bounds a tag with its attributes, in bytes.
const longestTag = 200

// tagAt returns what the tag does that text begins with: <think>, </think>, or with attributes.
func tagAt(text string) (what meaning, length int, shut string) {
	rest, isTag := strings.CutPrefix(text, "<")
	if !isTag {
		return noMark, 0, ""
	}
	rest, closes := strings.CutPrefix(rest, "/")
	name := rest[:nameLength(rest)]
	after := rest[len(name):]
	for _, known := range thoughtNames {
		if after == "" && strings.HasPrefix(known, lowerASCII(name)) {
			return mayBegin, 0, ""
		}
		if lowerASCII(name) != known {
			continue
		}
		end := strings.IndexAny(after, "<>\n")
		switch {
		case end < 0 && len(after) < longestTag && isSpace(after[0]):
			return mayBegin, 0, ""
		case end < 0 || after[end] != '>' || end > 0 && !isSpace(after[0]):
			return noMark, 0, ""
		case closes:
			return thought, len(text) - len(after) + end + 1, ""
		}
		return thinks, len(text) - len(after) + end + 1, "</" + known + ">"
	}
	return noMark, 0, ""
}

func nameLength(text string) (n int) {
	for n < len(text) {
		c := text[n] | 0x20
		if c != ':' && text[n] != '_' && (c < 'a' || c > 'z') {
			break
		}
		n++
	}
	return n
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' }

// lowerASCII keeps every byte in its place, as strings.ToLower doesn't.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// isCode reports whether what follows text stands in a block or a span of code.
func isCode(text string) bool {
	if strings.Count(text, "```")%2 == 1 {
		return true
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.Count(line, "`")%2 == 1
}
