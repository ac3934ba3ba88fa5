package discordtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// component is a row, a button, a menu, an input, or a form with them in it.
type component struct {
	Type       int         `json:"type"`
	ID         int         `json:"id"`
	Style      int         `json:"style"`
	CustomID   string      `json:"custom_id"`
	Label      string      `json:"label"`
	Emoji      any         `json:"emoji"`
	Disabled   bool        `json:"disabled"`
	Least      int         `json:"min_length"`
	Most       int         `json:"max_length"`
	Required   *bool       `json:"required"`
	Value      string      `json:"value"`
	Components []component `json:"components"`
}

const mostRows = 5 // of buttons and menus, and of inputs

// checkComponents asserts what Discord asks of rows of buttons and menus and its document doesn't tell.
// https://discord.com/developers/docs/components/reference
func (s *Server) checkComponents(c *call, raws []json.RawMessage) {
	const button, link = 2, 5
	bad := func(what string) {
		s.refuse(c, BadComponents, invalid("components", "COMPONENT_LAYOUT_INVALID", what), "%s", what)
	}
	var rows []component
	if err := json.Unmarshal(encode(raws), &rows); err != nil {
		s.badBody(c, err)
	}
	if len(rows) > mostRows {
		bad("more than 5 rows")
	}
	known := map[string]bool{}
	for _, row := range rows {
		for _, p := range row.Components {
			switch {
			case p.Type != button && len(row.Components) > 1:
				bad("a menu fills a row")
			case p.Type == button && p.Style == link:
				continue
			case p.CustomID == "" || known[p.CustomID]:
				bad("a component has to have a custom_id of its own")
			case p.Type == button && p.Label == "" && p.Emoji == nil:
				bad("a button has to have a label or an emoji")
			}
			known[p.CustomID] = true
		}
	}
}

// filled are components with what Discord adds to them: numbers for those without an id, counted by n, and
// defaults of menus.
func filled(components []json.RawMessage, n *int) []json.RawMessage {
	all := []json.RawMessage{}
	for _, raw := range components {
		*n++
		c := object{"id": *n}
		var inner struct {
			Type       int               `json:"type"`
			Components []json.RawMessage `json:"components"`
		}
		if json.Unmarshal(raw, &inner) != nil {
			continue // the document has found fault with it
		}
		if inner.Type == 3 || 5 <= inner.Type && inner.Type <= 8 {
			c["min_values"], c["max_values"] = 1, 1
		}
		_ = json.Unmarshal(raw, &c)
		if inner.Components != nil {
			c["components"] = filled(inner.Components, n)
		}
		all = append(all, encode(c))
	}
	return all
}

// component finds an enabled component of a message by its custom id, however deep it is.
func (s *Server) component(m *storedMessage, customID string) component {
	var all []component
	if err := json.Unmarshal(encode(m.Components), &all); err != nil {
		s.fatalf("the components of message %d: %v", m.ID, err)
	}
	for len(all) > 0 {
		if all[0].CustomID == customID && !all[0].Disabled {
			return all[0]
		}
		all = append(all[1:], all[0].Components...)
	}
	s.fatalf("message %d has no enabled component %q", m.ID, customID)
	return component{}
}

// readForm reads a form and holds it to those of Discord's rules that its document doesn't tell.
// https://discord.com/developers/docs/components/reference#text-input
func readForm(data json.RawMessage) (form component, inputs map[string]component, err error) {
	if err := json.Unmarshal(data, &form); err != nil {
		return form, nil, fmt.Errorf("read the form: %w", err)
	}
	if len(form.Components) > mostRows {
		return form, nil, fmt.Errorf("%d rows, and %d are allowed", len(form.Components), mostRows)
	}
	inputs = map[string]component{}
	for _, row := range form.Components {
		if n := len(row.Components); row.Type != 1 || n != 1 {
			return form, nil, fmt.Errorf("a row of type %d with %d inputs, and it has to be of type 1 with one", row.Type, n)
		}
		in := row.Components[0]
		if _, known := inputs[in.CustomID]; known || in.Label == "" || in.Value != "" && !in.takes(in.Value) {
			return form, nil, fmt.Errorf("input %q has to have a label, an id of its own and a value that it takes itself", in.CustomID)
		}
		inputs[in.CustomID] = in
	}
	return form, inputs, nil
}

// takes reports whether a person may write that in an input. One that isn't needed may be left empty.
func (c component) takes(text string) bool {
	n := utf8.RuneCountInString(text)
	if n == 0 {
		return c.Required != nil && !*c.Required
	}
	return c.Least <= n && n <= cmp.Or(c.Most, 4000)
}

// Form is what the form shows that the interaction was answered with, by the inputs' custom ids.
func (r Response) Form() map[string]string {
	_, inputs, err := readForm(r.Data)
	if r.Type != 9 || err != nil {
		return nil
	}
	values := map[string]string{}
	for id, in := range inputs {
		values[id] = in.Value
	}
	return values
}

// checkChoicesShown holds what is offered while somebody types to what Discord's document doesn't tell.
func checkChoicesShown(data json.RawMessage) error {
	var offered struct {
		Choices []commandPart `json:"choices"`
	}
	if err := json.Unmarshal(data, &offered); err != nil {
		return fmt.Errorf("read the choices: %w", err)
	}
	for _, c := range offered.Choices {
		if text, isText := c.Value.(string); isText && !hasLength(text, maxChoiceLength) {
			return fmt.Errorf("choice %q has to have a value of 1 to %d characters", c.Name, maxChoiceLength)
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
