package imports

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

const exportHead = `{
  "guild": {"id": "5001", "name": "Harbour", "iconUrl": "https://cdn.example/icon.png"},
  "channel": {"id": "5002", "type": "GuildTextChat", "categoryId": "5003", "category": "Talk", "name": "dock", "topic": null},
  "dateRange": {"after": null, "before": null},
  "exportedAt": "2024-06-01T10:00:00.123+02:00",
  "messages": [`

const exportMessages = `
    {
      "id": "1000000000000000001", "type": "Default", "timestamp": "2022-07-22T11:22:59.101+00:00", "timestampEdited": null,
      "callEndedTimestamp": null, "isPinned": true, "content": "The crane is fixed, @Ben.",
      "author": {"id": "71", "name": "ada", "discriminator": "0000", "nickname": "Ada L.", "color": null, "isBot": false, "roles": [], "avatarUrl": "https://cdn.example/a.png"},
      "attachments": [{"id": "9", "url": "https://cdn.example/crane.jpg", "fileName": "crane.jpg", "fileSizeBytes": 100}],
      "embeds": [], "stickers": [], "reactions": [{"emoji": {"id": "", "name": "x"}, "count": 1}],
      "mentions": [{"id": "72", "name": "ben", "discriminator": "0000", "nickname": "ben", "isBot": false}], "inlineEmojis": []
    },
    {
      "id": "1000000000000000002", "type": "Reply", "timestampEdited": "2023-08-04T01:00:00.5+02:00", "content": "Good news",
      "author": {"id": "72", "name": "ben", "discriminator": "0000", "nickname": "ben", "isBot": false},
      "mentions": [], "reference": {"type": "Default", "messageId": "1000000000000000001", "channelId": "5002", "guildId": "5001"}
    }
  ],
  "messageCount": 2
}
`

func TestExportBecomesEvents(t *testing.T) {
	t.Parallel()
	s := newShelf()
	sum := s.read(t, exportHead+exportMessages)
	if want := (Summary{Kind: DiscordExport, Channels: 1, Messages: 2}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	if got := s.guilds[5001]; got != "Harbour" {
		t.Errorf("the server is called %q", got)
	}
	wantChannel := memory.Channel{ID: 5002, Guild: 5001, Parent: 5003, Name: "dock", Unplaced: true}
	if got := s.channels[5002]; !reflect.DeepEqual(got, wantChannel) {
		t.Errorf("channel %+v", got)
	}
	for id, want := range map[memory.UserID]memory.Person{
		71: {ID: 71, Guild: 5001, Username: "ada", Nick: "Ada L."},
		72: {ID: 72, Guild: 5001, Username: "ben"},
	} {
		if got := s.people[id]; !reflect.DeepEqual(got, want) {
			t.Errorf("person %+v, want %+v", got, want)
		}
	}
	want := []memory.Message{
		{
			ID: 1000000000000000001, Guild: 5001, Channel: 5002, Author: 71, Content: "The crane is fixed, @Ben.",
			Files: []memory.File{{Name: "crane.jpg"}}, Mentions: []memory.UserID{72}, Starred: true,
		},
		{
			ID: 1000000000000000002, Guild: 5001, Channel: 5002, Author: 72, Content: "Good news",
			Edited: time.Date(2023, 8, 3, 23, 0, 0, 5e8, time.UTC), ReplyTo: 1000000000000000001,
		},
	}
	if got := s.contents(); !reflect.DeepEqual(got, want) {
		t.Errorf("messages\n%+v\nwant\n%+v", got, want)
	}
}

// Ids that aren't Discord's don't tell the time, so that the time stamp must.
func TestExportWithIdsOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newShelf()
	file := exportHead + `
		{"id": "101", "type": "Default", "timestamp": "2024-05-25T13:22:15+02:00", "content": "The tide is in.", "author": {"id": "71", "name": "ada"}},
		{"id": "102", "type": "Reply", "timestamp": "2024-06-20T08:00:00Z", "content": "Cast off!", "author": {"id": "72", "name": "ben"},
		 "reference": {"messageId": "101", "channelId": "5002", "guildId": "5001"}},
		{"id": "103", "type": "Default", "timestamp": "1066-10-14T09:00:00Z", "content": "Out of time.", "author": {"id": "72", "name": "ben"}}
	]}`
	for range 2 { // twice is once
		if sum := s.read(t, file); sum.Messages != 2 || sum.Skipped != 1 ||
			!strings.Contains(sum.FirstSkipped, "message 3 ") {
			t.Errorf("got %+v", sum)
		}
	}
	got := s.contents()
	if len(got) != 2 {
		t.Fatalf("%d messages", len(got))
	}
	for i, want := range []string{"2024-05-25T11:22:15Z", "2024-06-20T08:00:00Z"} {
		if at := got[i].Time().Format(time.RFC3339); at != want {
			t.Errorf("message %d was sent at %s, not %s", i, at, want)
		}
	}
	if got[1].ReplyTo != got[0].ID {
		t.Errorf("the second replies to %d, not to %d", got[1].ReplyTo, got[0].ID)
	}
}

