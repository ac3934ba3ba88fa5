package bot

import (
	"context"
	"slices"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// sessionOf are the texts of the nth question's session.
func (s *scene) sessionOf(t *testing.T, n int) []string {
	t.Helper()
	q := s.oracle.questions()[n]
	if q.Session == nil {
		t.Fatal("the question comes without a session")
	}
	texts := []string{}
	for _, m := range q.Session {
		texts = append(texts, m.Content)
	}
	return texts
}

func TestUndecidedGuildKnowsTheSessionOnly(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	typo := s.discord.Say(s.channel, s.bo.ID, "the deadlin is Friday")
	oops := s.discord.Say(s.channel, s.bo.ID, "my password is hunter2")
	s.discord.Edit(s.channel, typo.ID, "the deadline is Friday")
	s.discord.Delete(s.channel, oops.ID)
	answered := func(n int) {
		t.Helper()
		s.discord.WaitFor("an answer", func() bool { return len(s.discord.Sent(s.channel)) == n+1 })
	}
	first := s.ask("when?")
	answered(1)
	s.ask("and where?")
	answered(2)
	if got := s.sessionOf(t, 0); !slices.Equal(got, []string{"the deadline is Friday"}) {
		t.Errorf("asked after %q", got)
	}
	if got := s.sessionOf(t, 1); !slices.Equal(got, []string{"the deadline is Friday", first.Content, "Friday"}) {
		t.Errorf("then asked after %q", got)
	}
	// Their words go at once, even if opting out then fails.
	for does, fails := range map[string]error{confirmForget: nil, confirmOptOut: errDown} {
		s.discord.Say(s.channel, s.bo.ID, "bo's own words")
		ask := s.use(t, s.bo, "memory "+does)
		s.idle(t)
		s.log.fail(fails)
		s.discord.Click(ask.Message, s.bo.ID, does).Wait()
		s.idle(t)
		s.log.fail(nil)
		if left := s.bot.buffer.Before(s.channelID, 1<<62); slices.ContainsFunc(left,
			func(m memory.Message) bool { return m.Author == s.boID }) {
			t.Errorf("after /memory %s, where the log says %v, there is %+v", does, fails, left)
		}
	}
	s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	ask := s.use(t, s.bo, "memory optout")
	i := s.discord.Click(ask.Message, s.bo.ID, confirmOptOut)
	i.Wait()
	s.discord.WaitFor("the receipt", func() bool { return len(i.WaitMessage().Components) == 0 })
	s.discord.Say(s.channel, s.bo.ID, "not for you")
	s.ask("well?")
	answered(3)
	if got := s.sessionOf(t, 2); slices.Contains(got, "the deadline is Friday") ||
		slices.Contains(got, "not for you") || slices.Contains(got, "Friday") {
		t.Errorf("after bo opted out it is asked after %q", got)
	}
	if said := s.log.said(); !slices.Equal(said, []string{"edit: ", "delete 1"}) {
		t.Errorf("logged %q", said) // of an edit only that there was one
	}
}

func TestDirectMessagesThatArentLogged(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	dm := s.discord.DM(s.bo.ID, "my cat is called Mimi")
	s.discord.WaitSent(dm.ChannelID, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.discord.DM(s.bo.ID, "what is it called?")
	s.discord.WaitFor("another answer", func() bool { return len(s.discord.Sent(dm.ChannelID)) == 2 })
	if got := s.sessionOf(t, 1); len(got) == 0 || got[0] != "my cat is called Mimi" {
		t.Errorf("asked after %q", got)
	}
	s.ask("when?")
	s.answered(t, s.channel, "Friday")
	if q := s.oracle.questions()[2]; q.Session != nil {
		t.Error("a channel that is logged has a session of its own")
	}
	if said := s.log.said(); slices.Contains(said, "them: my cat is called Mimi") {
		t.Errorf("logged %q", said)
	}
	if _, heard := find(s.log, func(h memory.Heard) bool {
		return h.Channel == memory.ChannelID(dm.ChannelID)
	}); !heard {
		t.Error("what isn't logged wasn't heard either")
	}
}

// An answer is taken back if its unlogged session changes while it is written.
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
		now := s.bot.buffer.Before(s.channelID, 1<<62)
		return len(now) > 0 && now[len(now)-1].Content == "never mind"
	})
	close(gone)
	s.replied(t, question)
}
