package search

import (
	"slices"
	"testing"

	"hark/memory"
)

func TestBotsStandBehindMembers(t *testing.T) {
	t.Parallel()
	hit := func(id memory.MessageID, kind memory.Kind, relevance float64) Hit {
		return Hit{Message: memory.Message{ID: id, Channel: 1, Author: memory.UserID(id), Kind: kind}, Relevance: relevance}
	}
	const bot, hook, member = memory.FromBot, memory.FromWebhook, memory.FromMember
	reply := hit(3, bot, .9)
	reply.Message.ReplyTo = 1
	starred := hit(2, bot, .5)
	starred.Message.Starred = true
	answered := []Hit{reply, hit(2, member, .2), hit(1, member, .1)}
	pair := func(kind memory.Kind) []Hit { return []Hit{hit(2, kind, .6), hit(1, member, .5)} }
	four := []Hit{hit(4, hook, .7), hit(3, bot, .6), hit(2, member, .5), hit(1, member, .4)}
	proxied := func(memory.ChannelID) bool { return true }
	for name, c := range map[string]struct {
		q     Query
		named []memory.UserID
		hits  []Hit
		want  []memory.MessageID
	}{
		"nothing":             {Query{}, nil, nil, nil},
		"alike":               {Query{}, nil, pair(bot), []memory.MessageID{1, 2}},
		"several":             {Query{}, nil, four, []memory.MessageID{2, 1, 4, 3}},
		"much surer":          {Query{}, nil, []Hit{hit(2, bot, .9), hit(1, member, .2)}, []memory.MessageID{2, 1}},
		"named":               {Query{}, []memory.UserID{2}, pair(bot), []memory.MessageID{2, 1}},
		"mentioned":           {Query{Mentions: []memory.UserID{2}}, nil, pair(bot), []memory.MessageID{2, 1}},
		"starred":             {Query{}, nil, []Hit{starred, hit(1, member, .5)}, []memory.MessageID{2, 1}},
		"a proxied person":    {Query{Proxied: proxied}, nil, pair(hook), []memory.MessageID{2, 1}},
		"a reply to a hit":    {Query{}, nil, answered, []memory.MessageID{2, 1, 3}},
		"members among other": {Query{}, nil, pair(member), []memory.MessageID{2, 1}},
	} {
		var got []memory.MessageID
		for _, h := range membersFirst(c.q, c.named, c.hits) {
			got = append(got, h.Message.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
