package answer

import (
	"hark/internal/answer/manifest"
	"hark/memory"
)

// titles are those of threads that a prompt may show: where it is asked, and where something was found.
type titles map[memory.ChannelID]memory.Title

// openings returns the messages that began the threads. A title is the words of who wrote them, and goes with them.
func (t titles) openings() []memory.MessageRef {
	var all []memory.MessageRef
	for id := range t {
		all = append(all, openingOf(id))
	}
	return all
}

// openingOf returns the first message of a forum post, whose id is the thread's.
func openingOf(thread memory.ChannelID) memory.MessageRef {
	return memory.MessageRef{Channel: thread, Message: memory.MessageID(thread)}
}

// addTo adds the titles that a prompt shows beside what m holds already, with the messages that began the threads as
// far as they are in said.
func (t titles) addTo(m *manifest.Manifest, at memory.ChannelID, said map[memory.MessageRef]memory.Message) {
	shown := m.ByChannel()
	for id, title := range t {
		opening, known := said[openingOf(id)]
		if known && (id == at || len(shown[id]) > 0) {
			m.AddTitled(opening, title.Name)
		}
	}
}

// remain reports whether the threads still have titles. A rename takes nothing back.
func (t titles) remain(now names) bool {
	for id := range t {
		_, current := now.place(id)
		if current.Name == "" {
			return false
		}
	}
	return true
}

// owners are those who made the threads.
func (t titles) owners(now names) []memory.UserID {
	var all []memory.UserID
	for id := range t {
		all = append(all, now.channels[id].Owner)
	}
	return all
}
