package bot

import (
	"context"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
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
		now := s.bot.recent.Before(memory.ChannelID(s.channel), 1<<62)
		return len(now) > 0 && now[len(now)-1].Content == "never mind"
	})
	close(gone)
	s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return m.Reference != nil && m.Reference.MessageID == question.ID && m.Content == sessionChanged
	})
}

// Discord's clock goes before ours: whatever has a smaller number than the click was said before it.
func TestForgettingEndsAtTheClickByDiscordsClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &commands{commandOptions: offline(ingest.Options{Now: func() time.Time { return now }}, answer.Choices{})}
	for ahead, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, -time.Hour: 0} {
		x := &exchange{Interaction: discord.Interaction{ID: discord.Snowflake(memory.FirstMessageID(now.Add(ahead)))}}
		if got := c.at(x).Sub(now); got < want || got > want+time.Millisecond {
			t.Errorf("%v ahead: %v", ahead, got)
		}
	}
}
