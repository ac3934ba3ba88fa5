package discordtest

import (
	"encoding/json"
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

// want calls and compares the status, and the error code where there is one.
func (r *rest) want(status, code int, method, path string, body any) string {
	r.t.Helper()
	raw, isText := body.(string)
	if body != nil && !isText {
		raw = string(encode(body))
	}
	q, err := http.NewRequest(method, "https://discord.com/api/v9"+path, strings.NewReader(raw))
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
	text, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var refused struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(text, &refused) // not every answer is an object
	if a.StatusCode != status || refused.Code != code {
		r.t.Errorf("%s %s: status %d, code %d (%s), want %d, %d", method, path, a.StatusCode, refused.Code,
			text, status, code)
	}
	return string(text)
}

// place is a guild with a channel and somebody to talk.
func place(discord *Server) (Guild, Channel, User) {
	g := discord.AddGuild("Garden")
	c := discord.AddChannel(g.ID, Channel{Name: "general"})
	return g, c, discord.AddMember(g.ID, User{Username: "ana"})
}

// plain is a message as it ought to be sent.
func plain(text string) map[string]any {
	return map[string]any{"content": text, "flags": suppressEmbeds, "allowed_mentions": map[string]any{"parse": []string{}}}
}

// misused returns a fake in which misuses don't fail the test, but that none of those kinds is reported does.
func misused(t *testing.T, kinds ...Misuse) *Server {
	t.Helper()
	discord := New(t)
	discord.Allow(append(kinds, Deviation, BadRequest, Unlocked, Pings, Previews)...)
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
	for _, path := range []string{"/gateway", "/gateway/bot", "/users/@me",
		"/users/@me/guilds", "/applications/@me", "/guilds/" + g.ID.String(),
		"/guilds/" + g.ID.String() + "/channels",
		"/guilds/" + g.ID.String() + "/threads/active",
		"/guilds/" + g.ID.String() + "/members/" + ana.ID.String(), "/channels/" + c.ID.String(),
		"/channels/" + thread.ID.String(), "/channels/" + direct.ChannelID.String(),
		"/channels/" + c.ID.String() + "/threads/archived/public",
		"/channels/" + c.ID.String() + "/messages", "/channels/" + c.ID.String() + "/messages/" + said.ID.String(),
		"/applications/" + discord.AppID.String() + "/commands",
		"/applications/" + discord.AppID.String() + "/guilds/" + g.ID.String() + "/commands",
		"/applications/" + discord.AppID.String() + "/guilds/" + g.ID.String() + "/commands/permissions"} {
		r.want(200, 0, "GET", path, nil)
	}
	if body := r.want(200, 0, "GET", "/channels/"+c.ID.String()+"/threads/archived/public",
		nil); !strings.Contains(body, "an old one") ||
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
	may := func(channel, user ID) Permissions { return discord.permissions(discord.channels[channel], user) }
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
		if got := may(c.ID, ana.ID).Has(view); got != test.want {
			t.Errorf("%s: ana can view: %t, want %t", test.name, got, test.want)
		}
		for _, u := range []User{admin, g.Owner} {
			if !may(c.ID, u.ID).Has(view) {
				t.Errorf("%s: %s can't view", test.name, u.Username)
			}
		}
	}
	if p := may(c.ID, 5); p != 0 {
		t.Errorf("a stranger may %b", p)
	}
	direct := discord.DM(ana.ID, "hi").ChannelID
	if !may(direct, ana.ID).Has(view) || may(direct, admin.ID) != 0 {
		t.Error("direct messages are for the two alone")
	}
}

