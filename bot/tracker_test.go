package bot

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/internal/discordtest"
)

// hush has answers wait for say, or for the end of their question. begun receives each question.
func (s *scene) hush() (say chan string, begun chan answer.Question) {
	say, begun = make(chan string), make(chan answer.Question, 100)
	s.oracle.answer = func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		begun <- q
		select {
		case text := <-say:
			stream(text)
			return answer.Answer{Text: text, Trace: traceOf(q)}, nil
		case <-ctx.Done():
			return answer.Answer{}, ctx.Err()
		}
	}
	return say, begun
}

// over waits until n answers are over.
func (s *scene) over(t *testing.T, n int) {
	t.Helper()
	s.traces(t, n)
	s.idle(t)
}

// idle waits until nothing is being done, and all is logged.
func (s *scene) idle(t *testing.T) {
	t.Helper()
	s.discord.WaitFor("the bot to be idle", s.bot.idle)
}

// commitNothing waits until all that was queued is logged.
func (s *scene) commitNothing(t *testing.T) {
	t.Helper()
	if err := s.bot.ingest.Queue.Commit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestQuestionsEditedWhileTheyAreAnsweredAreAnsweredAnew(t *testing.T) {
	t.Parallel()
	for _, briefly := range []bool{false, true} {
		s := remembering(t)
		goOn := s.slowly("It is", " Friday")
		q := s.ask("whn?")
		m := s.waitText("It is")
		s.oracle.answer = says("Saturday")
		text := s.discord.Bot.Mention() + " when?"
		if briefly {
			s.discord.EditBriefly(s.channel, q.ID, text)
		} else {
			s.discord.Edit(s.channel, q.ID, text)
		}
		s.answered(t, s.channel, "Saturday")
		s.over(t, 1)
		if n := len(s.discord.Sent(s.channel)); n != 1 || s.now(m.Message).Content != "Saturday" {
			t.Errorf("%d messages, the first reads %q", n, s.now(m.Message).Content)
		}
		asked := s.oracle.questions()
		if len(asked) != 2 || asked[1].Text != "when?" || asked[1].Edited.IsZero() ||
			asked[1].Name != asked[0].Name || asked[1].Asker != asked[0].Asker || asked[1].ID != asked[0].ID {
			t.Errorf("asked %+v", asked)
		}
		goOn()
	}
}

func TestQuestionsEditedSoonAreAnsweredAnewInPlace(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	q := s.ask("whn?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.oracle.answer = says("Saturday")
	s.discord.Unfurl(s.channel, q.ID, `{"type":"link","title":"a preview"}`)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
	s.shows(m.Message, "Saturday")
	s.over(t, 2)
	// A preview is no edit, nor is an edit that asks the same.
	s.discord.Unfurl(s.channel, q.ID, `{"type":"link","title":"another"}`)
	s.discord.Edit(s.channel, q.ID, "when?"+s.discord.Bot.Mention())
	s.posts(t, s.channel, s.bo.ID, "so it is")
	// Taking the mention away asks nothing.
	s.discord.Edit(s.channel, q.ID, "never mind")
	s.log.waitSaid(t, "them: never mind")
	s.discord.Advance(ingest.EditedWithin + time.Second)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" and where?")
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 2 || asked[1].Text != "when?" {
		t.Errorf("asked %d times: %+v", len(asked), asked)
	}
	s.shows(m.Message, withdrawnText) // since its question changed
	if sent := s.discord.Sent(s.channel); len(sent) != 1 {
		t.Errorf("sent %+v", sent)
	}
}

// holdsUp has the writer wait for a log that is held.
func (s *scene) holdsUp(t *testing.T) {
	t.Helper()
	s.discord.Say(s.channel, s.bo.ID, "this holds all up")
	s.log.wait(t, "the log to be written", func() bool {
		s.log.mu.Lock()
		defer s.log.mu.Unlock()
		return s.log.stuck > 0
	})
}

func TestQuestionsDeletedBeforeTheyAreLoggedArentAsked(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	release := s.log.hold()
	s.holdsUp(t)
	q := s.ask("when?")
	s.discord.Delete(s.channel, q.ID)
	room := s.addChannel("room")
	s.discord.Say(room.ID, s.ana.ID, s.discord.Bot.Mention()+" where?")
	s.discord.RemoveChannel(room.ID)
	s.discord.Say(s.channel, s.bo.ID, "the end")
	s.discord.WaitTakenIn()
	release()
	s.ask("and now?")
	s.answered(t, s.channel, "Friday")
	if asked := s.oracle.questions(); len(asked) != 1 || asked[0].Text != "and now?" {
		t.Errorf("asked %+v", asked)
	}
}

func TestDeletedQuestionsStopTheirAnswers(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(s *scene, channel, q discordtest.ID){
		"one":  func(s *scene, channel, q discordtest.ID) { s.discord.Delete(channel, q) },
		"bulk": func(s *scene, channel, q discordtest.ID) { s.discord.BulkDelete(channel, q) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remembering(t)
			s.slowly(twoParts, "")
			q := s.ask("when?")
			s.discord.WaitFor("two messages", func() bool { return len(s.discord.Sent(s.channel)) == 2 })
			remove(s, s.channel, q.ID)
			sent := s.discord.Sent(s.channel)
			s.isGone(t, sent[0].Message, sent[1].Message)
			s.oracle.answer = says("Friday")
			s.ask("and now?")
			s.answered(t, s.channel, "Friday")
			if traces := s.traces(t, 1); len(traces) != 1 {
				t.Errorf("kept %+v", traces)
			}
		})
	}
}

func TestAnswersToDeletedQuestionsAreTakenBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	q := s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.discord.Delete(s.channel, q.ID)
	s.isGone(t, m.Message)
	s.marked(t, m.Message)
	if versions := s.now(m.Message).Versions; slices.Contains(versions, withdrawnText) {
		t.Errorf("it read %q", versions)
	}
}

func TestMentionAloneThatGrowsIntoAQuestion(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	q := s.ask("")
	m := s.replied(t, q)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
	s.shows(m.Message, "Friday")
	s.over(t, 1)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention())
	s.shows(m.Message, m.Content)
	s.discord.WaitFor("no buttons", func() bool { return s.buttonsBelow(m.Message) == "" })
}

// The role that only Hark has is a mention of it.
func TestHarksOwnRoleTriggers(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.discord.Say(s.channel, s.bo.ID, fmt.Sprintf("<@&%d> when?", s.guild.BotRole.ID))
	s.answered(t, s.channel, "Friday")
}

// Only a mention of Hark itself asks.
func TestEveryoneAndRolesDontTrigger(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.bo.ID, discordtest.MentionEveryone, 0))
	role := s.discord.AddRole(s.guild.ID, "team", 0)
	s.discord.UpdateRole(s.guild.ID, role.ID, func(r *discordtest.Role) { r.Mentionable = true })
	first := s.discord.Say(s.channel, s.ana.ID, "hello")
	for _, text := range []string{"@everyone when?", "@here when?", fmt.Sprintf("<@&%d> when?", role.ID)} {
		m := s.discord.Say(s.channel, s.bo.ID, text)
		s.discord.Say(s.channel, s.bo.ID, text, discordtest.ReplyTo(first.ID))
		s.discord.Edit(s.channel, m.ID, text+" please")
	}
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 0 {
		t.Errorf("asked %+v", asked)
	}
}
