package llm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/internal/llmtest"
)

// said is an error without a server's address and the network's own words.
func said(err error, url string) string {
	return regexp.MustCompile(`\([^()]*(tcp|EOF)[^()]*\)`).ReplaceAllString(strings.ReplaceAll(err.Error(),
		url, "http://server/v1"), "(…)")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	fail := llmtest.Fail
	var told strings.Builder
	for _, test := range []struct {
		reply llmtest.Reply
		kind  Kind
		tries int
	}{
		{fail(400, "invalid_request_error", private+secret), Rejected, 6},
		{fail(400, private+"!", ""), Rejected, 6},
		{fail(401, "invalid_api_key", "Incorrect API key provided: "+secret), Refused, 1},
		{fail(401, secret, "no such key"), Refused, 1},
		{fail(402, "", "Insufficient balance"), Refused, 1},
		{fail(403, "", ""), Refused, 1},
		{fail(404, "model_not_found", ""), NotFound, 1},
		{fail(404, "", `model "test-model" not found, try pulling it first`), NotFound, 1},
		{fail(400, "", "x is not a valid model ID"), NotFound, 1},
		{llmtest.Reply{Status: 404, Body: "404 page not found"}, NotFound, 1},
		{llmtest.Reply{Status: 405, Body: `{"detail":"Method Not Allowed"}`}, NotFound, 1},
		{llmtest.RateLimited(0), RateLimited, 3},
		{fail(429, "insufficient_quota", "You exceeded your current quota"), Refused, 1},
		{llmtest.TooLong(), TooLong, 1},
		{fail(400, "BadRequestError", "This model's maximum context length is 4096 tokens."), TooLong, 1},
		{llmtest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"n","type":"exceed_context_size_error"}}`}, TooLong, 1},
		{llmtest.Reply{Status: 413, Body: "Payload Too Large"}, TooLong, 1},
		{llmtest.Reply{Body: `{"error":{"message":"prompt is too long: 5 tokens > 4 maximum"}}`}, TooLong, 1},
		{llmtest.Reply{Body: `{"error":{"message":"x","code":429}}`}, RateLimited, 3},
		{llmtest.Reply{Status: 422, Body: `{"detail":[{"loc":["body"],"input":"` + private + `"}]}`}, Rejected, 6},
		{fail(408, "", "Your request timed out"), Server, 3},
		{fail(500, "", private), Server, 7},
		{fail(501, "", ""), Server, 6},
		{fail(503, "overloaded", ""), Server, 3},
		{fail(529, "overloaded_error", ""), Server, 3},
		{llmtest.Page(502), Server, 3},
		{llmtest.Page(200), BadAnswer, 1},
		{llmtest.Reply{Status: 204, Body: " "}, BadAnswer, 1},
		{llmtest.Reply{Body: "It works!"}, BadAnswer, 1},
		{llmtest.Reply{Body: "{\n\"choices\": [\n"}, BadAnswer, 1},
		{llmtest.Reply{Body: "data: " + private + "\n\n"}, BadAnswer, 1},
		{llmtest.Reply{Body: `data: {"choices":[{"delta":{"content":5}}]}`}, CutOff, 3},
		{llmtest.Reply{Body: `data: "` + private + `"`}, Server, 7},
		{llmtest.Reply{Body: `{"detail":"` + private + `"}`}, Server, 7},
		{llmtest.Reply{Body: `{"choices":[{"delta":{},"finish_reason":"error"}]}`}, Server, 7},
		{llmtest.Reply{Cut: llmtest.Reset}, Unreachable, 3},
		{llmtest.Reply{Cut: llmtest.NoFinish}, CutOff, 3},
		{llmtest.Reply{}, BadAnswer, 3},
		{llmtest.Reply{Finish: "length", Text: []string{"<think>hm"}}, BadAnswer, 1},
		{llmtest.Reply{Finish: "content_filter"}, BadAnswer, 1},
		{fail(400, "content_filter", "The response was filtered"), BadAnswer, 1},
		{fail(400, "data_inspection_failed", "Output data may contain inappropriate content."), BadAnswer, 1},
		{fail(403, "", "Your prompt was flagged by moderation"), BadAnswer, 1},
		{llmtest.Reply{Tools: []llmtest.ToolCall{{ID: "1"}}}, BadAnswer, 3},
		{llmtest.Reply{Finish: "tool_calls"}, BadAnswer, 3},
	} {
		s := llmtest.New(t)
		s.Answer(func(llmtest.Request) llmtest.Reply { return test.reply })
		c, _ := client(s, nil)
		reply, _, err := talk(t, c)
		if KindOf(err) != test.kind || reply.Text != "" {
			t.Errorf("%+v: %+v, %v", test.reply, reply, err)
		}
		checkError(t, err)
		fmt.Fprintln(&told, said(err, s.URL()))
		if errors.Is(err, ErrCutOff) != (test.kind == CutOff) {
			t.Errorf("%v is taken for a cut", err)
		}
		if n := len(s.Requests()); n != test.tries {
			t.Errorf("%v: asked %d times; want %d", err, n, test.tries)
		}
	}
	golden.Seen(t, told.String())
}

func TestRetry(t *testing.T) {
	t.Parallel()
	busy := llmtest.Fail(503, "", "")
	for name, test := range map[string]struct {
		replies []llmtest.Reply
		slept   []time.Duration
		kind    Kind
	}{
		"once": {[]llmtest.Reply{busy}, []time.Duration{375 * time.Millisecond}, 0},
		"twice": {[]llmtest.Reply{busy, {Cut: llmtest.Reset}},
			[]time.Duration{375 * time.Millisecond, 750 * time.Millisecond}, 0},
		"too often": {[]llmtest.Reply{busy, busy, busy},
			[]time.Duration{375 * time.Millisecond, 750 * time.Millisecond}, Server},
		"then not allowed": {[]llmtest.Reply{busy, llmtest.Fail(403, "", "")},
			[]time.Duration{375 * time.Millisecond}, Refused},
		"as told, seconds": {[]llmtest.Reply{llmtest.RateLimited(7 * time.Second)},
			[]time.Duration{7 * time.Second}, 0},
		"as told, date": {[]llmtest.Reply{llmtest.RateLimitedUntil(start.Add(9 * time.Second))},
			[]time.Duration{9 * time.Second}, 0},
		"as told, past date": {[]llmtest.Reply{llmtest.RateLimitedUntil(start.Add(-time.Hour))},
			[]time.Duration{375 * time.Millisecond}, 0},
		"as told, in words": {[]llmtest.Reply{llmtest.Fail(429, "", "Rate limit reached. Please try again in 6.5s.")},
			[]time.Duration{6500 * time.Millisecond}, 0},
		"too long to wait, in words": {[]llmtest.Reply{llmtest.Fail(429, "", "Quota exceeded. Please retry in 31s.")}, nil,
			RateLimited},
		"too long to wait": {[]llmtest.Reply{llmtest.RateLimited(31 * time.Second)}, nil, RateLimited},
	} {
		s := llmtest.New(t)
		s.Queue(test.replies...)
		if test.kind == 0 {
			s.Queue(llmtest.Say("well"))
		}
		c, h := client(s, nil)
		reply, _, err := talk(t, c)
		if KindOf(err) != test.kind || (err == nil) != (reply.Text == "well") || !slices.Equal(h.slept, test.slept) {
			t.Errorf("%s: %+v, %v, slept %v; want %v", name, reply, err, h.slept, test.slept)
		}
		if e, is := errors.AsType[*Error](err); is && e.Kind == RateLimited &&
			(e.RetryAfter() != 31*time.Second || e.Status != 429) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestPauseStaysInBounds(t *testing.T) {
	t.Parallel()
	c := New(Config{})
	for attempt := range 100 {
		pause, again := c.pause(&Error{again: true}, attempt)
		if !again || pause < firstPause/2 || pause > longestPause {
			t.Errorf("attempt %d: %v, %t", attempt, pause, again)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	zero, warm := float32(0), float32(0.7)
	for model, test := range map[string]struct {
		temperature *float32
		reasons     bool
	}{
		"llama3": {&warm, false}, "gpt-4o": {&zero, false}, "gpt-oss-20b": {&warm, false}, "o": {nil, false},
		"gpt-5": {&warm, true}, "gpt-5.1-mini": {&zero, true}, "o1": {&warm, true}, "o3-mini": {nil, true},
		"o4-mini": {&warm, true}, "openai/gpt-5": {&warm, true}, "gpt-6-sol": {&warm, true}, "gpt-12": {&warm, true},
	} {
		s := llmtest.New(t)
		s.Queue(llmtest.Say("ok"))
		c, _ := client(s, func(c *Config) { c.Model, c.Temperature = model, test.temperature })
		if _, _, err := talk(t, c); err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		r := s.Requests()[0]
		limit, other := r.MaxTokens, r.MaxCompletionTokens
		if test.reasons {
			limit, other = other, limit
		}
		warmth := test.temperature != nil && !test.reasons
		if limit == nil || *limit != 100 || other != nil || (r.Temperature != nil) != warmth {
			t.Errorf("%s: %s", model, r.Body)
		} else if warmth && (*r.Temperature-float64(*test.temperature) > 1e-6) {
			t.Errorf("%s: temperature %g; want %g", model, *r.Temperature, *test.temperature)
		}
	}
}

// The prompt of a check is ours, so that the server's words can be shown; but not the key.
func TestCheckTellsTheServersWords(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Key("another, "+secret))
	c, _ := client(s, nil)
	_, err := c.Check(t.Context())
	checkError(t, err)
	if KindOf(err) != Refused || !strings.Contains(err.Error(), "; it says: Incorrect API key provided: Bearer …") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	missing := llmtest.Fail(500, "", strings.Repeat("long ", 100))
	var told strings.Builder
	for _, test := range []struct {
		name    string
		options []llmtest.Option
		model   string
		reply   llmtest.Reply
		fails   bool
		calls   int
	}{
		{"listed", nil, "test-model", llmtest.Reply{}, false, 1},
		{"not listed", nil, "alias", llmtest.Say("H"), false, 2},
		{"no list", []llmtest.Option{llmtest.NoModelList()}, "m", llmtest.Say("H"), false, 2},
		{"only thought", []llmtest.Option{llmtest.NoModelList()}, "o1", llmtest.Reply{Finish: "length"}, false, 2},
		{"neither listed nor had", []llmtest.Option{llmtest.Models("a", "b")}, "c", llmtest.Reply{}, true, 3},
		{"failing", nil, "alias", missing, true, 2},
	} {
		s := llmtest.New(t, test.options...)
		s.Queue(test.reply)
		c, h := client(s, func(c *Config) { c.Model = test.model })
		how, err := c.Check(t.Context())
		if (err != nil) != test.fails || (how == "") != test.fails {
			t.Errorf("%s: %q, %v", test.name, how, err)
		}
		fmt.Fprintf(&told, "%s: %s %s\n", test.name, how, strings.ReplaceAll(fmt.Sprint(err), s.URL(),
			"http://server/v1"))
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%s: the error has %d bytes", test.name, len(err.Error()))
		}
		requests := s.All()
		if len(requests) != test.calls || len(h.slept) != 0 {
			t.Errorf("%s: %d requests, slept %v", test.name, len(requests), h.slept)
		}
		if last := requests[len(requests)-1]; test.calls == 2 && test.model != "o1" && *last.MaxTokens != 1 ||
			test.model == "o1" && *last.MaxCompletionTokens != 16 {
			t.Errorf("%s: %s", test.name, last.Body)
		}
	}
	golden.Seen(t, told.String())
	c := New(Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m"})
	if _, err := c.Check(t.Context()); KindOf(err) != Unreachable {
		t.Error(err)
	}
	if _, err := c.Try(t.Context()); KindOf(err) != Unreachable {
		t.Error(err)
	}
	if _, err := c.List(t.Context()); KindOf(err) != Unreachable {
		t.Error(err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Key(secret), llmtest.Models("small", "large"))
	c, _ := client(s, func(c *Config) { c.Model = "" })
	names, err := c.List(t.Context())
	if err != nil || !slices.Equal(names, []string{"large", "small"}) {
		t.Errorf("%q, %v", names, err)
	}
	wrong, _ := client(s, func(c *Config) { c.APIKey = "other" })
	if _, err := wrong.List(t.Context()); KindOf(err) != Refused || !strings.Contains(err.Error(), "it says") {
		t.Error(err)
	}
}
