package bot

import (
	"context"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// What an answer was made from that isn't logged may be deleted while it is written.
func TestAnswersFromAnUnloggedSessionThatChangesAreTakenBack(t *testing.T) {
	t.Parallel()
	s := asking(t)
	asked, gone := make(chan struct{}), make(chan struct{})
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		close(asked)
		<-gone
		return answer.Answer{Text: "It is hunter2"}, nil
	}
	s.run(t).ready(t)
	s.notice(t, s.channel)
	said := s.discord.Say(s.channel, s.bo.ID, "my password is hunter2")
	question := s.ask("what is it?")
	<-asked
	s.discord.Delete(s.channel, said.ID)
	s.discord.Say(s.channel, s.bo.ID, "never mind")
	s.log.wait(t, "what was said after the deletion", func() bool {
		now := s.bot.buffer.Before(memory.ChannelID(s.channel), 1<<62)
		return len(now) > 0 && now[len(now)-1].Content == "never mind"
	})
	close(gone)
	s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return m.Reference != nil && m.Reference.MessageID == question.ID && m.Content == sessionChanged
	})
}
