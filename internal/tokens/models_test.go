package tokens_test

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"hark/internal/tokens"
)

func TestModels(t *testing.T) {
	t.Parallel()
	const (
		o200k  = tokenizer.O200kBase
		cl100k = tokenizer.Cl100kBase
		none   = ""
	)
	const telling = "Les éléphants 日本語 при 1234567\n    return x" // each encoding has another count of it
	counts := map[tokenizer.Encoding]int{}
	for _, encoding := range []tokenizer.Encoding{o200k, cl100k} {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		if counts[encoding], err = codec.Count(telling); err != nil {
			t.Fatal(err)
		}
	}
	if different := slices.Compact(slices.Sorted(maps.Values(counts))); len(different) != 2 {
		t.Fatalf("the counts %v don't tell encodings apart", counts)
	}
	for _, tc := range []struct {
		model    string
		encoding tokenizer.Encoding // none: estimated
		window   int
	}{
		{"gpt-4o", o200k, 128_000},
		{"gpt-4o-mini-2024-07-18", o200k, 128_000},
		{"openai/gpt-4o:free", o200k, 128_000},
		{"openrouter/openai/GPT-4o", o200k, 128_000},
		{" chatgpt-4o-latest ", o200k, 128_000},
		{"ft:gpt-4o-mini-2024-07-18:acme::7p4lURel", o200k, 128_000},
		{"gpt-4.1", o200k, 1_047_576},
		{"gpt-4.1-nano-2025-04-14", o200k, 1_047_576},
		{"gpt-4.5-preview", o200k, 128_000},
		{"gpt-5", o200k, 400_000},
		{"gpt-5.1-codex", o200k, 400_000},
		{"gpt-5-chat-latest", o200k, 128_000},
		{"o1", o200k, 200_000},
		{"o1-mini", o200k, 128_000},
		{"o3-mini-high", o200k, 200_000},
		{"o4-mini", o200k, 200_000},
		{"gpt-oss:20b", o200k, 131_072},
		{"openai.gpt-oss-120b-1:0", o200k, 131_072},
		{"gpt-4", cl100k, 8_192},
		{"gpt-4-0613", cl100k, 8_192},
		{"gpt-4-32k-0613", cl100k, 32_768},
		{"gpt-4-turbo-2024-04-09", cl100k, 128_000},
		{"gpt-4-1106-preview", cl100k, 128_000},
		{"gpt-3.5-turbo", cl100k, 16_385},
		{"gpt-3.5-turbo-0613", cl100k, 4_096},
		{"gpt-35-turbo", cl100k, 16_385},
		{"azure/gpt-35-turbo-16k", cl100k, 16_385},
		{"text-embedding-3-small", cl100k, 8_192},
		{"davinci-002", cl100k, 16_384},
		// OpenAI has switched these off, and Hark doesn't bring their vocabularies.
		{"text-davinci-003", none, 0},
		{"code-davinci-002", none, 0},
		{"text-davinci-001", none, 0},
		{"davinci", none, 0},
		{"babbage", none, 0},
		{"gpt2", none, 0},
		{"gpt-4-x-alpaca", none, 0},
		{"gpt-4-alpaca-13b", none, 0},
		{"gpt-4o-distil-llama-8b", none, 0},
		{"chavinlo/gpt4-x-alpaca", none, 0},
		{"gpt2-medium-german", none, 0},
		{"gpt-4-", none, 0},
		{"gpt-4o-search-preview-2025-03-11", o200k, 128_000},
		{"gpt-4o-mini-transcribe", o200k, 128_000},
		{"gpt-4o-audio-preview", o200k, 128_000},
		{"gpt-5.1-codex-max", o200k, 400_000},
		{"gpt-5.2-chat-latest", o200k, 400_000},
		{"o3-deep-research-2025-06-26", o200k, 200_000},
		{"o4-mini-high", o200k, 200_000},
		{"gpt-oss-safeguard-20b", o200k, 131_072},
		{"gpt-4-vision-preview", cl100k, 128_000},
		{"gpt-4-turbo-preview", cl100k, 128_000},
		{"gpt-3.5-turbo-instruct-0914", cl100k, 4_096},
		{"llama3.1:8b", none, 0},
		{"meta-llama/Llama-2-7b-chat-hf", none, 0},
		{"mistral-small-latest", none, 0},
		{"qwen3:4b", none, 0},
		{"gemma-3-27b-it", none, 0},
		{"deepseek-chat", none, 0},
		{"anthropic/claude-sonnet-4", none, 0},
		{"gpt-j-6b", none, 0},
		{"gpt-50", none, 0},
		{"gpt4all-falcon", none, 0},
		{"o1000", none, 0},
		{"openai/", none, 0},
		{"adamo", none, 0},
	} {
		if got := tokens.Window(tc.model); got != tc.window {
			t.Errorf("Window(%q) = %d, want %d", tc.model, got, tc.window)
		}
		c := tokens.For(tc.model)
		if got, want := c.Count(telling), counts[tc.encoding]; tc.encoding != none && got != want {
			t.Errorf("For(%q) counts %d, want %d", tc.model, got, want)
		} else if tc.encoding == none && slices.Contains(slices.Collect(maps.Values(counts)), got) {
			t.Errorf("For(%q) counts %d, as an encoding does: it isn't estimated", tc.model, got)
		}
	}
	if c := tokens.For(""); c.Count("日本語") != tokens.New().Count("日本語") {
		t.Error("without a model another encoding counts")
	}
}

