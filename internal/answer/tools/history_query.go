package tools

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

type historyQuery struct {
	Filter struct {
		Speaker memory.Speaker `json:"speaker"`
		Method  string         `json:"method"`
		Asker   string         `json:"asker"`
		From    string         `json:"from"`
		Until   string         `json:"until"`
		Text    string         `json:"text"`
	} `json:"filter"`
	Fields []string `json:"fields"`
	Order  string   `json:"order"`
	Limit  int      `json:"limit"`

	from, until time.Time
	askers      []memory.UserID // whom Filter.Asker calls
	words       []string        // of Filter.Text, folded
}

// read sets the query's defaults and parses its times, in zone if they name none. The error is a CallError.
func (q *historyQuery) read(zone *time.Location) (err error) {
	q.Limit = cmp.Or(q.Limit, historyLimit)
	q.from, err = historyTime("filter.from", q.Filter.From, zone, 0)
	if err != nil {
		return err
	}
	q.until, err = historyTime("filter.until", q.Filter.Until, zone, 1)
	if err != nil {
		return err
	}
	if !q.from.IsZero() && !q.until.IsZero() && !q.from.Before(q.until) {
		return CallError("filter.from is to be before filter.until")
	}
	q.words = strings.Fields(strings.ToLower(q.Filter.Text))
	if len(q.Fields) == 0 {
		q.Fields = append(memory.RecordFields(), askerField)
		if len(q.words) > 0 { // where it was looked for
			q.Fields = append(q.Fields, textField)
		}
	}
	return nil
}

const localTime = "2006-01-02T15:04:05"

// historyTime parses a time, or a day, to which it adds days.
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
		return t, callErrorf("%s is a day such as 2024-05-31 or a time such as 2024-05-31T18:00:00Z", name)
	}
	return t.AddDate(0, 0, days), nil
}

// keepTime returns a day as it is, and a time in UTC, or without a zone if it names none, because the guild's may
// change.
func keepTime(s string) (string, bool) {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return s, true
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.UTC().Format(time.RFC3339), true
	}
	at, err := historyTime("", s, time.UTC, 0)
	return at.Format(localTime), err == nil && s != ""
}

// keepMethod returns the name of a known method; any other may be anybody's words.
func (s *Set) keepMethod(name string) (string, bool) {
	known := func(t Tool) bool { return t.Name == name }
	return name, name == MethodAsk || name == MethodAnswer || name == unknownTool || slices.ContainsFunc(s.Tools, known)
}

func (q *historyQuery) records() memory.RecordQuery {
	return memory.RecordQuery{
		Speaker: q.Filter.Speaker,
		Method:  q.Filter.Method,
		Since:   q.from,
		Until:   q.until,
		Oldest:  q.Order == "oldest",
		Limit:   historyScanned,
	}
}

// matches reports whether the asker is one asked for, and one of the record's messages holds all words.
func (q *historyQuery) matches(r Record) bool {
	if len(q.askers) > 0 && (r.Question == nil || !slices.Contains(q.askers, r.Question.Author)) {
		return false
	}
	if len(q.words) == 0 {
		return true
	}
	for _, m := range []*memory.Message{r.Question, r.Answer} {
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

const (
	historyLimit   = 10   // records by default
	historyScanned = 1000 // records looked at per call
	historyBytes   = 8000 // of an outcome, about
	historyExcerpt = 300  // runes of a message
)

// Fields that a record doesn't have: who asked, by name and tag, and what its messages say.
const (
	askerField = "asker"
	textField  = "text"
)
