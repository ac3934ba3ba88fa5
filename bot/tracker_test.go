package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/bot/ingest"
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
			return answer.Answer{Text: text, Trace: traceOf(q)}, nil
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
	if err := s.bot.queue.Commit(t.Context(), nil); err != nil {
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
	// The preview of a link in what was edited is no edit, nor is one that says the same.
	s.discord.Unfurl(s.channel, q.ID, `{"type":"link","title":"another"}`)
	s.discord.Edit(s.channel, q.ID, "when?"+s.discord.Bot.Mention())
	s.posts(t, s.channel, s.bo.ID, "so it is")
	// Nor is what takes the mention away: nothing becomes of it.
	s.discord.Edit(s.channel, q.ID, "never mind")
	s.log.waitSaid(t, "them: never mind")
	s.discord.Advance(ingest.EditedWithin + time.Second)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" and where?")
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 2 || asked[1].Text != "when?" {
		t.Errorf("asked %d times: %+v", len(asked), asked)
	}
	s.shows(m.Message, withdrawnText) // since its question reads otherwise now
	if sent := s.discord.Sent(s.channel); len(sent) != 1 {
		t.Errorf("sent %+v", sent)
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
	s.shows(m.Message, fmt.Sprintf(askMe, s.discord.Bot.ID))
	s.discord.WaitFor("no buttons", func() bool { return s.buttonsBelow(m.Message) == "" })
}

// Nothing but Hark's own name calls it.
func TestEveryoneAndRolesDontTrigger(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.bo.ID, discordtest.MentionEveryone, 0))
	role := s.discord.AddRole(s.guild.ID, "team", 0)
	s.discord.UpdateRole(s.guild.ID, role.ID, func(r *discordtest.Role) { r.Mentionable = true })
	first := s.discord.Say(s.channel, s.ana.ID, "hello")
	for _, text := range []string{"@everyone when?", "@here when?", fmt.Sprintf("<@&%d> when?", role.ID),
		fmt.Sprintf("<@&%d> when?", s.guild.BotRole.ID)} {
		m := s.discord.Say(s.channel, s.bo.ID, text)
		s.discord.Say(s.channel, s.bo.ID, text, discordtest.ReplyTo(first.ID))
		s.discord.Edit(s.channel, m.ID, text+" please")
	}
	s.posts(t, s.channel, s.bo.ID, "the end")
	if asked := s.oracle.questions(); len(asked) != 0 {
		t.Errorf("asked %+v", asked)
	}
}

// life plays what becomes of question 1, which is asked in the thread 20 of channel 2 in guild 3, and of
// whoever answers it.
type life struct {
	*tracker
	answering context.Context
}

// does plays a step and tells what comes of it.
func (l *life) does(step string) string {
	verb, text, _ := strings.Cut(step, " ")
	a := &ingest.Question{ID: 1, Guild: 3, Channel: 20, Parent: 2, Asker: 4, Text: text, Again: verb != "ask",
		Unasked: verb == "nevermind", Brief: verb == "briefly"}
	ids := func() (ids []memory.MessageID) {
		for _, word := range strings.Fields(text) {
			n, _ := strconv.Atoi(word)
			ids = append(ids, memory.MessageID(n))
		}
		return ids
	}
	see := func(s ingest.Subject) string {
		l.see([]ingest.Subject{s})
		return ""
	}
	because := func(err error) string {
		return map[error]string{nil: "", errAnew: "anew", errUnasked: "unasked", errHalted: "halted"}[err]
	}
	switch verb {
	case "ask", "edit", "briefly", "nevermind", "muted":
		if got := l.hear(a, verb == "muted"); got != nil {
			return "answer " + got.Text
		}
		return ""
	case "press":
		return strconv.FormatBool(l.again(a, []memory.MessageID{10}, []memory.MessageID{11}))
	case "begin":
		ctx, got := l.begin(context.Background(), 1)
		if got == nil {
			return "gone"
		}
		l.answering = ctx
		return strings.TrimSpace(got.Text + " " + fmt.Sprint(append(got.Shown, got.More...)))
	case "end", "log":
		shown := ids()
		return because(l.end(1, shown[:1], shown[1:], verb == "log"))
	case "cause":
		return because(context.Cause(l.answering))
	case "refuse":
		l.refuse(1)
	case "stop":
		return strconv.FormatBool(l.stop(1))
	case "unask":
		return strconv.FormatBool(l.unask(1))
	case "clear":
		return fmt.Sprint(l.clear(1))
	case "delete":
		return see(ingest.Subject{Guild: 3, Channel: 20, Deleted: ids()})
	case "leave":
		return see(ingest.Subject{Guild: 3, Ended: true})
	case "close":
		return see(ingest.Subject{Guild: 3, Channel: memory.ChannelID(ids()[0]), Ended: true})
	case "remove": // what is to be taken back in Discord
		own, _ := l.ownRemovals()
		slices.SortFunc(own, func(a, b memory.Spot) int { return int(a.Message - b.Message) })
		return fmt.Sprint(own)
	}
	return ""
}

