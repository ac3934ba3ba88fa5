package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

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

// In a terminal of any width /help breaks between words, and says the same.
func TestHelpBreaksBetweenWords(t *testing.T) {
	t.Parallel()
	one := func(use string) func(*Talk) *cobra.Command {
		return func(*Talk) *cobra.Command {
			return &cobra.Command{Use: use, Short: "Show what is remembered about it, and why"}
		}
	}
	commands := (&Talk{Recall: one("recall QUESTION"), Context: one("context QUESTION")}).commands()
	want := strings.Fields(helpText(commands, 1000))
	for _, width := range []int{40, 60, 80, 120} {
		text := helpText(commands, width)
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if len(line) > width && len(strings.Fields(line)) > 2 { // a command and its parts are one piece
				t.Errorf("%d columns: %q", width, line)
			}
		}
		if got := strings.Fields(text); !slices.Equal(got, want) {
			t.Errorf("%d columns: it says something else:\n%s", width, text)
		}
	}
}
