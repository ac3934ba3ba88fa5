package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// hush has answers wait for what is sent to it, or for the end of their question; begun receives with each.
func (s *scene) hush() (say chan string, begun chan answer.Question) {
	say, begun = make(chan string), make(chan answer.Question, 100)
	s.oracle.answer = func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		begun <- q
		select {
		case text := <-say:
			stream(text)
			return answer.Answer{Text: text, Trace: memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker, QuestionEdited: q.Edited.UnixMilli()}}, nil
		case <-ctx.Done():
			return answer.Answer{}, ctx.Err()
		}
	}
	return say, begun
}

// over waits until it is over with answers to questions, and that is known.
func (s *scene) over(t *testing.T, n int) {
	t.Helper()
	s.traces(t, n)
	s.idle(t)
}

// idle returns once nothing is being answered, and all that was put before is in the log.
func (s *scene) idle(t *testing.T) {
	t.Helper()
	s.discord.WaitFor("the bot to be idle", s.bot.idle)
}

// commitNothing returns once all that was put before is in the log.
func (s *scene) commitNothing(t *testing.T) {
	t.Helper()
	if err := s.bot.commit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestQuestionsEditedWhileTheyAreAnsweredAreAnsweredAnew(t *testing.T) {
	t.Parallel()
	for _, briefly := range []bool{false, true} {
		s := remembering(t)
		goOn := s.slowly("It is", " Friday")
		q := s.ask("whn?")
		m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == "It is" })
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
		if len(asked) != 2 || asked[1].Text != "when?" || asked[1].Edited.IsZero() || asked[1].Name != asked[0].Name || asked[1].Asker != asked[0].Asker || asked[1].ID != asked[0].ID {
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
	// The preview of a link in what was edited is no edit, nor is one that says the same.
	s.discord.Unfurl(s.channel, q.ID, `{"type":"link","title":"another"}`)
	s.discord.Edit(s.channel, q.ID, "when?"+s.discord.Bot.Mention())
	s.posts(t, s.channel, s.bo.ID, "so it is")
	// Nor is what takes the mention away: nothing becomes of it.
	s.discord.Edit(s.channel, q.ID, "never mind")
	s.log.waitSaid(t, "them: never mind")
	s.discord.Advance(editedWithin + time.Second)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" and where?")
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 2 || asked[1].Text != "when?" {
		t.Errorf("asked %d times: %+v", len(asked), asked)
	}
	if sent := s.discord.Sent(s.channel); len(sent) != 1 || sent[0].Content != "Saturday" || sent[0].Deleted {
		t.Errorf("sent %+v", sent)
	}
}

func TestEditsThatAddTheMentionAsk(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	soon, late := s.discord.Say(s.channel, s.ana.ID, "when?"), s.discord.Say(s.channel, s.ana.ID, "where?")
	s.discord.EditBriefly(s.channel, soon.ID, s.discord.Bot.Mention()+" who?") // by whom nobody says
	s.discord.Edit(s.channel, soon.ID, s.discord.Bot.Mention()+" when?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	if m.Reference == nil || m.Reference.MessageID != soon.ID {
		t.Errorf("the answer refers to %+v", m.Reference)
	}
	s.discord.Advance(editedWithin + time.Second)
	s.discord.Edit(s.channel, late.ID, s.discord.Bot.Mention()+" where?")
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 1 || asked[0].Text != "when?" {
		t.Errorf("asked %+v", asked)
	}
}

// What was said before Hark listened may have been answered: nobody knows.
func TestEditsOfWhatWasSaidBeforeAskNothing(t *testing.T) {
	t.Parallel()
	s := set(t)
	q := s.ask("whn?")
	s.discord.Advance(time.Second)
	s.run(t).ready(t)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
	s.posts(t, s.channel, s.bo.ID, "the end")
	if n := len(s.oracle.questions()); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

// holdsUp says something that the log, which is held, doesn't take: what comes after it waits.
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
	room := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "room"})
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

