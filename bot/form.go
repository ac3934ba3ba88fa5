package bot

import (
	"context"

	"hark/memory"
)

// form is what somebody is asked to fill in: Discord's modal. What they wrote comes as a use of its own, with the form's
// id. https://discord.com/developers/docs/components/reference#text-input
type form struct {
	ID     string // as a component's
	Title  string // at most 45 characters
	Fields []field
}

// field is one text of a form.
type field struct {
	ID     string
	Label  string // at most 45 characters
	Value  string // that is there already
	Long   bool   // of several lines
	Needed bool
	Most   int // characters
}

const (
	componentInput = 4

	inputLine, inputText = 1, 2
)

type formBody struct {
	CustomID   string    `json:"custom_id"`
	Title      string    `json:"title"`
	Components []formRow `json:"components"`
}

type formRow struct {
	Type       int         `json:"type"`
	Components []textInput `json:"components"`
}

type textInput struct {
	Type     int    `json:"type"`
	CustomID string `json:"custom_id"`
	Label    string `json:"label"`
	Style    int    `json:"style"`
	Most     int    `json:"max_length"`
	Required bool   `json:"required"` // which it is unless it is said
	Value    string `json:"value,omitempty"`
}

// fill asks for a form to be filled in.
func (x *exchange) fill(ctx context.Context, f form) error {
	body := formBody{CustomID: f.ID, Title: f.Title}
	for _, of := range f.Fields {
		in := textInput{Type: componentInput, CustomID: of.ID, Label: of.Label, Style: inputLine, Most: of.Most, Required: of.Needed, Value: fit(of.Value, of.Most)}
		if of.Long {
			in.Style = inputText
		}
		body.Components = append(body.Components, formRow{componentRow, []textInput{in}})
	}
	return x.respond(ctx, response{respondForm, body})
}

// fit is at most so many units of a text.
func fit(s string, most int) string {
	if units(s) <= most {
		return s
	}
	r := []rune(s)
	for r = r[:min(len(r), most)]; units(string(r)) > most; {
		r = r[:len(r)-1]
	}
	return string(r)
}

// field is what was written in a form; "" if nothing was.
func (i *wireInteraction) field(id string) string {
	for _, row := range i.Data.Components {
		for _, in := range append(row.Components, row.Component) {
			if in.CustomID == id {
				return memory.Clean(in.Value)
			}
		}
	}
	return ""
}

// wireRow is a row of a form, or a label, with what was written in it.
type wireRow struct {
	Components []wireInput `json:"components"`
	Component  wireInput   `json:"component"`
}

type wireInput struct {
	CustomID string `json:"custom_id"`
	Value    string `json:"value"`
}
