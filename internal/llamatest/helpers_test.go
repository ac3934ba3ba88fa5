package llamatest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/llamatest"
	"hark/internal/llm"
)

const (
	answer   = "The report is due on Friday [1]."
	question = "when is the deadline of the harbour report?"
)

var (
	answers = llamatest.Script{Name: "answer", Text: answer}
	endless = llamatest.Script{Name: "endless", Text: "on and on it goes, ", Endless: true}
)

var searchMemory = chat.Tool{
	Name:        "search_memory",
	Description: "Finds what was said.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},` +
		`"required":["query"]}`),
}

// calls returns the script that calls search_memory in a family's form.
func calls(family string) llamatest.Script {
	return llamatest.Script{
		Name: "call",
		Text: llamatest.CallOf(family, searchMemory.Name, `{"query": "deadline"}`),
	}
}

// serve starts a server with a family's template and a model that writes scripts, the first unless it is told
// otherwise.
func serve(t *testing.T, family string, scripts []llamatest.Script,
	args ...string) (*llamatest.Server, *llamatest.Model) {
	t.Helper()
	m := llamatest.NewModel(scripts...)
	args = append(args, llamatest.Template(t, family)...)
	return llamatest.Start(t, m.Write(t), args...), m
}

// client asks a server as Hark does by default, except that it gives up sooner.
func client(s *llamatest.Server, change func(*llm.Config)) *llm.Client {
	c := llm.Config{BaseURL: s.URL(), Model: "scripted", MaxTokens: 1000, Timeout: time.Minute, Retries: 2}
	if change != nil {
		change(&c)
	}
	return llm.New(c)
}

// turns returns messages with roles by their first letters, such as "suau"; the last one asks.
func turns(roles string) []chat.Message {
	var messages []chat.Message
	for _, role := range roles {
		switch role {
		case 's':
			messages = append(messages, chat.Message{Role: chat.System, Content: "You remember what was said here."})
		case 'u':
			messages = append(messages, chat.Message{Role: chat.User, Content: "Jane: the deadline is Friday"})
		case 'a':
			messages = append(messages, chat.Message{Role: chat.Assistant, Content: "I heard that."})
		}
	}
	messages[len(messages)-1].Content = "Tom: " + question
	return messages
}

// ask asks without tools.
func ask(t *testing.T, c *llm.Client) (chat.Reply, error) {
	t.Helper()
	return c.Chat(t.Context(), chat.Request{Messages: turns("su")}, nil)
}

// told checks that members get an answer, and nothing but it.
func told(t *testing.T, s *llamatest.Server, reply chat.Reply, err error) {
	t.Helper()
	if err != nil || strings.TrimSpace(reply.Text) != answer || len(reply.Calls) > 0 {
		t.Errorf("got %q with %d calls, %v\n%s", reply.Text, len(reply.Calls), err, sent(s))
	}
}

// sent lists the last requests.
func sent(s *llamatest.Server) string {
	var list strings.Builder
	requests := s.Requests()
	for _, r := range requests[max(0, len(requests)-6):] {
		tools := ""
		if r.OffersTools() {
			tools = " with tools"
		}
		fmt.Fprintf(&list, "%s %s%s: %d\n", r.Path, r.Roles(), tools, r.Status)
	}
	return list.String()
}