func TestExportedMessage(t *testing.T) {
	t.Parallel()
	const bot = `"author":{"id":"9","name":"b","discriminator":"1234","isBot":true},`
	const hook = `"author":{"id":"9","name":"b","discriminator":"0000","isBot":true},`
	for name, c := range map[string]struct {
		fields string
		want   memory.Message
	}{
		"bot":     {bot + `"content":"x"`, memory.Message{Author: 9, Kind: memory.FromBot, Content: "x"}},
		"webhook": {hook + `"content":"x"`, memory.Message{Author: memory.WebhookPerson(5002, "b"), Kind: memory.FromWebhook, Content: "x"}},
		"joined": {`"type":"GuildMemberJoin","content":"Joined the server."`,
			memory.Message{Kind: memory.FromSystem, Content: "Joined the server."}},
		"pinned":         {`"type":"ChannelPinnedMessage","content":"Pinned a message.","reference":{"messageId":"5"}`, memory.Message{Kind: memory.FromSystem, Content: "Pinned a message."}},
		"unnamed notice": {`"type":"21","content":"x"`, memory.Message{Kind: memory.FromSystem, Content: "x"}},
		"command":        {`"type":"20","content":"x"`, memory.Message{Content: "x"}},
		"only a file": {`"content":"","attachments":[{"fileName":"a.png"},{"fileName":"b.png"}]`,
			memory.Message{Files: []memory.File{{Name: "a.png"}, {Name: "b.png"}}}},
		"sticker": {`"content":"hi","stickers":[{"id":"1","name":"Wave"}]`,
			memory.Message{Content: "hi\n[sticker: Wave]"}},
		"only an embed":   {bot + `"content":"","embeds":[{"title":"Build","description":"passed","fields":[{"name":"on","value":"main"},{"name":"","value":"now"}]}]`, memory.Message{Author: 9, Kind: memory.FromBot, Content: "Build\npassed\non: main\nnow"}},
		"content + embed": {`"content":"see","embeds":[{"title":"Page"}]`, memory.Message{Content: "see\nPage"}},
		"forwarded": {`"content":"","reference":{"type":"Forward","messageId":"5","channelId":"5003","guildId":"5001"},"forwardedMessage":{"content":"meet at six","attachments":[{"fileName":"map.png"}],"stickers":[{"name":"Sun"}]}`, memory.Message{Content: "[forwarded] meet at six\n[sticker: Sun]", Files: []memory.File{{Name: "map.png"}},
			Original: memory.Original{Guild: 5001, Channel: 5003, Message: 5}}},
		"forwarded embed": {`"content":"","forwardedMessage":{"embeds":[{"title":"T"}]}`, memory.Message{Content: "[forwarded] T"}},
		"reply elsewhere": {`"type":"Reply","content":"x","reference":{"messageId":"5","channelId":"6"}`,
			memory.Message{Content: "x"}},
		"bad edit time": {`"content":"x","timestampEdited":"soon"`, memory.Message{Content: "x"}},
		"bad field": {`"content":"x","isPinned":"yes","mentions":{"id":3},"attachments":7`,
			memory.Message{Content: "x"}},
		"NUL and bidi": {`"content":"a\u0000b\u202e"`, memory.Message{Content: "ab\u202e"}},
		"bad UTF-8":    {"\"content\":\"a\xff\"", memory.Message{Content: "a\uFFFD"}},
		"combining marks": {`"content":"` + strings.Repeat("\u0301", 100_000) + `"`,
			memory.Message{Content: strings.Repeat("\u0301", 100_000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			s.read(t, exportHead+`{"id":"1000000000000000077",`+c.fields+`}]}`)
			c.want.ID = 1000000000000000077
			c.want.Guild = 5001
			c.want.Channel = 5002
			if got := s.contents(); len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
				t.Errorf("got %.300v\nwant %.300v", got, c.want)
			}
		})
	}
}

