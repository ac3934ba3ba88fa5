package discordtest

import (
	"encoding/json"
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

const longestInput = 4000

// takes reports whether a person may write that. An input that isn't needed may be left empty.
func (in modalInput) takes(text string) bool {
	n := utf8.RuneCountInString(text)
	if n == 0 {
		return !in.needed()
	}
	return in.Least <= n && n <= in.most()
}

// readModal reads a form and holds it to those of Discord's rules that its document doesn't tell.
// https://discord.com/developers/docs/components/reference#text-input
func readModal(data json.RawMessage) (modal, error) {
	var m modal
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read the modal: %w", err)
	}
	if len(m.Components) > mostRows {
		return m, fmt.Errorf("%d rows, and %d are allowed", len(m.Components), mostRows)
	}
	known := map[string]bool{}
	for _, row := range m.Components {
		if row.Type != 1 || len(row.Components) != 1 {
			return m, fmt.Errorf("a row of type %d with %d inputs, and it has to be of type 1 with one", row.Type, len(row.Components))
		}
		in := row.Components[0]
		if in.Label == "" || known[in.CustomID] || in.Value != "" && !in.takes(in.Value) {
			return m, fmt.Errorf("input %q has to have a label, an id of its own and a value that it takes itself", in.CustomID)
		}
		known[in.CustomID] = true
	}
	return m, nil
}

// accepts is why Discord wouldn't let a person send that form with those fields; "" if it would.
func (m modal) accepts(fields map[string]string) string {
	known := map[string]bool{}
	for _, row := range m.Components {
		in := row.Components[0]
		known[in.CustomID] = true
		if !in.takes(fields[in.CustomID]) {
			return fmt.Sprintf("input %q doesn't take %q", in.CustomID, fields[in.CustomID])
		}
	}
	for id := range fields {
		if !known[id] {
			return fmt.Sprintf("there is no input %q", id)
		}
	}
	return ""
}

// checkChoicesShown holds what is offered while somebody types to what Discord's document doesn't tell.
func checkChoicesShown(data json.RawMessage) error {
	var offered struct {
		Choices []part `json:"choices"`
	}
	if err := json.Unmarshal(data, &offered); err != nil {
		return fmt.Errorf("read the choices: %w", err)
	}
	for _, c := range offered.Choices {
		if text, isText := c.Value.(string); isText && !fits(text, longestChoice) {
			return fmt.Errorf("choice %q has to have a value of 1 to %d characters", c.Name, longestChoice)
		}
	}
	return nil
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
