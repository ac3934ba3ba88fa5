package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hark/internal/golden"
	"hark/internal/llmtest"
)

// hostile are texts that have broken programs, and what is stored; "" means the text itself.
var hostile = map[string]struct{ text, kept string }{
	"NUL":             {"zebra\x00 cros\x00sing", "zebra crossing"},
	"invalid UTF-8":   {"zebra \xff\xfe\xc0\xaf end", "zebra \uFFFD end"},
	"cut rune":        {"zebra \xe6\x97", "zebra \uFFFD"},
	"bidi controls":   {"zebra \u202egnissorc\u202c \u2066x\u2069", ""},
	"escape codes":    {"zebra \x1b[31mred\x1b]0;title\x07 \u009b2J", ""},
	"combining marks": {"zebra e" + strings.Repeat("\u0301", 100_000), ""},
	"only marks":      {"zebra " + strings.Repeat("\u20d0\u0327", 5_000), ""},
	"one long word":   {"zebra " + strings.Repeat("x", 500_000), ""},
	"joiners":         {"zebra " + strings.Repeat("👩\u200d", 10_000), ""},
}

func TestHostileTextThroughChat(t *testing.T) {
	t.Parallel()
	for name, h := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			c := commandLine{T: t, stdin: "Ana: " + h.text + "\n@hark where is the zebra?\nAna: said afterwards\n"}
			c.run(0, "chat", "--data", data)
			c.safe()
			if !strings.Contains(c.out.String(), "zebra") {
				t.Error("the answer quotes something else")
			}
			c.stdin = ""
			c.run(0, "context", "zebra", "--data", data)
			c.safe()
			c.kept(data, cmp.Or(h.kept, h.text))
			c.kept(data, "said afterwards")
		})
	}
}

func TestHostileTextThroughImport(t *testing.T) {
	t.Parallel()
	for name, h := range hostile {
		if name == "NUL" {
			continue // damage in a file
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, file := t.TempDir(), filepath.Join(t.TempDir(), "set.jsonl")
			// JSON that leaves bad bytes as they are
			text := regexp.MustCompile(`[\x00-\x1f]`).ReplaceAllStringFunc(h.text, func(control string) string {
				return fmt.Sprintf(`\u%04x`, control[0])
			})
			put(t, file, strings.Replace(posted("a", "1", "Ana", "TEXT"), "TEXT", text, 1))
			c := commandLine{T: t}
			c.run(0, "import", file, "--data", data)
			c.safe()
			c.run(0, "search", "zebra", "--data", data)
			c.safe()
			c.kept(data, cmp.Or(h.kept, h.text))
		})
	}
}

// A model that breaks off makes the exit code 1. Later lines are still remembered.
func TestModelThatFailsLosesNoLine(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	model.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: []string{"It is", " on"}, Cut: llmtest.NoFinish}
	})
	c := commandLine{T: t, stdin: "Ana: @hark when is it?\nAna: the zebra came afterwards\n"}
	c.env = map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}
	c.run(1, "chat", "--data", data)
	if got := c.out.String(); got != "It is on\n" {
		t.Errorf("answered %q", got)
	}
	if !strings.HasPrefix(c.err.String(), "hark: ") {
		t.Errorf("told %q", c.err.String())
	}
	c.kept(data, "the zebra came afterwards")
}

var replaced = regexp.MustCompile("\uFFFD+")

// commandLine runs commands.
type commandLine struct {
	*testing.T
	ctx      context.Context // of commands; nil: the test's
	stdin    string
	env      map[string]string
	out, err buffer
	seen     string // of the last command
}

func (c *commandLine) run(code int, args ...string) {
	c.Helper()
	c.out, c.err = buffer{}, buffer{}
	got := run(cmp.Or(c.ctx, c.Context()), environmentWith(c.env, c.stdin, &c.out, &c.err), args)
	if got != code {
		c.Fatalf("%s: exit code %d: %.500s", args[0], got, c.err.String())
	}
	c.seen = transcript(args, outcome{code, c.out.String(), c.err.String()})
}

// sees compares the last command's output with testdata/seen.txtar.
func (c *commandLine) sees() {
	c.Helper()
	golden.Seen(c, steady(c.seen))
}

// safe checks that nothing printed can drive a terminal.
func (c *commandLine) safe() {
	c.Helper()
	for _, text := range []string{c.out.String(), c.err.String()} {
		if !utf8.ValidString(text) {
			c.Error("what is printed isn't UTF-8")
		}
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}); i >= 0 {
			c.Errorf("%q is printed", text[i:min(len(text), i+20)])
		}
	}
}

// kept checks that one message has exactly that text.
func (c *commandLine) kept(data, text string) {
	c.Helper()
	c.env = nil
	c.run(0, "search", "--json", "--limit", "1000", "--data", data, "zebra said afterwards first")
	c.safe()
	var hits []shownHit
	if err := json.Unmarshal([]byte(c.out.String()), &hits); err != nil {
		c.Fatal(err)
	}
	n := 0
	for _, h := range hits {
		if replaced.ReplaceAllString(h.Text, "\uFFFD") == text { // JSON's decoder replaces each bad byte
			n++
		}
	}
	if n != 1 {
		c.Errorf("%.60q is there %d times in %d", text, n, len(hits))
	}
}
