package digest

import (
	"slices"

	"hark/memory"
)

// Each is what a function makes of each of all.
func Each[A, B any](all []A, of func(A) B) []B {
	made := make([]B, len(all))
	for i, one := range all {
		made[i] = of(one)
	}
	return made
}

// IDs are those of messages.
func IDs(messages []memory.Message) []memory.MessageID {
	return Each(messages, func(m memory.Message) memory.MessageID { return m.ID })
}

// Has reports whether the message with an id is among messages.
func Has(messages []memory.Message, id memory.MessageID) bool { return at(messages, id) >= 0 }

// After are those of messages that stand after the one with an id; all of them if that isn't among them.
func After(messages []memory.Message, id memory.MessageID) []memory.Message {
	return messages[at(messages, id)+1:]
}

func at(messages []memory.Message, id memory.MessageID) int {
	return slices.IndexFunc(messages, func(m memory.Message) bool { return m.ID == id })
}

// Keep are those of all that are wanted, or the first error of asking.
func Keep[T any](all []T, wanted func(T) (bool, error)) (kept []T, err error) {
	for _, one := range all {
		ok, err := wanted(one)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, one)
		}
	}
	return kept, nil
}
