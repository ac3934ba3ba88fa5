package llamatest_test

import (
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/llamatest"
	"hark/internal/llm"
)

// Members get an answer whatever the template of the model wants of roles: in a channel many speak in a row. What Hark
// has learnt of the server, it knows for the next question.
func TestLlamaAnswersAllLayouts(t *testing.T) {
	t.Parallel()
	for _, family := range llamatest.Families {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			written := answers
			if family == "thinking" {
				written.Text = "I should look.\n</think>\n\n" + answer
			}
			s, _ := serve(t, family, []llamatest.Script{written}, "-c", "8192", "-np", "2")
			c := client(s, nil)
			for _, roles := range []string{"su", "suuu", "suuuauu", "suau", "uu", "suaau"} {
				t.Run(roles, func(t *testing.T) {
					for range 2 {
						reply, err := c.Chat(t.Context(), chat.Request{Messages: turns(roles)}, nil)
						told(t, s, reply, err)
					}
				})
			}
			before := len(s.Requests())
			reply, err := c.Chat(t.Context(), chat.Request{Messages: turns("suuuauu")}, nil)
			told(t, s, reply, err)
			if n := len(s.Requests()) - before; n != 1 {
				t.Errorf("a question of a known shape took %d requests\n%s", n, sent(s))
			}
		})
	}
}

// outcome is what the tool finds.
const outcome = "[1] Jane: the deadline is Friday"

// rounds asks with a tool, runs what the model calls, and returns the answer: as an answer of Hark does.
func rounds(t *testing.T, c *llm.Client) (chat.Reply, error) {
	t.Helper()
	messages := turns("suu")
	var reply chat.Reply
	for range 4 {
		var err error
		reply, err = c.Chat(t.Context(), chat.Request{Messages: messages, Tools: []chat.Tool{searchMemory}}, nil)
		if err != nil || len(reply.Calls) == 0 {
			return reply, err
		}
		messages = append(messages, chat.Message{Role: chat.Assistant, Content: reply.Text, Calls: reply.Calls})
		for _, call := range reply.Calls {
			if call.Name != searchMemory.Name {
				t.Errorf("it called %q", call.Name)
			}
			messages = append(messages, chat.Message{Role: chat.FromTool, CallID: call.ID, Content: outcome})
		}
	}
	return reply, nil
}

// Members get an answer after one call and after two, with every template that has a form for calls.
func TestLlamaAnswersAfterTools(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"chatml", "llama3", "mistral", "thinking"} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			written := answers
			if family == "thinking" {
				written.Text = "Now I know.\n</think>\n\n" + answer
			}
			s, m := serve(t, family, []llamatest.Script{written, calls(family)}, "-c", "8192", "-np", "2")
			s.Play(m, func(r llamatest.Request) string {
				if r.OffersTools() && strings.Count(r.Prompt(), outcome) < 2 {
					return "call"
				}
				return "answer"
			})
			c := client(s, nil)
			for range 2 {
				reply, err := rounds(t, c)
				told(t, s, reply, err)
			}
			before := len(s.Requests())
			reply, err := rounds(t, c)
			told(t, s, reply, err)
			if n := len(s.Requests()) - before; n > 3 {
				t.Errorf("two calls and an answer took %d requests\n%s", n, sent(s))
			}
		})
	}
}

// A template may know no tools: the outcomes of calls that another model made, or that a text contained, are told as
// text.
func TestLlamaTemplateWithoutToolsIsToldOutcomes(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "gemma", []llamatest.Script{answers}, "-c", "8192", "-np", "2")
	call := chat.Call{ID: "abcdefghi", Name: searchMemory.Name, Arguments: "{}"}
	messages := append(turns("suu"),
		chat.Message{Role: chat.Assistant, Calls: []chat.Call{call}},
		chat.Message{Role: chat.FromTool, CallID: call.ID, Content: outcome})
	reply, err := client(s, nil).Chat(t.Context(),
		chat.Request{Messages: messages, Tools: []chat.Tool{searchMemory}}, nil)
	told(t, s, reply, err)
}

// A template without tools has no parser for calls. A text that is a call is taken as one, and never shown.
func TestLlamaTextThatIsACallIsTakenAsOne(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"json":   `{"name": "search_memory", "arguments": {"query": "deadline"}}`,
		"fenced": "```json\n" + `{"name": "search_memory", "arguments": {"query": "deadline"}}` + "\n```",
		"tagged": llamatest.CallOf("chatml", "search_memory", `{"query": "deadline"}`),
		"marked": "[TOOL_CALLS]" + `[{"name": "search_memory", "arguments": {"query": "deadline"}}]`,
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := serve(t, "gemma", []llamatest.Script{answers, {Name: "call", Text: text}}, "-c", "8192", "-np", "2")
			s.Play(m, func(llamatest.Request) string { return "call" })
			shown := ""
			reply, err := client(s, nil).Chat(t.Context(),
				chat.Request{Messages: turns("su"), Tools: []chat.Tool{searchMemory}},
				func(delta string) { shown += delta })
			if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != searchMemory.Name {
				t.Errorf("got %+v, %v", reply, err)
			}
			if shown != "" || reply.Text != "" {
				t.Errorf("members are shown %q, of %q", shown, reply.Text)
			}
		})
	}
}

// What a model writes after its end, because the file doesn't know its end token, isn't shown.
func TestLlamaEndTokensAreNotShown(t *testing.T) {
	t.Parallel()
	for family, end := range map[string]string{
		"chatml": "<|im_end|>\n<|im_start|>user\nThanks!",
		"llama3": "<|eot_id|>\n\nThanks!",
		"gemma":  "<end_of_turn>\n<start_of_turn>user\nThanks!",
	} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			written := llamatest.Script{Name: "answer", Text: answer + end}
			s, _ := serve(t, family, []llamatest.Script{written}, "-c", "8192", "-np", "2")
			shown := ""
			reply, err := client(s, nil).Chat(t.Context(), chat.Request{Messages: turns("su")},
				func(delta string) { shown += delta })
			told(t, s, reply, err)
			if shown != reply.Text {
				t.Errorf("members were shown %q", shown)
			}
		})
	}
}
