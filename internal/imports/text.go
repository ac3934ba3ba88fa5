package imports

import (
	"encoding/json"

	"hark/memory"
)

// text is a string of a file, made storable. Numbers are taken as they are written, as some tools write ids
// without quotes; anything else is empty.
type text string

// UnmarshalJSON never fails: what is no text is missing, and whoever needs it says so.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case data[0] == '"' && json.Unmarshal(data, &s) == nil:
		*t = text(memory.Clean(s))
	case data[0] == '-' || data[0] >= '0' && data[0] <= '9':
		*t = text(data)
	}
	return nil
}

func texts(list []text) []string {
	if len(list) == 0 {
		return nil
	}
	strings := make([]string, len(list))
	for i, t := range list {
		strings[i] = string(t)
	}
	return strings
}
