package discordtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"hark/internal/discordtest"
)

// rest is a client without discordgo: method and path in, status and body out.
type rest struct {
	t       testing.TB
	discord *discordtest.Server
	client  *http.Client
	token   string
}

func newREST(t testing.TB, discord *discordtest.Server) *rest {
	return &rest{t, discord, discord.Client(), "Bot " + discord.Token}
}

func (r *rest) call(method, path string, body any) (int, string) {
	r.t.Helper()
	var in io.Reader
	if raw, ok := body.(string); ok {
		in = strings.NewReader(raw)
	} else if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		in = strings.NewReader(string(b))
	}
	q, err := http.NewRequest(method, "https://discord.com/api/v9"+path, in)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", r.token)
	q.Header.Set("Content-Type", "application/json")
	a, err := r.client.Do(q)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// want calls and compares the status, and the error code where there is one.
func (r *rest) want(status, code int, method, path string, body any) string {
	r.t.Helper()
	got, text := r.call(method, path, body)
	var refused struct {
		Code int `json:"code"`
	}
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &refused); err != nil {
			r.t.Fatal(err)
		}
	}
	if got != status || refused.Code != code {
		r.t.Errorf("%s %s: status %d, code %d (%s), want %d, %d", method, path, got, refused.Code, text, status, code)
	}
	return text
}

// TestEveryAnswerIsDiscords asks for everything there is: an answer that Discord's document doesn't describe
// fails the test by itself.
func TestEveryAnswerIsDiscords(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, c, ana := place(discord)
	for _, kind := range []discordtest.ChannelType{discordtest.Voice, discordtest.Category, discordtest.Forum} {
		discord.AddChannel(g.ID, discordtest.Channel{Name: "other", Type: kind})
	}
	thread := discord.AddChannel(g.ID, discordtest.Channel{Name: "a thread", Type: discordtest.PublicThread, ParentID: &c.ID})
	discord.SetOverwrite(c.ID, discordtest.ForMember(ana.ID, 0, discordtest.AttachFiles))
	said := discord.Say(c.ID, ana.ID, "see <@"+discord.Bot.ID.String()+">", discordtest.WithFile("a.png", "a cat"))
	discord.Say(c.ID, ana.ID, "and", discordtest.ReplyTo(said.ID))
	discord.Say(c.ID, ana.ID, "hook", discordtest.ViaWebhook("news"), discordtest.WithEmbed(`{"type":"rich","title":"x"}`))
	direct := discord.DM(ana.ID, "psst")
	r := newREST(t, discord)
	for _, path := range []string{"/gateway", "/gateway/bot", "/users/@me", "/users/" + ana.ID.String(),
		"/users/@me/guilds", "/applications/@me", "/oauth2/applications/@me", "/guilds/" + g.ID.String(),
		"/guilds/" + g.ID.String() + "?with_counts=true",
		"/guilds/" + g.ID.String() + "/roles", "/guilds/" + g.ID.String() + "/channels",
		"/guilds/" + g.ID.String() + "/members?limit=10", "/guilds/" + g.ID.String() + "/threads/active",
		"/guilds/" + g.ID.String() + "/members/" + ana.ID.String(), "/channels/" + c.ID.String(),
		"/channels/" + thread.ID.String(), "/channels/" + direct.ChannelID.String(),
		"/channels/" + c.ID.String() + "/messages", "/channels/" + c.ID.String() + "/messages/" + said.ID.String(),
		"/applications/" + discord.AppID.String() + "/commands",
		"/applications/" + discord.AppID.String() + "/guilds/" + g.ID.String() + "/commands"} {
		r.want(200, 0, "GET", path, nil)
	}
	r.want(200, 0, "POST", "/users/@me/channels", map[string]any{"recipient_id": ana.ID})
	r.want(204, 0, "POST", "/channels/"+c.ID.String()+"/typing", nil)
	r.want(200, 0, "POST", "/channels/"+thread.ID.String()+"/messages", plain("in the thread"))
}
