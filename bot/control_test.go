package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/reply"
	"hark/internal/discordtest"
	"hark/memory"
)

func TestAskedAgainInPlace(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		s := remembering(t)
		s.oracle.answer = says(twoParts)
		said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
		q := s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" when, "+s.bo.Mention()+"?",
			discordtest.QuietReplyTo(said.ID))
		s.traces(t, 1)
		sent := s.discord.Sent(s.channel)
		if restart {
			s.again(t)
		}
		s.oracle.answer = says("Friday")
		s.hears(t, s.press(sent[1].Message, s.bo, reply.ButtonAgain))
		s.press(sent[1].Message, s.ana, reply.ButtonAgain).Wait()
		s.shows(sent[0].Message, "Friday")
		s.isGone(t, sent[1].Message)
		s.over(t, 2)
		trace := s.traces(t, 2)[1]
		if trace.Answer != memory.MessageID(sent[0].ID) || len(trace.Parts) != 0 ||
			trace.Question != memory.MessageID(q.ID) {
			t.Errorf("kept %+v", trace)
		}
		if e, ok := find(s.log, func(memory.Rewritten) bool { return true }); !ok ||
			!slices.Equal(e.IDs, []memory.MessageID{trace.Answer}) {
			t.Errorf("logged %+v", e)
		}
		posted, _ := find(s.log, func(p memory.Posted) bool { return p.Message.ID == trace.Answer })
		if posted.Message.Content != "Friday" || posted.Message.Edited.IsZero() ||
			posted.Message.ReplyTo != memory.MessageID(q.ID) {
			t.Errorf("logged %+v", posted.Message)
		}
		asked := s.oracle.questions()
		a, b := asked[0], asked[len(asked)-1]
		if b.Text != a.Text || b.Asker != a.Asker || b.Name != a.Name || b.ID != a.ID ||
			!slices.Equal(b.Mentions, a.Mentions) || b.Guild != a.Guild || b.ReplyTo != memory.MessageID(said.ID) {
			t.Errorf("asked %+v, and then %+v", a, b)
		}
		s.oracle.answer = says(twoParts)
		s.press(sent[0].Message, s.ana, reply.ButtonAgain).Wait()
		if trace := s.traces(t, 3)[2]; len(trace.Parts) != 1 || trace.Parts[0] == memory.MessageID(sent[1].ID) {
			t.Errorf("kept %+v", trace)
		}
	}
}

// asksTooMuch fills the channel: one answer never ends, and as many questions wait as may.
func (s *scene) asksTooMuch(t *testing.T) {
	t.Helper()
	_, begun := s.hush()
	s.ask("0")
	<-begun
	for i := range waitingQuestions {
		s.ask(fmt.Sprint(i + 1))
	}
	s.sees(t, "all was asked")
}

func TestAskedAgainWhileOthersWait(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.asksTooMuch(t)
	s.hears(t, s.press(m.Message, s.ana, reply.ButtonAgain))
	s.replied(t, s.asks(s.channel, s.ana, "one too many"))
	s.replied(t, s.asks(s.channel, s.bo, "and one more"))
	s.commitNothing(t) // they are counted after that
	if got := s.refusals(t)[tooManyWait]; got != 3 {
		t.Errorf("refused %d", got)
	}
}

func TestAskedAgainAboutNothing(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.bot.replies.EditAnswers = false
	q := s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.discord.Advance(2 * ingest.EditedWithin)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention())
	s.hears(t, s.press(m.Message, s.ana, reply.ButtonAgain))
	s.discord.Delete(s.channel, q.ID)
	s.log.waitSaid(t, "delete 1")
	s.hears(t, s.press(m.Message, s.ana, reply.ButtonAgain))
	if n := len(s.oracle.questions()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// Unlogged answers can be asked again and deleted, if Discord fails at first the next time.
func TestAskedAgainWhereNothingIsLogged(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	s.ask("when?")
	m := s.waitText("Friday")
	s.idle(t)
	s.oracle.answer = says("Saturday")
	s.press(m.Message, s.ana, reply.ButtonAgain).Wait()
	s.shows(m.Message, "Saturday")
	s.press(m.Message, s.ana, reply.ButtonDelete).Wait()
	s.isGone(t, m.Message)
	q := s.ask("and where?")
	m = s.reply(t, q)
	s.idle(t)
	failing := s.discord.Inject("DELETE /channels/*/messages/*", discord.Attempts, discordtest.ServerError())
	s.discord.Delete(s.channel, q.ID)
	failing.WaitHits(discord.Attempts)
	s.isGone(t, m.Message)
	if said := s.log.said(); slices.ContainsFunc(said, func(line string) bool {
		return !strings.HasPrefix(line, "delete")
	}) {
		t.Errorf("logged %q", said)
	}
}

func TestDeletedByButton(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	id := s.buttonsOf(m.Message)[reply.ButtonDelete]
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonDelete))
	trouble := s.discord.Inject("DELETE /channels/*/messages/*", discord.Attempts, discordtest.ServerError())
	s.hears(t, s.press(m.Message, s.ana, reply.ButtonDelete))
	trouble.WaitHits(discord.Attempts)
	one, two := s.discord.Click(m.Message, s.ana.ID, id), s.discord.Click(m.Message, s.ana.ID, id)
	one.Wait()
	two.Wait()
	s.isGone(t, m.Message)
	if said := s.log.said(); !slices.Contains(said, "delete 1") {
		t.Errorf("logged %q", said)
	}
}

// breakReading makes reading the log fail; nil: work.
func (s *scene) breakReading(err error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.readFails = err
}

// While the log can't be read, presses change nothing and say so.
func TestPressesWhileTheLogCantBeRead(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.proposes(memory.Lore{Name: "Dinner", Text: "at eight"})
	s.ask("remember dinner")
	s.over(t, 1)
	m, p := s.discord.Sent(s.channel)[0], s.proposal()
	s.breakReading(errDown)
	s.hears(t, s.press(m.Message, s.ana, reply.ButtonAgain))
	s.hears(t, s.press(m.Message, s.ana, reply.ButtonDelete))
	s.hears(t, s.press(p.Message, s.ana, reply.ButtonRemember))
	s.breakReading(nil)
	if now := s.now(m.Message); now.Deleted || len(now.Versions) != 1 || len(s.lore()) != 0 ||
		len(s.oracle.questions()) != 1 {
		t.Errorf("%+v, lore %+v, asked %d times", now, s.lore(), len(s.oracle.questions()))
	}
	s.log.fail(errDown)
	s.hears(t, s.press(p.Message, s.ana, reply.ButtonRemember))
	s.log.fail(nil)
	s.press(p.Message, s.ana, reply.ButtonRemember).Wait()
	s.becomes(t, p.Message)
}

func TestButtonsInTheArchive(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	thread := s.addThread("thread", s.channel)
	s.discord.Say(thread.ID, s.ana.ID, s.discord.Bot.Mention()+" when?")
	m := s.answered(t, thread.ID, "Friday")
	s.over(t, 1)
	s.archive(thread.ID)
	s.oracle.answer = says("Saturday")
	s.press(m.Message, s.ana, reply.ButtonAgain).Wait()
	s.shows(m.Message, "Saturday")
	s.over(t, 2)
	s.archive(thread.ID)
	s.press(m.Message, s.ana, reply.ButtonDelete).Wait()
	s.isGone(t, m.Message)
}
