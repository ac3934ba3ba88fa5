package bot

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/internal/golden"
	"hark/memory"
)

const self = 500

func convertAll(t *testing.T, c *converter, kind string, payloads ...string) []memory.Event {
	t.Helper()
	var events []memory.Event
	for _, p := range payloads {
		out, err := c.convert(rawEvent{kind: kind, data: json.RawMessage(p)})
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
		events = append(events, out.events...)
	}
	return events
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

const ana = `"author":{"id":"10","username":"ana","global_name":"Ana"},"member":{"nick":"Ana of the Garden","roles":["31","32"]}`

var anaSeen = memory.PersonSeen{Person: memory.Person{ID: 10, Guild: 1, Username: "ana", Name: "Ana",
	Nick: "Ana of the Garden", Roles: []memory.RoleID{31, 32}, RolesKnown: true}}

func TestConvertEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, kind, payload string
		bots                bool
		want                []memory.Event
	}{
		{
			name: "a message", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana +
				`,"content":"hi\u0000 there","edited_timestamp":null,` +
				`"mentions":[{"id":"11","username":"bo","member":{"roles":[]}}],"attachments":[{"filename":"a.png","description":"a cat","url":"https://gone"}]}`,
			want: []memory.Event{anaSeen,
				memory.PersonSeen{Person: memory.Person{ID: 11, Guild: 1, Username: "bo", RolesKnown: true}},
				memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1, Channel: 2, Author: 10,
					Content: "hi there",
					Files:   []memory.File{{Name: "a.png", Description: "a cat"}}, Mentions: []memory.UserID{11}}}},
		},
		{
			name: "a reply", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":19,` + ana +
				`,"content":"yes","message_reference":{"channel_id":"2","guild_id":"1","message_id":"99"},"referenced_message":null}`,
			want: []memory.Event{anaSeen, memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1,
				Channel: 2, Author: 10, Content: "yes", ReplyTo: 99}}},
		},
		{
			name: "a forward isn't a reply", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana +
				`,"content":"","message_reference":{"type":1,"channel_id":"2","message_id":"99"},` +
				`"message_snapshots":[{"message":{"content":"as was said","attachments":[{"filename":"b.txt"}]}}]}`,
			want: []memory.Event{anaSeen, memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1,
				Channel: 2, Author: 10,
				Content: "[forwarded] as was said", Files: []memory.File{{Name: "b.txt"}}}}},
		},
		{
			name: "a poll and a sticker", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana +
				`,"content":"","sticker_items":[{"name":"wave"}],` +
				`"poll":{"question":{"text":"When?"},"answers":[{"poll_media":{"text":"Friday"}},{"poll_media":{"text":"Never"}}]}}`,
			want: []memory.Event{anaSeen, memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1,
				Channel: 2, Author: 10,
				Content: "When?\n- Friday\n- Never\n[sticker: wave]"}}},
		},
		{
			name: "a direct message", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"3","type":0,"author":{"id":"10","username":"ana"},"content":"psst"}`,
			want: []memory.Event{
				memory.ChannelSeen{Channel: memory.Channel{ID: 3, Kind: memory.DirectChannel}},
				memory.PersonSeen{Person: memory.Person{ID: 10, Username: "ana"}},
				memory.Posted{Live: true, Message: memory.Message{ID: 100, Channel: 3, Author: 10, Content: "psst"}}},
		},
		{
			name: "a notice", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":7,` + ana + `,"content":""}`,
			want: []memory.Event{anaSeen,
				memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1, Channel: 2, Author: 10,
					Kind: memory.FromSystem}}},
		},
		{
			name: "another bot", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,"author":{"id":"12","username":"beep","bot":true},"content":"<@500> boop"}`,
		},
		{
			name: "another bot, logged", kind: "MESSAGE_CREATE", bots: true,
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":20,"author":{"id":"12","username":"beep","bot":true},"content":"boop"}`,
			want: []memory.Event{memory.PersonSeen{Person: memory.Person{ID: 12, Guild: 1, Username: "beep",
				Bot: true}},
				memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1, Channel: 2, Author: 12,
					Kind: memory.FromBot, Content: "boop"}}},
		},
		{
			name: "a webhook", kind: "MESSAGE_CREATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,"webhook_id":"13","author":{"id":"13","username":"news"},"content":"news"}`,
		},
		{
			name: "a webhook, logged", kind: "MESSAGE_CREATE", bots: true,
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,"webhook_id":"13","author":{"id":"13","username":"news"},"content":"news"}`,
			want: []memory.Event{memory.PersonSeen{Person: memory.Person{ID: 13, Guild: 1, Username: "news"}},
				memory.Posted{Live: true, Message: memory.Message{ID: 100, Guild: 1, Channel: 2, Author: 13,
					Kind: memory.FromWebhook, Content: "news"}}},
		},
		{
			name: "Hark's own, in the middle of an answer", kind: "MESSAGE_UPDATE", bots: true,
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":19,"author":{"id":"500","username":"hark","bot":true},"content":"half of i","edited_timestamp":"2026-01-02T03:04:05.678000+00:00","mentions":[],"attachments":[]}`,
		},
		{
			name: "an edit", kind: "MESSAGE_UPDATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana +
				`,"content":"new","edited_timestamp":"2026-01-02T03:04:05.678000+00:00","mentions":[],"attachments":[]}`,
			want: []memory.Event{anaSeen, memory.Posted{Message: memory.Message{ID: 100, Guild: 1, Channel: 2,
				Author: 10, Content: "new",
				Edited: at("2026-01-02T03:04:05.678Z")}}},
		},
		{
			name: "an edit that tells no author", kind: "MESSAGE_UPDATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","content":"new","edited_timestamp":"2026-01-02T03:04:05.678000+00:00"}`,
			want: []memory.Event{memory.Edited{Guild: 1, Channel: 2, ID: 100, Content: "new",
				At: at("2026-01-02T03:04:05.678Z")}},
		},
		{
			name: "an edit that leaves out the attachments keeps them", kind: "MESSAGE_UPDATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1",` + ana +
				`,"content":"new","edited_timestamp":"2026-01-02T03:04:05.678000+00:00"}`,
			want: []memory.Event{memory.Edited{Guild: 1, Channel: 2, ID: 100, Content: "new",
				At: at("2026-01-02T03:04:05.678Z")}},
		},
		{name: "an embed resolved", kind: "MESSAGE_UPDATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","embeds":[]}`},
		{name: "a brief update that is no edit", kind: "MESSAGE_UPDATE",
			payload: `{"id":"100","channel_id":"2","content":"x","edited_timestamp":null}`},
		{
			name: "a deletion", kind: "MESSAGE_DELETE", payload: `{"id":"100","channel_id":"2","guild_id":"1"}`,
			want: []memory.Event{memory.Deleted{Guild: 1, Channel: 2, IDs: []memory.MessageID{100}}},
		},
		{
			name: "a bulk deletion", kind: "MESSAGE_DELETE_BULK", payload: `{"ids":["100","101"],"channel_id":"2","guild_id":"1"}`,
			want: []memory.Event{memory.Deleted{Guild: 1, Channel: 2, IDs: []memory.MessageID{100, 101}}},
		},
		{name: "a deletion of nothing", kind: "MESSAGE_DELETE_BULK", payload: `{"ids":[],"channel_id":"2"}`},
		{
			name: "a guild", kind: "GUILD_CREATE",
			payload: `{"id":"1","name":"Garden","owner_id":"10","roles":[{"id":"1","name":"@everyone","permissions":"66560"},` +
				`{"id":"31","name":"beep","permissions":"8","tags":{"bot_id":"12"}},{"id":"32","name":"boosters","permissions":"0","tags":{"premium_subscriber":null}}],` +
				`"channels":[{"id":"2","type":0,"name":"general","owner_id":"10","nsfw":false,"permission_overwrites":[{"id":"1","type":0,"allow":"0","deny":"1024"},{"id":"10","type":1,"allow":"1024","deny":"0"}]},` +
				`{"id":"4","type":4,"name":"Things"},{"id":"5","type":5,"name":"news","parent_id":"4","nsfw":false,"permission_overwrites":[]},{"id":"6","type":2,"name":"voice","nsfw":true,"permission_overwrites":[]},` +
				`{"id":"7","type":13,"name":"stage","nsfw":false,"permission_overwrites":[]},{"id":"8","type":15,"name":"forum","nsfw":false,"permission_overwrites":[]},{"id":"9","type":16,"name":"media","nsfw":false,"permission_overwrites":[]},{"id":"14","type":14,"name":"directory"},{"id":"15","type":99}],` +
				`"threads":[{"id":"20","type":11,"name":"post","parent_id":"8","owner_id":"10"},{"id":"21","type":12,"name":"secret","parent_id":"2"},{"id":"22","type":10,"name":"t","parent_id":"5"}],` +
				`"members":[{"user":{"id":"10","username":"ana","global_name":"Ana"},"nick":null,"roles":[]}]}`,
			want: []memory.Event{memory.GuildSeen{At: sameTime(), Guild: memory.Guild{ID: 1, Name: "Garden",
				Owner: 10, Self: self,
				Roles: []memory.Role{{ID: 1, Name: "@everyone", Permissions: 66560},
					{ID: 31, Name: "beep", Permissions: 8, Bot: 12}, {ID: 32, Name: "boosters"}},
				Channels: []memory.Channel{
					{ID: 2, Guild: 1, Name: "general", Overwrites: []memory.Overwrite{{Role: 1, Deny: 1024},
						{User: 10, Allow: 1024}}},
					{ID: 4, Guild: 1, Kind: memory.CategoryChannel, Name: "Things"},
					{ID: 5, Guild: 1, Parent: 4, Name: "news"},
					{ID: 6, Guild: 1, Kind: memory.VoiceChannel, Name: "voice", AgeLimited: true},
					{ID: 7, Guild: 1, Kind: memory.VoiceChannel, Name: "stage"},
					{ID: 8, Guild: 1, Kind: memory.ForumChannel, Name: "forum"},
					{ID: 9, Guild: 1, Kind: memory.ForumChannel, Name: "media"},
					{ID: 20, Guild: 1, Parent: 8, Kind: memory.PublicThread, Name: "post", Owner: 10},
					{ID: 21, Guild: 1, Parent: 2, Kind: memory.PrivateThread, Name: "secret"},
					{ID: 22, Guild: 1, Parent: 5, Kind: memory.PublicThread, Name: "t"},
				}}},
				memory.PersonSeen{Person: memory.Person{ID: 10, Guild: 1, Username: "ana", Name: "Ana",
					RolesKnown: true}}},
		},
		{
			name: "a crosspost whose source was deleted", kind: "MESSAGE_UPDATE",
			payload: `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana +
				`,"content":"[Original Message Deleted]","flags":10,"mentions":[],"attachments":[]}`,
			want: []memory.Event{memory.Deleted{Guild: 1, Channel: 2, IDs: []memory.MessageID{100}}},
		},
		{
			name: "a guild that removed Hark", kind: "GUILD_DELETE", payload: `{"id":"1"}`,
			want: []memory.Event{memory.GuildLeft{Guild: 1, At: sameTime()}},
		},
		{name: "a guild whose outage begins", kind: "GUILD_DELETE", payload: `{"id":"1","unavailable":true}`},
		{
			name: "somebody who leaves", kind: "GUILD_MEMBER_REMOVE", payload: `{"guild_id":"1","user":{"id":"10","username":"ana"}}`,
			want: []memory.Event{memory.PersonLeft{Guild: 1, User: 10}},
		},
		{name: "a guild in an outage", kind: "GUILD_CREATE", payload: `{"id":"1","unavailable":true}`},
		{
			name: "a channel", kind: "CHANNEL_UPDATE", payload: `{"id":"2","guild_id":"1","type":0,"name":"x","nsfw":true,"permission_overwrites":[]}`,
			want: []memory.Event{memory.ChannelSeen{Channel: memory.Channel{ID: 2, Guild: 1, Name: "x",
				AgeLimited: true}}},
		},
		{
			name: "a channel of a kind unknown", kind: "CHANNEL_UPDATE", payload: `{"id":"2","guild_id":"1","type":77}`,
			want: []memory.Event{memory.ChannelGone{Guild: 1, Channel: 2}},
		},
		{
			name: "a channel with an overwrite of a kind unknown", kind: "CHANNEL_UPDATE",
			payload: `{"id":"2","guild_id":"1","type":0,"permission_overwrites":[{"id":"9","type":5,"allow":"0","deny":"1024"}]}`,
			want:    []memory.Event{memory.ChannelGone{Guild: 1, Channel: 2}},
		},
		{
			name: "a channel removed", kind: "CHANNEL_DELETE", payload: `{"id":"2","guild_id":"1","type":0}`,
			want: []memory.Event{memory.ChannelDeleted{Guild: 1, Channel: 2, At: sameTime()}},
		},
		{
			name: "a thread", kind: "THREAD_CREATE", payload: `{"id":"20","guild_id":"1","type":12,"parent_id":"2","name":"t","owner_id":"10","newly_created":true}`,
			want: []memory.Event{memory.ChannelSeen{Channel: memory.Channel{ID: 20, Guild: 1, Parent: 2,
				Kind: memory.PrivateThread, Name: "t", Owner: 10}}},
		},
		{
			name: "a thread removed", kind: "THREAD_DELETE", payload: `{"id":"20","guild_id":"1","parent_id":"2","type":11}`,
			want: []memory.Event{memory.ChannelDeleted{Guild: 1, Channel: 20, At: sameTime()}},
		},
		{
			name: "threads", kind: "THREAD_LIST_SYNC", payload: `{"guild_id":"1","threads":[{"id":"20","type":11,"parent_id":"2","name":"t"},null]}`,
			want: []memory.Event{memory.ChannelSeen{Channel: memory.Channel{ID: 20, Guild: 1, Parent: 2,
				Kind: memory.PublicThread, Name: "t"}}},
		},
		{
			name: "a role", kind: "GUILD_ROLE_UPDATE", payload: `{"guild_id":"1","role":{"id":"31","name":"staff","permissions":"1024"}}`,
			want: []memory.Event{memory.RoleSeen{Guild: 1, Role: memory.Role{ID: 31, Name: "staff",
				Permissions: 1024}}},
		},
		{
			name: "a role removed", kind: "GUILD_ROLE_DELETE", payload: `{"guild_id":"1","role_id":"31"}`,
			want: []memory.Event{memory.RoleGone{Guild: 1, Role: 31}},
		},
		{
			name: "a member", kind: "GUILD_MEMBER_UPDATE", payload: `{"guild_id":"1","user":{"id":"10","username":"ana"},"roles":["31"],"nick":"A"}`,
			want: []memory.Event{memory.PersonSeen{Person: memory.Person{ID: 10, Guild: 1, Username: "ana",
				Nick: "A", Roles: []memory.RoleID{31}, RolesKnown: true}}},
		},
		{
			name: "a command's user", kind: "INTERACTION_CREATE", payload: `{"id":"900","guild_id":"1","member":{"user":{"id":"10","username":"ana"},"roles":["31"]}}`,
			want: []memory.Event{memory.PersonSeen{Person: memory.Person{ID: 10, Guild: 1, Username: "ana",
				Roles: []memory.RoleID{31}, RolesKnown: true}}},
		},
		{name: "what doesn't matter", kind: "PRESENCE_UPDATE", payload: `{"id":{}}`},
	} {
		got := convertAll(t, newConverter(self, tt.bots, sameTime), tt.kind, tt.payload)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestConvertTellsOfPeopleOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	c := newConverter(self, false, sameTime)
	message := `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana + `,"content":"hi"}`
	mention := `{"id":"101","channel_id":"2","guild_id":"1","type":0,` + ana +
		`,"content":"hi","mentions":[{"id":"10","username":"ana","global_name":"Ana"}]}`
	promoted := strings.Replace(message, `"32"`, `"33"`, 1)
	var people []int
	for _, payload := range []string{message, message, mention, message, mention, promoted, promoted, message} {
		n := 0
		for _, e := range convertAll(t, c, "MESSAGE_CREATE", payload) {
			if _, ok := e.(memory.PersonSeen); ok {
				n++
			}
		}
		people = append(people, n)
	}
	if fmt.Sprint(people) != "[1 0 1 0 0 1 0 1]" {
		t.Errorf("people told of: %v", people)
	}
	for i := range rememberedPeople {
		c.news(i, "")
	}
	if len(c.known) > rememberedPeople {
		t.Errorf("%d people remembered", len(c.known))
	}
}

// The log may have forgotten somebody meanwhile, or they may have left: whoever is there again is told of again.
func TestConvertTellsAgainOfThoseWhoAreBack(t *testing.T) {
	t.Parallel()
	now := sameTime()
	c := newConverter(self, false, func() time.Time { return now })
	message := `{"id":"100","channel_id":"2","guild_id":"1","type":0,` + ana + `,"content":"hi"}`
	told := func() bool { return len(convertAll(t, c, "MESSAGE_CREATE", message)) == 2 }
	if !told() || told() {
		t.Error("somebody isn't told of once")
	}
	convertAll(t, c, "GUILD_MEMBER_REMOVE", `{"guild_id":"1","user":{"id":"10"}}`)
	if !told() || told() {
		t.Error("somebody who came back isn't told of once")
	}
	if now = now.Add(rememberedFor); !told() {
		t.Error("somebody who may have been forgotten isn't told of again")
	}
}

func TestConvertPassesOverWhatItCannotRead(t *testing.T) {
	t.Parallel()
	c := newConverter(self, false, sameTime)
	for _, tt := range []struct{ kind, payload string }{
		{"MESSAGE_CREATE", `{"id":"77","content":{"secret":1}}`}, {"MESSAGE_CREATE",
			`{"id":"77"`}, {"MESSAGE_DELETE", `{"id":"abc"}`},
	} {
		out, err := c.convert(rawEvent{kind: tt.kind, data: json.RawMessage(tt.payload)})
		if err == nil || len(out.events) != 0 {
			t.Fatalf("%s: %v, %v", tt.payload, out.events, err)
		}
		golden.Seen(t, err.Error())
	}
}

func TestConvertSurvivesAPanic(t *testing.T) {
	t.Parallel()
	c := newConverter(self, false, sameTime)
	c.known = nil // so that telling of anybody panics
	out, err := c.convert(rawEvent{kind: "MESSAGE_CREATE", data: json.RawMessage(
		`{"id":"77","channel_id":"2","guild_id":"1","type":0,` + ana + `,"content":"a secret"}`)})
	if err == nil || !strings.Contains(err.Error(), "MESSAGE_CREATE 77") ||
		strings.Contains(err.Error(), "secret") || len(out.events) != 0 {
		t.Errorf("%v, %v", out.events, err)
	}
}

func TestMergeKeepsChannels(t *testing.T) {
	t.Parallel()
	out, err := newConverter(self, false, sameTime).convert(rawEvent{kind: "GUILD_UPDATE", data: json.RawMessage(
		`{"id":"1","name":"New","owner_id":"11","roles":[{"id":"1","name":"@everyone","permissions":"8"}]}`)})
	if err != nil || out.merge == nil || len(out.events) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	got := merged(*out.merge, &memory.Guild{ID: 1, Owner: 10,
		Channels: []memory.Channel{{ID: 2}, {ID: 3, Unplaced: true}}})
	want := memory.Guild{ID: 1, Name: "New", Owner: 11,
		Roles:    []memory.Role{{ID: 1, Name: "@everyone", Permissions: 8}},
		Channels: []memory.Channel{{ID: 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	message := func(fields string) string {
		return `{"id":"100","channel_id":"2","guild_id":"1",` + ana + `,` + fields + `}`
	}
	const us = `{"id":"500","username":"hark","bot":true}`
	for _, tt := range []struct {
		name, payload string
		want          *ask
	}{
		{"a mention", message(`"type":0,"content":"hey <@500> when is it?","mentions":[` + us + `]`),
			&ask{text: "hey when is it?"}},
		{"an old mention", message(`"type":0,"content":"<@!500>, when?","mentions":[` + us + `]`),
			&ask{text: ", when?"}},
		{"with others", message(`"type":0,"content":"<@500> what did <@11> say?","mentions":[` + us +
			`,{"id":"11","username":"bo"}]`),
			&ask{text: "what did <@11> say?", mentions: []memory.UserID{11}}},
		{"nothing but a mention", message(`"type":0,"content":" <@500> ","mentions":[` + us + `]`),
			&ask{}},
		{"in code", message("\"type\":0,\"content\":\"`<@500>` is how\",\"mentions\":[]"), nil},
		{"everyone", message(`"type":0,"content":"@everyone look","mention_everyone":true,"mentions":[]`), nil},
		{"a role", message(`"type":0,"content":"<@&500> look","mention_roles":["500"],"mentions":[]`), nil},
		{"a reply to Hark", message(`"type":19,"content":"and then?","mentions":[],"message_reference":{"message_id":"90","channel_id":"2"},"referenced_message":{"id":"90","author":` + us + `,"content":"x"}`),
			&ask{text: "and then?", replyTo: 90}},
		{"a reply to somebody else", message(
			`"type":19,"content":"no","mentions":[],"message_reference":{"message_id":"90","channel_id":"2"},"referenced_message":{"id":"90","author":{"id":"11","username":"bo"},"content":"x"}`), nil},
		{"a reply to somebody else that mentions",
			message(`"type":19,"content":"<@500> is that so?","mentions":[` + us +
				`,{"id":"11"}],"message_reference":{"message_id":"90","channel_id":"2"},"referenced_message":{"id":"90","author":{"id":"11","username":"bo"},"content":"x"}`),
			&ask{text: "is that so?", replyTo: 90, mentions: []memory.UserID{11}}},
		{"a reply to what was deleted",
			message(`"type":19,"content":"no","mentions":[],"message_reference":{"message_id":"90","channel_id":"2"},"referenced_message":null`), nil},
		{"a notice", message(`"type":6,"content":"<@500>","mentions":[` + us + `]`), nil},
		{"another bot", `{"id":"100","channel_id":"2","guild_id":"1","type":0,"author":{"id":"12","username":"b","bot":true},"content":"<@500> hi","mentions":[` + us + `]}`, nil},
		{"a webhook", `{"id":"100","channel_id":"2","guild_id":"1","type":0,"webhook_id":"13","author":{"id":"13","username":"w"},"content":"<@500> hi","mentions":[` + us + `]}`, nil},
		{"a direct message", `{"id":"100","channel_id":"2","type":0,"author":{"id":"10","username":"ana","global_name":"Ana"},"content":"when?","mentions":[]}`,
			&ask{text: "when?", guild: memory.DirectGuild, name: "Ana"}},
	} {
		out, err := newConverter(self, true, sameTime).convert(rawEvent{kind: "MESSAGE_CREATE",
			data: json.RawMessage(tt.payload)})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.want != nil {
			tt.want.id, tt.want.channel, tt.want.asker = 100, 2, 10
			if tt.want.name == "" {
				tt.want.name, tt.want.guild, tt.want.roles = "Ana of the Garden", 1, []memory.RoleID{31, 32}
			}
		}
		if diff := cmp.Diff(tt.want, out.ask, cmp.AllowUnexported(ask{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	out, _ := newConverter(self, true, sameTime).convert(rawEvent{kind: "MESSAGE_UPDATE", data: json.RawMessage(
		message(`"type":0,"content":"<@500> when?","mentions":[` + us + `],"attachments":[]`))})
	if out.ask != nil {
		t.Error("an edit asks a question")
	}
}

func FuzzConvert(f *testing.F) {
	for kind := range readers {
		for _, p := range []string{`{}`, `null`, `[]`,
			`{"id":"1","guild_id":null,"author":null,"member":null,"content":"x","type":0,"mentions":[null],"attachments":[]}`,
			`{"id":1,"channels":[null],"roles":[null],"threads":[null],"members":[null,{"user":null}]}`, `{"ids":["1",null],"channel_id":""}`,
			`{"id":"1","content":"","author":{"id":"2"},"message_snapshots":[{"message":{"message_snapshots":[{}]}}],"poll":{}}`} {
			f.Add(kind, []byte(p))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		out, err := newConverter(self, true, sameTime).convert(rawEvent{kind: kind, data: data})
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
		for _, e := range out.events {
			if p, ok := e.(memory.Posted); ok &&
				(p.Message.ID == 0 || p.Message.Content != memory.Clean(p.Message.Content)) {
				t.Fatalf("logs %+v", p.Message)
			}
		}
	})
}

// sameTime is the clock of converters whose tests aren't about time.
func sameTime() time.Time { return at("2026-01-02T03:04:05Z") }
