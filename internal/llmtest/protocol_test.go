package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// witness is a test that may fail.
type witness struct {
	testing.TB
	failed []string
}

func (w *witness) Errorf(format string, args ...any) {
	w.failed = append(w.failed, fmt.Sprintf(format, args...))
}

// What OpenAI's servers refuse is refused here, and fails the test, so that Hark's requests are held to
// https://platform.openai.com/docs/api-reference/chat/create.
func TestRequestsAreHeldToTheProtocol(t *testing.T) {
	t.Parallel()
	const question = `{"role":"user","content":"how are you"}`
	talk := func(messages ...string) string {
		return `{"model":"m","messages":[` + strings.Join(append([]string{question}, messages...), ",") + `]}`
	}
	calls := func(ids ...string) string {
		var all []string
		for _, id := range ids {
			all = append(all, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"f","arguments":"{}"}}`, id))
		}
		return `{"role":"assistant","tool_calls":[` + strings.Join(all, ",") + `]}`
	}
	outcome := func(id string) string { return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"ok"}`, id) }
	offer := func(schema string) string {
		return `{"model":"m","messages":[` + question +
			`],"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}]}`
	}
	image := func(url string) string {
		return talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]}`)
	}
	for body, refused := range map[string]bool{
		talk(): false,
		talk(calls("1", "2"), outcome("2"), outcome("1")):                                      false,
		offer(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`):       false,
		image("data:image/png;base64,aGk="):                                                    false,
		`{"messages":[` + question + `]}`:                                                      true, // no model
		`{"model":"m"}`:                                                                        true,
		`{"model":"m","messages":[` + question + `],"max_tokens":1,"max_completion_tokens":1}`: true,
		`{"model":"m","messages":[` + question + `],"temperature":2.5}`:                        true,
		`{"model":"m","messages":[` + question + `],"stream_options":{"include_usage":true}}`:  true, // without stream
		talk(`{"role":"user","content":""}`):                                                   true,
		// one isn't answered
		talk(calls("1", "2"), outcome("1")):                               true,
		talk(outcome("1")):                                                true, // it wasn't made
		talk(calls("1"), outcome("1"), outcome("1")):                      true,
		talk(calls("1", "1"), outcome("1")):                               true,
		talk(calls("1"), question, outcome("1")):                          true, // the outcome comes late
		talk(strings.Replace(calls("1"), `"{}"`, `"{"`, 1), outcome("1")): true, // arguments that are no object
		offer(`{"type":"string"}`):                                        true,
		offer(`{"type":"object","properties":{},"required":["a"]}`):       true,
		image("https://example.org/a.png"):                                true, // Hark sends images as data
	} {
		w := &witness{TB: t}
		s := New(w)
		s.Answer(func(Request) Reply { return Say("well") })
		resp, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if (resp.StatusCode == http.StatusBadRequest) != refused || (len(w.failed) > 0) != refused {
			t.Errorf("%s: %s, failures %q", body, resp.Status, w.failed)
		}
	}
}
