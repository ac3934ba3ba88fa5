package bot

import (
	"strings"
	"testing"
	"time"

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
	s.discord.Delete(s.channel, answer.ID)
	s.withdraw(answer.Message)
	s.marked(t, answer.Message)
}

// Where Hark may not write for now an answer isn't given up: it is tried again, later and later.
func TestAnswersThatDiscordRefusesToChangeAreTakenBackInTheEnd(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.discord.SetOverwrite(s.channel, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	tries := func() int { return strings.Count(s.out.String(), "couldn't take an answer back yet") }
	s.withdraw(answer.Message)
	s.bot.lives.rouse()
	s.discord.WaitFor("the refusal", func() bool { return tries() == 1 })
	s.discord.Advance(firstRefusal + time.Second)
	s.bot.lives.rouse()
	s.discord.WaitFor("another", func() bool { return tries() == 2 })
	s.discord.SetOverwrite(s.channel, discordtest.ForRole(s.guild.ID, discordtest.ViewChannel, 0))
	s.discord.Advance(2*firstRefusal + time.Second)
	s.bot.lives.rouse()
	s.marked(t, answer.Message)
	if m := s.now(answer.Message); m.Content != withdrawnText {
		t.Errorf("the answer reads %q", m.Content)
	}
}

func TestAnswersAreTakenBackOnceDiscordIsBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	trouble := s.discord.Inject("PATCH /channels/*/messages/*", attempts+1, discordtest.ServerError())
	s.breakReading(errDown)
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
