package ingest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/internal/imports"
	"hark/memory"
)

// What the gateway tells of a message and what an export has of it are remembered alike.
func TestLiveEqualsImported(t *testing.T) {
	t.Parallel()
	const hook = `"author":{"id":"9","username":"ci","bot":true},"webhook_id":"9"`
	const exportedHook = `"author":{"id":"9","name":"ci","discriminator":"0000","isBot":true}`
	const member = `"author":{"id":"10","username":"ana"}`
	const exportedMember = `"author":{"id":"10","name":"ana"}`
	const failed = `"title":"Deploy of harbour-api failed","description":"Exit status 137 on node crane-7",` +
		`"author":{"name":"Pipeline 12"},"footer":{"text":"main"},` +
		`"fields":[{"name":"Commit","value":"9f31c0 by Lena","inline":true}]`
	const deploy = "Pipeline 12\nDeploy of harbour-api failed\nExit status 137 on node crane-7\n" +
		"Commit: 9f31c0 by Lena\nmain"
	const result = `"fields":[{"name":"poll_question_text","value":"Which boat?"},` +
		`{"name":"victor_answer_votes","value":"3"},{"name":"total_votes","value":"5"},` +
		`{"name":"victor_answer_text","value":"The blue one"}]`
	for name, c := range map[string]struct {
		live     string
		exported string
		text     string
		kind     memory.Kind
		origin   memory.Original
	}{
		"typed": {
			live:     member + `,"type":0,"content":"hello"`,
			exported: exportedMember + `,"type":"Default","content":"hello"`,
			text:     "hello",
		},
		"types in capitals": {
			live:     member + `,"type":19,"content":"hello"`,
			exported: exportedMember + `,"type":"REPLY","content":"hello"`,
			text:     "hello",
		},
		"type as a number": {
			live:     member + `,"type":20,"content":"hello"`,
			exported: exportedMember + `,"type":20,"content":"hello"`,
			text:     "hello",
		},
		"notice": {
			live:     member + `,"type":7,"content":""`,
			exported: exportedMember + `,"type":"GUILD_MEMBER_JOIN","content":""`,
			kind:     memory.FromSystem,
		},
		"a webhook's embed": {
			live:     hook + `,"type":0,"content":"","embeds":[{"type":"rich",` + failed + `}]`,
			exported: exportedHook + `,"type":"Default","content":"","embeds":[{` + failed + `}]`,
			text:     deploy,
			kind:     memory.FromWebhook,
		},
		"a webhook's embed with an address, beside a text": {
			live:     hook + `,"type":0,"content":"api:","embeds":[{"type":"rich","url":"https://ci.example",` + failed + `}]`,
			exported: exportedHook + `,"type":"Default","content":"api:","embeds":[{"url":"https://ci.example",` + failed + `}]`,
			text:     "api:\n" + deploy,
			kind:     memory.FromWebhook,
		},
		"previews": {
			live: member + `,"type":0,"content":"see https://a.example","embeds":[
				{"type":"rich","url":"https://a.example","title":"Boats","description":"Blue ones"}]`,
			exported: exportedMember + `,"type":"Default","content":"see https://a.example","embeds":[
				{"url":"https://a.example","title":"Boats","description":"Blue ones"}]`,
			text: "see https://a.example\n[link: Boats: Blue ones]",
		},
		"a webhook's preview": {
			live: hook + `,"type":0,"content":"see https://a.example","embeds":[
				{"type":"link","url":"https://a.example","title":"Boats"}]`,
			exported: exportedHook + `,"type":"Default","content":"see https://a.example","embeds":[
				{"url":"https://a.example","title":"Boats"}]`,
			text: "see https://a.example\n[link: Boats]",
			kind: memory.FromWebhook,
		},
		"forwarded": {
			live: member + `,"type":0,"content":"","message_reference":{"type":1,"message_id":"5","channel_id":"6","guild_id":"1"},
				"message_snapshots":[{"message":{"type":0,"edited_timestamp":"2026-05-01T00:00:00+00:00","content":"meet at six","embeds":[{"type":"rich",` + failed + `}],
				"attachments":[{"id":"1","filename":"map.png"}],"sticker_items":[{"id":"1","name":"Sun"}]}}]`,
			exported: exportedMember + `,"type":"Default","content":"",
				"reference":{"type":"Forward","messageId":"5","channelId":"6","guildId":"1"},
				"forwardedMessage":{"timestampEdited":"2026-05-01T00:00:00+00:00","content":"meet at six","embeds":[{` + failed + `}],
				"attachments":[{"fileName":"map.png"}],"stickers":[{"name":"Sun"}]}`,
			text:   "[forwarded] meet at six\n" + deploy + "\n[sticker: Sun]\n[file: map.png]",
			origin: memory.Original{Guild: 1, Channel: 6, Message: 5, Version: 1777593600000},
		},
		"a poll's result": {
			live:     member + `,"type":46,"content":"","embeds":[{"type":"poll_result",` + result + `}]`,
			exported: exportedMember + `,"type":"46","content":"","embeds":[{` + result + `}]`,
			text:     "[poll result] Which boat?: The blue one (votes: 3 of 5)",
		},
		"a sticker": {
			live:     member + `,"type":0,"content":"hi","sticker_items":[{"id":"1","name":"Wave"}]`,
			exported: exportedMember + `,"type":"Default","content":"hi","stickers":[{"id":"1","name":"Wave"}]`,
			text:     "hi\n[sticker: Wave]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := heard(t, c.live)
			got := imported(t, c.exported)
			if want.Text() != c.text || want.Kind != c.kind {
				t.Errorf("heard as %d: %s", want.Kind, cmp.Diff(c.text, want.Text()))
			}
			if kind := memory.FromWebhook; want.Kind == kind && want.Author != got.Author {
				t.Errorf("heard from %d, imported from %d", want.Author, got.Author)
			}
			if want.Original != c.origin || got.Original != c.origin {
				t.Errorf("copies %+v, imported %+v; want %+v", want.Original, got.Original, c.origin)
			}
			if got.Text() != c.text || got.Kind != c.kind {
				t.Errorf("imported as %d: %s", got.Kind, cmp.Diff(c.text, got.Text()))
			}
		})
	}
}

