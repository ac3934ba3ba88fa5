package stream

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// filtered lets text through in pieces of n characters.
func filtered(said string, n int) (shown, passed string) {
	var f text
	var out strings.Builder
	for said != "" {
		end := 0
		for range n {
			_, size := utf8.DecodeRuneInString(said[end:])
			end += size
		}
		out.WriteString(f.write(said[:end]))
		said = said[end:]
	}
	rest, _ := f.end()
	out.WriteString(rest)
	return f.shown.String(), out.String()
}

func TestThoughts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "",
		"plain":                             "plain",
		"<think>secret</think>\n\n  answer": "answer",
		"before <think>secret</think>after": "before after",
		"<THINK>secret</Think>answer":       "answer",
		"<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>answer<|return|>": "answer",
		"<|start|>assistant<|channel|>commentary<|message|>secret<|end|>a <| b":                                    "a <| b",
		"<thinking>secret</think></thinking>answer":                                                                "answer",
		"<think>secret <think> </thinking></think>answer":                                                          "answer",
		"<think>a</think>b<think>c</think>d":                                                                       "bd",
		"a<think>secret":                                                                                           "a",
		"a<think>secret</thin":                                                                                     "a",
		"<think></think>":                                                                                          "",
		"a < b <thi <thinker> <th":                                                                                 "a < b <thi <thinker> <th",
		"<<think>secret</think>>":                                                                                  "<>",
		"<th<think>secret<</think>ink>":                                                                            "<think>",
		"secret\nsecret\n</think>\n\nanswer":                                                                       "answer",
		"secret\n  </THINK>answer":                                                                                 "answer",
		"</think>answer":                                                                                           "answer",
		"we write </think> at its end":                                                                             "we write </think> at its end",
		"<think>s</think>a\n</think>\nb":                                                                           "a\n</think>\nb",
		"\u00a0\u3000 \n<think>s</think>\u2003schön 語 🔥\n":                                                         "schön 語 🔥\n",
		"İ<think>s</think>K</think>":                                                                               "İK</think>",
		"<seed:think>secret</seed:think>answer":                                                                    "answer",
		"<think:opensource>secret</think:opensource>answer":                                                        "answer",
		"[THINK]secret [/think] [1][/THINK]answer [1][2] [think] [THIN":                                            "answer [1][2] [think] [THIN",
		"◁think▷secret◁/think▷answer ◁ ◁x▷":                                                                        "answer ◁ ◁x▷",
		"secret\n◁/think▷answer":                                                                                   "answer",
		"secret\n[/THINK]answer":                                                                                   "answer",
		"<Reasoning>secret</reasoning>a<thought>secret</thought>nswer":                                             "answer",
		"<|START_THINKING|>secret<|END_THINKING|><|START_RESPONSE|>answer<|END_RESPONSE|>":                         "answer",
		"<unused94>thought\nsecret<unused95>answer":                                                                "answer",
		"<|begin_of_thought|>secret<|end_of_thought|>answer":                                                       "answer",
		"<|channel>thought\nsecret<channel|>answer":                                                                "answer",
		"<|channel|>commentary to=functions.pay <|constrain|>json<|message|>{}<|end|>answer<|call|>":               "",
		"<|think|>secret<|end|><|begin|>assistant<|content|>answer<|end|>":                                         "answer",
		"<|inner_prefix|>secret<|inner_suffix|>answer":                                                             "answer",
		"<think>secret</think >\n<think\t>secret</think\n>answer":                                                  "answer",
		"<inner-thought>secret</inner-thought><thought_process>s</thought_process>answer":                          "answer",
		"<think/>answer<think />":                                                                                  "answer",
		"<think>secret<think>secret</think>secret</think>answer":                                                   "answer",
		"<|thinking|>secret<|/thinking|><|think|>secret<|/think|>answer":                                           "answer",
		"<details type=\"reasoning\" done=\"true\">\nsecret</details>answer":                                       "answer",
		"secret</details>answer":                                                                                   "secret</details>answer",
		"<answer>answer</answer>":                                                                                  "answer",
		"<think>secret</think>\n<response>\nanswer\n</response>":                                                   "answer\n",
		"an <answer> tag </answer>":                                                                                "an <answer> tag </answer>",
		"<|begin_of_solution|>answer<|end_of_solution|>":                                                           "answer",
		"answer<|end_of_message|>secret":                                                                           "answer",
		"answer<|im_start|>tool\nsecret":                                                                           "answer",
		"answer<|IM_END|>secret":                                                                                   "answer",
		"answer<pad><pad><|unknown_token|>[EOS]secret":                                                             "answer",
		"answer<|endoftext":                                                                                        "answer",
		"a <| b |> c <||> d <|x y|> <｜x":                                                                           "a <| b |> c <||> d <|x y|> ",
		"write `<think>`, `<|end|>` and `<|x|>`":                                                                   "write `<think>`, `<|end|>` and `<|x|>`",
		"```\n<think>\n```\n<think>secret</think>answer":                                                           "```\n<think>\n```\nanswer",
		"secret ```\n</think>answer":                                                                               "answer",
		"<s>old</s> is struck</s>secret":                                                                           "<s>old</s> is struck</s>secret",
		"list <T>, <think>" + strings.Repeat("s", 5000) +
			"x": "list <T>, ",
	} {
		for n := 1; n < 20; n++ {
			shown, passed := filtered(text, n)
			if shown != want {
				t.Errorf("%q in pieces of %d: %q; want %q", text, n, shown, want)
			}
			if !strings.HasSuffix(passed, shown) {
				t.Errorf("%q in pieces of %d: passed on %q", text, n, passed)
			}
		}
	}
}

func FuzzThoughts(f *testing.F) {
	f.Add("Hello <think>secret</think> world", uint8(1))
	f.Add("<thinking>\nhm <think> </thinking>\n\nIt < is", uint8(3))
	f.Add("secret\n</think>\n\nanswer", uint8(5))
	f.Add("</think></THINK><think</think>", uint8(2))
	f.Add("[THINK]a[/THINK]◁think▷b◁/think▷ c [1]", uint8(0))
	f.Add("\u3000\n é<think>語</think>🔥<thi", uint8(7))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		text = strings.ToValidUTF8(text, "?")
		whole, _ := filtered(text, len(text)+1)
		shown, passed := filtered(text, int(n)+1)
		if shown != whole {
			t.Fatalf("%q whole, %q in pieces of %d", whole, shown, int(n)+1)
		}
		if !strings.HasSuffix(passed, shown) {
			t.Fatalf("passed on %q, shown %q", passed, shown)
		}
		if !strings.ContainsAny(text, signs) {
			if want := strings.TrimLeft(text, " \n"); strings.TrimSpace(shown) != strings.TrimSpace(want) {
				t.Fatalf("%q became %q", text, shown)
			}
		}
	})
}