// A question that waits is asked as it is when it is its turn, or not at all.
func TestWaitingQuestionsChange(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	say, begun := s.hush()
	s.ask("first?")
	<-begun
	edited, deleted := s.ask("secnd?"), s.ask("third?")
	s.discord.Edit(s.channel, edited.ID, s.discord.Bot.Mention()+" second?")
	s.discord.Delete(s.channel, deleted.ID)
	s.log.waitSaid(t, "delete 1")
	say <- "one"
	if q := <-begun; q.Text != "second?" || q.Edited.IsZero() {
		t.Errorf("asked %+v", q)
	}
	say <- "two"
	s.answered(t, s.channel, "two")
	s.over(t, 2)
	s.ask("fourth?")
	if q := <-begun; q.Text != "fourth?" {
		t.Errorf("asked %+v", q)
	}
	say <- "four"
	s.answered(t, s.channel, "four")
	s.over(t, 3)
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
			paragraph := strings.Repeat("a", 1500)
			s.slowly(paragraph+"\n\n"+paragraph, "")
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

func TestDeletedChannelsStopTheirAnswers(t *testing.T) {
	t.Parallel()
	for _, inThread := range []bool{false, true} {
		for _, whole := range []bool{false, true} {
			s := remembering(t)
			ended := make(chan error, 1)
			begun := make(chan bool, 1)
			s.oracle.answer = func(ctx context.Context, _ answer.Question, _ func(string)) (answer.Answer, error) {
				begun <- true
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return answer.Answer{}, ctx.Err()
			}
			room := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "room"})
			at := room.ID
			if inThread {
				at = s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &room.ID}).ID
			}
			s.discord.Say(at, s.ana.ID, s.discord.Bot.Mention()+" when?")
			<-begun
			gone := at
			if whole {
				gone = room.ID
			}
			s.discord.RemoveChannel(gone)
			if err := <-ended; err != errUnasked {
				t.Errorf("in a thread: %t, with its channel: %t: ended by %v", inThread, whole, err)
			}
		}
	}
}

func TestAnswersToDeletedQuestionsAreTakenBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	q := s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	// As the log does.
	s.log.mu.Lock()
	s.log.withdrawn = append(s.log.withdrawn, memory.Withdrawn{
		Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), Message: memory.MessageID(m.ID), First: true, Unasked: true})
	s.log.mu.Unlock()
	s.discord.Delete(s.channel, q.ID)
	s.isGone(t, m.Message)
	s.marked(t, m.Message)
	if versions := s.now(m.Message).Versions; slices.Contains(versions, withdrawnText) {
		t.Errorf("it read %q", versions)
	}
}

func TestAnswersToDeletedQuestionsThatArentLoggedAreTakenBack(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	q := s.ask("when?")
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.discord.Delete(s.channel, q.ID)
	s.discord.WaitFor("the answer to go", func() bool { return s.now(m.Message).Deleted })
}

func TestAnswersStayWithoutTheirQuestionsWhereTheyShall(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Ask: true}})
	s.bot.timing.look = time.Millisecond
	s.run(t).ready(t)
	s.notice(t, s.channel)
	q := s.ask("when?")
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.out.wait(t, `"answered"`)
	s.idle(t)
	s.discord.Delete(s.channel, q.ID)
	s.discord.Say(s.channel, s.ana.ID, "so what")
	s.ask("and now?")
	s.discord.WaitFor("another answer", func() bool { return len(s.discord.Sent(s.channel)) == 3 })
	if s.now(m.Message).Deleted {
		t.Error("the answer went with its question")
	}
}

