package imports

import (
	"maps"
	"reflect"
	"testing"
	"time"

	"hark/memory"
)

// discords is a line that tells of a message of Discord's.
func discords(fields map[string]any) string {
	all := map[string]any{
		"server": "5001", "channel": "dock", "channel_id": "5002", "in": "thread", "parent_id": "5003", "owner_id": "71",
		"id": "1136820000000000002", "author": "Ada L.", "username": "ada", "author_id": "71",
	}
	maps.Copy(all, fields)
	return line(all)
}

func TestExportedMessageComesBackToItsPlace(t *testing.T) {
	t.Parallel()
	s := newShelf()
	file := discords(map[string]any{
		"tags": []string{"solved"}, "text": "see <@72>", "edited": "2023-08-04T00:05:00Z", "starred": true, "reply_to": []string{"1136820000000000001"},
		"files": []map[string]string{{"name": "map.png",
			"description": "the quay"}}, "mentions": []map[string]string{{"id": "72", "name": "Ben"}, {"id": "none"}},
	}) + discords(map[string]any{
		"id": "1136820000000000003", "kind": "bot", "author": "Robo", "username": "", "author_id": "9"}) +
		discords(map[string]any{"id": "1136820000000000004", "kind": "notice"}) +
		discords(map[string]any{"id": "1136820000000000006", "kind": "hark"}) +
		discords(map[string]any{"server": "0", "channel_id": "6000", "id": "1136820000000000005", "in": "direct"})
	if sum := s.read(t, file+file); sum.Messages != 8 || sum.Answers != 2 || sum.Skipped != 0 || sum.Channels != 2 {
		t.Errorf("%+v", sum)
	}
	if got, want := s.channels[5002],
		(memory.Channel{ID: 5002, Guild: 5001, Parent: 5003, Kind: memory.PublicThread, Name: "dock",
			Tags: []memory.Tag{{Name: "solved"}}, Owner: 71, Unplaced: true}); !reflect.DeepEqual(got, want) {
		t.Errorf("channel %+v", got)
	}
	if got := s.channels[6000]; got.Guild != memory.DirectGuild || got.Kind != memory.DirectChannel || got.Parent != 0 {
		t.Errorf("direct channel %+v", got)
	}
	want := memory.Message{
		ID: 1136820000000000002, Guild: 5001, Channel: 5002, Author: 71, Content: "see <@72>", Starred: true, Mentions: []memory.UserID{72},
		ReplyTo: 1136820000000000001, Edited: time.Date(2023, 8, 4, 0, 5, 0, 0,
			time.UTC), Files: []memory.File{{Name: "map.png", Description: "the quay"}},
	}
	if got := s.messages[place{5002, want.ID}]; !reflect.DeepEqual(got, want) {
		t.Errorf("message %+v", got)
	}
	if len(s.messages) != 4 || len(s.names) != 0 || len(s.people) != 3 {
		t.Errorf("%d messages, names %v, people %v", len(s.messages), s.names, s.people)
	}
	if p := s.people[71]; p.Username != "ada" || p.Nick != "Ada L." || p.Bot || !s.people[9].Bot {
		t.Errorf("people %+v", s.people)
	}
	if s.messages[place{5002, 1136820000000000003}].Kind != memory.FromBot ||
		s.messages[place{5002, 1136820000000000004}].Kind != memory.FromSystem {
		t.Error("kinds are lost")
	}
}

// Every kind of channel that a guild has, and of message, has a word of its own.
func TestWordsOfExports(t *testing.T) {
	t.Parallel()
	for k := memory.TextChannel; k < memory.LocalChannel; k++ {
		if word := ChannelWord(k); k != memory.CategoryChannel && kindCalled(channelWords, text(word)) != k {
			t.Errorf("channels of kind %d are called %q", k, word)
		}
	}
	for k := memory.FromMember; k <= memory.FromSystem; k++ {
		if word := SpeakerWord(k); kindCalled(speakerWords, text(word)) != k {
			t.Errorf("messages of kind %d are called %q", k, word)
		}
	}
}
