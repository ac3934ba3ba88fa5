package discord

import (
	"hark/bot/markdown"
	"hark/memory"
)

// Component is a part of a message that can be used. https://discord.com/developers/docs/components/reference
type Component struct {
	Type         int            `json:"type"`
	Style        int            `json:"style,omitempty"`
	Label        string         `json:"label,omitempty"`
	CustomID     string         `json:"custom_id,omitempty"`
	Placeholder  string         `json:"placeholder,omitempty"`
	Options      []Choice       `json:"options,omitempty"`
	ChannelTypes []int          `json:"channel_types,omitempty"`
	Defaults     []defaultValue `json:"default_values,omitempty"`
	Min          *int           `json:"min_values,omitempty"`
	Max          int            `json:"max_values,omitempty"`
	Components   []Component    `json:"components,omitempty"`
	Disabled     bool           `json:"disabled,omitempty"`

	// Of a text input; it is required unless Required is false.
	Value    string `json:"value,omitempty"`
	Most     int    `json:"max_length,omitempty"`
	Required *bool  `json:"required,omitempty"`
	// Component is what a form's label holds.
	Component *Component `json:"component,omitempty"`
}

// Choice is what can be chosen from a menu.
type Choice struct {
	Label string `json:"label"`
	Value string `json:"value"`
	// Default means that it is already chosen.
	Default bool `json:"default,omitempty"`
}

type defaultValue struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// The types and styles of components.
const (
	componentRow      = 1
	ComponentButton   = 2
	ComponentMenu     = 3
	ComponentChannels = 8

	StyleGrey  = 2
	StyleGreen = 3
	StyleRed   = 4

	// MenuLimit is the most choices in a menu.
	MenuLimit = 25
)

// Row is a row of components.
func Row(of ...Component) Component { return Component{Type: componentRow, Components: of} }

// Button is a button; id is its custom_id.
func Button(style int, label, id string) Component {
	return Component{
		Type:     ComponentButton,
		Style:    style,
		Label:    label,
		CustomID: id,
	}
}

// selectable are the channel types that menus offer.
var selectable = []int{0, 2, 4, 5, 13, 15}

// ChannelMenu selects at least least channels; chosen are preselected.
func ChannelMenu(id, placeholder string, least int, chosen []memory.ChannelID) Component {
	m := Component{
		Type:         ComponentChannels,
		CustomID:     id,
		Placeholder:  placeholder,
		ChannelTypes: selectable,
		Min:          &least,
		Max:          MenuLimit,
	}
	for _, c := range chosen[:min(len(chosen), MenuLimit)] {
		m.Defaults = append(m.Defaults, defaultValue{ID: c.String(), Type: "channel"})
	}
	return m
}

// Menu selects one or more of options.
func Menu(id, placeholder string, options []Choice) Component {
	options = options[:min(len(options), MenuLimit)]
	return Component{
		Type:        ComponentMenu,
		CustomID:    id,
		Placeholder: placeholder,
		Options:     options,
		Min:         new(1),
		Max:         len(options),
	}
}

// Form is Discord's modal. Its submission is a separate interaction with the form's id.
// https://discord.com/developers/docs/components/reference#text-input
type Form struct {
	ID     string      `json:"custom_id"` // as a component's
	Title  string      `json:"title"`     // at most 45 characters
	Fields []Component `json:"components"`
}

// The styles of an input: of one line, and of several.
const (
	componentInput = 4

	InputLine, InputText = 1, 2
)

// Input is a form's text input of at most most characters, prefilled with value.
func Input(style int, id, label, value string, most int, needed bool) Component {
	return Row(Component{
		Type:     componentInput,
		Style:    style,
		CustomID: id,
		Label:    label,
		Value:    Fit(value, most),
		Most:     most,
		Required: &needed,
	})
}

// Fit returns at most most UTF-16 units of a text.
func Fit(s string, most int) string {
	if markdown.Units(s) <= most {
		return s
	}
	r := []rune(s)
	for r = r[:min(len(r), most)]; markdown.Units(string(r)) > most; {
		r = r[:len(r)-1]
	}
	return string(r)
}