// heard returns the message that an event at the gateway becomes.
func heard(t *testing.T, fields string) memory.Message {
	t.Helper()
	c := newConverter(self, true, sameTime)
	event := rawEvent{
		kind: "MESSAGE_CREATE",
		data: json.RawMessage(`{"id":"1000000000000000100","channel_id":"2","guild_id":"1",` + fields + `}`),
	}
	out, err := c.convert(event)
	if err != nil {
		t.Fatal(err)
	}
	return posted(t, out.events)
}

// imported returns the message that an export's becomes.
func imported(t *testing.T, fields string) memory.Message {
	t.Helper()
	file := `{"guild":{"id":"1","name":"g"},"channel":{"id":"2","type":"GuildTextChat","name":"c"},
		"messages":[{"id":"1000000000000000100",` + fields + `}]}`
	var events []memory.Event
	keep := func(batch []memory.Event) error {
		events = append(events, batch...)
		return nil
	}
	_, err := imports.Read(t.Context(), strings.NewReader(file), emptyMemory{}, keep, nil)
	if err != nil {
		t.Fatal(err)
	}
	return posted(t, events)
}

func posted(t *testing.T, events []memory.Event) memory.Message {
	t.Helper()
	for _, e := range events {
		p, is := e.(memory.Posted)
		if is {
			return p.Message
		}
	}
	t.Fatalf("no message among %v", events)
	return memory.Message{}
}

// emptyMemory knows nothing yet.
type emptyMemory struct{}

func (emptyMemory) ExternalIDs(context.Context, memory.ChannelID, []memory.MessageID,
	...string) (map[memory.MessageID]string, error) {
	return nil, nil
}

func (emptyMemory) People(context.Context, memory.GuildID, ...memory.UserID) ([]memory.Person, error) {
	return nil, nil
}
