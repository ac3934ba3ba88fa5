package body

// Component is a part of a message made of components: a text, or what has others in it.
// https://discord.com/developers/docs/components/reference
type Component struct {
	Type        int             `json:"type"`
	Content     string          `json:"content"`     // of a text
	Description string          `json:"description"` // of a picture
	Items       List[Component] `json:"items"`       // pictures of a gallery
	Components  List[Component] `json:"components"`
	Accessory   *Component      `json:"accessory"` // beside a section's texts
	CustomID    string          `json:"custom_id"` // of a button
}

// typeText is the type of a component that is a text.
const typeText = 10

// Shown returns the texts of components, in the order in which they are read. Of a type that Hark doesn't know, it
// returns what the components in it have.
func Shown(components []Component) (texts []string) {
	for _, c := range components {
		if c.Type == typeText {
			texts = append(texts, c.Content)
		}
		if c.Description != "" {
			texts = append(texts, "[image: "+c.Description+"]")
		}
		texts = append(texts, Shown(c.Components)...)
		texts = append(texts, Shown(c.Items)...)
		if c.Accessory != nil {
			texts = append(texts, Shown([]Component{*c.Accessory})...)
		}
	}
	return texts
}
