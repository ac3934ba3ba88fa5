package main

import (
	"encoding/json"

	"hark/internal/discordtest"
)

// press uses the button of a message of Hark's that has a label, as soon as it is there.
func (w *world) press(m discordtest.Message, who discordtest.User, label string) *discordtest.Interaction {
	w.Helper()
	id := ""
	w.discord.WaitFor("the button "+label, func() bool {
		id = buttonOf(w.now(m), label)
		return id != ""
	})
	return w.discord.Click(m, who.ID, id)
}

// buttonOf is the id of a message's button of that label; "" if there is none.
func buttonOf(m discordtest.Sent, label string) string {
	for _, raw := range m.Components {
		var row struct {
			Components []struct {
				Label string `json:"label"`
				ID    string `json:"custom_id"`
			} `json:"components"`
		}
		if json.Unmarshal(raw, &row) != nil {
			continue
		}
		for _, b := range row.Components {
			if b.Label == label {
				return b.ID
			}
		}
	}
	return ""
}

// now is a message of Hark's as it is.
func (w *world) now(m discordtest.Message) discordtest.Sent {
	for _, sent := range w.discord.Sent(m.ChannelID) {
		if sent.ID == m.ID {
			return sent
		}
	}
	return discordtest.Sent{}
}
