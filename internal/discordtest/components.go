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
	buttonKind   = 2
)

// checkComponents asserts what Discord asks of rows of buttons and menus.
func (s *Server) checkComponents(c *call, raws []json.RawMessage) {
	type part struct {
		Type       int    `json:"type"`
		Style      int    `json:"style"`
		Label      string `json:"label"`
		CustomID   string `json:"custom_id"`
		Emoji      any    `json:"emoji"`
		Components []part `json:"components"`
	}
	bad := func(what string) {
		s.misuse(BadComponents, "%s %s: %s", c.r.Method, c.path, what)
		deny(invalid("components", "COMPONENT_LAYOUT_INVALID", what))
	}
	if len(raws) > mostRows {
		bad("more than 5 rows")
	}
	known := map[string]bool{}
	for _, raw := range raws {
		var row part
		if err := json.Unmarshal(raw, &row); err != nil {
			s.badBody(c, err)
		}
		if row.Type != 1 {
			continue // of the newer kinds, which the document knows
		}
		if len(row.Components) == 0 || len(row.Components) > mostButtons {
			bad("a row has to have 1 to 5 buttons")
		}
		for _, p := range row.Components {
			switch {
			case p.Type != buttonKind && len(row.Components) > 1:
				bad("a menu fills a row")
			case p.Type == buttonKind && p.Style == linkStyle:
				continue
			case !fits(p.CustomID, longestID) || known[p.CustomID]:
				bad("a component has to have a custom_id of its own, of 1 to 100 characters")
			case p.Type == buttonKind && p.Label == "" && p.Emoji == nil || utf8.RuneCountInString(p.Label) > longestLabel:
				bad("a button has to have a label of at most 80 characters, or an emoji")
			}
			known[p.CustomID] = true
		}
	}
}
