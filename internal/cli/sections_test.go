package cli

import (
	"testing"

	"hark/memory"
)

func TestPlacesOfSections(t *testing.T) {
	t.Parallel()
	p := memory.Prompt{Messages: []memory.PromptMessage{{Content: "one\ntwo"}, {Content: "a\nb\nc"},
		{Content: "d"}}, Boundaries: []memory.Boundary{
		{Section: "system_prompt", End: 7}, {Section: "history", Message: 1, Start: 2,
			End: 5}, {Section: "current_session", Message: 1, Start: 0, End: 1},
		{Section: "current_session", Message: 2, Start: 0, End: 1},
	}}
	for section, want := range map[string]string{
		"system_prompt":   "message 1, lines 1–2, bytes 0–7",
		"history":         "message 2, lines 2–3, bytes 2–5",
		"current_session": "messages 2–3",
		"lore":            "",
	} {
		if got := whereIs(section, p); got != want {
			t.Errorf("%s: %q, want %q", section, got, want)
		}
	}
}