// The answer's message may have gone before its question is edited.
func TestEditedQuestionsWhoseAnswerIsGone(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	q := s.ask("whn?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	s.discord.Delete(s.channel, m.ID)
	s.log.waitSaid(t, "delete 1")
	s.oracle.answer = says("Saturday")
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
	if again := s.answered(t, s.channel, "Saturday"); again.ID == m.ID || again.Reference == nil || again.Reference.MessageID != q.ID {
		t.Errorf("answered by %+v", again.Message)
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
	s.shows(m.Message, fmt.Sprintf(askMe, s.discord.Bot.ID))
	s.discord.WaitFor("no buttons", func() bool { return s.buttonsBelow(m.Message) == "" })
}

func TestManyLives(t *testing.T) {
	t.Parallel()
	l := newLives(time.UnixMilli(0))
	for i := range knownLives + 1 {
		a := &ask{id: memory.MessageID(i + 1), channel: 1, text: "when?"}
		if l.hear(a) != a {
			t.Fatalf("question %d isn't asked", i)
		}
		if _, got, _ := l.begin(t.Context(), a.id, 0); got == nil || got.id != a.id {
			t.Fatalf("question %d doesn't begin", i)
		}
		if i > 0 {
			if err := l.end(a.id, []memory.MessageID{1}, nil, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(l.of); n != 2 {
		t.Errorf("%d are known, want the one that is being answered and the last", n)
	}
	for id, known := range l.of {
		if id != 1 && known.ask.text != "" {
			t.Errorf("the text of %d is kept: %q", id, known.ask.text)
		}
	}
	l.see([]memory.Event{memory.GuildLeft{}})
	if n := len(l.of); n != 1 || l.fate(1) != errUnasked {
		t.Errorf("%d are known after the guild was left", n)
	}
}

// Nothing but Hark's own name calls it.
func TestEveryoneAndRolesDontTrigger(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.bo.ID, discordtest.MentionEveryone, 0))
	role := s.discord.AddRole(s.guild.ID, "team", 0)
	s.discord.UpdateRole(s.guild.ID, role.ID, func(r *discordtest.Role) { r.Mentionable = true })
	first := s.discord.Say(s.channel, s.ana.ID, "hello")
	for _, text := range []string{"@everyone when?", "@here when?", fmt.Sprintf("<@&%d> when?", role.ID), fmt.Sprintf("<@&%d> when?", s.guild.BotRole.ID)} {
		m := s.discord.Say(s.channel, s.bo.ID, text)
		s.discord.Say(s.channel, s.bo.ID, text, discordtest.ReplyTo(first.ID))
		s.discord.Edit(s.channel, m.ID, text+" please")
	}
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 0 {
		t.Errorf("asked %+v", asked)
	}
}

// A pin or a preview of the question doesn't bring back the answer that its asker took away.
func TestDeletedAnswersStayAway(t *testing.T) {
	t.Parallel()
	for _, writing := range []bool{false, true} {
		s := remembering(t)
		q := s.ask("whn?")
		m := s.answered(t, s.channel, "Friday")
		s.over(t, 1)
		remove := s.buttonsOf(m.Message)[buttonDelete]
		s.oracle.answer = says("Saturday")
		begun := make(chan answer.Question)
		if writing {
			_, begun = s.hush()
		}
		s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
		if writing {
			<-begun
		} else {
			s.shows(m.Message, "Saturday")
			s.over(t, 2)
		}
		s.discord.Click(m.Message, s.ana.ID, remove).Wait()
		s.isGone(t, m.Message)
		s.oracle.answer = says("Sunday")
		s.discord.Unfurl(s.channel, q.ID, `{"type":"link","title":"a preview"}`)
		s.sees(t, "the end")
		s.idle(t)
		if len(s.oracle.questions()) != 2 {
			t.Errorf("while it was written: %t: asked %d times", writing, len(s.oracle.questions()))
		}
		// Another question is answered anew.
		s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" where?")
		if again := s.answered(t, s.channel, "Sunday"); again.ID == m.ID || len(s.oracle.questions()) != 3 {
			t.Errorf("while it was written: %t: asked %d times", writing, len(s.oracle.questions()))
		}
	}
}

// A pin and a preview come with the time of an edit that may be long ago.
func TestEditsOfLongAgoAskNothing(t *testing.T) {
	t.Parallel()
	sent := memory.MessageID(1 << 40)
	text := "<@1> when?"
	for _, test := range []struct {
		edited, heard time.Duration
		asks          bool
	}{
		{time.Second, time.Second, true},
		{editedWithin, 2 * editedWithin, true}, // the clocks may differ, and the connection may have been away
		{editedWithin, editedWithin - time.Hour, true},
		{editedWithin + time.Millisecond, 2 * editedWithin, false},
		{time.Second, 2*editedWithin + 2*time.Second, false},
		{time.Second, 24 * time.Hour, false},
	} {
		c := newConverter(1, false, func() time.Time { return sent.Time().Add(test.heard) })
		w := &wireMessage{ID: snowflake(sent), Channel: 3, Guild: 2, Content: &text, Edited: sent.Time().Add(test.edited)}
		if a := c.edit(w, false); (a != nil) != test.asks {
			t.Errorf("edited after %v, heard of after %v: %+v", test.edited, test.heard, a)
		}
	}
}

func TestMentionsTakenAwayStopTheAnswer(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	say, begun := s.hush()
	q := s.ask("what is my secret?")
	<-begun
	waits := s.ask("and yours?")
	s.discord.Edit(s.channel, waits.ID, "never mind either")
	s.discord.Edit(s.channel, q.ID, "never mind")
	s.ask("and now?")
	if next := <-begun; next.Text != "and now?" {
		t.Errorf("asked %q", next.Text)
	}
	say <- "now"
	s.answered(t, s.channel, "now")
	s.over(t, 1)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" what is my secret?")
	<-begun
	say <- "the secret"
	s.answered(t, s.channel, "the secret")
	if n := len(s.discord.Sent(s.channel)); n != 2 {
		t.Errorf("%d messages", n)
	}
}
