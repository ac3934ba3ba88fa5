package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/discordtest"
	"hark/memory"
)

// withdraw forgets a member, and so their answers.
func (s *scene) withdraw(t *testing.T, asked discordtest.User) {
	t.Helper()
	s.apply(t, memory.Forgetting{Guild: s.guildID, User: memory.UserID(asked.ID),
		Why: memory.WhyMember, At: s.discord.Now().Add(time.Hour)})
}

// marked waits until a message's removal is logged as done.
func (s *scene) marked(t *testing.T, m discordtest.Message) {
	t.Helper()
	waitLogged(t, s.log, "the mark", func(e memory.Marked) bool {
		return e.Message == memory.MessageID(m.ID) && e.Channel == memory.ChannelID(m.ChannelID)
	})
}

func (s *scene) archive(thread discordtest.ID) {
	at := s.discord.Now().Format(time.RFC3339Nano)
	s.discord.UpdateChannel(thread, func(c *discordtest.Channel) {
		data := *c.Thread
		data.Archived, data.ArchiveTimestamp = true, &at
		c.Thread = &data
	})
}

// When an answer's sources are forgotten, its first message says so and the others go.
func TestAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	for name, stays := range map[string]bool{"everywhere": false, "nowhere": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			s.with(t, Config{Token: s.discord.Token, EditAnswers: !stays})
			s.bot.timing.reply.Look = 1
			s.run(t).ready(t)
			thread := s.addThread("thread", s.channel)
			var sent []discordtest.Message
			for i, place := range []discordtest.ID{s.channel, s.channel, thread.ID} {
				first, second := fmt.Sprint(i, strings.Repeat("a", 1500)), fmt.Sprint(i, strings.Repeat("b", 1500))
				s.oracle.answer = says(first + "\n\n" + second)
				s.asks(place, s.ana, "when?")
				s.traces(t, i+1)
				sent = append(sent, s.answered(t, place, first).Message, s.answered(t, place, second).Message)
			}
			s.discord.Delete(s.channel, sent[2].ID)
			s.archive(thread.ID)
			s.withdraw(t, s.ana)
			for _, m := range sent {
				s.marked(t, m)
			}
			if m := s.now(sent[0]); stays == (m.Content == withdrawnText) || m.Deleted || len(m.Pinged) > 0 {
				t.Errorf("the answer is %+v", m)
			}
			if m := s.now(sent[1]); m.Deleted == stays {
				t.Errorf("its further part is %+v", m)
			}
			if m := s.now(sent[4]); (m.Content == withdrawnText) == stays {
				t.Errorf("in the archive it is %+v", m)
			}
		})
	}
}

// Where Hark may not write, taking an answer back is retried, with growing pauses.
func TestAnswersThatDiscordRefusesToChangeAreTakenBackInTheEnd(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.discord.SetOverwrite(s.channel, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	tries := func() int { return strings.Count(s.out.String(), "couldn't take an answer back yet") }
	s.withdraw(t, s.ana)
	s.bot.questions.Nudge()
	s.discord.WaitFor("the refusal", func() bool { return tries() == 1 })
	s.discord.Advance(time.Minute + time.Second)
	s.bot.questions.Nudge()
	s.discord.WaitFor("another", func() bool { return tries() == 2 })
	s.discord.SetOverwrite(s.channel, discordtest.ForRole(s.guild.ID, discordtest.ViewChannel, 0))
	s.discord.Advance(2*time.Minute + time.Second)
	s.bot.questions.Nudge()
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
	trouble := s.discord.Inject("PATCH /channels/*/messages/*", discord.Attempts+1, discordtest.ServerError())
	s.breakReading(errDown)
	s.logs(t, "which answers are to be taken back")
	s.breakReading(nil)
	s.withdraw(t, s.ana)
	trouble.WaitHits(discord.Attempts + 1)
	s.marked(t, answer.Message)
	if m := s.discord.Sent(s.channel)[0]; m.Content != withdrawnText {
		t.Errorf("the answer is %q", m.Content)
	}
	s.logs(t, "take an answer back yet")
}

// A forgotten answer is taken back even while its question waits to be asked again.
func TestAnswersAreTakenBackWhileTheirQuestionsWait(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.overStore(t)
	source := s.discord.Say(s.channel, s.bo.ID, "the safe is 1234")
	s.from(source, twoParts)
	s.ask("what is it?")
	s.discord.WaitFor("two messages", func() bool { return len(s.discord.Sent(s.channel)) == 2 })
	s.logged(t)
	sent := s.discord.Sent(s.channel)
	say, begun := s.hush()
	s.ask("another that takes long")
	<-begun
	s.press(sent[1].Message, s.ana, reply.ButtonAgain).Wait()
	s.discord.Delete(s.channel, source.ID)
	s.shows(sent[0].Message, withdrawnText)
	s.discord.WaitFor("the other part to go", func() bool { return s.now(sent[1].Message).Deleted })
	say <- "long"
	<-begun
	say <- "I don't know"
	s.shows(sent[0].Message, "I don't know")
}
