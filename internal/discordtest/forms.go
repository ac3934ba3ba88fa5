package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// modal is a form as the bot sends it.
type modal struct {
	CustomID   string `json:"custom_id"`
	Title      string `json:"title"`
	Components []struct {
		Type       int          `json:"type"`
		Components []modalInput `json:"components"`
	} `json:"components"`
}

type modalInput struct {
	Type     int    `json:"type"`
	CustomID string `json:"custom_id"`
	Label    string `json:"label"`
	Style    int    `json:"style"`
	Least    int    `json:"min_length"`
	Most     *int   `json:"max_length"`
	Required *bool  `json:"required"`
	Value    string `json:"value"`
}

// most is how long what is written may be.
func (in modalInput) most() int {
	if in.Most == nil {
		return longestInput
	}
	return *in.Most
}

func (in modalInput) needed() bool { return in.Required == nil || *in.Required }

// Discord's limits of forms. https://discord.com/developers/docs/components/reference#text-input
const (
	longestInput = 4000
	longestTitle = 45 // of a form, and of an input's label
)

// readModal reads a form and holds it to Discord's limits.
func readModal(data json.RawMessage) (modal, error) {
	var m modal
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read the modal: %w", err)
	}
	switch {
	case !fits(m.CustomID, longestID):
		return m, fmt.Errorf("custom_id %q has to have 1 to %d characters", m.CustomID, longestID)
	case !fits(m.Title, longestTitle):
		return m, fmt.Errorf("title %q has to have 1 to %d characters", m.Title, longestTitle)
	case len(m.Components) == 0 || len(m.Components) > mostRows:
		return m, fmt.Errorf("%d rows, and 1 to %d are allowed", len(m.Components), mostRows)
	}
	ids := map[string]bool{}
	for _, row := range m.Components {
		if row.Type != 1 || len(row.Components) != 1 {
			return m, fmt.Errorf("a row of type %d with %d inputs, and it has to be of type 1 with one", row.Type, len(row.Components))
		}
		in := row.Components[0]
		length := utf8.RuneCountInString(in.Value)
		switch {
		case in.Type != 4 || in.Style != 1 && in.Style != 2:
			return m, fmt.Errorf("input %q is of type %d and style %d", in.CustomID, in.Type, in.Style)
		case !fits(in.CustomID, longestID) || ids[in.CustomID]:
			return m, fmt.Errorf("input %q has to have an id of its own, of 1 to %d characters", in.CustomID, longestID)
		case !fits(in.Label, longestTitle):
			return m, fmt.Errorf("label %q has to have 1 to %d characters", in.Label, longestTitle)
		case in.most() < 1 || in.most() > longestInput || in.Least < 0 || in.Least > in.most():
			return m, fmt.Errorf("input %q has from %d to %d characters", in.CustomID, in.Least, in.most())
		case length > in.most() || length > 0 && length < in.Least:
			return m, fmt.Errorf("input %q has %d characters, and from %d to %d are allowed", in.CustomID, length, in.Least, in.most())
		}
		ids[in.CustomID] = true
	}
	return m, nil
}

// accepts is why Discord wouldn't let a person send that form with those fields; "" if it would.
func (m modal) accepts(fields map[string]string) string {
	known := map[string]bool{}
	for _, row := range m.Components {
		in := row.Components[0]
		known[in.CustomID] = true
		n := utf8.RuneCountInString(fields[in.CustomID])
		if n == 0 && in.needed() || n > in.most() || n > 0 && n < in.Least {
			return fmt.Sprintf("input %q has %d characters", in.CustomID, n)
		}
	}
	for id := range fields {
		if !known[id] {
			return fmt.Sprintf("there is no input %q", id)
		}
	}
	return ""
}

// checkChoicesShown holds what is offered while somebody types to Discord's limits.
func checkChoicesShown(data json.RawMessage) error {
	var offered struct {
		Choices []commandChoice `json:"choices"`
	}
	if err := json.Unmarshal(data, &offered); err != nil {
		return fmt.Errorf("read the choices: %w", err)
	}
	if offered.Choices == nil {
		return errors.New("there are no choices, and there has to be a list of them")
	}
	for _, c := range offered.Choices {
		if c.Value == "" {
			return fmt.Errorf("choice %q has an empty value", c.Name)
		}
	}
	return checkChoices(offered.Choices)
}

// Choices are the values offered in answer to Complete, by their names.
func (r Response) Choices() map[string]string {
	var offered struct {
		Choices []struct{ Name, Value string } `json:"choices"`
	}
	if r.Type != 8 || json.Unmarshal(r.Data, &offered) != nil {
		return nil
	}
	all := map[string]string{}
	for _, c := range offered.Choices {
		all[c.Name] = c.Value
	}
	return all
}

// Form is what the modal shows that the interaction was answered with, by the fields' custom ids.
func (r Response) Form() map[string]string {
	m, err := readModal(r.Data)
	if r.Type != 9 || err != nil {
		return nil
	}
	values := map[string]string{}
	for _, row := range m.Components {
		values[row.Components[0].CustomID] = row.Components[0].Value
	}
	return values
}
