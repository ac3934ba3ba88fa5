package llm

import (
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/llmtest"
)

// What a server takes that doesn't say so is learnt: from a shorter prompt that it takes, or that it refuses, too.
func TestUnsaidWindow(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	limit := 0
	s.Answer(func(r llmtest.Request) llmtest.Reply {
		if strings.Count(r.Prompt(), "word") > limit {
			return llmtest.Fail(400, "", "Your input is too long for this model.")
		}
		return llmtest.Say("well")
	})
	for _, test := range []struct {
		name  string
		limit int
		sent  []int // words of each prompt
		least int   // tokens of the room that is left at last; 0: none is known
		most  int
	}{
		{"a shorter one passes", 1000, []int{1200, 600}, 550, 900},
		{"a shorter one is refused", 500, []int{1200, 600}, 350, 600},
		{"two shorter ones are refused", 200, []int{1200, 600, 300}, 170, 300},
		{"one alone is refused", 1000, []int{1200}, 0, 0},
		{"a small one passes", 1000, []int{1200, 5}, 0, 0},
		{"a small one passes first", 1000, []int{1200, 5, 600}, 550, 900},
	} {
		limit = test.limit
		c, _ := client(s, func(c *Config) { c.MaxTokens = 1000 })
		for _, words := range test.sent {
			asked := chat.Message{Role: chat.User, Content: strings.Repeat("word ", words)}
			_, _ = c.Chat(t.Context(), chat.Request{Messages: []chat.Message{asked}}, nil)
		}
		_, room := c.Window(t.Context())
		if room < test.least || test.most < room {
			t.Errorf("%s: room for %d", test.name, room)
		}
	}
}
