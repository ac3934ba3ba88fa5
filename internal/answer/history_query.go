package answer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// historyQuery is what the model asked of the history.
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

// read reads what JSON alone doesn't tell, with times in zone unless they name one. A Mend tells of a time
// that is none.
func (q *historyQuery) read(zone *time.Location) (err error) {
	q.Limit = cmp.Or(q.Limit, historyLimit)
	if q.from, err = historyTime("filter.from", q.Filter.From, zone, 0); err != nil {
		return err
	}
	if q.until, err = historyTime("filter.until", q.Filter.Until, zone, 1); err != nil {
		return err
	}
	if !q.from.IsZero() && !q.until.IsZero() && !q.from.Before(q.until) {
		return Mend("filter.from is to be before filter.until")
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

// keepTime is a day as it is, and a time in one form, without a space: in UTC if it names its zone, and else
// without one, as the guild's may become another.
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

// keepMethod is the name of a method that there is: any other may be anybody's words.
func (e *Engine) keepMethod(s string) (string, bool) {
	known := func(t tool) bool { return t.Name == s }
	return s, s == MethodAsk || s == methodAnswer || s == unknownTool || slices.ContainsFunc(e.tools, known)
}

// records is what q asks of the store, within the times that the question is about.
func (q *historyQuery) records(within memory.Scope) memory.RecordQuery {
	r := memory.RecordQuery{Speaker: q.Filter.Speaker, Method: q.Filter.Method, Since: q.from, Until: q.until,
		Oldest: q.Order == "oldest"}
	if within.Since.After(r.Since) {
		r.Since = within.Since
	}
	if !within.Until.IsZero() && (r.Until.IsZero() || within.Until.Before(r.Until)) {
		r.Until = within.Until
	}
	return r
}

// matches reports whether one of those asked who are looked for, and whether a message that a record points to holds
// all the words.
func (q *historyQuery) matches(r tellable) bool {
	if len(q.askers) > 0 && (r.question == nil || !slices.Contains(q.askers, r.question.Author)) {
		return false
	}
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

// bestShown is how many characters of what was found the builder makes room for before it adds more.
const bestShown = 400

// History is the part of a prompt's input that comes from a recall, for an answer in the channel at, with
// days as they are in zone. Excerpts overlap: each message is shown where it stands best, and a hit that stands in a
// better one's excerpt needs none of its own. Of a long message that was found, what is before its passage may be left
// out.
func History(result search.Result, at memory.ChannelID, zone *time.Location, channelName func(memory.ChannelID) string,
	personName func(memory.UserID) string) builder.Input {
	var in builder.Input
	for _, p := range result.People {
		in.Participants = append(in.Participants, builder.Participant{
			ID: p.Person.ID, Name: p.Person.DisplayName(), LastActive: p.Presence.Last, Data: told(p.Person,
				zone, personName), Main: p.Main,
		})
	}
	for _, hit := range result.Lore {
		in.Lore = append(in.Lore, hit.Lore.Name+": "+dated(hit.Lore.Text, hit.Lore.At, zone))
	}
	shown := map[memory.MessageID]bool{}
	for _, hit := range result.Hits {
		if shown[hit.Message.ID] {
			continue
		}
		item := builder.Item{Relevance: hit.Relevance}
		if hit.Message.Channel != at && channelName != nil {
			item.Channel = channelName(hit.Message.Channel)
		}
		for _, m := range hit.Excerpt {
			if shown[m.ID] {
				continue
			}
			shown[m.ID] = true
			if m.ID == hit.Message.ID {
				item.Hit = len(item.Lines)
			}
			line := builder.Line{Message: m.ID, Author: m.Author, Time: m.Time(), Content: m.Text(), Tokens: m.Tokens,
				Starred: m.Starred}
			if m.ID == hit.Message.ID {
				if said := passage(hit, bestShown); said != line.Content {
					line.Content, line.Tokens = said, 0
				}
			}
			if personName != nil {
				if name := personName(m.Author); name != tag(m.Author) {
					line.Name = name
				}
			}
			item.Lines = append(item.Lines, line)
		}
		in.History = append(in.History, item)
	}
	return in
}

// told is what is known of p, as one text. What somebody else told says so.
func told(p memory.Person, zone *time.Location, name func(memory.UserID) string) string {
	var texts []string
	if aliases := p.Aliases(); len(aliases) > 0 {
		texts = append(texts, "also called "+strings.Join(aliases, ", "))
	}
	for _, f := range p.Facts {
		said := dated(f.Text, cmp.Or(f.Message, memory.MessageID(f.ID)).Time(), zone)
		switch {
		case f.Alias: // told above
		case f.By == p.ID || f.By == 0:
			texts = append(texts, said)
		case name == nil:
			texts = append(texts, said+" (said by "+tag(f.By)+")")
		default:
			texts = append(texts, said+" (said by "+name(f.By)+")")
		}
	}
	return strings.Join(texts, "; ")
}

// dated is s, with the day that it was said on where it speaks of a time that is relative to that.
func dated(s string, at time.Time, zone *time.Location) string {
	if at.IsZero() || !text.SpeaksOfNow(s) {
		return s
	}
	return s + " (said on " + at.In(zone).Format(time.DateOnly) + ")"
}
