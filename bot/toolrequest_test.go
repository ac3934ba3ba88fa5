package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// asksFirst has answers ask whether a tool may run. It returns what each was told.
func (s *scene) asksFirst() <-chan answer.Consent {
	told := make(chan answer.Consent, 10)
	s.oracle.answer = func(ctx context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		consent := q.Agree(ctx, answer.ToolRequest{Server: "mail", Tool: "*send*", Arguments: `{"to":"canary"}`})
		told <- consent
		a := answer.Answer{Text: "Not sent", Trace: traceOf(q)}
		if consent == answer.Agreed {
			a.Text, a.Ran = "Sent", []string{"mail: *send*"}
		}
		return a, ctx.Err()
	}
	return told
}

// agreesWithin is remembering with so much time for askers to decide.
func agreesWithin(t *testing.T, limit time.Duration) *scene {
	t.Helper()
	s := asking(t)
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	s.bot.timing.reply.Agree = limit
	return s.run(t).ready(t)
}

// requestsLeft waits until n requests are in Discord.
func (s *scene) requestsLeft(n int) {
	s.discord.WaitFor(fmt.Sprintf("%d requests", n), func() bool {
		left := 0
		for _, m := range s.discord.Sent(s.channel) {
			if strings.Contains(m.Content, "canary") && !m.Deleted {
				left++
			}
		}
		return left == n
	})
}

// request is the message that asks whether a tool may run.
func (s *scene) request() discordtest.Sent {
	return s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return strings.Contains(m.Content, `{"to":"canary"}`) && !m.Deleted
	})
}

// goes waits until a message is deleted in Discord.
func (s *scene) goes(m discordtest.Message) {
	s.discord.WaitFor("the message to go", func() bool { return s.now(m).Deleted })
}

// Only the asker decides whether a tool runs, once. Nothing remains of the request.
func TestTheAskerDecidesWhetherAToolRuns(t *testing.T) {
	t.Parallel()
	for button, want := range map[string]answer.Consent{reply.ButtonRun: answer.Agreed, reply.ButtonDoNot: answer.Refused} {
		s := remembering(t)
		told := s.asksFirst()
		q := s.ask("send it")
		m := s.request()
		if !slices.Equal(m.Pinged, []discordtest.ID{s.ana.ID}) ||
			!strings.Contains(string(m.Bodies[0]), fmt.Sprintf(`"message_reference":{"message_id":"%d"`, q.ID)) ||
			m.Flags != discord.SuppressEmbeds || !strings.Contains(m.Content, `**\*send\*** of **mail**`) {
			t.Errorf("asked %q", m.Content)
		}
		if got := whispered(t, s, s.press(m.Message, s.bo, button)); !strings.HasPrefix(got, "Only") {
			t.Errorf("another member is told %q", got)
		}
		s.press(m.Message, s.ana, button).Wait()
		if got := <-told; got != want {
			t.Errorf("%s: told %v", button, got)
		}
		s.goes(m.Message)
		if want == answer.Agreed {
			a := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, "Sent") })
			if a.Content != "Sent\n-# With tools from outside: mail\\: \\*send\\*" {
				t.Errorf("answered %q", a.Content)
			}
		} else {
			s.answered(t, s.channel, "Not sent")
		}
		for _, said := range s.log.said() {
			if strings.Contains(said, "canary") {
				t.Errorf("logged %q", said)
			}
		}
		if strings.Contains(s.out.String(), "canary") {
			t.Error("the journal has the arguments")
		}
	}
}

// Nobody is asked about what doesn't fit into a message, or for an answer that has ended.
func TestRequestsThatAreNotMade(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	told := make(chan answer.Consent, 2)
	s.oracle.answer = func(ctx context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		told <- q.Agree(ctx, answer.ToolRequest{Server: "mail", Tool: "send", Arguments: strings.Repeat("x", 2000)})
		ended, cancel := context.WithCancel(ctx)
		cancel()
		told <- q.Agree(ended, answer.ToolRequest{Server: "mail", Tool: "send", Arguments: "{}"})
		return answer.Answer{Text: "Not sent", Trace: traceOf(q)}, nil
	}
	s.ask("send it")
	if long, ended := <-told, <-told; long != answer.TooLong || ended != answer.Unanswered {
		t.Errorf("told %v and %v", long, ended)
	}
	s.answered(t, s.channel, "Not sent")
	if n := len(s.discord.Sent(s.channel)); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestNobodySaysWhetherAToolRuns(t *testing.T) {
	t.Parallel()
	s := agreesWithin(t, time.Millisecond)
	told := s.asksFirst()
	s.ask("send it")
	if got := <-told; got != answer.Unanswered {
		t.Errorf("told %v", got)
	}
	s.goes(s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "canary") }).Message)
	s.answered(t, s.channel, "Not sent")
}

