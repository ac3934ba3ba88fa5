package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"hark/internal/chat"
)

// wire answers every request with a body, and then as then does.
type wire struct {
	body []byte
	then reader
	slow bool // byte by byte
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body io.Reader = bytes.NewReader(w.body)
	if w.slow {
		body = iotest.OneByteReader(body)
	}
	if w.then != nil {
		body = io.MultiReader(body, w.then)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

type reader func() (int, error)

func (r reader) Read([]byte) (int, error) { return r() }

// read is what a client makes of a body.
func read(w wire) (chat.Reply, error) { return readAs(prompt, w, nil) }

// readAs is what a client makes of a body as the answer to a request.
func readAs(r chat.Request, w wire, show func(string)) (chat.Reply, error) {
	c := New(Config{BaseURL: "http://model.invalid/v1", Model: "test-model"})
	c.http = &http.Client{Transport: w}
	c.clock = (&hands{}).clock()
	return c.Chat(context.Background(), r, show)
}

// streamOf is a stream of these deltas, as JSON, that ends well for a reason.
func streamOf(finish string, deltas ...string) []byte {
	var b bytes.Buffer
	for _, d := range deltas {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", d)
	}
	fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
	return b.Bytes()
}

// toolCalls is a delta of these pieces.
func toolCalls(pieces ...string) string { return `{"tool_calls":[` + strings.Join(pieces, ",") + `]}` }

func TestShapesOfCalls(t *testing.T) {
	t.Parallel()
	one, two := chat.Call{ID: "a", Name: "f", Arguments: `{"x":1}`}, chat.Call{ID: "b", Name: "f", Arguments: `{"x":2}`}
	both := []chat.Call{one, two}
	for name, test := range map[string]struct {
		deltas []string
		want   []chat.Call
	}{
		"id, then name, then arguments": {[]string{
			toolCalls(`{"index":0,"id":"a","type":"function"}`), toolCalls(`{"index":0,"function":{"name":"f"}}`),
			toolCalls(`{"index":0,"function":{"arguments":"{\"x\""}}`), toolCalls(`{"index":0,"function":{"arguments":":1}"}}`),
		}, []chat.Call{one}},
		"nulls for what was said": {[]string{
			toolCalls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`),
			toolCalls(`{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{\"x\":1}"}}`),
			toolCalls(`{"index":0,"id":"","function":{"name":"","arguments":""}}`), `{"content":"","tool_calls":null}`,
			toolCalls(`{"index":0,"function":null}`),
		}, []chat.Call{one}},
		"whole, all with index 0": {[]string{
			toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`),
			toolCalls(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}`),
		}, both},
		"whole, in one chunk, no index": {[]string{toolCalls(
			`{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`, `{"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}`,
		)}, both},
		"id and name repeated": {[]string{
			toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), toolCalls(
				`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`),
			toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), toolCalls(
				`{"index":0,"id":"a","function":{"name":"f","arguments":"\n"}}`),
			toolCalls(`{"index":1,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}`),
		}, []chat.Call{{ID: "a", Name: "f", Arguments: "{\"x\":1}\n"}, two}},
		"another id for each piece": {[]string{
			toolCalls(`{"index":0,"id":"a","function":{"name":"f"}}`), toolCalls(
				`{"index":0,"id":"q","function":{"arguments":"{\"x\":1}"}}`),
			toolCalls(`{"index":1,"id":"b","function":{"name":"f"}}`), toolCalls(
				`{"index":1,"id":"r","function":{"arguments":"{\"x\":2}"}}`),
		}, both},
		"index 0 for all, in pieces": {[]string{
			toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`), toolCalls(
				`{"index":0,"id":"","function":{"name":null,"arguments":"{\"x\":1}"}}`),
			toolCalls(`{"index":0,"id":"b","function":{"name":"f","arguments":""}}`), toolCalls(
				`{"index":0,"id":"","function":{"name":null,"arguments":"{\"x\":2}"}}`),
		}, both},
		"neither ids nor indexes": {[]string{
			toolCalls(`{"function":{"name":"f","arguments":"{\"x\":1}"}}`), toolCalls(
				`{"function":{"name":"f","arguments":"{\"x\":2}"}}`),
		}, both},
		"nothing but names": {[]string{toolCalls(`{"function":{"name":"f"}}`), toolCalls(`{"function":{"name":"g"}}`)},
			[]chat.Call{{ID: "a", Name: "f"}, {ID: "b", Name: "g"}}},
		"the same id and index for all": {[]string{
			toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), toolCalls(
				`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}}`),
		}, both},
		"the same id, other indexes": {[]string{
			toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), toolCalls(
				`{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`),
			toolCalls(`{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"function":{"arguments":"2}"}}`),
		}, both},
		"no index, in pieces": {[]string{
			toolCalls(`{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), toolCalls(`{"function":{"arguments":"1}"}}`),
			toolCalls(`{"id":"b","function":{"name":"f","arguments":"{\"x\":"}}`), toolCalls(`{"id":"b","function":{"arguments":"2}"}}`),
		}, both},
		"indexes from 1, the second first": {[]string{
			toolCalls(`{"index":2,"id":"a","function":{"name":"f"}}`), toolCalls(
				`{"index":1,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}`),
			toolCalls(`{"index":2,"function":{"arguments":"{\"x\":1}"}}`),
		}, both},
		"arguments as an object": {[]string{toolCalls(
			`{"id":"a","function":{"name":"f","arguments":{ "x" : 1 }}}`, `{"id":"b","function":{"name":"f","arguments":{"x":2}}}`)}, both},
		"ids that aren't texts": {[]string{toolCalls(
			`{"index":0,"id":5,"function":{"name":"f","arguments":"{\"x\":1}"}}`)}, []chat.Call{one}},
		"an id too long to be sent back": {[]string{toolCalls(`{"index":0,"id":"` + strings.Repeat("x", 41) +
			`","function":{"name":"f","arguments":"{\"x\":1}"}}`)},
			[]chat.Call{one}},
		"no arguments": {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"f"}}`)},
			[]chat.Call{{ID: "a", Name: "f"}}},
		"bad arguments": {[]string{toolCalls(
			`{"index":0,"id":"a","function":{"name":"f","arguments":"x = 1"}}`)},
			[]chat.Call{{ID: "a", Name: "f", Arguments: "x = 1"}}},
		"another choice": {[]string{toolCalls(`{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`)},
			[]chat.Call{one}},
	} {
		for _, finish := range []string{"stop", "tool_calls"} {
			body := streamOf(finish, append([]string{`{"role":"assistant","content":"Let me see."}`}, test.deltas...)...)
			if name == "another choice" {
				body = append([]byte(`data: {"choices":[{"index":1,"delta":`+test.deltas[0]+`}]}`+"\n\n"), body...)
			}
			reply, err := read(wire{body: body})
			if err != nil || reply.FinishReason != "tool_calls" || reply.Text != "Let me see." {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
			sameCalls(t, name, reply.Calls, test.want)
		}
	}
}

// sameCalls compares calls but for their ids, which are nine letters or digits.
func sameCalls(t rapidT, name string, got, want []chat.Call) {
	seen := map[string]bool{}
	got = slices.Clone(got)
	for i, c := range got {
		if !madeUp.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("%s: id %q", name, c.ID)
		}
		seen[c.ID] = true
		if i < len(want) {
			got[i].ID = want[i].ID
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
	}
}

type rapidT interface{ Errorf(string, ...any) }

var madeUp = regexp.MustCompile(`^[a-z0-9]{9}$`)

// A server that falls silent in the middle of a call has begun to answer.
func TestSilenceAmidCalls(t *testing.T) {
	t.Parallel()
	h := &hands{fire: make(chan func(), 1)}
	half := "data: " + `{"choices":[{"delta":` +
		toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`) + "}]}\n\n"
	c := New(Config{BaseURL: "http://model.invalid/v1", Model: "m"})
	c.clock = h.clock()
	c.http = &http.Client{Transport: wire{body: []byte(half), then: func() (int, error) {
		(<-h.fire)()
		return 0, context.Canceled
	}}}
	if reply, err := c.Chat(t.Context(), prompt, nil); !errors.Is(err, ErrCutOff) || reply.Calls != nil {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A call that was cut because the answer was long enough is none.
func TestCallsOfAnAnswerTooLong(t *testing.T) {
	t.Parallel()
	first, second := toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
		toolCalls(`{"index":1,"id":"b","function":{"name":"g","arguments":"{\"x\":"}}`)
	reply, err := read(wire{body: streamOf("length", first, second)})
	if err != nil || reply.FinishReason != "length" {
		t.Errorf("%+v, %v", reply, err)
	}
	sameCalls(t, "too long", reply.Calls, []chat.Call{{ID: "a", Name: "f", Arguments: "{}"}})
	if reply, err = read(wire{body: streamOf("length", second)}); KindOf(err) != BadAnswer ||
		reply.Calls != nil || !strings.Contains(err.Error(), "raise llm.max_tokens") {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestCallsRunWild(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 33 {
		many = append(many, toolCalls(
			fmt.Sprintf(`{"index":%d,"id":"%[1]d","function":{"name":"f","arguments":"{}"}}`, i)))
	}
	big := strings.Repeat(" ", 32<<10)
	long := strings.Repeat("x", 257)
	begin := toolCalls(`{"index":0,"id":"a","function":{"name":"f"}}`)
	for name, test := range map[string]struct {
		deltas []string
		bad    bool
	}{
		"so many":  {many[:32], false},
		"one more": {many, true},
		"so long": {[]string{begin, toolCalls(`{"index":0,"function":{"arguments":"` + big +
			`"}}`), toolCalls(`{"index":0,"function":{"arguments":"` + big + `"}}`)}, false},
		"longer": {[]string{begin, toolCalls(`{"index":0,"function":{"arguments":"` + big +
			`"}}`), toolCalls(`{"index":0,"function":{"arguments":" ` + big + `"}}`)}, true},
		"a long name":         {[]string{toolCalls(`{"index":0,"id":"a","function":{"name":"` + long + `"}}`)}, true},
		"a long id":           {[]string{toolCalls(`{"index":0,"id":"` + long + `","function":{"name":"f"}}`)}, true},
		"no list of calls":    {[]string{`{"tool_calls":5}`}, true},
		"a call without name": {[]string{toolCalls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)}, true},
	} {
		reply, err := read(wire{body: streamOf("tool_calls", test.deltas...)})
		if test.bad != (KindOf(err) == BadAnswer) || test.bad && reply.Calls != nil ||
			!test.bad && err != nil {
			t.Errorf("%s: %d calls, %v", name, len(reply.Calls), err)
		}
	}
}

// Whatever comes, it is read the same in one piece and byte by byte, and what is passed on can be sent back.
func FuzzAnswer(f *testing.F) {
	for _, test := range servers {
		body, err := os.ReadFile("testdata/" + test.name + ".answer.txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	for _, body := range bodies(f) {
		f.Add(string(body))
	}
	f.Add(string(streamOf("length", toolCalls(
		`{"index":0,"id":5,"function":{"name":"f","arguments":{"a":[1]}}}`, `{"function":null}`))))
	f.Fuzz(func(t *testing.T, body string) {
		whole, err := readAs(asking, wire{body: []byte(body)}, nil)
		again, err2 := readAs(asking, wire{body: []byte(body), slow: true}, nil)
		if fmt.Sprint(err) != fmt.Sprint(err2) || whole.Text != again.Text ||
			whole.FinishReason != again.FinishReason || len(whole.Calls) != len(again.Calls) {
			t.Fatalf("%+v, %v at once; %+v, %v byte by byte", whole, err, again, err2)
		}
		if err != nil && whole.Calls != nil {
			t.Fatalf("calls with %v", err)
		}
		seen := map[string]bool{}
		for i, c := range whole.Calls {
			if c.Name == "" || c.ID == "" || len(c.ID) != 9 || seen[c.ID] ||
				c.Arguments != again.Calls[i].Arguments || !json.Valid([]byte(object(c.Arguments))) {
				t.Fatalf("call %+v of %+v", c, whole.Calls)
			}
			seen[c.ID] = true
		}
	})
}
