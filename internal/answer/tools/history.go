package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
)

// conversationHistory reads the records of the question's channel that all readers of the answer may know of.
// Records hold no text: messages are looked up now, so what was forgotten is gone. Times and methods that the model
// asks for are recorded as they are, to show whether it pages through the records.
func (s *Set) conversationHistory() Tool {
	t := NewTool("conversation_history",
		"Reads the records of this channel's earlier questions, answers and tool calls, one JSON object a line: "+
			"what was asked when, "+
			"who asked, which tools were called with which arguments, and how it came out. Prefer it to guessing.",
		`{"type":"object","additionalProperties":false,"properties":{`+
			`"filter":{"type":"object","additionalProperties":false,"properties":{`+
			`"speaker":{"type":"string","enum":["user","agent","tool"],"description":"who made the call: a member `+
			`who asked, you, or a tool"},`+
			`"method":{"type":"string","description":"method_name, such as search_memory"},`+
			`"asker":{"type":"string","minLength":1,"maxLength":100,"description":"who asked: a name or a tag"},`+
			`"from":{"type":"string","description":"not before this time or day, such as 2024-05-31 or 2024-05-31T18:00:00Z"},`+
			`"until":{"type":"string","description":"before this time, or to the end of this day"},`+
			`"text":{"type":"string","description":"words that the question or the answer must hold"}}},`+
			`"fields":{"type":"array","items":{"type":"string","enum":[`+
			`"call_id","timestamp","speaker","method_name","args","kwargs","outcome_summary","asker","text"]},`+
			`"description":"which fields to give; text is what question and answer say"},`+
			`"order":{"type":"string","enum":["newest","oldest"],"description":"which come first; newest if left out"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":50,"description":"how many at most; 10 if left out"}}}`,
		(*Turn).conversationHistory)
	filter := t.schema.Properties["filter"].Properties
	filter["from"].keep = keepTime
	filter["until"].keep = keepTime
	filter["method"].keep = s.keepMethod
	return t
}

func (t *Turn) conversationHistory(ctx context.Context, asked historyQuery) (Outcome, error) {
	if err := asked.read(t.Answer.Zone()); err != nil {
		return Outcome{}, err
	}
	if asked.Filter.Asker != "" {
		people, err := t.peopleCalled(ctx, asked.Filter.Asker)
		if err != nil {
			return Outcome{}, err
		}
		if len(people) == 0 {
			return Outcome{}, callErrorf(`Nobody of that name is known. Leave "filter.asker" out for what anybody asked.`)
		}
		for _, p := range people {
			asked.askers = append(asked.askers, p.Person.ID)
		}
	}
	records, more, err := t.Answer.Records(ctx, asked.records(), asked.matches, asked.Limit)
	if err != nil {
		return Outcome{}, fmt.Errorf("read the history: %w", err)
	}
	return t.writeRecords(asked, records, more)
}

func (t *Turn) writeRecords(asked historyQuery, records []Record, more bool) (Outcome, error) {
	var out Outcome
	var b strings.Builder
	shown := map[memory.MessageID]bool{}
	n := 0
	for _, r := range records {
		line, err := t.line(asked, r)
		if err != nil {
			return Outcome{}, err
		}
		if n > 0 && b.Len()+len(line) > historyBytes {
			more = true
			break
		}
		b.WriteString(line + "\n")
		n++
		for _, m := range []*memory.Message{r.Question, r.Answer} {
			if m != nil && !shown[m.ID] {
				shown[m.ID] = true
				out.Shown = append(out.Shown, *m)
			}
		}
	}
	switch {
	case n == 0 && more:
		fmt.Fprintf(&b, "None of the %d records that were looked at matches. Others may: bound the time by "+
			"filter.from and filter.until.", historyScanned)
	case n == 0:
		b.WriteString("No record matches. A wider filter may find some.")
	case more:
		b.WriteString(`{"more":true}`)
	}
	out.Text = strings.TrimSuffix(b.String(), "\n")
	out.Summary = Plural(n, "record")
	return out, nil
}

func (t *Turn) line(asked historyQuery, r Record) (string, error) {
	whole, err := json.Marshal(r.Record)
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(whole, &fields); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range append(memory.RecordFields(), askerField, textField) {
		if !slices.Contains(asked.Fields, name) {
			continue
		}
		value := fields[name]
		switch name {
		case askerField:
			if r.Question == nil { // else the name couldn't be found when the asker is forgotten
				continue
			}
			value, err = plainJSON(t.named(r.Question.Author))
		case textField:
			value, err = plainJSON(t.texts(r))
		}
		if err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, value)
	}
	return "{" + b.String() + "}", nil
}

func (t *Turn) named(id memory.UserID) string {
	name := t.Answer.People().Name(id)
	tag := "<@" + id.String() + ">"
	if name == tag {
		return name
	}
	return t.Builder.Safe(name, len(name)) + " " + tag
}

// texts returns a record's question and answer, escaped and cut.
func (t *Turn) texts(r Record) map[string]string {
	texts := map[string]string{}
	for name, m := range map[string]*memory.Message{"question": r.Question, "answer": r.Answer} {
		if m == nil {
			continue
		}
		said := []rune(t.Answer.Named(m.Text()))
		if len(said) > historyExcerpt {
			said = append(said[:historyExcerpt:historyExcerpt], '…')
		}
		texts[name] = t.Builder.Safe(string(said), len(said))
	}
	return texts
}

func plainJSON(v any) (json.RawMessage, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return json.RawMessage(strings.TrimSpace(b.String())), err
}
