package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
)

// loaded is what files of a question hold, or why they don't, as the oracle found.
func (s *scene) loads(most int) func() []string {
	got := make(chan []string, 1)
	s.oracle.answer = func(ctx context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		var all []string
		for _, f := range q.Files {
			data, err := f.Load(ctx, most)
			if err != nil {
				data = []byte(err.Error())
			}
			own := "own"
			if f.Message != q.ID {
				own = fmt.Sprint("of ", f.Message == q.ReplyTo)
			}
			all = append(all, fmt.Sprintf("%s (%s, %s, %d, %s): %s", f.Name, f.Description, f.Type, f.Size, own, data))
		}
		got <- all
		return answer.Answer{Text: "Seen"}, nil
	}
	return func() []string { return <-got }
}

func TestFilesOfAQuestionAreFetched(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	loaded := s.loads(10)
	first := s.discord.Say(s.channel, s.bo.ID, "look", discordtest.WithData("plan.txt", "", "text/plain",
		[]byte("dig")))
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what is it?", discordtest.QuietReplyTo(first.ID),
		discordtest.WithData("cat.png", "my cat", "image/png", []byte("meow")), discordtest.WithFile("gone.png", ""),
		discordtest.WithData("large.txt", "", "text/plain", []byte("eleven signs"[:11])))
	want := []string{"cat.png (my cat, image/png, 4, own): meow", "gone.png (, , 1000, own): " +
		answer.ErrFileGone.Error(),
		"large.txt (, text/plain, 11, own): " +
			answer.ErrFileTooLarge.Error(), "plan.txt (, text/plain, 3, of true): dig"}
	if got := loaded(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	s.answered(t, s.channel, "Seen")
	s.log.mu.Lock()
	logged := fmt.Sprintf("%+v", s.log.events)
	s.log.mu.Unlock()
	for _, secret := range []string{"cdn.discordapp.com", "meow"} {
		if strings.Contains(logged, secret) || strings.Contains(s.out.String(), secret) {
			t.Errorf("%q is kept", secret)
		}
	}
}

func TestFilesOfAQuestionThatIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	first := s.discord.Say(s.channel, s.bo.ID, "look", discordtest.WithData("plan.txt", "", "text/plain",
		[]byte("dig")))
	cat := discordtest.WithData("cat.png", "my cat", "image/png", []byte("meow"))
	const seen = "cat.png (my cat, image/png, 4, own): meow"
	for i, test := range []struct {
		question string
		options  []discordtest.Saying
		want     []string
	}{
		{" what is it?", []discordtest.Saying{cat}, []string{seen}},
		{"", []discordtest.Saying{cat}, []string{seen}},
		{" why?", []discordtest.Saying{cat, discordtest.QuietReplyTo(first.ID)},
			[]string{seen, "plan.txt (, text/plain, 3, of true): dig"}},
		{" and?", []discordtest.Saying{discordtest.QuietReplyTo(first.ID)},
			[]string{"plan.txt (, text/plain, 3, of true): dig"}},
	} {
		loaded := s.loads(10)
		s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+test.question, test.options...)
		once := loaded()
		s.over(t, 2*i+1)
		sent := s.discord.Sent(s.channel)
		s.press(sent[len(sent)-1].Message, s.ana, buttonAgain).Wait()
		s.over(t, 2*i+2)
		if again := loaded(); !slices.Equal(once, test.want) || !slices.Equal(again, test.want) {
			t.Errorf("%q: asked with %q, and then with %q", test.question, once, again)
		}
	}
}

func TestFilesOfAQuestionThatIsAskedAgainInTrouble(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what is it?",
		discordtest.WithData("cat.png", "", "image/png", []byte("meow")))
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	for _, test := range []struct {
		hits    int
		trouble discordtest.Fault
	}{{attempts, discordtest.ServerError()}, {1, discordtest.Gone()}} {
		s.discord.Inject("GET /channels/*/messages/*", test.hits, test.trouble)
		s.hears(t, s.press(m.Message, s.ana, buttonAgain))
	}
	// Without them it is a question still.
	s.discord.Inject("GET /channels/*/messages/*", 1, discordtest.Forbidden())
	s.oracle.answer = says("Saturday")
	s.press(m.Message, s.ana, buttonAgain).Wait()
	s.shows(m.Message, "Saturday")
	if asked := s.oracle.questions(); len(asked) != 2 || len(asked[1].Files) != 0 || asked[1].Text != "what is it?" {
		t.Errorf("asked %+v", asked)
	}
}

func TestFilesOfForwardedMessages(t *testing.T) {
	t.Parallel()
	w := &wireMessage{Attachments: []wireFile{{Filename: "a"}}}
	w.Snapshots = make([]struct {
		Message wireMessage `json:"message"`
	}, 1)
	w.Snapshots[0].Message.Attachments = []wireFile{{Filename: "b"}}
	got := attachmentsOf(w, 7)
	if len(got) != 2 || got[0].Filename != "a" || got[1].Filename != "b" || got[1].message != 7 {
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
		{"http://cdn.discordapp.com/attachments/1/2/a", "", errElsewhere},
		{"https://cdn.discordapp.com:8443/attachments/1/2/a", "", errElsewhere},
		{"https://cdn.discordapp.com.evil.org/a", "", errElsewhere},
		{"https://a@cdn.discordapp.com/a", "", errElsewhere},
		{"https://127.0.0.1/a", "", errElsewhere},
		{"file:///etc/passwd", "", errElsewhere},
		{"://", "", errElsewhere},
		{"", "", errElsewhere},
		{cdn + "elsewhere", "", errElsewhere},
		{cdn + "plain", "", errElsewhere},
		{cdn + "round", "", errElsewhere},
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

var errAny = errors.New("any")

type torn struct{}

func (torn) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
