package exports

import (
	"strings"
	"testing"
	"time"

	"hark/memory"
)

func TestLinesOfExports(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 31, 12, 0, 0, 0, time.UTC)
	people := PeopleOf([]memory.Person{{ID: 7, Username: "ann", Nick: "Annie"}, {ID: 8, Username: "ben"}})
	forum := memory.Channel{ID: 4, Guild: 2, Kind: memory.ForumChannel, Tags: []memory.Tag{{ID: 41, Name: "solved"}}}
	for _, tt := range []struct {
		name string
		c    memory.Channel
		m    memory.Message
		want string
	}{
		{"Discord's", memory.Channel{ID: 5, Guild: 2, Name: "plans", Parent: 4, Owner: 6, Kind: memory.PublicThread},
			memory.Message{ID: memory.FirstMessageID(at), Channel: 5, Author: 7, Content: "<b> & so",
				ReplyTo: 3, Mentions: []memory.UserID{8,
					9}, Edited: at, Starred: true, Files: []memory.File{{Name: "a.txt"}}},
			`{"type":"message","server":"2","channel":"plans","channel_id":"5","in":"thread","parent_id":"4","owner_id":"6","id":"1246070675865600000","author":"Annie","author_id":"7","username":"ann","time":"2024-05-31T12:00:00Z","edited":"2024-05-31T12:00:00Z","text":"<b> & so","files":[{"name":"a.txt"}],"reply_to":["3"],"mentions":[{"id":"8","name":"ben"},{"id":"9"}],"starred":true}`},
		{"in a forum post with tags", memory.Channel{ID: 5, Guild: 2, Name: "plans", Parent: 4, Kind: memory.PublicThread,
			Tags: []memory.Tag{{ID: 41}, {ID: 42}}}, memory.Message{ID: memory.FirstMessageID(at), Channel: 5, Content: "x"},
			`{"type":"message","server":"2","channel":"plans","channel_id":"5","in":"thread","parent_id":"4","tags":["solved"],"id":"1246070675865600000","time":"2024-05-31T12:00:00Z","text":"x"}`},
		{"nobody's, in a channel without a name", memory.Channel{ID: 5, Guild: memory.LocalGuild,
			Kind: memory.LocalChannel},
			memory.Message{ID: memory.FirstMessageID(at), Channel: 5, Kind: memory.FromHark, Content: "x"},
			`{"type":"message","channel":"5","channel_id":"5","id":"1246070675865600000","kind":"hark","time":"2024-05-31T12:00:00Z","text":"x"}`},
		{"in a thread whose owner is forgotten", memory.Channel{ID: 5, Guild: 2, Parent: 4, Owner: 6,
			Kind: memory.PublicThread},
			memory.Message{ID: memory.FirstMessageID(at), Channel: 5, Kind: memory.FromHark, Content: "x"},
			`{"type":"message","server":"2","channel":"5","channel_id":"5","in":"thread","parent_id":"4","id":"1246070675865600000","kind":"hark","time":"2024-05-31T12:00:00Z","text":"x"}`},
		{"by somebody who isn't known", memory.Channel{ID: 5, Guild: 2, Name: "c"},
			memory.Message{ID: memory.FirstMessageID(at), Channel: 5, Author: 70},
			`{"type":"message","server":"2","channel":"c","channel_id":"5","in":"text","id":"1246070675865600000","author":"70","author_id":"70","time":"2024-05-31T12:00:00Z","text":""}`},
	} {
		var b strings.Builder
		if err := NewEncoder(&b).Encode(In(tt.c, &forum, tt.m, people)); err != nil || b.String() != tt.want+"\n" {
			t.Errorf("%s: %v\n%s", tt.name, err, b.String())
		}
	}
}
