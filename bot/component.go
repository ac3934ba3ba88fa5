package bot

import (
	"hark/bot/markdown"
	"hark/memory"
)

// component is a part of a message that can be used. https://discord.com/developers/docs/components/reference
type component struct {
	Type         int         `json:"type"`
	Style        int         `json:"style,omitempty"`
	Label        string      `json:"label,omitempty"`
	CustomID     string      `json:"custom_id,omitempty"`
	Placeholder  string      `json:"placeholder,omitempty"`
	Options      []choice    `json:"options,omitempty"`
	ChannelTypes []int       `json:"channel_types,omitempty"`
	Defaults     []selected  `json:"default_values,omitempty"`
	Min          *int        `json:"min_values,omitempty"`
	Max          int         `json:"max_values,omitempty"`
	Components   []component `json:"components,omitempty"`
	Disabled     bool        `json:"disabled,omitempty"`

	// Of a text in a form, which has to be given unless Required says otherwise.
	Value    string `json:"value,omitempty"`
	Most     int    `json:"max_length,omitempty"`
	Required *bool  `json:"required,omitempty"`
	// Component is what a label of a form holds.
	Component *component `json:"component,omitempty"`
}

type choice struct {
	Label string `json:"label"`
	Value string `json:"value"`
	// Default says that it is chosen already.
	Default bool `json:"default,omitempty"`
}

type selected struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

const (
	componentRow      = 1
	componentButton   = 2
	componentMenu     = 3
	componentChannels = 8

	styleGrey  = 2
	styleGreen = 3
	styleRed   = 4

	// menuLimit is how many things can be chosen from a menu.
	menuLimit = 25
)

func row(of ...component) component { return component{Type: componentRow, Components: of} }

func button(style int, label, id string) component {
	return component{Type: componentButton, Style: style, Label: label, CustomID: id}
}

// selectable are the types of channel that something can be decided about, of those that menus know.
var selectable = []int{0, 2, 4, 5, 13, 15}

// channelMenu chooses channels, of which some are chosen already.
func channelMenu(id, placeholder string, least int, chosen []memory.ChannelID) component {
	m := component{
		Type: componentChannels, CustomID: id, Placeholder: placeholder, ChannelTypes: selectable,
		Min: &least, Max: menuLimit,
	}
	for _, c := range chosen[:min(len(chosen), menuLimit)] {
		m.Defaults = append(m.Defaults, selected{ID: c.String(), Type: "channel"})
	}
	return m
}

// menu chooses at least one of options.
func menu(id, placeholder string, options []choice) component {
	options = options[:min(len(options), menuLimit)]
	return component{Type: componentMenu, CustomID: id, Placeholder: placeholder, Options: options,
		Min: new(1), Max: len(options)}
}

// form is what somebody is asked to fill in: Discord's modal. What they wrote comes as a use of its own, with
// the form's id. https://discord.com/developers/docs/components/reference#text-input
type form struct {
	ID     string      `json:"custom_id"` // as a component's
	Title  string      `json:"title"`     // at most 45 characters
	Fields []component `json:"components"`
}

const (
	componentInput = 4

	inputLine, inputText = 1, 2
)

// input is one text of a form, of one line or of several, with what is there already, and of at most so many
// characters.
func input(style int, id, label, value string, most int, needed bool) component {
	return row(component{Type: componentInput, Style: style, CustomID: id, Label: label, Value: fit(value, most),
		Most: most, Required: &needed})
}

// fit is at most so many units of a text.
func fit(s string, most int) string {
	if markdown.Units(s) <= most {
		return s
	}
	r := []rune(s)
	for r = r[:min(len(r), most)]; markdown.Units(string(r)) > most; {
		r = r[:len(r)-1]
	}
	return string(r)
}
