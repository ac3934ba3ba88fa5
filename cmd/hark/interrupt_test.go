package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/internal/llmtest"
)

// An import that is interrupted keeps what it read; the next completes it.
func TestInterruptedImportKeepsWhatItRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "set.jsonl")
	// half of them exceed the first look and a pipe, so some are read at the interruption
	const messages = 3000
	var lines strings.Builder
	for i := range messages {
		lines.WriteString(posted("a", strconv.Itoa(i), "Ana", fmt.Sprintf("message %d%s", i, strings.Repeat(".", 1000))))
	}
	put(t, whole, lines.String())
	fifo := makeFIFO(t, filepath.Join(dir, "pipe"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // half of it, and no end
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		defer w.Close()
		_, _ = io.WriteString(w, lines.String()[:lines.Len()/2])
		cancel()
		_, _ = io.WriteString(w, lines.String()[lines.Len()/2:])
	}()
	data := filepath.Join(dir, "data")
	c := commandLine{T: t, ctx: ctx}
	c.run(130, "import", fifo, "--data", data)
	golden.Seen(t, steady(c.err.String()))
	c.ctx = nil
	c.run(1, "doctor", "--data", data)
	var kept int
	if _, at, ok := strings.Cut(c.out.String(), "✓ database: "); ok {
		_, _ = fmt.Sscan(at, &kept)
	}
	if kept < messages/10 || kept >= messages {
		t.Errorf("%d messages are kept of the half that was read of %d", kept, messages)
	}
	c.run(0, "import", whole, "--data", data)
	c.run(1, "doctor", "--data", data)
	c.says(fmt.Sprintf("✓ database: %d messages in 1 channel", messages))
}

func TestInterruptedEvalLeavesTheLastRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set, out := filepath.Join(dir, "set.jsonl"), filepath.Join(dir, "out.jsonl")
	for path, text := range map[string]string{set: posted("a", "1", "Ana", "hello") + `{"type":"question","channel":"a","id":"q","text":"hello?","time":"2024-06-01T12:00:00Z","category":"x","evidence":["1"]}
`, out: "the last run\n"} {
		put(t, path, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := commandLine{T: t, ctx: ctx}
	c.run(130, "eval", "--run", out, set)
	golden.Seen(t, steady(c.err.String()))
	entries, err := os.ReadDir(dir)
	if kept, readErr := os.ReadFile(out); string(kept) != "the last run\n" || len(entries) != 2 {
		t.Errorf("left %q and %v; %v, %v", kept, entries, err, readErr)
	}
}

// Lines are kept when a chat is interrupted while the model writes.
func TestInterruptedChat(t *testing.T) {
	t.Parallel()
	model, data, hold := llmtest.New(t), t.TempDir(), make(chan struct{})
	defer close(hold)
	ctx, cancel := context.WithCancel(t.Context())
	model.Answer(func(llmtest.Request) llmtest.Reply {
		cancel()
		return llmtest.Reply{Hold: hold}
	})
	c := commandLine{T: t, ctx: ctx, stdin: "Ana: the zebra is here\nAna: @hark where is it?\n",
		env: map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}}
	c.run(130, "chat", "--data", data)
	golden.Seen(t, c.err.String())
	c.ctx, c.stdin = nil, ""
	c.kept(data, "the zebra is here")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A failed write to standard output is an error.
func TestFullOutputIsToldOf(t *testing.T) {
	t.Parallel()
	modes, failed := writeFile(t, "general\t-\thello there\n"), &buffer{}
	code := run(t.Context(), environmentWith(nil, "", full{}, failed), []string{"eval", "--modes", modes})
	if code != 1 || failed.String() != "hark: disk full\n" {
		t.Errorf("exit code %d: %s", code, failed)
	}
}
