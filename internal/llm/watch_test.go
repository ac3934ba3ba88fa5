package llm

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/llmtest"
)

// Each call is told with how it came out, and each time that the fallback is asked; a server that is left
// alone isn't called.
func TestWatch(t *testing.T) {
	t.Parallel()
	first, second := llmtest.New(t), llmtest.New(t)
	first.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Status: 500} })
	second.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("I stand in") })
	m := NewModels([]Named{{Name: "best", Config: Config{BaseURL: first.URL(), Model: "large"}}},
		&Config{BaseURL: second.URL(), Model: "small"})
	var told []string
	m.Watch(func(model string, took time.Duration, failed error) {
		if took < 0 {
			t.Errorf("took %v", took)
		}
		told = append(told, fmt.Sprint(model, " ", KindOf(failed)))
	}, func(model string) { told = append(told, "instead of "+model) })
	for range 4 {
		if r, err := m.Default().Chat(t.Context(),
			chat.Request{Messages: []chat.Message{{Role: chat.User, Content: "Hello"}}}, nil); err != nil ||
			r.Text != "I stand in" {
			t.Fatal(r, err)
		}
	}
	want := []string{"large server", "instead of large", "small other"}
	if want := slices.Concat(want, want, want, want[1:]); !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	clients := m.Clients()
	if len(clients) != 2 || !clients[0].Resting() || clients[1].Resting() || New(Config{}).Resting() {
		t.Errorf("%d clients, of which the first rests, and the second doesn't", len(clients))
	}
}
