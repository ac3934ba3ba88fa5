package bot

import (
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
)

// withdraw has answers be based on what was forgotten.
func (s *scene) withdraw(parts ...discordtest.Message) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for i, m := range parts {
		s.log.withdrawn = append(s.log.withdrawn, memory.Withdrawn{
			Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(m.ChannelID), Message: memory.MessageID(m.ID), First: i == 0})
	}
}

// marked waits until it is logged that nothing more is to be done about a message.
func (s *scene) marked(t *testing.T, m discordtest.Message) {
	t.Helper()
	s.log.wait(t, "the mark", func() bool {
		_, ok := find(s.log, func(e memory.Marked) bool {
			return e.Message == memory.MessageID(m.ID) && e.Channel == memory.ChannelID(m.ChannelID)
		})
		return ok
	})
}

func TestAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	first := s.answered(t, s.channel, "Friday")
	s.oracle.answer = says("Saturday")
	s.ask("really?")
	further := s.answered(t, s.channel, "Saturday")
	s.withdraw(first.Message, further.Message)
	s.marked(t, first.Message)
	s.marked(t, further.Message)
	sent := s.discord.Sent(s.channel)
	if m := sent[0]; m.Content != withdrawnText || m.Deleted || len(m.Pinged) > 0 {
		t.Errorf("the answer is %+v", m)
	}
	if m := sent[1]; !m.Deleted {
		t.Errorf("its further part is %+v", m)
	}
}

func TestAnswersThatAreGoneAreLeftAtThat(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "other"})
	q := s.discord.Say(other.ID, s.ana.ID, s.discord.Bot.Mention()+" when?")
	closed := s.discord.WaitSent(other.ID, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.traces(t, 2)
	s.discord.Delete(s.channel, answer.ID)
	s.discord.SetOverwrite(other.ID, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	s.withdraw(answer.Message, q)
	s.withdraw(closed.Message)
	s.marked(t, answer.Message)
	s.marked(t, closed.Message)
}

func TestAnswersAreTakenBackOnceDiscordIsBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	trouble := s.discord.Inject("PATCH /channels/*/messages/*", attempts+1, discordtest.ServerError())
	s.log.mu.Lock()
	s.log.readFails = errDown
	s.log.mu.Unlock()
	s.logs(t, errDown.Error())
	s.log.mu.Lock()
	s.log.readFails = nil
	s.log.mu.Unlock()
	s.withdraw(answer.Message)
	trouble.WaitHits(attempts + 1)
	s.marked(t, answer.Message)
	if m := s.discord.Sent(s.channel)[0]; m.Content != withdrawnText {
		t.Errorf("the answer is %q", m.Content)
	}
	s.logs(t, `"level":"warn"`)
}

func TestAnswersStayWhereTheyShall(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, Config{Token: s.discord.Token})
	s.bot.timing.look = 1
	s.run(t).ready(t)
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	s.withdraw(answer.Message)
	s.marked(t, answer.Message)
	if m := s.discord.Sent(s.channel)[0]; m.Content != "Friday" {
		t.Errorf("the answer is %q", m.Content)
	}
}

func TestAnswersInTheArchiveAreTakenBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &s.channel})
	s.discord.Say(thread.ID, s.ana.ID, s.discord.Bot.Mention()+" when?")
	answer := s.answered(t, thread.ID, "Friday")
	s.discord.UpdateChannel(thread.ID, func(c *discordtest.Channel) {
		data := *c.Thread
		data.Archived = true
		c.Thread = &data
	})
	s.withdraw(answer.Message)
	s.marked(t, answer.Message)
	if m := s.discord.Sent(thread.ID)[0]; m.Content != withdrawnText {
		t.Errorf("the answer is %q", m.Content)
	}
}
