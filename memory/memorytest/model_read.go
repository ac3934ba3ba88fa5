package memorytest

import (
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// log is a channel's messages by id.
func (m *model) log(channel memory.ChannelID) []memory.Message {
	var all []memory.Message
	for at := range m.entries {
		if message, ok := m.message(at); ok && at.channel == channel {
			all = append(all, message)
		}
	}
	slices.SortFunc(all, func(a, b memory.Message) int { return compare(a.ID, b.ID) })
	return all
}

func (m *model) around(channel memory.ChannelID, ids []memory.MessageID, before, after int) []memory.Message {
	log := m.log(channel)
	wanted := map[memory.MessageID]bool{}
	for _, id := range ids {
		first, found := slices.BinarySearchFunc(log, id, func(m memory.Message, id memory.MessageID) int { return compare(m.ID, id) })
		end := first
		if found {
			end++
		}
		for _, message := range log[max(0, first-before):min(len(log), end+after)] {
			wanted[message.ID] = true
		}
	}
	return slices.DeleteFunc(log, func(m memory.Message) bool { return !wanted[m.ID] })
}

// inScope are the messages in scope that can be recalled, in no order.
func (m *model) inScope(scope memory.Scope) []memory.Message {
	var all []memory.Message
	for at := range m.entries {
		message, ok := m.message(at)
		if ok && message.Kind.Recalled() && slices.Contains(scope.Channels, at.channel) && within(scope, message) {
			all = append(all, message)
		}
	}
	return all
}

func within(scope memory.Scope, m memory.Message) bool {
	at := m.Time()
	return (len(scope.Authors) == 0 || slices.Contains(scope.Authors, m.Author)) && (scope.Since.IsZero() || !at.Before(scope.Since)) && (scope.Until.IsZero() || at.Before(scope.Until))
}

func (m *model) presence(scope memory.Scope, users []memory.UserID) map[memory.UserID]memory.Presence {
	present := map[memory.UserID]memory.Presence{}
	for _, message := range m.inScope(memory.Scope{Channels: scope.Channels}) {
		if slices.Contains(users, message.Author) {
			p := present[message.Author]
			p.Messages++
			if message.Time().After(p.Last) {
				p.Last = message.Time()
			}
			present[message.Author] = p
		}
	}
	return present
}

// fullText are the messages in scope that hold at least one of terms.
func (m *model) fullText(scope memory.Scope, terms []string) map[place]bool {
	found := map[place]bool{}
	for _, message := range m.inScope(scope) {
		if slices.ContainsFunc(text.Terms(message.Text()), func(t string) bool { return slices.Contains(terms, t) }) {
			found[place{message.Channel, message.ID}] = true
		}
	}
	return found
}

// starred are the messages in scope that are marked, newest first.
func (m *model) starred(scope memory.Scope) []memory.Spot {
	var spots []memory.Spot
	for _, message := range m.inScope(scope) {
		if message.Starred {
			spots = append(spots, memory.Spot{Channel: message.Channel, Message: message.ID})
		}
	}
	slices.SortFunc(spots, func(a, b memory.Spot) int {
		if a.Message == b.Message {
			return compare(a.Channel, b.Channel)
		}
		return compare(b.Message, a.Message)
	})
	return spots
}

// frequencies counts in scope's channels, at all times.
func (m *model) frequencies(scope memory.Scope, terms []string) (messages int, counts []int) {
	always := memory.Scope{Channels: scope.Channels}
	counts = make([]int, len(terms))
	for i, term := range terms {
		counts[i] = len(m.fullText(always, []string{term}))
	}
	return len(m.inScope(always)), counts
}

func compare[T ~int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
