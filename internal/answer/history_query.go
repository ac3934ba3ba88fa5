package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

// historyQuery is what the model asked of the history.
type historyQuery struct {
	Filter struct {
		Speaker memory.Speaker `json:"speaker"`
		Method  string         `json:"method"`
		From    string         `json:"from"`
		Until   string         `json:"until"`
		Text    string         `json:"text"`
	} `json:"filter"`
	Fields []string `json:"fields"`
	Order  string   `json:"order"`
	Limit  int      `json:"limit"`

	from, until time.Time
	words       []string // of Filter.Text, folded
}

// historyTakes tells the model what there is.
const historyTakes = HistoryMethod + " takes filter {speaker, method, from, until, text}, fields, order and limit"

// readHistoryQuery reads a call's arguments, with times in zone unless they name one. The error, a Mend, tells what is allowed.
func readHistoryQuery(arguments json.RawMessage, zone *time.Location) (q historyQuery, err error) {
	q.Limit = historyLimit
	if len(bytes.TrimSpace(arguments)) > 0 {
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			return q, mendf("%s: %s", misread(err), historyTakes)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return q, mendf("the arguments are more than one JSON object: %s", historyTakes)
		}
	}
	speakers := []memory.Speaker{"", memory.SpeakerUser, memory.SpeakerAgent, memory.SpeakerTool}
	switch {
	case !slices.Contains(speakers, q.Filter.Speaker):
		return q, Mend("filter.speaker is user, agent or tool")
	case q.Order != "" && q.Order != "newest" && q.Order != "oldest":
		return q, Mend("order is newest or oldest")
	case q.Limit < 1 || q.Limit > historyMost:
		return q, mendf("limit is a number from 1 to %d", historyMost)
	}
	if q.from, err = historyTime("filter.from", q.Filter.From, zone, 0); err != nil {
		return q, err
	}
	if q.until, err = historyTime("filter.until", q.Filter.Until, zone, 1); err != nil {
		return q, err
	}
	if !q.from.IsZero() && !q.until.IsZero() && !q.from.Before(q.until) {
		return q, Mend("filter.from is to be before filter.until")
	}
	q.words = strings.Fields(strings.ToLower(q.Filter.Text))
	return q, q.chooseFields()
}

// misread is what is wrong with the arguments, without the words of a library.
func misread(err error) string {
	var kind *json.UnmarshalTypeError
	switch name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); {
	case unknown:
		return "there is no " + name
	case errors.As(err, &kind) && kind.Field != "":
		return kind.Field + " is of another type"
	}
	return "the arguments aren't a JSON object"
}

// chooseFields sees to it that there are fields: all of a record's own, unless some are named, and the text where it was
// looked for.
func (q *historyQuery) chooseFields() error {
	known := append(memory.RecordFields(), textField)
	for _, name := range q.Fields {
		if !slices.Contains(known, name) {
			return mendf("fields are any of %s", strings.Join(known, ", "))
		}
	}
	if len(q.Fields) == 0 {
		if q.Fields = memory.RecordFields(); len(q.words) > 0 {
			q.Fields = known
		}
	}
	return nil
}

// localTime is the form of a time that names no zone.
const localTime = "2006-01-02T15:04:05"

// historyTime reads a time, or a day, of which days later is meant.
func historyTime(name, s string, zone *time.Location, days int) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{localTime, "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	t, err := time.ParseInLocation(time.DateOnly, s, zone)
	if err != nil {
		return t, mendf("%s is a day such as 2024-05-31 or a time such as 2024-05-31T18:00:00Z", name)
	}
	return t.AddDate(0, 0, days), nil
}

// keeps has records hold which times and which calls the model asked for, so that they tell whether it goes through them
// piece by piece.
func (h *HistoryTool) keeps(s *schema) {
	filter := s.Properties["filter"].Properties
	filter["from"].keep, filter["until"].keep, filter["method"].keep = h.keepTime, h.keepTime, h.keepMethod
}

// keepTime is a day as it is, and a time in one form, without a space: in UTC if it names its zone, and else without one, as
// the guild's may become another.
func (h *HistoryTool) keepTime(s string) (string, bool) {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return s, true
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.UTC().Format(time.RFC3339), true
	}
	at, err := historyTime("", s, time.UTC, 0)
	return at.Format(localTime), err == nil && s != ""
}

// keepMethod is the name of a method that there is: any other may be anybody's words.
func (h *HistoryTool) keepMethod(s string) (string, bool) {
	known := func(t Tool) bool { return t.Spec().Name == s }
	return s, s == MethodAsk || s == methodAnswer || s == unknownTool || slices.ContainsFunc(h.engine.tools, known)
}

// records is what q asks of the store, within the times that the question is about.
func (q *historyQuery) records(within memory.Scope) memory.RecordQuery {
	r := memory.RecordQuery{Speaker: q.Filter.Speaker, Method: q.Filter.Method, Since: q.from, Until: q.until, Oldest: q.Order == "oldest"}
	if within.Since.After(r.Since) {
		r.Since = within.Since
	}
	if !within.Until.IsZero() && (r.Until.IsZero() || within.Until.Before(r.Until)) {
		r.Until = within.Until
	}
	return r
}

// matches reports whether a message that a record points to holds all the words that are looked for.
func (q *historyQuery) matches(r tellable) bool {
	if len(q.words) == 0 {
		return true
	}
	for _, m := range []*memory.Message{r.question, r.answer} {
		if m == nil {
			continue
		}
		said := strings.ToLower(m.Text())
		if !slices.ContainsFunc(q.words, func(word string) bool { return !strings.Contains(said, word) }) {
			return true
		}
	}
	return false
}
