package portrait

import "encoding/json"

// room is how many bytes of JSON there is room for; nil: for any number.
type room struct{ left int }

func newRoom(most int) *room {
	if most == 0 {
		return nil
	}
	return &room{most}
}

// Write counts what is written, and fails with ErrTooLarge where there is no room for it.
func (r *room) Write(p []byte) (int, error) {
	if r.left -= len(p); r.left < 0 {
		return 0, ErrTooLarge
	}
	return len(p), nil
}

// take counts v as an element of one of a Person's lists.
func (r *room) take(v any) error {
	if r == nil {
		return nil
	}
	encoder := json.NewEncoder(r)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("    ", "  ")
	return encoder.Encode(v)
}