func TestTrackerFollowsItsQuestions(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]string{
		"told twice": {"ask when: answer when", "ask when", "begin: when []", "ask when",
			"log 10", "ask when"},
		"edited while it waits": {"ask whn: answer whn", "edit when", "briefly when?",
			"begin: when? []", "log 10", "begin: gone"},
		"edited while it is answered": {"ask whn: answer whn", "begin: whn []", "edit when", "cause: anew",
			"log 10: anew", "begin: when [10]", "log 10", "cause"},
		"edited after that": {"ask whn: answer whn", "begin: whn []", "log 10 11",
			"edit when: answer when", "begin: when [10 11]"},
		"edited to the same": {"ask when: answer when", "edit when", "begin: when []",
			"briefly when", "cause", "log 10", "edit when", "begin: gone"},
		"stopped and edited": {"ask whn: answer whn", "stop: false", "begin: whn []", "stop: true",
			"edit when", "cause: halted", "log 10: anew", "stop: true"},
		"asked by an edit":         {"briefly when", "edit when: answer when", "begin: when []"},
		"nobody is answered there": {"muted when", "ask when", "edit when?: answer when?"},
		"the mention is taken away": {"ask when: answer when", "begin: when []", "nevermind",
			"cause: unasked", "log 10: unasked", "begin: gone", "clear: [10]", "edit when: answer when", "begin: when []"},
		"and of one that waits": {"nevermind", "ask when: answer when", "nevermind", "edit when",
			"begin: gone", "clear: []", "nevermind", "edit when: answer when"},
		"deleted while it waits": {"ask when: answer when", "delete 1", "begin: gone", "clear: []"},
		"deleted while it is answered": {"ask when: answer when", "begin: when []", "delete 1",
			"cause: unasked", "log 10: unasked", "begin: gone", "clear: [10]", "remove: []"},
		"deleted when that is logged": {"ask when: answer when", "begin: when []", "log 10", "delete 1",
			"remove: []", "ask when"},
		"and when it isn't": {"ask when: answer when", "begin: when []", "end 10 11", "delete 1",
			"remove: [{20 10} {20 11}]", "ask when"},
		"its answer is deleted": {"ask whn: answer whn", "begin: whn []", "log 10 11 12",
			"delete 10 12", "edit when: answer when", "begin: when [11]"},
		"by its button": {"ask when: answer when", "begin: when []", "log 10", "unask: false",
			"edit when", "edit where: answer where", "begin: where []"},
		"while it is written": {"ask when: answer when", "begin: when []", "unask: true",
			"cause: unasked", "log 10: unasked", "clear: [10]", "edit when"},
		"refused": {"refuse", "ask when: answer when", "refuse", "ask when",
			"edit when: answer when", "begin: when []"},
		"refused with an answer": {"ask whn: answer whn", "begin: whn []", "end 10 11",
			"edit when: answer when", "refuse", "edit when", "edit where: answer where", "begin: where [10 11]"},
		"deleted before it is refused": {"ask whn: answer whn", "begin: whn []", "end 10",
			"edit when: answer when", "delete 1", "remove: []", "refuse", "remove: [{20 10}]"},
		"asked again": {"press when: true", "press when: false", "begin: when [10 11]",
			"press when: false", "log 10", "press when: true"},
		"asked again and refused": {"ask when: answer when", "begin: when []", "end 9", "press when: true",
			"refuse", "delete 1", "remove: [{20 10} {20 11}]"},
		"the thread is deleted":      {"ask when: answer when", "begin: when []", "close 20", "cause: unasked"},
		"the channel is deleted":     {"ask when: answer when", "begin: when []", "close 2", "cause: unasked"},
		"another channel is deleted": {"ask when: answer when", "begin: when []", "close 21", "cause"},
		"the guild is left": {"ask when: answer when", "begin: when []", "log 10", "leave",
			"remove: []", "begin: gone", "ask when"},
	} {
		l := &life{tracker: newReplier(replyOptions{Options: &ingest.Options{}, Since: time.UnixMilli(0)}).questions}
		for i, line := range script {
			step, want, _ := strings.Cut(line, ": ")
			if got := l.does(step); got != want {
				t.Errorf("%s, step %d, %s: %q, want %q", name, i, step, got, want)
			}
		}
		if q := l.of(1); q.state == over && q.ask.Text != "" {
			t.Errorf("%s: its text is kept", name)
		}
	}
	before := &life{tracker: newReplier(replyOptions{Options: &ingest.Options{}, Since: noon}).questions}
	if got := before.does("edit when"); got != "" {
		t.Errorf("what was said before Hark listened, and may have been answered: %q", got)
	}
}

func TestManyQuestions(t *testing.T) {
	t.Parallel()
	q := newReplier(replyOptions{Options: &ingest.Options{}, Since: time.UnixMilli(0)}).questions
	for i := range 2*knownQuestions + 1 {
		a := &ingest.Question{ID: memory.MessageID(i + 1), Text: "when?"}
		q.hear(a, false)
		q.begin(t.Context(), a.ID)
		if i > 0 {
			_ = q.end(a.ID, []memory.MessageID{1}, nil, true)
		}
	}
	if n := len(q.known); n != knownQuestions+2 || !q.isOpen(1) || q.known[2] != nil {
		t.Errorf("%d are known, want the newer ones and the one that is being answered", n)
	}
}
