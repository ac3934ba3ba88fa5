package imports

import (
	"encoding/json"
	"strconv"
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

// timeOf is the time that s holds; zero if it holds none.
func timeOf(s text) time.Time {
	at, err := time.Parse(time.RFC3339, string(s))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