// The request goes with its question.
func TestRequestsGoWithTheirQuestion(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	told := s.asksFirst()
	q := s.ask("send it")
	m := s.request()
	s.discord.Delete(s.channel, q.ID)
	if got := <-told; got != answer.Unanswered {
		t.Errorf("told %v", got)
	}
	s.goes(m.Message)
}

// leavesRequest posts a request as an earlier process did.
func (s *scene) leavesRequest(t *testing.T, q discordtest.Message) discordtest.Message {
	t.Helper()
	o := reply.Owned{Asker: s.anaID, Question: memory.MessageID(q.ID), Before: []memory.MessageID{1}}
	to := &discord.Sender{Client: s.bot.ingest.Client, Channel: s.channelID}
	asks := discord.Saying("May I?")
	asks.Components = []discord.Component{discord.Row(discord.Button(discord.StyleGreen, "Run it", o.ID(reply.ButtonRun)))}
	m, err := to.Post(t.Context(), asks)
	if err != nil {
		t.Fatal(err)
	}
	return discordtest.Message{ID: discordtest.ID(m.ID), ChannelID: s.channel}
}

// A press on another request decides nothing, and that request goes.
func TestLatePressesDecideNothing(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	told := s.asksFirst()
	q := s.ask("send it")
	m, old := s.request(), s.leavesRequest(t, q)
	if got := whispered(t, s, s.press(old, s.ana, reply.ButtonRun)); got != string(reply.NotWaiting) {
		t.Errorf("told %q", got)
	}
	s.goes(old)
	s.press(m.Message, s.ana, reply.ButtonRun).Wait()
	if got := <-told; got != answer.Agreed {
		t.Errorf("told %v", got)
	}
}

// When the question is edited, its request goes, and another asks anew.
func TestRequestsOfEditedQuestions(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	told := s.asksFirst()
	q := s.ask("send it")
	old := s.request()
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" send that")
	if got := <-told; got != answer.Unanswered {
		t.Errorf("told %v", got)
	}
	s.goes(old.Message)
	s.press(s.request().Message, s.ana, reply.ButtonRun).Wait()
	if got := <-told; got != answer.Agreed {
		t.Errorf("told %v", got)
	}
}

// A request that a process left when it died goes at the next start.
func TestRequestsGoAfterARestart(t *testing.T) {
	t.Parallel()
	s, q, _ := opens(t, true)
	m := s.leavesRequest(t, q)
	s.again(t)
	s.goes(m)
}

// A second press changes nothing, and nothing is said.
func TestPressingTwice(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	told := s.asksFirst()
	s.ask("send it")
	m := s.request()
	hang := s.discord.Inject("DELETE /channels/*/messages/*", 1, discordtest.Hang())
	s.press(m.Message, s.ana, reply.ButtonRun).Wait()
	hang.WaitHits(1)
	again := s.press(m.Message, s.ana, reply.ButtonDoNot)
	again.Wait()
	if got := <-told; got != answer.Agreed {
		t.Errorf("told %v", got)
	}
	hang.Release()
	s.goes(m.Message)
	if said := again.FollowUps(); len(said) > 0 {
		t.Errorf("told %q", said[0].Content)
	}
}

// Who presses too late is told so, though the request is still there.
func TestPressingTooLate(t *testing.T) {
	t.Parallel()
	s := agreesWithin(t, time.Millisecond)
	hang := s.discord.Inject("DELETE /channels/*/messages/*", 1, discordtest.Hang())
	told := s.asksFirst()
	s.ask("send it")
	m := s.request()
	hang.WaitHits(1)
	if got := whispered(t, s, s.press(m.Message, s.ana, reply.ButtonRun)); got != string(reply.NotWaiting) {
		t.Errorf("told %q", got)
	}
	hang.Release()
	if got := <-told; got != answer.Unanswered {
		t.Errorf("told %v", got)
	}
	s.goes(m.Message)
}

