package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/memory"
)

// unable is a model's error that says what it takes none of.
// tellsOfTools reports whether the instructions speak of tools.
func tellsOfTools(r chat.Request) bool { return strings.Contains(r.Messages[0].Content, " tools") }

// toolless is a model whose server has refused tools.
type toolless struct{ Model }

func (toolless) TakesTools() bool { return false }

func TestModelsThatTakeNoTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	m := w.withTools(writes("It is [1]."), writes("It is [1]."))
	q := w.asks(lobby, "What is the lighthouse password?")
	w.answer(q)
	if r := m.last(); len(r.Tools) == 0 || !tellsOfTools(r) {
		t.Errorf("%d tools with the instructions\n%s", len(r.Tools), r.Messages[0].Content)
	}
	w.engine.model = toolless{m}
	if a := w.answer(q); a.Text != "It is [1]." {
		t.Errorf("answered %q", a.Text)
	}
	if r := m.last(); len(r.Tools) > 0 || tellsOfTools(r) {
		t.Errorf("%d tools with the instructions\n%s", len(r.Tools), r.Messages[0].Content)
	}
}

func TestImagesStayWithTheQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	q := w.asks(lobby, "What is in the picture?")
	picture := "\x89PNG\r\n\x1a\np"
	q.Files = []File{holding("a.png", "image/png", picture), holding("a.txt", "text/plain", "t")}
	m := w.withTools(uses("current_time", `{}`), writes("A parrot."))
	w.answer(q)
	if r := m.last(); len(r.Messages) != 4 || len(r.Messages[1].Images) != 1 || len(r.Messages[3].Images) != 0 {
		t.Errorf("then it got %+v", r.Messages)
	}
}

func TestWhereThereAreNoTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		builder builder.Options
		options Options
		tools   bool
	}{
		"there are":       {builder.Options{}, Options{ToolRounds: 1}, true},
		"none are wanted": {builder.Options{}, Options{}, false},
		"off here":        {builder.Options{}, Options{ToolRounds: 1}, false},
		"off elsewhere":   {builder.Options{}, Options{ToolRounds: 1}, true},
		"a window without room": {builder.Options{MaxTokens: 1500, Window: 2000, Answer: 500},
			Options{ToolRounds: 1}, false},
		"a window with little": {builder.Options{MaxTokens: 3000, Window: 4000, Answer: 500},
			Options{ToolRounds: 1}, true},
	} {
		w := newWorld(t, nil)
		q := w.asks(lobby, "What is the lighthouse password?")
		m, off := &caller{}, map[string]memory.ChannelID{"off here": lobby, "off elsewhere": harbor}[name]
		if off != 0 {
			w.apply(sets(off, memory.SettingTools, SettingOff))
		}
		w.engine = w.over(w.store, m, c.builder, c.options)
		w.answer(q)
		if got := len(m.last().Tools) > 0; got != c.tools || got != tellsOfTools(m.last()) {
			t.Errorf("%s: offered are %q", name, toolNames(m.last()))
		}
	}
}

func TestCallsOutOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	now := noon
	slow := echo(takesNumber, func(*tools.Turn, context.Context) (tools.Outcome, error) {
		now = now.Add(25 * time.Second)
		return tools.Outcome{Text: "at last"}, nil
	})
	m := &caller{steps: []step{
		uses("echo", `{"n":1}`),
		first(func() { now = now.Add(10 * time.Second) }, uses("echo", `{"n":2}`, "echo", `{"n":3}`)),
	}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 9, ToolTime: time.Minute}, slow)
	w.engine.now = func() time.Time { return now }
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	const over = "There is no time left for tools."
	want := []string{"at last", "at last", over + "\n\n" + over + " Answer the query now, with what you have."}
	if got := m.outcomes(); !slices.Equal(got, want) || a.Text != "Done." || len(m.last().Tools) > 0 {
		t.Errorf("told %q, answered %q", got, a.Text)
	}
	if c := a.Trace.Calls; c[1].Took != 25*time.Second || c[2].Outcome != "no time" {
		t.Errorf("calls %+v", c)
	}
	if string(a.Records[2].More["duration_ms"]) != "25000" {
		t.Errorf("recorded %s", a.Records[2].More)
	}
	// Endless tools are stopped, also when the answer is cancelled.
	endless := echo("", func(_ *tools.Turn, ctx context.Context) (tools.Outcome, error) {
		<-ctx.Done()
		return tools.Outcome{}, ctx.Err()
	})
	m = &caller{steps: []step{uses("echo", `{}`)}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 9, ToolTime: time.Millisecond}, endless)
	a = w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if got := m.outcomes(); a.ToolFailed != nil || a.Trace.Calls[0].Outcome != "no time" {
		t.Errorf("told %q, %v", got, a.ToolFailed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	endless.Call = func(_ *tools.Turn, ctx context.Context, _ json.RawMessage) (tools.Outcome, error) {
		cancel()
		<-ctx.Done()
		return tools.Outcome{}, ctx.Err()
	}
	m = &caller{steps: []step{usesAfter("Wait.", "echo", `{}`)}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 9}, endless)
	if a, err := w.engine.Answer(ctx, w.asks(lobby, "What is the lighthouse password?"), nil); !errors.Is(err,
		context.Canceled) || a.Text != "Wait." || len(m.got) != 1 {
		t.Errorf("cancelled: %q, %v", a.Text, err)
	}
}

func TestToolsThatFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tries := 0
	broken := echo("", func(*tools.Turn, context.Context) (tools.Outcome, error) {
		tries++
		return tools.Outcome{}, fmt.Errorf("read /secret/path: %w", errDisk)
	})
	m := &caller{steps: []step{uses("echo", ``), uses("echo", `{}`)}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 9}, broken)
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if got := m.outcomes(); !slices.Equal(got,
		[]string{"The tool failed. Answer without it.", "The tool failed. Answer without it."}) || tries != 2 {
		t.Errorf("told %q after %d tries", got, tries)
	}
	if !errors.Is(a.ToolFailed, errDisk) || a.ToolFailed.Error() != "tool echo: read /secret/path: "+
		errDisk.Error() || a.Trace.Calls[0].Outcome != "failed" {
		t.Errorf("returned %v, %+v", a.ToolFailed, a.Trace.Calls)
	}
	if _, err := json.Marshal(a.Records); err != nil || strings.Contains(fmt.Sprint(a.Records), "secret") {
		t.Errorf("recorded %+v, %v", a.Records, err)
	}
}