func TestExportedChannel(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]memory.ChannelKind{
		"GuildTextChat": memory.TextChannel, "GuildNews": memory.TextChannel, "GuildVoiceChat": memory.VoiceChannel,
		"GuildStageVoice": memory.VoiceChannel, "GuildForum": memory.ForumChannel, "GuildPublicThread": memory.PublicThread,
		"GuildNewsThread": memory.PublicThread, "GuildPrivateThread": memory.PrivateThread, "GuildSomethingNew": memory.TextChannel,
		"GUILD_TEXT_CHAT": memory.TextChannel, "GUILD_FORUM": memory.ForumChannel, "12": memory.PrivateThread,
	} {
		s := newShelf()
		s.read(t, fmt.Sprintf(`{"guild":{"id":"1"},"channel":{"id":2,"type":%q,"categoryId":null},"messages":[]}`, kind))
		if got := s.channels[2]; got.Kind != want || !got.Unplaced || got.Guild != 1 {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	for _, kind := range []string{"DirectTextChat", "DirectGroupTextChat"} {
		s := newShelf()
		s.read(t, `{"channel":{"id":"2","type":"`+kind+
			`","categoryId":"0","name":"ada"},"guild":{"id":"0","name":"Direct Messages"},"messages":[{"id":"1000000000000000003","content":"x"}]}`)
		want := memory.Channel{ID: 2, Guild: memory.DirectGuild, Kind: memory.DirectChannel, Name: "ada",
			Unplaced: true}
		if got := s.channels[2]; !reflect.DeepEqual(got, want) || s.contents()[0].Guild != memory.DirectGuild {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// Files that other programs made of other chats have ids of their own.
func TestExportOfAnotherProgram(t *testing.T) {
	t.Parallel()
	const first = `{"id":"m1","type":"DEFAULT","timestamp":"2024-05-01 10:00:00","content":"The winch needs grease",
		"author":{"id":"@ben:example.org","name":"ben"}}`
	const second = `{"id":340282366920938463463374607431768211455,"type":"reply","timestamp":"2024-05-01T10:00:05Z",
		"content":"number 4","author":{"name":"ada"},"reference":{"messageId":"m1"}}`
	const third = `{"id":"m3","type":"RECIPIENT_ADD","timestamp":"2024-05-01T10:00:09Z","content":"",
		"author":{"id":"@ben:example.org","name":"ben"}}`
	s := newShelf()
	sum := s.read(t, `{"guild":{"id":"5001","name":"Harbour"},
		"channel":{"id":"5002","type":"GUILD_PUBLIC_THREAD","categoryId":"5003","category":"help","name":"Winch"},
		"messages":[`+first+","+second+","+third+`]}`)
	if sum.Messages != 3 || sum.Notices != 1 || sum.Zoneless != 1 || sum.Channels != 1 {
		t.Errorf("the summary is %+v", sum)
	}
	got := s.contents()
	if len(got) != 3 {
		t.Fatalf("%d messages", len(got))
	}
	if at := got[0].Time().Format(time.RFC3339); at != "2024-05-01T10:00:00Z" {
		t.Errorf("the first was said at %s", at)
	}
	if got[1].ReplyTo != got[0].ID {
		t.Errorf("the second replies to %d, not to %d", got[1].ReplyTo, got[0].ID)
	}
	if got[0].Author == 0 || got[0].Author != got[2].Author || got[0].Author == got[1].Author {
		t.Errorf("their authors are %d, %d, %d", got[0].Author, got[1].Author, got[2].Author)
	}
	if name := s.people[got[1].Author].Username; name != "ada" {
		t.Errorf("the second author's name is %q", name)
	}
	thread := s.channels[5002]
	parent := s.channels[5003]
	if thread.Kind != memory.PublicThread || parent.Name != "help" || parent.Kind != memory.TextChannel {
		t.Errorf("a thread %+v of %+v", thread, parent)
	}
}

func TestExportSkipsMessagesWithoutId(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`{"content":"x"}`, `{"id":"abc"}`, `{"id":"77"}`, `{"id":"-4"}`, `{"id":"0"}`,
		`{"id":null}`, `7`, `null`} {
		s := newShelf()
		sum := s.read(t, exportHead+`{"id":"1000000000000000001","content":"a"},`+bad+`,{"id":"1000000000000000002","content":"b"}]}`)
		if sum.Messages != 2 || sum.Skipped != 1 || !strings.HasPrefix(sum.FirstSkipped, "message 2 (before byte ") {
			t.Errorf("%s: %+v", bad, sum)
		}
	}
}

func TestImportReplacesNoNames(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.people[71] = memory.Person{ID: 71, Guild: 5001, Username: "ada", Nick: "Captain"}
	s.people[72] = memory.Person{ID: 72, Guild: 5001, Bot: true}
	s.read(t, exportHead+exportMessages)
	if got := s.people[71].Nick; got != "Captain" {
		t.Errorf("the old name %q replaced a newer one", got)
	}
	if got := s.people[72]; got.Username != "ben" || !got.Bot {
		t.Errorf("what wasn't known became %+v", got)
	}
}
