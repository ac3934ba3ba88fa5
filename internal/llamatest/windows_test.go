package llamatest_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/llamatest"
	"hark/internal/llm"
)

// long returns messages whose prompt has at least that many tokens.
func long(tokens int) []chat.Message {
	messages := turns("suu")
	messages[1].Content = strings.Repeat("Jane: the deadline is Friday\n", tokens/6)
	return messages
}

// A prompt that doesn't fit is refused with what fits. That leaves most of the window: an answer is short.
func TestLlamaTooLongAPromptSaysWhatFits(t *testing.T) {
	t.Parallel()
	for _, window := range []int{1024, 2048, 4096} {
		t.Run(strconv.Itoa(window), func(t *testing.T) {
			t.Parallel()
			s, _ := serve(t, "chatml", []llamatest.Script{answers}, "-np", "1", "-c", strconv.Itoa(window))
			c := client(s, nil)
			_, err := c.Chat(t.Context(), chat.Request{Messages: long(6000)}, nil)
			var refused *llm.Error
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			room, asked, is := refused.TooLong()
			if !is || asked < 6000 || room < window/2 || room > window {
				t.Errorf("too long: %v, %d of %d fit; %v", is, room, asked, err)
			}
			reply, err := c.Chat(t.Context(), chat.Request{Messages: long(room / 2)}, nil)
			told(t, s, reply, err)
		})
	}
}

// The window of a slot is in the list of models: nobody has to configure it.
func TestLlamaWindowIsListed(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{answers}, "-np", "2", "-c", "4096")
	c := client(s, nil)
	if _, err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, room := c.Window(t.Context())
	if all != 2048 || room < 1024 || room > 2048 {
		t.Errorf("%d of %d tokens are for the prompt", room, all)
	}
}

// An answer that the window ends was cut by length, whatever the longest answer is.
func TestLlamaWindowEndsTheAnswer(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{endless}, "-np", "1", "-c", "1024")
	for _, longest := range []int{0, 50, 4000} {
		c := client(s, func(c *llm.Config) { c.MaxTokens = longest })
		reply, err := ask(t, c)
		if err != nil || reply.FinishReason != "length" || !strings.HasPrefix(reply.Text, endless.Text) {
			t.Errorf("at most %d: %q, %.60q, %v", longest, reply.FinishReason, reply.Text, err)
		}
	}
}

// A prompt may fit and leave no room for a word of an answer. The server takes it, and ends the answer at once. That is
// a prompt that is too long: a smaller one is answered.
func TestLlamaPromptThatLeavesNoRoom(t *testing.T) {
	t.Parallel()
	const window = 1024
	s, _ := serve(t, "chatml", []llamatest.Script{answers}, "-np", "1", "-c", strconv.Itoa(window))
	c := client(s, nil)
	messages := turns("suu")
	said := messages[1].Content
	reply, err := c.Chat(t.Context(), chat.Request{Messages: messages}, nil)
	told(t, s, reply, err)
	messages[1].Content = said + strings.Repeat("!", window-1-reply.PromptTokens) // a token each
	reply, err = c.Chat(t.Context(), chat.Request{Messages: messages}, nil)
	var refused *llm.Error
	if !errors.As(err, &refused) {
		t.Fatalf("got %q by %q, %v", reply.Text, reply.FinishReason, err)
	}
	if _, _, is := refused.TooLong(); !is {
		t.Errorf("got %v", err)
	}
}
