package console

import (
	"strings"
	"testing"

	"hark/internal/terminal"
)

// Where answers are shown as they grow, the tools that the model uses stand on lines of their own.
func TestToolsWhileAnAnswerGrows(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	l := terminal.NewLive(&got, terminal.Colours{}, func() int { return 20 })
	talk := Talk{Warn: &got, live: l, colour: terminal.Colours{Dim: "<", Off: ">"}}
	l.Begin()
	l.Show("Let me look up")
	talk.using("search_memory")
	talk.using("current_time")
	l.Show("Let me look up\n\nIt is late.")
	l.End()
	if want := "Let me look up\n<hark: search_memory …>\n<hark: current_time …>\n\n\nIt is late.\n"; got.String() != want {
		t.Errorf("shown %q, want %q", got.String(), want)
	}
}