// step is a call, after the fake's time has moved on, and the answer that it gets.
type step struct {
	after        time.Duration
	route, body  string
	status, code int
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	const locked = `"flags":4,"allowed_mentions":{"parse":[]}`
	post := func(status, code int, body string) []step {
		return []step{{0, "POST /channels/CHANNEL/messages", body, status, code}}
	}
	callback := func(after time.Duration, status, code int, body string) step {
		return step{after, "POST /interactions/ID/TOKEN/callback", body, status, code}
	}
	answer := func(after time.Duration, status, code int) step {
		return callback(after, status, code, `{"type":4,"data":{"content":"a",`+locked+`}}`)
	}
	rows := func(all ...string) string {
		return `{"content":"a",` + locked + `,"components":[` + strings.Join(all, ",") + `]}`
	}
	button := func(id, label string) string {
		return `{"type":1,"components":[{"type":2,"style":2,"label":"` + label + `","custom_id":"` + id + `"}]}`
	}
	for name, test := range map[string]struct {
		kind  Misuse
		steps []step
	}{
		"2,001 characters": {TooLong, post(400, 50035, `{"content":"`+strings.Repeat("é", 2001)+`",`+
			locked+`}`)},
		"nothing":             {Empty, post(400, 50006, `{"content":"",`+locked+`}`)},
		"spaces":              {Empty, post(400, 50006, `{"content":" \n ",`+locked+`}`)},
		"no allowed_mentions": {Unlocked, post(200, 0, `{"content":"a"}`)},
		"parse null":          {Unlocked, post(200, 0, `{"content":"a","allowed_mentions":{"parse":null}}`)},
		"no parse":            {Unlocked, post(200, 0, `{"content":"a","allowed_mentions":{"users":[]}}`)},
		"parse users":         {Unlocked, post(200, 0, `{"content":"a","allowed_mentions":{"parse":["users"]}}`)},
		"previews":            {Previews, post(200, 0, `{"content":"a","allowed_mentions":{"parse":[]}}`)},
		"previews again":      {Previews, post(200, 0, `{"content":"a","flags":64,"allowed_mentions":{"parse":[]}}`)},
		"a ping":              {Pings, post(200, 0, `{"content":"hi <@USER>"}`)},
		"a ping of everyone":  {Pings, post(200, 0, `{"content":"@everyone"}`)},
		"a ping of a role":    {Pings, post(200, 0, `{"content":"<@&ROLE>"}`)},
		"parse beside users": {MixedMentions,
			post(400, 50035, `{"content":"a","allowed_mentions":{"parse":["users"],"users":["1"]}}`)},
		"six rows": {BadComponents,
			post(400, 50035, rows(slices.Repeat([]string{button("a", "B")}, 6)...))},
		"the same custom_id twice": {BadComponents, post(400, 50035, rows(button("b", "B"), button("b", "C")))},
		"a button without a label": {BadComponents, post(400, 50035, rows(button("b", "")))},
		"not JSON":                 {BadRequest, post(400, 50109, `{"content":`)},
		"ill-typed":                {BadRequest, post(400, 50035, `{"content":5}`)},
		"unlike the document":      {Deviation, post(400, 50035, rows(`{"type":99}`))},

		"late":  {Late, []step{answer(3*time.Second+time.Millisecond, 404, 10062)}},
		"twice": {AnsweredTwice, []step{answer(3*time.Second, 204, 0), answer(0, 400, 40060)}},
		"expired": {ExpiredToken, []step{answer(0, 204, 0),
			{15*time.Minute + time.Millisecond, "PATCH /webhooks/APP/TOKEN/messages/@original", `{}`, 401, 50027}}},
		"follow-up before an answer": {Unacknowledged,
			[]step{{0, "POST /webhooks/APP/TOKEN", `{"content":"b"}`, 404, 10015}}},
		"wrong type": {BadRequest,
			[]step{callback(0, 400, 50035, `{"type":7,"data":{"content":"a",`+locked+`}}`)}},
		"empty answer": {Empty, []step{callback(0, 400, 50006, `{"type":4,"data":{"content":"",`+locked+`}}`)}},
		"answer with previews": {Previews, []step{callback(0, 204, 0,
			`{"type":4,"data":{"content":"a","flags":0,"allowed_mentions":{"parse":[]}}}`)}},
		"unlocked answer": {Unlocked, []step{callback(0, 204, 0, `{"type":4,"data":{"content":"a"}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.kind == Deviation && New(t).schema == nil {
				t.Skip("Discord's OpenAPI document is not there")
			}
			discord := misused(t, test.kind)
			g, c, ana := place(discord)
			discord.SetOverwrite(c.ID, ForMember(discord.Bot.ID, MentionEveryone, 0))
			role := discord.AddRole(g.ID, "team", 0)
			r := newREST(t, discord)
			r.want(200, 0, "PUT", "/applications/"+discord.AppID.String()+"/commands",
				`[{"name":"memory","description":"d"}]`)
			i := discord.Slash(c.ID, ana.ID, "memory")
			names := strings.NewReplacer("USER", ana.ID.String(), "ROLE", role.ID.String(), "CHANNEL", c.ID.String(),
				"APP", discord.AppID.String(), "ID", i.ID.String(), "TOKEN", i.Token)
			sent := 0
			for _, step := range test.steps {
				discord.Advance(step.after)
				method, path, _ := strings.Cut(names.Replace(step.route), " ")
				r.want(step.status, step.code, method, path, names.Replace(step.body))
				if step.status < 300 {
					sent++
				}
			}
			if got := len(discord.Sent(c.ID)); got != sent {
				t.Errorf("%d messages were sent", got)
			}
		})
	}
}

// What Discord's document doesn't tell of forms and of choices is refused all the same.
func TestMisuseOfForms(t *testing.T) {
	t.Parallel()
	const row = `{"type":1,"components":[{"type":4,"custom_id":"x","label":"L","style":1,"max_length":10}]}`
	const good = `{"custom_id":"a","title":"T","components":[` + row + `]}`
	for body, refused := range map[string]bool{
		good: false, strings.Replace(good, `"L"`, `""`, 1): true, strings.Replace(good, row, row+`,`+row, 1): true,
		strings.Replace(good, `length":10`, `length":2,"value":"abc"`, 1):    true,
		strings.Replace(good, `length":10`, `length":10,"min_length":11`, 1): false,
		strings.Replace(good, row, `{"type":1,"components":[]}`, 1):          true,
		strings.Replace(good, row, strings.Repeat(row+`,`, mostRows)+row, 1): true,
	} {
		if _, _, err := readForm(json.RawMessage(body)); (err != nil) != refused {
			t.Errorf("%s: %v", body, err)
		}
	}
	for value, refused := range map[string]bool{"b": false, "": true, strings.Repeat("x", 101): true} {
		if err := checkChoicesShown(json.RawMessage(`{"choices":[{"name":"a","value":"` + value +
			`"}]}`)); (err != nil) != refused {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestMisuseOfCommands(t *testing.T) {
	t.Parallel()
	const text = `{"type":3,"name":"x","description":"d"}`
	with := func(options string) string { return `{"name":"a","description":"d","options":[` + options + `]}` }
	choices := func(all string) string { return with(strings.Replace(text, `}`, `,"choices":[`+all+`]}`, 1)) }
	for name, body := range map[string]string{
		"101": strings.Repeat(`{"name":"a","description":"d"},`, 100) +
			`{"name":"a","description":"d"}`,
		"no description":           `{"name":"a"}`,
		"upper case":               `{"name":"A","description":"d"}`,
		"two of a name":            `{"name":"a","description":"d"},{"name":"a","description":"e"}`,
		"name that can't be typed": `{"name":"a","description":"d","name_localizations":{"de":"zwei Worte"}}`,
		"no such language":         `{"name":"a","description":"d","name_localizations":{"es":"b"}}`,
		"one name in a language":   `{"name":"a","description":"d","name_localizations":{"de":"b"}},{"name":"b","description":"d"}`,
		"choices and completion": with(
			`{"type":3,"name":"x","description":"d","autocomplete":true,"choices":[{"name":"a","value":"a"}]}`),
		"choices of one name":        choices(`{"name":"a","value":"a"},{"name":"a","value":"b"}`),
		"long choice":                choices(`{"name":"a","value":"` + strings.Repeat("a", 101) + `"}`),
		"text beside a sub":          with(text + `,{"type":1,"name":"y","description":"d"}`),
		"an empty group":             with(`{"type":2,"name":"x","description":"d","options":[]}`),
		"a switch that is completed": with(`{"type":5,"name":"x","description":"d","autocomplete":true}`),
		"optional before required":   with(text + `,{"type":3,"name":"y","description":"d","required":true}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			discord := misused(t, BadRequest)
			code := 50035
			if name == "101" {
				code = 30032
			}
			newREST(t, discord).want(400, code, "PUT", "/applications/"+discord.AppID.String()+"/commands",
				`[`+body+`]`)
			if there := discord.Commands(0); len(there) != 0 {
				t.Errorf("commands %v", there)
			}
		})
	}
}
