package discord

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"hark/internal/metrics"
	"hark/internal/metrics/metricstest"
)

func TestRateLimitsOfEveryFormAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ body, header, want string }{
		{`{"retry_after":1.5,"global":false}`, "9", `{"retry_after":1.5,"global":false}`},
		{`{"message":"no"}`, "9", `{"retry_after":9}`},
		{`<html>`, "", `{"retry_after":5}`},
		{`<html>`, "soon", `{"retry_after":5}`},
		{`<html>`, "-1", `{"retry_after":5}`},
	} {
		r := &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(tt.body))}
		if tt.header != "" {
			r.Header.Set("Retry-After", tt.header)
		}
		r, err := normalizeRateLimit(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(r.Body); string(got) != tt.want || r.ContentLength != int64(len(got)) {
			t.Errorf("%s, %q: %s", tt.body, tt.header, got)
		}
	}
	broken := &http.Response{Header: http.Header{}, Body: io.NopCloser(brokenReader{})}
	if _, err := normalizeRateLimit(broken); err == nil {
		t.Error("a body that breaks off is understood")
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("connection reset") }

func TestRoutesNameNobody(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		discordgo.EndpointChannelMessages("123"):                       "messages",
		discordgo.EndpointChannelMessage("123", "456") + "?x=1":        "messages",
		discordgo.EndpointChannelTyping("123"):                         "typing",
		discordgo.EndpointChannel("123"):                               "channels",
		discordgo.EndpointGuild("123"):                                 "guilds",
		discordgo.EndpointUser("@me"):                                  "users",
		discordgo.EndpointInteractionResponse("123", "secret"):         "interactions",
		discordgo.EndpointInteractionResponseActions("123", "secret"):  "interactions",
		discordgo.EndpointApplicationGlobalCommands("123"):             "applications",
		discordgo.EndpointGatewayBot:                                   "gateway",
		"https://cdn.discordapp.com/attachments/1/2/somebodys-file.md": "other",
		"": "other",
	} {
		if got := routeOf(address); got != want {
			t.Errorf("%s is of %q, want %q", address, got, want)
		}
	}
}

func TestOutcomesOfRequests(t *testing.T) {
	t.Parallel()
	c := Client{metrics: metrics.New()}
	for _, err := range []error{nil, &discordgo.RateLimitError{},
		&discordgo.RESTError{Response: &http.Response{StatusCode: 403}}, io.EOF} {
		c.count("messages", err)
	}
	c.countWait("messages", 0) // isn't a wait
	want := map[string]int{}
	for _, outcome := range []string{"ok", "limited", "refused", "failed"} {
		want["hark_discord_requests_total "+outcome+" messages"] = 1
	}
	if got := metricstest.Counted(t, c.metrics); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAddressesOfDiscord(t *testing.T) {
	t.Parallel()
	for address, path := range map[string]string{
		"": "", "https://discord.com/api": "", "https://discord.com/api/v10/": "",
		"http://proxy:8080/discord": "/discord", "http://proxy/x/api": "/x",
	} {
		if base, err := parseBase(address); err != nil || base.Path != path {
			t.Errorf("%q: %v, %v", address, base, err)
		}
	}
}

func TestNoncesAreShort(t *testing.T) {
	t.Parallel()
	if n := Nonce("a", 1<<63-1, 99); len(n) > 25 {
		t.Errorf("nonce %s is too long", n)
	}
}
