package discordtest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
)

// TestNonceMakesARetryOneMessage lets discordgo retry two calls that had been carried out.
func TestNonceMakesARetryOneMessage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		enforce bool
		want    int
	}{{"with enforce_nonce", true, 1}, {"without", false, 3}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			discord := discordtest.New(t)
			_, c, _ := place(discord)
			b := connect(t, discord)
			body := plain("once")
			body["nonce"], body["enforce_nonce"] = "n-1", test.enforce
			inj := discord.Inject("POST /channels/*/messages", 2, discordtest.DoneButBadGateway())
			if err := b.post(c.ID, body); err != nil {
				t.Fatal(err)
			}
			if sent := discord.Sent(c.ID); len(sent) != test.want || inj.Hits() != 2 {
				t.Errorf("%d messages after %d faults, want %d after 2", len(sent), inj.Hits(), test.want)
			}
		})
	}
}

func TestNonceIsForgotten(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	r := newREST(t, discord)
	body := plain("once")
	body["nonce"], body["enforce_nonce"] = 17, true
	path := "/channels/" + c.ID.String() + "/messages"
	r.want(200, 0, "POST", path, body)
	r.want(200, 0, "POST", path, body)
	discord.Advance(10 * time.Minute)
	r.want(200, 0, "POST", path, body)
	if sent := discord.Sent(c.ID); len(sent) != 2 {
		t.Errorf("%d messages, want 2", len(sent))
	}
}

func TestRateLimitThenSuccess(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	b := connect(t, discord)
	inj := discord.Inject("POST /channels/*/messages", 1, discordtest.RateLimited(time.Millisecond))
	if err := b.post(c.ID, plain("late")); err != nil {
		t.Fatal(err)
	}
	if len(discord.Sent(c.ID)) != 1 || inj.Hits() != 1 {
		t.Errorf("%d messages after %d faults", len(discord.Sent(c.ID)), inj.Hits())
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		fault  discordtest.Fault
		status int
		body   string
		sent   int
	}{
		{"429", discordtest.RateLimited(time.Second), 429, `"retry_after": 1.000`, 0},
		{"Cloudflare", discordtest.Banned(), 429, "<!doctype html>", 0},
		{"502 before", discordtest.BadGateway(), 502, "", 0},
		{"502 after", discordtest.DoneButBadGateway(), 502, "", 1},
		{"500", discordtest.ServerError(), 500, "Internal", 0},
		{"malformed", discordtest.Malformed(), 200, `{"id": "12`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			discord := discordtest.New(t)
			_, c, _ := place(discord)
			path := "/channels/" + c.ID.String() + "/messages"
			discord.Inject("POST /channels/*/messages", 1, test.fault)
			r := newREST(t, discord)
			status, body := r.call("POST", path, plain("a"))
			if status != test.status || !strings.Contains(body, test.body) {
				t.Errorf("got %d %q, want %d with %q", status, body, test.status, test.body)
			}
			if sent := len(discord.Sent(c.ID)); sent != test.sent {
				t.Errorf("%d messages, want %d", sent, test.sent)
			}
			r.want(200, 0, "POST", path, plain("b"))
			if q := discord.Requests(); q[0].Status != test.status || q[1].Status != 200 || q[0].Path != path {
				t.Errorf("requests %+v", q)
			}
		})
	}
}

func TestHangUntilReleased(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	b := connect(t, discord)
	inj := discord.Inject("POST /channels/*/messages", 1, discordtest.Hang())
	done := make(chan error, 1)
	go func() { done <- b.post(c.ID, plain("slow")) }()
	inj.WaitHits(1)
	if len(discord.Sent(c.ID)) != 0 {
		t.Error("a held call was carried out")
	}
	inj.Release()
	inj.Release()
	if err := <-done; err != nil || len(discord.Sent(c.ID)) != 1 {
		t.Errorf("%d messages, %v", len(discord.Sent(c.ID)), err)
	}
}

func TestHangGivenUp(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	inj := discord.Inject("GET /channels/*", 1, discordtest.Hang())
	ctx, cancel := context.WithCancel(context.Background())
	q, err := http.NewRequestWithContext(ctx, "GET", discord.URL+"/api/v9/channels/"+c.ID.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := discord.Client().Do(q)
		done <- err
	}()
	inj.WaitHits(1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it cancelled", err)
	}
}

// TestCloudflareIsNoJSON is why a 429 has to be recognised by its status.
func TestCloudflareIsNoJSON(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	b := connect(t, discord)
	discord.Inject("POST /channels/*/messages", 1, discordtest.Banned())
	if err := b.post(c.ID, plain("a")); err == nil {
		t.Error("discordgo took HTML for an answer")
	}
}

func TestTheClientSpeaksToDiscordOnly(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	if _, err := discord.Client().Get("https://example.com/"); err == nil {
		t.Error("a request to another host went out")
	}
	if _, _, err := discord.Dialer().Dial("ws://example.com/", nil); err == nil {
		t.Error("a websocket to another host was opened")
	}
	a, err := discord.Client().Get(discordgo.EndpointGateway)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if a.StatusCode != 200 {
		t.Errorf("status %d", a.StatusCode)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2025, 7, 24, 12, 30, 0, 0, time.UTC)
	discord := discordtest.New(t, discordtest.WithTime(start))
	_, c, ana := place(discord)
	one, two := discord.Say(c.ID, ana.ID, "one"), discord.Say(c.ID, ana.ID, "two")
	discord.Advance(time.Hour)
	three := discord.Say(c.ID, ana.ID, "three")
	if !one.ID.Time().Equal(start) || two.ID <= one.ID || !three.ID.Time().Equal(start.Add(time.Hour)) || !discord.Now().Equal(three.ID.Time()) {
		t.Errorf("said at %v, %v and %v", one.ID.Time(), two.ID.Time(), three.ID.Time())
	}
}
