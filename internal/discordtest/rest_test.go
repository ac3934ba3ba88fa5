package discordtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

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
	old := discord.AddChannel(g.ID, discordtest.Channel{Name: "an old one", Type: discordtest.PublicThread, ParentID: &c.ID})
	discord.UpdateChannel(old.ID, func(c *discordtest.Channel) { c.Thread.Archived = true })
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
		"/channels/" + c.ID.String() + "/threads/archived/public",
		"/channels/" + c.ID.String() + "/messages", "/channels/" + c.ID.String() + "/messages/" + said.ID.String(),
		"/applications/" + discord.AppID.String() + "/commands",
		"/applications/" + discord.AppID.String() + "/guilds/" + g.ID.String() + "/commands"} {
		r.want(200, 0, "GET", path, nil)
	}
	if body := r.want(200, 0, "GET", "/channels/"+c.ID.String()+"/threads/archived/public", nil); !strings.Contains(body, "an old one") ||
		strings.Contains(body, "a thread") {
		t.Errorf("archived threads: %s", body)
	}
	r.want(403, 50013, "GET", "/channels/"+c.ID.String()+"/threads/archived/private", nil)
	r.want(200, 0, "POST", "/users/@me/channels", map[string]any{"recipient_id": ana.ID})
	r.want(204, 0, "POST", "/channels/"+c.ID.String()+"/typing", nil)
	r.want(200, 0, "POST", "/channels/"+thread.ID.String()+"/messages", plain("in the thread"))
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	ids := make([]discordtest.ID, 10)
	for n := range ids {
		ids[n] = discord.Say(c.ID, ana.ID, string(rune('a'+n))).ID
	}
	discord.Delete(c.ID, ids[4])
	b := newBot(t, discord)
	for _, test := range []struct {
		name                  string
		limit                 int
		before, after, around discordtest.ID
		want                  string
	}{
		{"newest first", 100, 0, 0, 0, "jihgfdcba"},
		{"limited", 3, 0, 0, 0, "jih"},
		{"before", 3, ids[5], 0, 0, "dcb"},
		{"before a deleted one", 2, ids[4], 0, 0, "dc"},
		{"after", 3, 0, ids[5], 0, "ihg"},
		{"after a deleted one", 2, 0, ids[4], 0, "gf"},
		{"after the beginning", 2, 0, 1, 0, "ba"},
		{"after the end", 2, 0, ids[9], 0, ""},
		{"around", 3, 0, 0, ids[6], "hgf"},
	} {
		id := func(id discordtest.ID) string {
			if id == 0 {
				return ""
			}
			return id.String()
		}
		page, err := b.ChannelMessages(c.ID.String(), test.limit, id(test.before), id(test.after), id(test.around))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range page {
			got += m.Content
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestPermissionRefusals(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, c, ana := place(discord)
	without := func(name string, kind discordtest.ChannelType, p discordtest.Permissions) discordtest.Channel {
		return discord.AddChannel(g.ID, discordtest.Channel{Name: name, Type: kind,
			Overwrites: []discordtest.Overwrite{discordtest.ForMember(discord.Bot.ID, 0, p)}})
	}
	hidden, mute := without("hidden", 0, discordtest.ViewChannel), without("mute", 0, discordtest.SendMessages)
	past, voice := without("past", 0, discordtest.ReadMessageHistory), without("voice", discordtest.Voice, discordtest.Connect)
	forum := without("forum", discordtest.Forum, 0)
	thread := discord.AddChannel(g.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &mute.ID})
	said := discord.Say(past.ID, ana.ID, "before")
	r := newREST(t, discord)
	at := func(c discordtest.Channel, more string) string { return "/channels/" + c.ID.String() + more }
	r.want(403, 50001, "GET", at(hidden, ""), nil)
	r.want(403, 50001, "GET", at(hidden, "/messages"), nil)
	r.want(403, 50001, "POST", at(hidden, "/messages"), plain("a"))
	r.want(403, 50001, "POST", at(hidden, "/typing"), nil)
	r.want(403, 50013, "POST", at(mute, "/messages"), plain("a"))
	r.want(403, 50013, "POST", at(mute, "/typing"), nil)
	r.want(200, 0, "POST", at(thread, "/messages"), plain("threads have a permission of their own"))
	r.want(403, 50001, "GET", at(voice, "/messages"), nil)
	r.want(403, 50013, "GET", at(past, "/messages/"+said.ID.String()), nil)
	if page := r.want(200, 0, "GET", at(past, "/messages"), nil); strings.TrimSpace(page) != "[]" {
		t.Errorf("history without the permission: %s", page)
	}
	answer := plain("a")
	answer["message_reference"] = map[string]any{"message_id": said.ID}
	r.want(400, 160002, "POST", at(past, "/messages"), answer)
	r.want(404, 10003, "GET", "/channels/5", nil)
	r.want(404, 10004, "GET", "/guilds/5", nil)
	r.want(404, 10008, "GET", at(c, "/messages/5"), nil)
	r.want(404, 10013, "GET", "/users/5", nil)
	r.want(404, 10007, "GET", "/guilds/"+g.ID.String()+"/members/5", nil)
	r.want(403, 50005, "PATCH", at(past, "/messages/"+said.ID.String()), plain("mine"))
	r.want(403, 50013, "DELETE", at(past, "/messages/"+said.ID.String()), nil)
	discord.Allow(discordtest.BadRequest)
	r.want(400, 50008, "POST", at(forum, "/messages"), plain("a"))
	r.want(404, 0, "GET", "/voice/regions", nil)
	r.token = "Bot wrong"
	r.want(401, 0, "GET", "/users/@me", nil)
	r.want(200, 0, "GET", "/gateway", nil)
}

func TestBotsOwnMessages(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	r := newREST(t, discord)
	path := "/channels/" + c.ID.String() + "/messages"
	said := discord.Say(c.ID, ana.ID, "question")
	r.want(200, 0, "POST", path, plain("  answ  "))
	mine := discord.WaitSent(c.ID, func(m discordtest.Sent) bool { return m.Content == "answ" })
	discord.Advance(1)
	r.want(200, 0, "PATCH", path+"/"+mine.ID.String(), plain("answer"))
	r.want(204, 0, "DELETE", path+"/"+mine.ID.String(), nil)
	r.want(404, 10008, "PATCH", path+"/"+mine.ID.String(), plain("gone"))
	r.want(204, 0, "POST", "/channels/"+c.ID.String()+"/typing", nil)
	discord.WaitTyping(c.ID)
	sent := discord.Sent(c.ID)
	if len(sent) != 1 || !sent[0].Deleted || strings.Join(sent[0].Versions, ",") != "answ,answer" || len(sent[0].Bodies) != 2 {
		t.Errorf("sent %+v", sent)
	}
	if ms := discord.Messages(c.ID); len(ms) != 1 || ms[0].ID != said.ID {
		t.Errorf("messages %+v", ms)
	}
	gone := plain("a")
	gone["message_reference"] = map[string]any{"message_id": mine.ID}
	r.want(400, 50035, "POST", path, gone)
	gone["message_reference"] = map[string]any{"message_id": mine.ID, "fail_if_not_exists": false}
	r.want(200, 0, "POST", path, gone)
}

func TestFilesOverREST(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	b := newBot(t, discord)
	_, err := b.ChannelMessageSendComplex(c.ID.String(), &discordgo.MessageSend{
		AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Files:           []*discordgo.File{{Name: "export.json", ContentType: "application/json", Reader: strings.NewReader("{}")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := discord.Sent(c.ID)[0]; len(m.Attachments) != 1 || m.Attachments[0].Filename != "export.json" {
		t.Errorf("sent %+v", m)
	}
	discord.SetOverwrite(c.ID, discordtest.ForMember(discord.Bot.ID, 0, discordtest.AttachFiles))
	_, err = b.ChannelFileSend(c.ID.String(), "a", strings.NewReader("a"))
	if err == nil || !strings.Contains(err.Error(), "50013") {
		t.Errorf("got %v, want code 50013", err)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, _, _ := place(discord)
	b := newBot(t, discord)
	app, guild := discord.AppID.String(), g.ID.String()
	first, err := b.ApplicationCommandBulkOverwrite(app, "", []*discordgo.ApplicationCommand{{Name: "context", Description: "d"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.ApplicationCommandBulkOverwrite(app, "", []*discordgo.ApplicationCommand{{Name: "context", Description: "e"},
		{Name: "Why?", Type: discordgo.MessageApplicationCommand}})
	if err != nil || again[0].ID != first[0].ID || again[0].Description != "e" {
		t.Errorf("registered %+v, %v, want the same id as %s", again, err, first[0].ID)
	}
	made, err := b.ApplicationCommandCreate(app, guild, &discordgo.ApplicationCommand{Name: "here", Description: "d"})
	if err != nil {
		t.Fatal(err)
	}
	if got := discord.Commands(0); len(got) != 2 || got[1] != "Why?" {
		t.Errorf("commands %v", got)
	}
	there, err := b.ApplicationCommands(app, guild)
	if err != nil || len(there) != 1 || there[0].GuildID != guild {
		t.Errorf("commands %+v, %v", there, err)
	}
	if err := b.ApplicationCommandDelete(app, guild, made.ID); err != nil {
		t.Error(err)
	}
	r := newREST(t, discord)
	r.want(404, 10063, "DELETE", "/applications/"+app+"/guilds/"+guild+"/commands/"+made.ID, nil)
	r.want(403, 50001, "GET", "/applications/5/commands", nil)
	r.want(403, 50001, "GET", "/applications/"+app+"/guilds/5/commands", nil)
}

func TestMisuseOfCommands(t *testing.T) {
	t.Parallel()
	option := func(name string, required bool) map[string]any {
		return map[string]any{"type": 3, "name": name, "description": "d", "required": required}
	}
	many := make([]map[string]any, 101)
	options := make([]map[string]any, 26)
	for n := range many {
		many[n] = map[string]any{"name": fmt.Sprintf("c%d", n), "description": "d"}
	}
	for n := range options {
		options[n] = option(fmt.Sprintf("o%d", n), false)
	}
	one := func(c map[string]any) []map[string]any { return []map[string]any{c} }
	with := func(kind int, more map[string]any) []map[string]any {
		more["type"], more["name"], more["description"] = kind, "o", "d"
		return one(map[string]any{"name": "a", "description": "d", "options": []any{more}})
	}
	choices := func(kind int, all ...any) []map[string]any {
		return with(kind, map[string]any{"choices": all})
	}
	choice := func(name string, value any) map[string]any { return map[string]any{"name": name, "value": value} }
	for name, body := range map[string]any{
		"101":                        many,
		"26 options":                 one(map[string]any{"name": "a", "description": "d", "options": options}),
		"no description":             one(map[string]any{"name": "a"}),
		"upper case":                 one(map[string]any{"name": "A", "description": "d"}),
		"no name":                    one(map[string]any{"name": "", "description": "d"}),
		"described message menu":     one(map[string]any{"name": "a", "description": "d", "type": 3}),
		"choices of a switch":        choices(5, choice("a", "a")),
		"choices and completion":     with(3, map[string]any{"choices": []any{choice("a", "a")}, "autocomplete": true}),
		"nameless choice":            choices(3, choice("", "a")),
		"choices of one name":        choices(3, choice("a", "a"), choice("a", "b")),
		"number for a text":          choices(3, choice("a", 1)),
		"text for a number":          choices(4, choice("a", "1")),
		"long choice":                choices(3, choice("a", strings.Repeat("a", 101))),
		"types of channel in a text": with(3, map[string]any{"channel_types": []int{0}}),
		"optional before required": one(map[string]any{"name": "a", "description": "d",
			"options": []any{option("x", false), option("y", true)}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, discord := recorded(t)
			r := newREST(t, discord)
			if status, text := r.call("PUT", "/applications/"+discord.AppID.String()+"/commands", body); status != 400 {
				t.Errorf("status %d: %s", status, text)
			}
			if len(discord.Misuses()) == 0 || len(discord.Commands(0)) != 0 {
				t.Errorf("misuses %v, commands %v", discord.Misuses(), discord.Commands(0))
			}
		})
	}
}

func TestLimitsOfPages(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t, discordtest.WithoutIntents(discordtest.Members))
	g, c, _ := place(discord)
	discord.Allow(discordtest.BadRequest)
	r := newREST(t, discord)
	for _, limit := range []string{"0", "101", "x"} {
		r.want(400, 50035, "GET", "/channels/"+c.ID.String()+"/messages?limit="+limit, nil)
	}
	if n := len(discord.Misuses()); n != 3 {
		t.Errorf("%d misuses, want 3", n)
	}
	r.want(403, 50001, "GET", "/guilds/"+g.ID.String()+"/members?limit=10", nil)
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, c, ana := place(discord)
	allow, deny := discord.AddRole(g.ID, "allow", 0), discord.AddRole(g.ID, "deny", 0)
	admin := discord.AddMember(g.ID, discordtest.User{Username: "admin"}, discord.AddRole(g.ID, "admin", discordtest.Administrator).ID)
	view := discordtest.ViewChannel
	roles := func(ids ...discordtest.ID) func(*discordtest.Member) {
		return func(m *discordtest.Member) { m.Roles = ids }
	}
	for _, test := range []struct {
		name       string
		roles      []discordtest.ID
		overwrites []discordtest.Overwrite
		want       bool
	}{
		{"nothing said", nil, nil, true},
		{"everyone denied", nil, []discordtest.Overwrite{discordtest.ForRole(g.ID, 0, view)}, false},
		{"a role allowed", []discordtest.ID{allow.ID}, []discordtest.Overwrite{discordtest.ForRole(g.ID, 0, view),
			discordtest.ForRole(allow.ID, view, 0)}, true},
		{"allow beats deny among roles", []discordtest.ID{allow.ID, deny.ID}, []discordtest.Overwrite{
			discordtest.ForRole(allow.ID, view, 0), discordtest.ForRole(deny.ID, 0, view)}, true},
		{"a role denied", []discordtest.ID{deny.ID}, []discordtest.Overwrite{discordtest.ForRole(deny.ID, 0, view)}, false},
		{"the member beats roles", []discordtest.ID{deny.ID}, []discordtest.Overwrite{discordtest.ForRole(deny.ID, 0, view),
			discordtest.ForMember(ana.ID, view, 0)}, true},
	} {
		discord.UpdateMember(g.ID, ana.ID, roles(test.roles...))
		discord.UpdateChannel(c.ID, func(c *discordtest.Channel) { c.Overwrites = test.overwrites })
		if got := discord.Permissions(c.ID, ana.ID).Has(view); got != test.want {
			t.Errorf("%s: ana can view: %t, want %t", test.name, got, test.want)
		}
		for _, u := range []discordtest.User{admin, g.Owner} {
			if !discord.Permissions(c.ID, u.ID).Has(view) {
				t.Errorf("%s: %s can't view", test.name, u.Username)
			}
		}
	}
	if p := discord.Permissions(c.ID, 5); p != 0 {
		t.Errorf("a stranger may %b", p)
	}
	direct := discord.DM(ana.ID, "hi").ChannelID
	if !discord.Permissions(direct, ana.ID).Has(view) || discord.Permissions(direct, admin.ID) != 0 {
		t.Error("direct messages are for the two alone")
	}
}
