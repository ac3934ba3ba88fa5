package discordtest

import (
	"encoding/json"
	"unicode/utf8"
)

// Discord's limits of components. https://discord.com/developers/docs/components/reference
const (
	mostRows     = 5
	mostButtons  = 5 // in a row
	longestID    = 100
	longestLabel = 80
	linkStyle    = 5
	rowComponent = 1
	buttonKind   = 2
)

// checkComponents asserts what Discord asks of rows of buttons and menus.
func (s *Server) checkComponents(c *call, raws []json.RawMessage) *reply {
	type part struct {
		Type       int    `json:"type"`
		Style      int    `json:"style"`
		Label      string `json:"label"`
		CustomID   string `json:"custom_id"`
		Emoji      any    `json:"emoji"`
		Components []part `json:"components"`
	}
	bad := func(what string) *reply {
		s.misuse(BadComponents, "%s %s: %s", c.r.Method, c.path, what)
		return new(invalid("components", "COMPONENT_LAYOUT_INVALID", what))
	}
	if len(raws) > mostRows {
		return bad("more than 5 rows")
	}
	known := map[string]bool{}
	for _, raw := range raws {
		var row part
		if err := json.Unmarshal(raw, &row); err != nil {
			return new(s.badBody(c, err))
		}
		if row.Type != rowComponent {
			continue // of the newer kinds, which the document knows
		}
		buttons := 0
		for _, p := range row.Components {
			if p.Type == buttonKind {
				buttons++
			}
			switch id := utf8.RuneCountInString(p.CustomID); {
			case p.Type == buttonKind && p.Style == linkStyle:
				continue
			case id == 0 || id > longestID:
				return bad("a custom_id has to have 1 to 100 characters")
			case known[p.CustomID]:
				return bad("a custom_id is there twice")
			case p.Type == buttonKind && p.Label == "" && p.Emoji == nil || utf8.RuneCountInString(p.Label) > longestLabel:
				return bad("a button has to have a label of at most 80 characters, or an emoji")
			}
			known[p.CustomID] = true
		}
		switch {
		case len(row.Components) == 0 || buttons > mostButtons:
			return bad("a row has to have 1 to 5 buttons")
		case buttons != len(row.Components) && len(row.Components) > 1:
			return bad("a menu fills a row")
		}
	}
	return nil
}
