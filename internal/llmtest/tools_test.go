package llmtest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// talk is a request of these messages, after a question.
func talk(messages ...string) string {
	all := append([]string{`{"role":"user","content":"how are you"}`}, messages...)
	return `{"model":"m","messages":[` + strings.Join(all, ",") + `]}`
}

func call(id, name, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, arguments)
}

func calls(all ...string) string {
	return `{"role":"assistant","tool_calls":[` + strings.Join(all, ",") + `]}`
}

func outcome(id string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"ok"}`, id)
}

func tools(all ...string) string {
	return `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[` + strings.Join(all, ",") + `]}`
}

func offer(name, schema string) string {
	return fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":"d","parameters":%s}}`, name, schema)
}

const object = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`

func TestProtocolOfTools(t *testing.T) {
	t.Parallel()
	two := calls(call("1", "f", "{}"), call("2", "g", `{"a":1}`))
	image := func(url string) string {
		return `{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"` + url + `"}}]}`
	}
	for body, want := range map[string]string{
		talk(two, outcome("2"), outcome("1")):                                            "",
		talk(two, outcome("1"), outcome("2"), calls(call("3", "f", "{}")), outcome("3")): "",
		talk(`{"role":"assistant","content":"a"}`, image("data:image/png;base64,aGk=")):  "",
		tools(offer("f", object), offer("g-1_A", `{"type":"object","properties":{}}`)):   "",
		talk(two):                             "2 calls aren't answered",
		talk(two, outcome("1")):               "1 calls aren't answered",
		talk(outcome("1")):                    "wasn't made",
		talk(two, outcome("1"), outcome("1")): "answered already",
		talk(two, outcome("1"), `{"role":"user","content":"well?"}`, outcome("2")):                                                    "1 calls before it aren't answered",
		talk(two, outcome("1"), calls(call("3", "f", "{}")), outcome("2"), outcome("3")):                                              "1 calls before it aren't answered",
		talk(two, outcome("1"), outcome("2"), calls(call("1", "f", "{}")), outcome("1")):                                              "a second call has the id",
		talk(calls(call("1", "f", "{}"), call("1", "f", "{}")), outcome("1")):                                                         "a second call has the id",
		talk(calls(), `{"role":"user","content":"x"}`):                                                                                "tool_calls is empty",
		talk(calls(call("", "f", "{}")), outcome("")):                                                                                 `the id ""`,
		talk(calls(call(strings.Repeat("x", 41), "f", "{}")), outcome("1")):                                                           "the id \"xxx",
		talk(calls(call("1", "f g", "{}")), outcome("1")):                                                                             `the name "f g"`,
		talk(calls(call("1", "f", "{")), outcome("1")):                                                                                "no JSON object",
		talk(calls(call("1", "f", "null")), outcome("1")):                                                                             "no JSON object",
		talk(calls(call("1", "f", "[]")), outcome("1")):                                                                               "no JSON object",
		talk(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]}`, outcome("1")): "tool_calls",
		talk(`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`, outcome("1")):                 `type ""`,
		talk(strings.Replace(two, "assistant", "user", 1), outcome("1"), outcome("2")):                                                "makes no calls",
		talk(`{"role":"user","content":"x","tool_call_id":"1"}`):                                                                      "answers no call",
		talk(`{"role":"assistant"}`, `{"role":"user","content":"x"}`):                                                                 "no content",
		talk(two, `{"role":"tool","tool_call_id":"1"}`, outcome("2")):                                                                 "no content",

		tools():                     "tools is empty",
		tools(offer("f g", object)): `the name "f g"`,
		tools(offer("f", object), offer("f", object)):                           "a second one",
		tools(`{"type":"search"}`):                                              `type "search"`,
		tools(offer("f", `null`)):                                               "schema of an object",
		tools(offer("f", `"text"`)):                                             "the parameters of f",
		tools(offer("f", `{"type":"string"}`)):                                  "schema of an object",
		tools(offer("f", `{"type":"object","properties":{},"required":["a"]}`)): `requires "a"`,

		talk(image("https://example.org/a.png")):                                            "no image as data",
		talk(image("data:text/plain;base64,aGk=")):                                          "no image as data",
		talk(image("data:image/png;base64,a")):                                              "illegal base64",
		talk(strings.Replace(image("data:image/png;base64,aGk="), `"user"`, `"system"`, 1)): `"image_url" in a message of the role "system"`,
		talk(`{"role":"user","content":[]}`):                                                "no parts",
		talk(`{"role":"user","content":[{"type":"text"}]}`):                                 "an empty one",
		talk(`{"role":5}`):                  "cannot unmarshal",
		talk(`{"role":"user","content":5}`): "cannot unmarshal",
	} {
		w := &witness{TB: t}
		s := New(w)
		s.Answer(func(Request) Reply { return Say("well") })
		resp, answer, err := post(t, s, chatPath, body)
		switch {
		case err != nil:
			t.Error(err)
		case want == "" && (resp.StatusCode != 200 || len(w.failed) != 0):
			t.Errorf("%s: %s, failures %q", body, answer, w.failed)
		case want != "" && (resp.StatusCode != 400 || len(w.failed) != 1 || !strings.Contains(w.failed[0], want)):
			t.Errorf("%s: %s, failures %q; want %q", body, answer, w.failed, want)
		}
	}
}

func TestWhatWasSent(t *testing.T) {
	t.Parallel()
	s := New(t)
	s.Queue(Say("a"))
	body := `{"model":"m","messages":[` + calls(call("1", "f", `{"a":1}`)) + "," + outcome("1") +
		`,{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,aGk="}},{"type":"text","text":"see"}]}],"tools":[` + offer("f", object) + `]}`
	if resp, answer, err := post(t, s, chatPath, body); err != nil || resp.StatusCode != 200 {
		t.Fatal(answer, err)
	}
	r := s.Requests()[0]
	if made, err := r.Messages[0].Calls(); err != nil || !reflect.DeepEqual(made, []ToolCall{{"1", "f", []string{`{"a":1}`}}}) {
		t.Errorf("%+v, %v", made, err)
	}
	if m := r.Messages[2]; m.Content != "see" || !reflect.DeepEqual(m.Images, []Image{{"image/gif", []byte("hi")}}) {
		t.Errorf("%+v", m)
	}
	if o := r.Offered(); len(o) != 1 || o[0].Name != "f" || o[0].Description != "d" || string(o[0].Parameters) != object {
		t.Errorf("%+v", o)
	}
	if o := (Request{Tools: []byte("5")}).Offered(); o != nil {
		t.Errorf("%+v", o)
	}
}
