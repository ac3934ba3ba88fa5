package bot

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
)

// What of an answer that broke off is shown has no half of a mark at its end.
func TestBrokenOffAnswersEndWhole(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "It is **on Friday [1"}, errors.New("the line is dead")
	}
	s.ask("when?")
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return strings.Contains(m.Content, "Interrupted")
	})
	if !strings.HasPrefix(m.Content, "It is **on Friday**\n") {
		t.Errorf("shown is %q", m.Content)
	}
}