// A request is one message, even if Discord says that it failed, and it goes.
func TestRequestsThatSeemToFail(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]answer.Consent{1: answer.Agreed, 1000: answer.NotAsked} {
		s := remembering(t)
		told := s.asksFirst()
		failing := s.discord.Inject("POST /channels/*/messages", failures, discordtest.DoneButBadGateway())
		s.ask("send it")
		if want == answer.Agreed {
			m := s.request()
			s.requestsLeft(1)
			s.press(m.Message, s.ana, reply.ButtonRun).Wait()
		}
		if got := <-told; got != want {
			t.Errorf("told %v after %d failures", got, failures)
		}
		failing.Release()
		s.requestsLeft(0)
	}
}

// A request may take longer to be shown than a stopped answer has.
func TestRequestsThatAreSlowToPost(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	s.bot.timing.reply.Unwind = time.Millisecond
	s.run(t).ready(t)
	told := s.asksFirst()
	s.discord.Inject("POST /channels/*/messages", 1, discordtest.RateLimited(100*time.Millisecond))
	s.ask("send it")
	s.press(s.request().Message, s.ana, reply.ButtonRun).Wait()
	if got := <-told; got != answer.Agreed {
		t.Errorf("told %v", got)
	}
}

// A request that couldn't be deleted goes at the next start.
func TestRequestsThatStayGoAtTheNextStart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	told := s.asksFirst()
	s.ask("send it")
	m := s.request()
	failing := s.discord.Inject("DELETE /channels/*/messages/*", 1000, discordtest.ServerError())
	s.press(m.Message, s.ana, reply.ButtonDoNot).Wait()
	if got := <-told; got != answer.Refused {
		t.Errorf("told %v", got)
	}
	s.answered(t, s.channel, "Not sent")
	s.stops(t)
	failing.Release()
	if s.now(m.Message).Deleted {
		t.Fatal("it is gone")
	}
	s.withPolicy(t).begins(t)
	s.goes(m.Message)
	s.closed(t)
}

// While askers are asked, others' questions elsewhere are answered.
func TestRequestsHoldUpNoOtherChannel(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.oracle.answer = func(ctx context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		if strings.Contains(q.Text, "send") {
			q.Agree(ctx, answer.ToolRequest{Server: "mail", Tool: "send", Arguments: `{"to":"canary"}`})
		}
		return answer.Answer{Text: "Fine", Trace: traceOf(q)}, ctx.Err()
	}
	const many = 17 // more than all of Hark answers at once
	for range many {
		c := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "asking"})
		s.discord.Say(c.ID, s.bo.ID, s.discord.Bot.Mention()+" send it")
		s.discord.WaitSent(c.ID, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "canary") })
	}
	s.ask("hello?")
	s.answered(t, s.channel, "Fine")
}

// What ran is said below an answer that was stopped, and below that of the question's next version.
func TestWhatRanIsSaid(t *testing.T) {
	t.Parallel()
	for _, stops := range []bool{true, false} {
		s := remembering(t)
		ran := make(chan struct{}, 1)
		s.oracle.answer = func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
			if strings.Contains(q.Text, "nothing") {
				return answer.Answer{Text: "I begin again", Trace: traceOf(q)}, nil
			}
			stream("I begin")
			ran <- struct{}{}
			<-ctx.Done()
			return answer.Answer{Text: "I begin", Ran: []string{"mail: send"}, Trace: traceOf(q)}, ctx.Err()
		}
		q := s.ask("send it")
		<-ran
		a := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, "I begin") })
		const note = "\n-# With tools from outside: mail\\: send"
		if stops {
			s.press(a.Message, s.ana, reply.ButtonStop).Wait()
			s.shows(a.Message, "I begin\n-# ⏹️ Stopped."+note)
		} else {
			s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" send nothing")
			s.shows(a.Message, "I begin again"+note)
		}
	}
}
