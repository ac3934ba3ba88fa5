package bot

import (
	"slices"
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
)

// breakReading has all reading of the log fail, or no longer.
func (s *scene) breakReading(err error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.readFails = err
}

// A log that can't be read changes nothing, and whoever pressed is told.
func TestPressesWhileTheLogCantBeRead(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.proposes(memory.Lore{Name: "Dinner", Text: "at eight"})
	s.ask("remember dinner")
	s.over(t, 1)
	m, p := s.discord.Sent(s.channel)[0], s.proposal()
	s.breakReading(errDown)
	s.hears(t, s.press(m.Message, s.ana, buttonAgain))
	s.hears(t, s.press(m.Message, s.ana, buttonDelete))
	s.hears(t, s.press(p.Message, s.ana, buttonRemember))
	s.breakReading(nil)
	if now := s.now(m.Message); now.Deleted || len(now.Versions) != 1 || len(s.lore()) != 0 || len(s.oracle.questions()) != 1 {
		t.Errorf("%+v, lore %+v, asked %d times", now, s.lore(), len(s.oracle.questions()))
	}
	s.log.fail(errDown)
	s.hears(t, s.press(p.Message, s.ana, buttonRemember))
	s.log.fail(nil)
	s.press(p.Message, s.ana, buttonRemember).Wait()
	s.becomes(t, p.Message)
}

// What a question is about is known when it is asked again.
func TestAskedAgainAsAReply(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" is it?", discordtest.QuietReplyTo(said.ID))
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.again(t)
	s.oracle.answer = says("Saturday")
	s.press(m.Message, s.ana, buttonAgain).Wait()
	s.shows(m.Message, "Saturday")
	asked := s.oracle.questions()
	if a, b := asked[0], asked[1]; b.ReplyTo != memory.MessageID(said.ID) || !slices.Equal(a.Mentions, b.Mentions) || len(b.Mentions) != 1 {
		t.Errorf("asked %+v, and then %+v", a, b)
	}
}

func TestButtonsInTheArchive(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &s.channel})
	s.discord.Say(thread.ID, s.ana.ID, s.discord.Bot.Mention()+" when?")
	m := s.answered(t, thread.ID, "Friday")
	s.over(t, 1)
	s.archive(thread.ID)
	s.oracle.answer = says("Saturday")
	s.press(m.Message, s.ana, buttonAgain).Wait()
	s.shows(m.Message, "Saturday")
	s.over(t, 2)
	s.archive(thread.ID)
	s.press(m.Message, s.ana, buttonDelete).Wait()
	s.isGone(t, m.Message)
}

// Where nothing is logged, an answer that Discord doesn't let go at first is taken back the next time.
func TestAnswersOnNoRecordAreTakenBackAgain(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	s.oracle.answer = says("Friday")
	q := s.ask("when?")
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.idle(t)
	failing := s.discord.Inject("DELETE /channels/*/messages/*", attempts, discordtest.ServerError())
	s.discord.Delete(s.channel, q.ID)
	failing.WaitHits(attempts)
	s.isGone(t, m.Message)
}
