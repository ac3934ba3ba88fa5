package discord

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"hark/internal/answer"
)

func TestFilesOfForwardedMessages(t *testing.T) {
	t.Parallel()
	w := &Message{Attachments: []wireFile{{Filename: "a"}}}
	w.Snapshots = make([]struct {
		Message Message `json:"message"`
	}, 1)
	w.Snapshots[0].Message.Attachments = []wireFile{{Filename: "b"}}
	got := AttachmentsOf(w, 7)
	if len(got) != 2 || got[0].Filename != "a" || got[1].Filename != "b" || got[1].Message != 7 {
		t.Errorf("got %+v", got)
	}
}

// answers is a transport that answers every request by itself.
type answers func(*http.Request) (*http.Response, error)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFilesComeFromDiscordOnly(t *testing.T) {
	t.Parallel()
	const cdn = "https://cdn.discordapp.com/attachments/1/2/"
	page := func(status int, location, body string) *http.Response {
		return &http.Response{StatusCode: status, Header: http.Header{"Location": {location}},
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
	}
	var asked []string
	f := newFetcher(answers(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.String())
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s is told %v", r.URL, r.Header)
		}
		switch r.URL.Path {
		case "/attachments/1/2/elsewhere":
			return page(302, "https://evil.org/x", ""), nil
		case "/attachments/1/2/plain":
			return page(302, "http://cdn.discordapp.com/attachments/1/2/a", ""), nil
		case "/attachments/1/2/round":
			return page(302, cdn+"round", ""), nil
		case "/attachments/1/2/moved":
			return page(302, "https://media.discordapp.net/attachments/1/2/a", ""), nil
		case "/attachments/1/2/broken":
			return nil, errors.New("connection reset")
		case "/attachments/1/2/torn":
			return &http.Response{StatusCode: 200,
				Body: io.NopCloser(io.MultiReader(strings.NewReader("x"), torn{})), ContentLength: -1}, nil
		case "/attachments/1/2/endless":
			return &http.Response{StatusCode: 200, Body: io.NopCloser(endless{}), ContentLength: -1}, nil
		case "/attachments/1/2/large":
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("")),
				ContentLength: 1 << 40}, nil
		case "/attachments/1/2/troubled":
			return page(503, "", ""), nil
		case "/attachments/1/2/expired":
			return page(403, "", ""), nil
		}
		return page(200, "", "data"), nil
	}))
	for _, tt := range []struct {
		address, want string
		err           error
	}{
		{cdn + "a?ex=1&hm=secret", "data", nil},
		{"https://media.discordapp.net/attachments/1/2/a", "data", nil},
		{cdn + "moved", "data", nil},
		{"http://cdn.discordapp.com/attachments/1/2/a", "", errNotDiscord},
		{"https://cdn.discordapp.com:8443/attachments/1/2/a", "", errNotDiscord},
		{"https://cdn.discordapp.com.evil.org/a", "", errNotDiscord},
		{"https://a@cdn.discordapp.com/a", "", errNotDiscord},
		{"https://127.0.0.1/a", "", errNotDiscord},
		{"file:///etc/passwd", "", errNotDiscord},
		{"://", "", errNotDiscord},
		{"", "", errNotDiscord},
		{cdn + "elsewhere", "", errNotDiscord},
		{cdn + "plain", "", errNotDiscord},
		{cdn + "round", "", errNotDiscord},
		{cdn + "large", "", answer.ErrFileTooLarge},
		{cdn + "endless", "", answer.ErrFileTooLarge},
		{cdn + "expired", "", answer.ErrFileGone},
		{cdn + "broken?hm=secret", "", errAny},
		{cdn + "torn?hm=secret", "", errAny},
		{cdn + "troubled?hm=secret", "", errAny},
	} {
		got, err := f.fetch(t.Context(), tt.address, 100)
		if string(got) != tt.want || (err == nil) != (tt.err == nil) || tt.err != errAny && !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v", tt.address, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "discordapp")) {
			t.Errorf("the error tells the address: %v", err)
		}
	}
	for _, a := range asked {
		if !strings.HasPrefix(a, "https://cdn.discordapp.com/") &&
			!strings.HasPrefix(a, "https://media.discordapp.net/") {
			t.Errorf("asked for %s", a)
		}
	}
}

type torn struct{}

func (torn) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

var errAny = errors.New("any")
