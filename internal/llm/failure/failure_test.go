package failure

import (
	"testing"
	"time"
)

// A server that passes requests on may give the words of the one behind it in a field of their own, or as JSON in its
// message. They say what is wrong.
func TestServerBehind(t *testing.T) {
	t.Parallel()
	const long = `{\"error\":{\"message\":\"This model's maximum context length is 4096 tokens. However, you requested 5000 ` +
		`tokens (4000 in the messages, 1000 in the completion).\"}}`
	const field = `{\"error\":{\"message\":\"no\",\"param\":\"stream_options\",\"code\":\"unsupported_parameter\"}}`
	for body, want := range map[string]struct {
		limit int
		named string
	}{
		`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"` + long + `"}}}`: {limit: 4096},
		`{"error":{"message":"` + long + `"}}`:                                                         {limit: 4096},
		`{"error":{"message":"Provider returned error","metadata":{"raw":"` + field + `"}}}`:           {named: "stream_options"},
		`{"error":{"message":"` + field + `"}}`:                                                        {named: "stream_options"},
		`{"error":{"message":"x","metadata":{"raw":{"message":"unknown field stream_options"}}}}`:      {named: "stream_options"},
		`{"error":{"message":"x","metadata":{"raw":"unknown field stream_options"}}}`:                  {named: "stream_options"},
		`{"error":{"message":"unknown field stream_options","metadata":{"raw":[[1]]}}}`:                {named: "stream_options"},
		`{"error":{"message":"unknown field stream_options","metadata":7}}`:                            {named: "stream_options"},
		`{"error":{"message":"7"}}`:                                                                    {},
	} {
		f, is := Read([]byte(body))
		f.Status = 400
		limit, _, _ := f.IsTooLong()
		named := f.Named([]string{"max_tokens", "stream_options"})
		if !is || limit != want.limit || named != want.named {
			t.Errorf("%s: limit %d, names %q: %+v", body, limit, named, f)
		}
	}
	f, _ := Read([]byte(`{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"the disk is full"}}}`))
	if f.Message != "Provider returned error: the disk is full" || f.Status != 502 {
		t.Errorf("%+v", f)
	}
}

// Thousands may be set apart in numbers, and a limit for each minute is one for each request.
func TestLimits(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]struct{ limit, asked, status int }{
		"inputs tokens + max_new_tokens must be <= 4,096. Given: 40,000 inputs tokens": {4096, 40000, 422},
		"Prompt is too long: 1,205,000 tokens > 1,048,576 maximum":                     {1048576, 1205000, 400},
		"Range of input length should be [1,512]":                                      {512, 0, 400},
		"Input tokens exceed the configured limit of 272000 tokens.":                   {272000, 0, 400},
		"Request too large for model m on tokens per minute (TPM): Limit 6000, Requested 7200, please reduce your message size": {
			6000, 0, 413},
		"Request too large for m in organization o on tokens per min (TPM): Limit 10000, Requested 12000.": {10000, 0, 429},
	} {
		limit, asked, is := Failure{Status: want.status, Message: said}.IsTooLong()
		if !is || limit != want.limit || asked != want.asked {
			t.Errorf("%s: %d, %d, %v", said, limit, asked, is)
		}
	}
	_, _, is := Failure{Status: 429, Message: "Rate limit reached on tokens per min (TPM): Limit 6000, Used 5000"}.IsTooLong()
	if is {
		t.Error("a prompt that must only wait is too long")
	}
}

// How long a server wants to be left alone stands in its words.
func TestWait(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]time.Duration{
		"Rate limit reached. Please try again in 1.2s. Need more?": 1200 * time.Millisecond,
		"Please try again in 350ms.":                               350 * time.Millisecond,
		"Please try again in 7m12.5s.":                             7*time.Minute + 12500*time.Millisecond,
		"Please retry in 38.145s.":                                 38145 * time.Millisecond,
		"Please retry after 8 seconds.":                            8 * time.Second,
		"Retry after 2 minutes":                                    2 * time.Minute,
		"try again in 999999999 hours":                             24 * time.Hour,
		"try again in 999999999h999999999h999999999h":              0,
		"Please retry after: 5":                                    5 * time.Second,
		"try again in a moment":                                    0,
		"":                                                         0,
	} {
		got := Failure{Message: said}.Wait()
		if got != want {
			t.Errorf("%s: %v; want %v", said, got, want)
		}
	}
}
