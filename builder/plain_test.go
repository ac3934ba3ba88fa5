package builder

import (
	"strings"
	"testing"
)

// The plain layout's examples: somebody new, what is remembered of them, and with a conversation going on.
const (
	plainNobody = `SYSTEM ROLE:
You are a helpful AI assistant with long-term memory of past conversations with this user.

CURRENT QUERY:
I need help planning a vacation to Japan

Please respond naturally, referencing past context when relevant.`

	plainBefore = `SYSTEM ROLE:
You are a helpful AI assistant with long-term memory of past conversations with this user.

PREVIOUS CONTEXT (from long-term memory):
User discussed vacation planning to Japan. Interested in cherry blossoms, budget travel, April-May timeframe.

User mentioned budget constraint of $3000-5000 for 2-week trip. Prefers cultural experiences over luxury hotels.
`
	plainAsks = `
CURRENT QUERY:
What are the best months to visit Japan?

Please respond naturally, referencing past context when relevant.`

	plainTalk = `
RECENT CONVERSATION:
User: I need help planning a vacation to Japan
Assistant: I'd be happy to help! Based on our previous discussions, I know you're interested in visiting during cherry blossom season with a budget of $3000-5000. Let me provide some recommendations.
`
)

// They stand here by themselves, so that updating the golden files can't change them.
func TestPlainExamples(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{Layout: LayoutPlain, MaxTokens: 700})
	in := Input{Now: noon, Query: Turn{Content: "I need help planning a vacation to Japan"}}
	same := func(name, want string) {
		if got := b.Build(in).String(); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	same("nobody known", plainNobody)
	remembered := strings.Split(strings.TrimSpace(plainBefore), "\n\n")
	in.Query.Content = "What are the best months to visit Japan?"
	in.PreviousContext = []Earlier{
		{Text: strings.TrimPrefix(remembered[1], "PREVIOUS CONTEXT (from long-term memory):\n")}, {Text: remembered[2], Time: noon.AddDate(0, 0, -3)},
	}
	same("remembered", plainBefore+plainAsks)
	answer := strings.Split(strings.TrimSpace(plainTalk), "\n")
	in.Session = []Turn{
		{Content: strings.TrimPrefix(answer[1], "User: ")}, {Role: RoleAssistant, Content: strings.TrimPrefix(answer[2], "Assistant: ")},
	}
	same("in conversation", plainBefore+plainTalk+plainAsks)
}

// What a session would take is the same however much room there is, and in the plain layout isn't that of the last exchanges.
func TestSessionUse(t *testing.T) {
	t.Parallel()
	var turns []Turn
	for range 20 {
		turns = append(turns, Turn{Speaker: "Ann", Author: 11, Content: "And the number of the island?"})
	}
	for layout, want := range map[Layout]int{LayoutSections: 1400, LayoutChat: 1400, LayoutPlain: 200} {
		o := Options{Layout: layout}
		if layout == LayoutPlain {
			o.MaxTokens = 700
		}
		b := newBuilder(t, o)
		few, room := b.SessionUse(turns[:10])
		many, _ := b.SessionUse(turns)
		if room != want || few < 100 || many < 2*few-20 || many > 2*few {
			t.Errorf("%s: %d and %d tokens of %d", layout, few, many, room)
		}
		if b.MaxTokens() != max(o.MaxTokens, map[Layout]int{LayoutPlain: 700}[layout], map[Layout]int{LayoutSections: 4000, LayoutChat: 4000}[layout]) {
			t.Errorf("%s: a prompt has %d tokens", layout, b.MaxTokens())
		}
	}
}
