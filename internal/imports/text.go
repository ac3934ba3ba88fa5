package imports

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"hark/memory"
)

// text is a string of a file, made storable, or a number as it is written; anything else is empty.
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

// textList is a list of texts, or one by itself.
type textList []text

// UnmarshalJSON fails as a list of texts does.
func (l *textList) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]text)(l))
	}
	if t := text(""); t.UnmarshalJSON(data) == nil && t != "" {
		*l = textList{t}
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

// idOf is the positive id that s holds; 0 if it holds none.
func idOf[ID ~int64](s text) ID {
	id, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil {
		return 0
	}
	return ID(max(id, 0))
}

// zoneless is a time as RFC 3339 has it, but for its zone.
const zoneless = "2006-01-02T15:04:05"

// timeOf is the time that s holds, in UTC if it has no zone; zero if it holds none.
func timeOf(s text) time.Time {
	words := strings.Replace(string(s), " ", "T", 1)
	for _, layout := range []string{time.RFC3339, zoneless} {
		at, err := time.Parse(layout, words)
		if err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// isZoneless reports whether s holds a time without a zone.
func isZoneless(s text) bool {
	_, err := time.Parse(zoneless, strings.Replace(string(s), " ", "T", 1))
	return err == nil
}
