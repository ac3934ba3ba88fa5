package imports

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

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
	var all []string
	for _, t := range list {
		all = append(all, string(t))
	}
	return all
}

// snowflake is the id that s holds; false unless it is a positive one.
func snowflake(s text) (int64, bool) {
	id, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil || id <= 0 {
		return 0, false
	}
	return id, true
}

// joinLines joins those of parts that aren't blank.
func joinLines(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" }), "\n")
}
