package ingest

import (
	"fmt"
	"strings"
	"testing"

	"hark/memory"
)

// garden is a guild with the roles 31 and 32, of which members may have any.
const garden = `{"id":"1","name":"Garden","owner_id":"9","roles":[{"id":"1","permissions":"0"},` +
	`{"id":"31","permissions":"0"},{"id":"32","permissions":"0"}],"channels":[{"id":"2","type":0,"name":"general",` +
	`"nsfw":false,"permission_overwrites":[]}],"members":[MEMBERS]}`

// Any event that shows a member who contradicts what admins stated suspends it, in the commit that has the event.
func TestStatementsAreRefutedByWhoeverIsSeen(t *testing.T) {
	t.Parallel()
	const message = `"id":"100","channel_id":"2","guild_id":"1","type":0,"content":"hi"`
	const bo = `"author":{"id":"11","username":"bo"}`
	const first = `{"roles":["31"]}`
	for name, c := range map[string]struct {
		kind, event string
		stays       bool
	}{
		"a message's author": {"MESSAGE_CREATE", `{` + message + `,` + bo + `,"member":` + first + `}`, false},
		"whom a message names": {"MESSAGE_CREATE", `{` + message + `,` + bo +
			`,"mentions":[{"id":"12","username":"cy","member":` + first + `}]}`, false},
		"whom Hark names": {"MESSAGE_CREATE", `{` + message +
			`,"author":{"id":"500","bot":true},"mentions":[{"id":"12","username":"cy","member":` + first + `}]}`, false},
		"whom another bot names": {"MESSAGE_CREATE", `{` + message +
			`,"author":{"id":"13","bot":true},"mentions":[{"id":"12","username":"cy","member":` + first + `}]}`, false},
		"who used a bot's command": {"MESSAGE_CREATE", `{` + message +
			`,"author":{"id":"13","bot":true},"interaction":{"user":{"id":"12"},"member":` + first + `}}`, false},
		"an edit's author": {"MESSAGE_UPDATE", `{` + message + `,` + bo + `,"member":` + first +
			`,"mentions":[],"attachments":[]}`, false},
		"the author of an edit that tells little": {"MESSAGE_UPDATE", `{"id":"100","channel_id":"2","guild_id":"1",` + bo +
			`,"member":` + first + `}`, false},
		"who uses a command": {"INTERACTION_CREATE",
			`{"id":"101","guild_id":"1","channel_id":"2","type":2,"member":{"user":{"id":"11"},"roles":["31"]}}`, false},
		"whom somebody chooses": {"INTERACTION_CREATE", `{"id":"101","guild_id":"1","channel_id":"2","type":2,` +
			`"member":{"user":{"id":"9"},"roles":[]},"data":{"resolved":{"users":{"12":{"id":"12"}},"members":{"12":` + first +
			`}}}}`, false},
		"who joins": {"GUILD_MEMBER_ADD", `{"guild_id":"1","user":{"id":"12"},"roles":["31"]}`, false},
		"whose roles change": {"GUILD_MEMBER_UPDATE", `{"guild_id":"1","user":{"id":"12"},"roles":["31"]}`,
			false},
		"the members whom Discord tells of": {"GUILD_MEMBERS_CHUNK",
			`{"guild_id":"1","chunk_index":0,"chunk_count":1,"members":[{"user":{"id":"12"},"roles":["31"]}]}`, false},
		"those whom the server's description names": {"GUILD_CREATE", strings.ReplaceAll(garden, "MEMBERS",
			`{"user":{"id":"12"},"roles":["31"]}`), false},

		"both roles":   {"MESSAGE_CREATE", `{` + message + `,` + bo + `,"member":{"roles":["32","31"]}}`, true},
		"the second":   {"MESSAGE_CREATE", `{` + message + `,` + bo + `,"member":{"roles":["32"]}}`, true},
		"unknown ones": {"MESSAGE_CREATE", `{` + message + `,` + bo + `,"member":{}}`, true},
		"a bot's": {"GUILD_MEMBER_UPDATE", `{"guild_id":"1","user":{"id":"13","bot":true},"roles":["31"]}`,
			true},
		"those of another server": {"GUILD_MEMBER_UPDATE", `{"guild_id":"2","user":{"id":"12"},"roles":["31"]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, q := newFakeLog(t), NewQueue()
			q.Put(rawItem("GUILD_CREATE", strings.ReplaceAll(garden, "MEMBERS", "")))
			i := memory.Implied{Role: 31, Also: 32}
			q.Put(Item{Events: []memory.Event{(&memory.Guild{ID: 1}).Stated(i, 9, midday)}})
			q.Close()
			w := newTestWriter(q, log)
			w.Run(t.Context())
			var out commit
			if err := w.read(t.Context(), *rawItem(c.kind, c.event).Raw, &out); err != nil {
				t.Fatal(err)
			}
			calls := log.calls
			if err := w.flush(t.Context(), &out); err != nil {
				t.Fatal(err)
			}
			if n := log.calls - calls; n > 1 {
				t.Errorf("%d commits", n)
			}
			g, err := log.Guild(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if stays := len(g.Implied()) == 1; stays != c.stays || len(g.Suspended()) == 1 == c.stays {
				t.Errorf("it counts: %v, want %v: %v", stays, c.stays, g.Settings)
			}
		})
	}
}

// What is stated in the same commit that shows a member who contradicts it doesn't count either, and a question of that
// commit is asked afterwards.
func TestStatementsOfTheSameCommitAreRefuted(t *testing.T) {
	t.Parallel()
	log, q := newFakeLog(t), NewQueue()
	q.Put(rawItem("GUILD_CREATE", strings.ReplaceAll(garden, "MEMBERS", "")))
	i := memory.Implied{Role: 31, Also: 32}
	q.Put(Item{Events: []memory.Event{(&memory.Guild{ID: 1}).Stated(i, 9, midday)}})
	q.Put(rawItem("MESSAGE_CREATE", `{"id":"100","channel_id":"2","guild_id":"1","type":0,"content":"<@500> when?",`+
		`"author":{"id":"11","username":"bo"},"member":{"roles":["31"]},"mentions":[{"id":"500","bot":true}]}`))
	q.Close()
	w := newTestWriter(q, log)
	asked := ""
	w.ask = func(a *Question) {
		g, err := log.Guild(t.Context(), 1)
		if err != nil {
			t.Error(err)
		}
		asked = fmt.Sprintf("%v, suspended %v", g.Implied(), g.Suspended())
	}
	w.Run(t.Context())
	if want := "[], suspended [{31 32}]"; asked != want {
		t.Errorf("asked while %s, want %s", asked, want)
	}
}
