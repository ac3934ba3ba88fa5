package llamatest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/llamatest"
	"hark/internal/llm"
)

// If the server dies in the midst of an answer, the answer was cut off; what was shown is part of it.
func TestLlamaKilledInMidStream(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{endless}, "-np", "1", "-c", "65536")
	shown := ""
	reply, err := client(s, func(c *llm.Config) { c.MaxTokens = 0 }).Chat(t.Context(),
		chat.Request{Messages: turns("su")}, func(delta string) {
			if shown == "" {
				go s.Kill()
			}
			shown += delta
		})
	if !errors.Is(err, llm.ErrCutOff) || shown == "" || !strings.HasPrefix(reply.Text, shown) {
		t.Errorf("shown %.60q of %.60q, %v", shown, reply.Text, err)
	}
}

// A server that is gone can't be reached.
func TestLlamaKilledBefore(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{answers}, "-np", "1", "-c", "2048")
	s.Kill()
	reply, err := ask(t, client(s, func(c *llm.Config) { c.Retries = 0 }))
	if llm.KindOf(err) != llm.Unreachable || reply.Text != "" {
		t.Errorf("got %q, %v", reply.Text, err)
	}
}

// Who stops an answer frees the slot for the next.
func TestLlamaStoppedAnswerFreesItsSlot(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "chatml", []llamatest.Script{endless, answers}, "-np", "1", "-c", "65536")
	c := client(s, func(c *llm.Config) { c.MaxTokens = 0 })
	enough := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	reply, err := c.Chat(ctx, chat.Request{Messages: turns("su")}, func(string) { stop(enough) })
	if !errors.Is(err, enough) || !strings.HasPrefix(reply.Text, "on and") {
		t.Errorf("got %.60q, %v", reply.Text, err)
	}
	s.Until(t, "the end of the first answer", func(list []llamatest.Request) bool { return list[0].Ended })
	s.Play(m, func(llamatest.Request) string { return "answer" })
	reply, err = ask(t, c)
	told(t, s, reply, err)
}

// A parser of the server may fail at what the model writes. It is asked again, at last without tools; and since it is
// the text that fails and not the server, others aren't kept from asking.
func TestLlamaParserFails(t *testing.T) {
	t.Parallel()
	broken := llamatest.Script{
		Name: "broken",
		Text: `{"name": "search_memory", "arguments": {"query": "deadline"}}`, // the template wants "parameters"
	}
	s, m := serve(t, "llama3", []llamatest.Script{answers, broken}, "-np", "2", "-c", "8192")
	s.Play(m, func(r llamatest.Request) string {
		if r.OffersTools() {
			return "broken"
		}
		return "answer"
	})
	c := client(s, nil)
	for range 4 {
		before := len(s.Requests())
		reply, err := c.Chat(t.Context(), chat.Request{Messages: turns("su"), Tools: []chat.Tool{searchMemory}}, nil)
		told(t, s, reply, err)
		if n := len(s.Requests()) - before; n > 3 {
			t.Errorf("it took %d requests\n%s", n, sent(s))
		}
	}
	if c.Resting() {
		t.Error("the server is left alone")
	}
}

// A thought that never ends leaves no answer. That is said, and no thought is shown.
func TestLlamaThoughtWithoutEnd(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "thinking", []llamatest.Script{{Name: "thought", Text: "I should look at what Jane said."}},
		"-np", "1", "-c", "4096")
	shown := ""
	reply, err := client(s, nil).Chat(t.Context(), chat.Request{Messages: turns("su")},
		func(delta string) { shown += delta })
	if llm.KindOf(err) != llm.BadAnswer || reply.Text != "" || shown != "" {
		t.Errorf("shown %q, got %q, %v", shown, reply.Text, err)
	}
}

// A name where the server wants a template makes every prompt the name: the model never sees the question. The count
// tells.
func TestLlamaTemplateThatIsAName(t *testing.T) {
	t.Parallel()
	m := llamatest.NewModel(answers)
	s := llamatest.Start(t, m.Write(t), "--chat-template", "llama3", "-np", "1", "-c", "8192")
	reply, err := client(s, nil).Chat(t.Context(), chat.Request{Messages: long(2000)}, nil)
	if err != nil || reply.PromptTokens == 0 || reply.PromptTokens > 20 {
		t.Errorf("the prompt had %d tokens, %v", reply.PromptTokens, err)
	}
}
