package body

import "encoding/json"

// List is a list in a message. What of it can't be read is left out: Discord's shapes grow, and a message isn't lost
// over one of its parts.
type List[T any] []T

// UnmarshalJSON never fails.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	_ = json.Unmarshal(data, &parts) // what is no list has no parts
	*l = nil
	for _, part := range parts {
		var v T
		err := json.Unmarshal(part, &v)
		if err == nil {
			*l = append(*l, v)
		}
	}
	return nil
}