// The library's package that has all encodings would bring two vocabularies more, 2.5 MB, that no current model uses.
func TestUnusedVocabulariesAreNotLinked(t *testing.T) {
	t.Parallel()
	listed, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(listed))
	if !slices.Contains(packages, "github.com/tiktoken-go/tokenizer/codec") {
		t.Error("the library isn't among what is imported")
	}
	if slices.Contains(packages, "github.com/tiktoken-go/tokenizer") {
		t.Error("github.com/tiktoken-go/tokenizer is imported, which links all vocabularies: import its package codec instead")
	}
}

// What is stored is only used where the model's count can be found from it.
func TestStored(t *testing.T) {
	t.Parallel()
	stored := tokens.New()
	for _, s := range scripts(t) {
		n := stored.Count(s.text)
		for _, model := range []string{"", "gpt-4o", "gpt-4", "llama3"} {
			c := tokens.For(model)
			got, want := c.Stored(s.text, n), c.Count(s.text)
			if recount := strings.HasPrefix(model, "gpt-4") && model != "gpt-4o"; recount {
				want = 0
			}
			if got != want {
				t.Errorf("For(%q).Stored(%s, %d) = %d, want %d", model, s.name, n, got, want)
			}
		}
	}
}

// script is a text of testdata/scripts.txt, with the most tokens that a model has for it.
type script struct {
	name, text string
	most       int
}

func scripts(tb testing.TB) []script {
	tb.Helper()
	data, err := os.ReadFile("testdata/scripts.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var all []script
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 7 {
			tb.Fatalf("%d fields in %q", len(fields), line)
		}
		s := script{name: fields[0], text: strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(fields[6])}
		for _, field := range fields[1:6] {
			n, err := strconv.Atoi(field)
			if err != nil {
				tb.Fatal(err)
			}
			s.most = max(s.most, n)
		}
		all = append(all, s)
	}
	return all
}

// The estimate is at least what any of seven models needs, and not much more: of plain English by 15 % at
// most.
func TestEstimate(t *testing.T) {
	t.Parallel()
	estimate, o200k, cl100k := tokens.For("llama2"), tokens.For("gpt-4o"), tokens.For("gpt-4")
	all := scripts(t)
	if len(all) < 60 {
		t.Fatalf("%d texts", len(all))
	}
	for _, s := range all {
		most := max(s.most, o200k.Count(s.text), cl100k.Count(s.text))
		bound := 1.65
		if strings.HasPrefix(s.name, "english ") && s.name != "english capitals" {
			bound = 1.15
		}
		if n := estimate.Count(s.text); n < most || float64(n) > bound*float64(most) {
			t.Errorf("%s: estimated %d, a model has %d", s.name, n, most)
		}
	}
	sum, most := 0, 0
	for _, s := range all {
		sum, most = sum+estimate.Count(s.text), most+max(s.most, cl100k.Count(s.text))
	}
	if float64(sum) > 1.2*float64(most) {
		t.Errorf("%d tokens are estimated for all, %d are needed", sum, most)
	}
}

func TestEstimateOfLittle(t *testing.T) {
	t.Parallel()
	c := tokens.For("unknown")
	for text, want := range map[string]int{
		"": 0, "a": 1, " ": 1, "\n": 1, "7": 1, "77": 2, "777": 3, "1234567": 7, "12ab34": 6, "語": 2, "🔥": 4, "\U0001F9FF": 4, "\x00": 1,
		"\n\n\n\n": 4, "the": 2, "so the": 3, "hello world": 3, "Привет": 5,
	} {
		if got := c.Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}
