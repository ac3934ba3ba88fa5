package search

import (
	"slices"

	"hark/memory"
)

// botOdds is the factor of a bot's or a webhook's author on a message's odds: what members say tells more of a server
// than what programs repeat. It is set by hand, because no data set has bots.
const botOdds = 0.25

// membersFirst moves hits of bots and webhooks down by their odds, unless q asks for their author, and below the hits
// that they answer. A hit that moved is no more relevant than the one above it.
func membersFirst(q Query, named []memory.UserID, hits []Hit) []Hit {
	moved := slices.Clone(hits)
	for i := len(moved) - 1; i >= 0; i-- {
		if !isBehind(q, named, moved[i].Message) {
			continue
		}
		least := botOdds * odds(moved[i])
		for j := i; j+1 < len(moved); j++ {
			next := moved[j+1]
			isMember := next.Message.Kind == memory.FromMember
			if !isMember || odds(next) <= least {
				break
			}
			moved[j], moved[j+1] = moved[j+1], moved[j]
			moved[j+1].Relevance = min(moved[j+1].Relevance, moved[j].Relevance)
		}
	}
	return repliesBelow(moved)
}

// isBehind reports whether a message stands behind members': a bot or a webhook wrote it that q doesn't ask for.
func isBehind(q Query, named []memory.UserID, m memory.Message) bool {
	isOthers := m.Kind == memory.FromBot || m.Kind == memory.FromWebhook
	isAskedFor := slices.Contains(named, m.Author) || slices.Contains(q.Mentions, m.Author) ||
		slices.Contains(q.Scope.Authors, m.Author)
	isPerson := m.Kind == memory.FromWebhook && q.Proxied != nil && q.Proxied(m.Channel)
	return isOthers && !isAskedFor && !isPerson && !m.Starred
}

// repliesBelow moves each bot's reply below the hit that it answers.
func repliesBelow(hits []Hit) []Hit {
	for i := len(hits) - 1; i >= 0; i-- {
		m := hits[i].Message
		if m.Kind == memory.FromMember || m.ReplyTo == 0 {
			continue
		}
		at := slices.IndexFunc(hits, func(h Hit) bool { return h.Message.ID == m.ReplyTo && h.Message.Channel == m.Channel })
		if at > i {
			reply := hits[i]
			copy(hits[i:at], hits[i+1:at+1])
			reply.Relevance = min(reply.Relevance, hits[at-1].Relevance)
			hits[at] = reply
		}
	}
	return hits
}
