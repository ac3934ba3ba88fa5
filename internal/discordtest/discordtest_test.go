package discordtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// rest is a client without discordgo: method and path in, status and body out.
type rest struct {
	t       testing.TB
	discord *Server
	client  *http.Client
	token   string
}

func newREST(t testing.TB, discord *Server) *rest {
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

// place is a guild with a channel and somebody to talk.
func place(discord *Server) (Guild, Channel, User) {
	g := discord.AddGuild("Garden")
	c := discord.AddChannel(g.ID, Channel{Name: "general"})
	return g, c, discord.AddMember(g.ID, User{Username: "ana"})
}

// plain is a message as it ought to be sent.
func plain(text string) map[string]any {
	return map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}}
}

// misused returns a fake in which misuses don't fail the test, but that none of those kinds is reported does.
func misused(t *testing.T, kinds ...Misuse) *Server {
	t.Helper()
	discord := New(t)
	discord.Allow(append(kinds, Deviation, BadRequest, Unlocked, Pings)...)
	t.Cleanup(func() {
		if !slices.ContainsFunc(discord.misuses, func(r report) bool { return slices.Contains(kinds, r.Kind) }) {
			t.Errorf("reported %v, want one of %q", discord.misuses, kinds)
		}
	})
	return discord
}

// TestEveryAnswerIsDiscords asks for everything there is: an answer that Discord's document doesn't describe
// fails the test by itself.
func TestEveryAnswerIsDiscords(t *testing.T) {
	t.Parallel()
	discord := New(t)
	g, c, ana := place(discord)
	for _, kind := range []ChannelType{Voice, Category, Forum} {
		discord.AddChannel(g.ID, Channel{Name: "other", Type: kind})
	}
	thread := discord.AddChannel(g.ID, Channel{Name: "a thread", Type: PublicThread, ParentID: &c.ID})
	old := discord.AddChannel(g.ID, Channel{Name: "an old one", Type: PublicThread, ParentID: &c.ID})
	discord.UpdateChannel(old.ID, func(c *Channel) { c.Thread.Archived = true })
	discord.SetOverwrite(c.ID, ForMember(ana.ID, 0, AttachFiles))
	said := discord.Say(c.ID, ana.ID, "see <@"+discord.Bot.ID.String()+">", WithFile("a.png", "a cat"))
	discord.Say(c.ID, ana.ID, "and", ReplyTo(said.ID))
	discord.Say(c.ID, ana.ID, "hook", ViaWebhook("news"), WithEmbed(`{"type":"rich","title":"x"}`))
	direct := discord.DM(ana.ID, "psst")
	r := newREST(t, discord)
	for _, path := range []string{"/gateway", "/gateway/bot", "/users/@me", "/users/" + ana.ID.String(),
		"/users/@me/guilds", "/applications/@me", "/oauth2/applications/@me", "/guilds/" + g.ID.String(),
		"/guilds/" + g.ID.String() + "?with_counts=true",
		"/guilds/" + g.ID.String() + "/channels",
		"/guilds/" + g.ID.String() + "/threads/active",
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

func TestPermissionRefusals(t *testing.T) {
	t.Parallel()
	discord := New(t)
	g, c, ana := place(discord)
	without := func(name string, kind ChannelType, p Permissions) Channel {
		return discord.AddChannel(g.ID, Channel{Name: name, Type: kind,
			Overwrites: []Overwrite{ForMember(discord.Bot.ID, 0, p)}})
	}
	hidden, mute := without("hidden", 0, ViewChannel), without("mute", 0, SendMessages)
	past, voice := without("past", 0, ReadMessageHistory), without("voice", Voice, Connect)
	forum := without("forum", Forum, 0)
	thread := discord.AddChannel(g.ID, Channel{Name: "thread", Type: PublicThread, ParentID: &mute.ID})
	said := discord.Say(past.ID, ana.ID, "before")
	r := newREST(t, discord)
	at := func(c Channel, more string) string { return "/channels/" + c.ID.String() + more }
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
	discord.Allow(BadRequest)
	r.want(400, 50008, "POST", at(forum, "/messages"), plain("a"))
	r.want(404, 0, "GET", "/voice/regions", nil)
	r.token = "Bot wrong"
	r.want(401, 0, "GET", "/users/@me", nil)
	r.want(200, 0, "GET", "/gateway", nil)
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	discord := New(t)
	g, c, ana := place(discord)
	allow, deny := discord.AddRole(g.ID, "allow", 0), discord.AddRole(g.ID, "deny", 0)
	admin := discord.AddMember(g.ID, User{Username: "admin"}, discord.AddRole(g.ID, "admin", Administrator).ID)
	view := ViewChannel
	roles := func(ids ...ID) func(*Member) {
		return func(m *Member) { m.Roles = ids }
	}
	for _, test := range []struct {
		name       string
		roles      []ID
		overwrites []Overwrite
		want       bool
	}{
		{"nothing said", nil, nil, true},
		{"everyone denied", nil, []Overwrite{ForRole(g.ID, 0, view)}, false},
		{"a role allowed", []ID{allow.ID}, []Overwrite{ForRole(g.ID, 0, view),
			ForRole(allow.ID, view, 0)}, true},
		{"allow beats deny among roles", []ID{allow.ID, deny.ID}, []Overwrite{
			ForRole(allow.ID, view, 0), ForRole(deny.ID, 0, view)}, true},
		{"a role denied", []ID{deny.ID}, []Overwrite{ForRole(deny.ID, 0, view)}, false},
		{"the member beats roles", []ID{deny.ID}, []Overwrite{ForRole(deny.ID, 0, view),
			ForMember(ana.ID, view, 0)}, true},
	} {
		discord.UpdateMember(g.ID, ana.ID, roles(test.roles...))
		discord.UpdateChannel(c.ID, func(c *Channel) { c.Overwrites = test.overwrites })
		if got := discord.Permissions(c.ID, ana.ID).Has(view); got != test.want {
			t.Errorf("%s: ana can view: %t, want %t", test.name, got, test.want)
		}
		for _, u := range []User{admin, g.Owner} {
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

func TestMisuseOfMessages(t *testing.T) {
	t.Parallel()
	with := func(text string, more map[string]any) map[string]any {
		b := plain(text)
		for k, v := range more {
			b[k] = v
		}
		return b
	}
	buttons := func(n int, id, label string) map[string]any {
		var row []map[string]any
		for i := range n {
			if row = append(row, map[string]any{"type": 2, "style": 2, "label": label, "custom_id": id}); n > 1 {
				row[i]["custom_id"] = fmt.Sprint(id, i)
			}
		}
		return map[string]any{"type": 1, "components": row}
	}
	rows := func(all ...map[string]any) map[string]any { return with("a", map[string]any{"components": all}) }
	allowed := func(m map[string]any) map[string]any { return map[string]any{"allowed_mentions": m} }
	for _, test := range []struct {
		name   string
		body   any
		kind   Misuse
		status int
		code   int
	}{
		{"2,001 characters", plain(strings.Repeat("é", 2001)), TooLong, 400, 50035},
		{"nothing", plain(""), Empty, 400, 50006},
		{"spaces", plain(" \n "), Empty, 400, 50006},
		{"no allowed_mentions", map[string]any{"content": "a"}, Unlocked, 200, 0},
		{"parse null", with("a", allowed(map[string]any{"parse": nil})), Unlocked, 200, 0},
		{"no parse", with("a", allowed(map[string]any{"users": []string{}})), Unlocked, 200, 0},
		{"parse users", with("a", allowed(map[string]any{"parse": []string{"users"}})), Unlocked, 200, 0},
		{"a ping", map[string]any{"content": "hi <@USER>"}, Pings, 200, 0},
		{"a ping of everyone", map[string]any{"content": "@everyone"}, Pings, 200, 0},
		{"a ping of a role", map[string]any{"content": "<@&ROLE>"}, Pings, 200, 0},
		{"parse beside users", with("a", allowed(map[string]any{"parse": []string{"users"}, "users": []string{"1"}})),
			MixedMentions, 400, 50035},
		{"six buttons in a row", rows(buttons(6, "b", "B")), BadComponents, 400, 50035},
		{"six rows", rows(buttons(2, "a", "B"), buttons(2, "b", "B"), buttons(2, "c", "B"), buttons(2, "d", "B"), buttons(2, "e", "B"), buttons(2, "f", "B")),
			BadComponents, 400, 50035},
		{"a long custom_id", rows(buttons(1, strings.Repeat("i", 101), "B")), BadComponents, 400, 50035},
		{"the same custom_id twice", rows(buttons(1, "b", "B"), buttons(1, "b", "C")), BadComponents, 400, 50035},
		{"a long label", rows(buttons(1, "b", strings.Repeat("l", 81))), BadComponents, 400, 50035},
		{"a button without a label", rows(map[string]any{"type": 1, "components": []map[string]any{{"type": 2, "style": 2, "custom_id": "b"}}}), BadComponents, 400, 50035},
		{"nonce", with("a", map[string]any{"nonce": strings.Repeat("n", 26)}), BadNonce, 400, 50035},
		{"not JSON", `{"content":`, BadRequest, 400, 50109},
		{"ill-typed", map[string]any{"content": 5}, BadRequest, 400, 50035},
		{"an empty row", rows(map[string]any{"type": 1}), BadComponents, 400, 50035},
		{"unlike the document", rows(map[string]any{"type": 99}), Deviation, 400, 50035},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.kind == Deviation && New(t).schema == nil {
				t.Skip("Discord's OpenAPI document is not there")
			}
			discord := misused(t, test.kind)
			g, c, ana := place(discord)
			discord.SetOverwrite(c.ID, ForMember(discord.Bot.ID, MentionEveryone, 0))
			role := discord.AddRole(g.ID, "team", 0)
			r := newREST(t, discord)
			body := test.body
			if m, isMap := body.(map[string]any); isMap {
				if text, isText := m["content"].(string); isText {
					m["content"] = strings.NewReplacer("USER", ana.ID.String(), "ROLE", role.ID.String()).Replace(text)
				}
			}
			r.want(test.status, test.code, "POST", "/channels/"+c.ID.String()+"/messages", body)
			if got := len(discord.Sent(c.ID)); (got == 1) != (test.status == 200) {
				t.Errorf("%d messages were sent", got)
			}
		})
	}
}

// commands registers a slash command with options, one with subcommands and a message command.
func commands(t *testing.T, discord *Server) {
	t.Helper()
	newREST(t, discord).want(200, 0, "PUT", "/applications/"+discord.AppID.String()+"/commands", []map[string]any{
		{"name": "context", "description": "What I would recall", "options": []map[string]any{
			{"type": 3, "name": "question", "description": "About what", "required": true, "autocomplete": true},
			{"type": 6, "name": "who", "description": "Of whom"}}},
		{"name": "memory", "description": "Memory", "options": []map[string]any{
			{"type": 1, "name": "forget", "description": "Forget"},
			{"type": 1, "name": "keep", "description": "Keep", "options": []map[string]any{
				{"type": 3, "name": "what", "description": "What", "choices": []map[string]any{{"name": "all", "value": "all"}}},
				{"type": 7, "name": "where", "description": "Where", "channel_types": []int{2}}}}}},
		{"name": "Why?", "type": 3},
		{"name": "Who?", "type": 2},
	})
}

func callback(i *Interaction) string {
	return "/interactions/" + i.ID.String() + "/" + i.Token + "/callback"
}

func followUp(discord *Server, i *Interaction) string {
	return "/webhooks/" + discord.AppID.String() + "/" + i.Token
}

func message(text string) map[string]any { return map[string]any{"type": 4, "data": plain(text)} }

func TestMisuseOfInteractions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		kind Misuse
		act  func(*Server, *Interaction, *rest)
	}{
		{"late", Late, func(d *Server, i *Interaction, r *rest) {
			d.Advance(3*time.Second + time.Millisecond)
			r.want(404, 10062, "POST", callback(i), message("a"))
		}},
		{"twice", AnsweredTwice, func(d *Server, i *Interaction, r *rest) {
			d.Advance(3 * time.Second)
			r.want(204, 0, "POST", callback(i), message("a"))
			r.want(400, 40060, "POST", callback(i), message("b"))
		}},
		{"expired", ExpiredToken, func(d *Server, i *Interaction, r *rest) {
			r.want(204, 0, "POST", callback(i), message("a"))
			d.Advance(15*time.Minute + time.Millisecond)
			r.want(401, 50027, "PATCH", followUp(d, i)+"/messages/@original", plain("b"))
		}},
		{"not answered", Unacknowledged, func(d *Server, i *Interaction, r *rest) {
			r.want(404, 10015, "POST", followUp(d, i), plain("b"))
		}},
		{"a bad form", BadRequest, func(d *Server, i *Interaction, r *rest) {
			d.schema = nil
			form := map[string]any{"custom_id": "a", "title": "T", "components": []any{}}
			r.want(400, 50035, "POST", callback(i), map[string]any{"type": 9, "data": form})
		}},
		{"wrong type", BadRequest, func(d *Server, i *Interaction, r *rest) {
			r.want(400, 50035, "POST", callback(i), map[string]any{"type": 7, "data": plain("a")})
		}},
		{"empty", Empty, func(d *Server, i *Interaction, r *rest) {
			r.want(400, 50006, "POST", callback(i), message(""))
		}},
		{"unlocked", Unlocked, func(d *Server, i *Interaction, r *rest) {
			r.want(204, 0, "POST", callback(i), map[string]any{"type": 4, "data": map[string]any{"content": "a"}})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			discord := misused(t, test.kind)
			_, c, ana := place(discord)
			commands(t, discord)
			test.act(discord, discord.Slash(c.ID, ana.ID, "memory forget"), newREST(t, discord))
		})
	}
}

// What Discord refuses of forms is refused without its document too, and so are offered choices and commands below.
func TestMisuseOfForms(t *testing.T) {
	t.Parallel()
	const row = `{"type":1,"components":[{"type":4,"custom_id":"x","label":"L","style":1,"max_length":10}]}`
	const good = `{"custom_id":"a","title":"T","components":[` + row + `]}`
	if _, err := readModal(json.RawMessage(good)); err != nil {
		t.Fatal(err)
	}
	for _, swap := range [][2]string{
		{`"custom_id":"a"`, `"custom_id":""`}, {`"T"`, `"` + strings.Repeat("t", 46) + `"`}, {`"type":1,`, `"type":2,`},
		{`"type":4`, `"type":3`}, {`"style":1`, `"style":3`}, {`"x"`, `""`}, {`"x"`, `"` + strings.Repeat("x", 101) + `"`},
		{`"L"`, `""`}, {`"L"`, `"` + strings.Repeat("l", 46) + `"`}, {`length":10`, `length":4001`}, {`length":10`, `length":0`},
		{`length":10`, `length":2,"value":"abc"`}, {`length":10`, `length":10,"min_length":11`}, {row, ``},
		{row, `{"type":1,"components":[]}`}, {row, row + `,` + row}, {good, `[]`},
	} {
		bad := strings.Replace(good, swap[0], swap[1], 1)
		if _, err := readModal(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestMisuseOfOfferedChoices(t *testing.T) {
	t.Parallel()
	const one = `{"name":"a","value":"b"}`
	long := strings.Repeat("x", 101)
	for choices, good := range map[string]bool{
		`[]`: true, `[` + one + `]`: true, `null`: false, `[` + strings.Repeat(one+`,`, 25) + one + `]`: false,
		`[{"name":"","value":"b"}]`: false, `[{"name":"` + long + `","value":"b"}]`: false,
		`[{"name":"a","value":""}]`: false, `[{"name":"a","value":"` + long + `"}]`: false,
	} {
		if err := checkChoicesShown(json.RawMessage(`{"choices":` + choices + `}`)); (err == nil) != good {
			t.Errorf("%s: %v", choices, err)
		}
	}
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
	tooMany := make([]any, 26)
	for n := range tooMany {
		tooMany[n] = choice(fmt.Sprint(n), "a")
	}
	german := func(field, text string) []map[string]any {
		return one(map[string]any{"name": "a", "description": "d", field: map[string]any{"de": text}})
	}
	within := func(kind, inner int) []map[string]any {
		return with(kind, map[string]any{"options": []any{map[string]any{"type": inner, "name": "i", "description": "d"}}})
	}
	for name, body := range map[string][]map[string]any{
		"101":                    many,
		"26 options":             one(map[string]any{"name": "a", "description": "d", "options": options}),
		"no description":         one(map[string]any{"name": "a"}),
		"upper case":             one(map[string]any{"name": "A", "description": "d"}),
		"no name":                one(map[string]any{"name": "", "description": "d"}),
		"described message menu": one(map[string]any{"name": "a", "description": "d", "type": 3}),
		"choices of a switch":    choices(5, choice("a", "a")),
		"choices and completion": with(3, map[string]any{"choices": []any{choice("a", "a")}, "autocomplete": true}),
		"nameless choice":        choices(3, choice("", "a")),
		"choices of one name":    choices(3, choice("a", "a"), choice("a", "b")),
		"number for a text":      choices(3, choice("a", 1)),
		"text for a number":      choices(4, choice("a", "1")),
		"long choice":            choices(3, choice("a", strings.Repeat("a", 101))),
		"26 choices":             choices(3, tooMany...),
		"long name":              one(map[string]any{"name": strings.Repeat("a", 33), "description": "d"}),
		"long description":       one(map[string]any{"name": "a", "description": strings.Repeat("d", 101)}),
		"text beside a sub": one(map[string]any{"name": "a", "description": "d",
			"options": []any{option("x", false), map[string]any{"type": 1, "name": "y", "description": "d"}}}),
		"sub in a sub":             within(1, 1),
		"group in a group":         within(2, 2),
		"option in a text":         within(3, 3),
		"long name in German":      german("name_localizations", strings.Repeat("a", 33)),
		"long German description":  german("description_localizations", strings.Repeat("d", 101)),
		"empty German choice":      choices(3, map[string]any{"name": "a", "value": "a", "name_localizations": map[string]any{"de": ""}}),
		"name that can't be typed": german("name_localizations", "zwei Worte"),
		"no such language":         one(map[string]any{"name": "a", "description": "d", "name_localizations": map[string]any{"es": "b"}}),
		"one name in a language": {{"name": "a", "description": "d", "name_localizations": map[string]any{"de": "b"}},
			{"name": "b", "description": "d"}},
		"an empty group":             with(2, map[string]any{"options": []any{}}),
		"a switch that is completed": with(5, map[string]any{"autocomplete": true}),
		"types of channel in a text": with(3, map[string]any{"channel_types": []int{0}}),
		"optional before required": one(map[string]any{"name": "a", "description": "d",
			"options": []any{option("x", false), option("y", true)}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			discord := misused(t, BadRequest)
			discord.schema = nil
			r := newREST(t, discord)
			if status, text := r.call("PUT", "/applications/"+discord.AppID.String()+"/commands", body); status != 400 {
				t.Errorf("status %d: %s", status, text)
			}
			if there := discord.Commands(0); len(there) != 0 {
				t.Errorf("commands %v", there)
			}
		})
	}
}

// Without the intent for contents a bot reads only its own words, those that mention it, and direct messages.
func TestContentsNeedTheirIntent(t *testing.T) {
	t.Parallel()
	discord := New(t, WithoutIntents(MessageContent))
	_, c, ana := place(discord)
	secret := discord.Say(c.ID, ana.ID, "secret", WithFile("secret.png", "secret"))
	discord.Say(c.ID, ana.ID, discord.Bot.Mention()+" for the bot", ReplyTo(secret.ID))
	page := newREST(t, discord).want(200, 0, "GET", "/channels/"+c.ID.String()+"/messages", nil)
	if strings.Contains(page, "secret") || !strings.Contains(page, "for the bot") {
		t.Errorf("told %s", page)
	}
}
