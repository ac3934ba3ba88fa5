package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/chat"
)

// caller is a model that goes through steps, one a request, and then says "Done.".
type caller struct {
	steps []step
	got   []chat.Request
}

// step is what a model does when it is asked.
type step func(r chat.Request) (chat.Reply, error)

func (*caller) Name() string { return "caller-1" }

func (m *caller) Chat(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	m.got = append(m.got, r)
	reply, err := chat.Reply{Text: "Done."}, error(nil)
	if n := len(m.got); n <= len(m.steps) {
		reply, err = m.steps[n-1](r)
	}
	if reply.Text != "" {
		delta(reply.Text)
	}
	if err == nil {
		err = ctx.Err()
	}
	return reply, err
}

// last is what the model was asked last.
func (m *caller) last() chat.Request { return m.got[len(m.got)-1] }

// outcomes are what tools have told the model so far.
func (m *caller) outcomes() (texts []string) {
	for _, message := range m.last().Messages {
		if message.Role == chat.FromTool {
			texts = append(texts, message.Content)
		}
	}
	return texts
}

// uses is a step that calls tools: name, arguments, name, arguments, …
func uses(pairs ...string) step { return usesAfter("", pairs...) }

// usesAfter is uses after a text.
func usesAfter(text string, pairs ...string) step {
	return func(chat.Request) (chat.Reply, error) {
		r := chat.Reply{Text: text, FinishReason: "tool_calls"}
		for i := 0; i < len(pairs); i += 2 {
			r.Calls = append(r.Calls, chat.Call{ID: fmt.Sprintf("c%d", i/2), Name: pairs[i], Arguments: pairs[i+1]})
		}
		return r, nil
	}
}

func writes(text string) step {
	return func(chat.Request) (chat.Reply, error) { return chat.Reply{Text: text, FinishReason: "stop"}, nil }
}

func fails(err error) step {
	return func(chat.Request) (chat.Reply, error) { return chat.Reply{}, err }
}

// first does something before another step.
func first(do func(), then step) step {
	return func(r chat.Request) (chat.Reply, error) {
		do()
		return then(r)
	}
}

// withTools has w's engine ask a model that goes through steps, with tools.
func (w *world) withTools(steps ...step) *caller {
	w.t.Helper()
	m := &caller{steps: steps}
	w.engine = w.over(w.store, m, builder.Options{Citations: true}, Options{ToolRounds: 4, Vision: true})
	return m
}

// toolNames are those that a request offers.
func toolNames(r chat.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// echo is a tool that does what a test wants, with parameters or without.
func echo(parameters string, call func(t *Turn, ctx context.Context) (Outcome, error)) tool {
	return newTool("echo", "Says it again.", parameters, func(t *Turn, ctx context.Context, _ any) (Outcome,
		error) {
		return call(t, ctx)
	})
}

const takesNumber = `{"type":"object","properties":{"n":{"type":"integer"}}}`

// echoes is an echo of a text.
func echoes(text string) tool {
	return echo(takesNumber, func(*Turn, context.Context) (Outcome, error) { return Outcome{Text: text}, nil })
}

// checkShape sees to it that a request is one that servers take: each call is answered, in order, right after it.
func checkShape(t testing.TB, r chat.Request) {
	t.Helper()
	var open []string
	for i, m := range r.Messages {
		if m.Role != chat.FromTool && len(open) > 0 {
			t.Errorf("message %d is %s, while calls %q wait", i, m.Role, open)
		}
		switch {
		case m.Role == chat.FromTool && (len(open) == 0 || open[0] != m.CallID):
			t.Errorf("message %d answers %q, wanted is %q", i, m.CallID, open)
		case m.Role == chat.FromTool:
			open = open[1:]
		case len(m.Calls) > 0 && m.Role != chat.Assistant:
			t.Errorf("message %d by %s calls", i, m.Role)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
			if !json.Valid([]byte(c.Arguments)) || !strings.HasPrefix(strings.TrimSpace(c.Arguments), "{") {
				t.Errorf("message %d calls with %q", i, c.Arguments)
			}
		}
		if m.Role == chat.FromTool && strings.TrimSpace(m.Content) == "" {
			t.Errorf("message %d tells nothing", i)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %q aren't answered", open)
	}
}
