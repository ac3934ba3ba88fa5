package llamatest

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// walker writes with a model's file as the server does: the likeliest token next, from the end of any prompt.
type walker struct {
	in    tensor
	out   tensor
	words []string
}

func newWalker(t *testing.T, m *Model) walker {
	p := parse(t, m.Write(t))
	return walker{
		in:    p.tensors["token_embd.weight"],
		out:   p.tensors["output.weight"],
		words: p.facts["tokenizer.ggml.tokens"].([]string),
	}
}

// next returns the likeliest token after one, with biases, and how much likelier it is than the second.
func (w walker) next(token int, bias map[int]float64) (next int, lead float64) {
	state := w.in.row(token)
	var squares float64
	for _, x := range state {
		squares += float64(x * x)
	}
	norm := math.Sqrt(squares / float64(len(state)))
	best := math.Inf(-1)
	second := best
	for i := range w.words {
		logit := bias[i]
		for column, weight := range w.out.row(i) {
			logit += float64(weight*state[column]) / norm
		}
		if logit > best {
			second = best
			best = logit
			next = i
		} else {
			second = max(second, logit)
		}
	}
	return next, best - second
}

// write writes up to a number of tokens, and reports whether the text ended.
func (w walker) write(t *testing.T, bias map[int]float64, most int) (text string, ended bool) {
	t.Helper()
	token := len("first") // any
	for range most {
		next, lead := w.next(token, bias)
		if lead < 15 {
			t.Errorf("after %q, %q leads by %.1f only", w.words[token], w.words[next], lead)
		}
		if next == endToken {
			return text, true
		}
		if !strings.HasPrefix(w.words[next], "<|script ") {
			text += w.words[next]
		}
		token = next
	}
	return text, false
}

// unescaped is the text of escaped tokens.
func unescaped(t *testing.T, tokens string) string {
	t.Helper()
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(tokens, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestModelWritesItsScripts(t *testing.T) {
	t.Parallel()
	scripts := []Script{
		{Name: "answer", Text: "The report is due on Friday [1]."},
		{Name: "again", Text: "The report is due on Friday [1]. The report is due on Friday [1]."},
		{Name: "marks", Text: "<think>\nGrüße, \\ 締め切りは\x00金曜日\n</think>\n\n\"Friday\""},
		{Name: "short", Text: "no"},
		{Name: "words", Text: "the answer the answer"},
	}
	m := NewModel(scripts...)
	w := newWalker(t, m)
	for _, s := range scripts {
		text, ended := w.write(t, m.Bias(s.Name), 100)
		if !ended || unescaped(t, text) != s.Text {
			t.Errorf("%s: wrote %q", s.Name, text)
		}
	}
	text, _ := w.write(t, nil, 100)
	if text != scripts[0].Text {
		t.Errorf("without a choice it wrote %q", text)
	}
}

func TestEndlessScriptBeginsAgain(t *testing.T) {
	t.Parallel()
	m := NewModel(Script{Name: "on", Text: "and so on, ", Endless: true})
	text, ended := newWalker(t, m).write(t, nil, 20)
	if ended || !strings.HasPrefix(text, strings.Repeat("and so on, ", 5)) {
		t.Errorf("it wrote %q", text)
	}
}

func TestPromptsHaveTokensOfRealModelsLength(t *testing.T) {
	t.Parallel()
	const prompt = "Answer the current query naturally, in its language. Refer to what was said before where it helps."
	known := newVocabulary()
	tokens := 0
	for rest := prompt; rest != ""; tokens++ {
		length := len(rest)
		for !known.has(rest[:length]) {
			length--
		}
		rest = rest[length:]
	}
	if tokens < len(prompt)/6 || tokens > len(prompt)/3 {
		t.Errorf("%d tokens for %d bytes", tokens, len(prompt))
	}
}
