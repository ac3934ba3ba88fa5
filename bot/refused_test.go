package bot

import (
	"context"
	"testing"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
)

// Whatever of an answer Discord refuses, the preview doesn't stay as if it were still being written.
func TestRefusedEditsDontLeaveThePreview(t *testing.T) {
	t.Parallel()
	code := "Here:\n```go\n" + manyLines(41) + "```"
	for name, tt := range map[string]struct {
		text     string
		patches  int // edits that are refused
		posts    int // new messages that are refused after those
		want     func(string) bool
		messages int // that were ever sent
	}{
		"a file":           {code, 1, 0, func(text string) bool { return len(text) > 300 }, 1},
		"the edit":         {"Friday, then", discord.Attempts, 0, is("Friday, then"), 2},
		"the words":        {"Friday, then", 1, 1, is(cantShow), 1},
		"a mention of all": {"Ask <@&1> then", discord.Attempts, 0, is("Ask @role then"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			shown := make(chan struct{})
			s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
				stream("Fri")
				<-shown
				return answer.Answer{Text: tt.text}, nil
			}
			s.ask("when?")
			preview := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == "Fri" })
			s.discord.Inject("PATCH /channels/*/messages/*", tt.patches, discordtest.Unfit())
			if tt.posts > 0 {
				s.discord.Inject("POST /channels/*/messages", tt.posts, discordtest.Unfit())
			}
			close(shown)
			m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return tt.want(m.Content) })
			s.idle(t)
			if was := s.now(preview.Message); m.ID != preview.ID && !was.Deleted {
				t.Errorf("the preview is still there: %q", was.Content)
			}
			if s.buttonsOf(m.Message)[reply.ButtonStop] != "" {
				t.Error("it still offers to stop")
			}
			if n := len(s.discord.Sent(s.channel)); n != tt.messages {
				t.Errorf("%d messages, not %d", n, tt.messages)
			}
		})
	}
}
