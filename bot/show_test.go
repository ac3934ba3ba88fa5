package bot

import (
	"context"
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

// from has answers be made from a message.
func (s *scene) from(source discordtest.Message, text string) {
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		return answer.Answer{Text: text,
			Trace: traceOf(q, memory.Message{Channel: s.channelID,
				ID: memory.MessageID(source.ID)}.AsSource(true))}, nil
	}
}

// logged waits until an answer is over.
func (s *scene) logged(t *testing.T) {
	t.Helper()
	s.out.wait(t, `"answered"`)
	s.idle(t)
}

// twoParts is an answer that takes two messages.
var twoParts = strings.Repeat("a", 1500) + "\n\n" + strings.Repeat("b", 1500)

// The rest of an answer whose first message was deleted goes with its sources.
func TestWhatIsLeftOfAnAnswerIsForgotten(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(s *scene, source, question discordtest.Message) error{
		"its source is deleted": func(s *scene, source, _ discordtest.Message) error {
			s.discord.Delete(s.channel, source.ID)
			return nil
		},
		"its question is deleted": func(s *scene, _, q discordtest.Message) error {
			s.discord.Delete(s.channel, q.ID)
			return nil
		},
		"who said it is forgotten": func(s *scene, _, _ discordtest.Message) error {
			_, err := s.bot.ingest.Memory.Forget(context.Background(), memory.Forgetting{
				Guild: s.guildID, User: s.boID, Why: memory.WhyMember, At: s.discord.Now().Add(time.Hour)}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			store := s.overStore(t)
			source := s.discord.Say(s.channel, s.bo.ID, "the safe is 1234")
			s.from(source, twoParts)
			q := s.ask("what is it?")
			s.discord.WaitFor("two messages", func() bool { return len(s.discord.Sent(s.channel)) == 2 })
			s.logged(t)
			sent := s.discord.Sent(s.channel)
			s.discord.Delete(s.channel, sent[0].ID)
			left := memory.MessageID(sent[1].ID)
			s.discord.WaitFor("the trace of what is left", func() bool {
				trace, err := memory.TraceOf(context.Background(), store, s.channelID, left)
				return err == nil && trace.Answer == left
			})
			if err := forget(s, source, q); err != nil {
				t.Fatal(err)
			}
			s.discord.WaitFor("the rest to be taken back", func() bool {
				now := s.now(sent[1].Message)
				return now.Deleted || now.Content == withdrawnText
			})
			if got, err := store.Around(t.Context(), s.channelID, []memory.MessageID{left}, 0,
				0); err != nil || len(got) > 0 {
				t.Errorf("the log has %+v, %v", got, err)
			}
		})
	}
}

// An answer that can't be rewritten stays, with its sources.
func TestAnswersThatCantBeRewrittenStay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault discordtest.Fault
		times int
	}{"Discord fails": {discordtest.ServerError(), discord.Attempts}, "Discord refuses": {discordtest.Unfit(), 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			store := s.overStore(t)
			source := s.discord.Say(s.channel, s.bo.ID, "the safe is 1234")
			s.from(source, "It is 1234")
			s.ask("what is it?")
			m := s.waitText("It is 1234")
			s.logged(t)
			s.from(s.discord.Say(s.channel, s.bo.ID, "another"), "I don't know")
			trouble := s.discord.Inject("PATCH /channels/*/messages/*", test.times, test.fault)
			if test.times == 1 { // nor is a new message taken
				s.discord.Inject("POST /channels/*/messages", 1, test.fault)
			}
			s.press(m.Message, s.ana, reply.ButtonAgain).Wait()
			trouble.WaitHits(test.times)
			s.ask("and now?") // which is answered after the other
			s.waitText("I don't know")
			at := []memory.MessageID{memory.MessageID(m.ID)}
			trace, err := memory.TraceOf(t.Context(), store, s.channelID, at[0])
			if err != nil || !slices.Contains(trace.IDsOf(memory.SourceMessage), int64(source.ID)) {
				t.Errorf("kept %+v, %v", trace, err)
			}
			if got, err := store.Around(t.Context(), s.channelID, at, 0, 0); err != nil ||
				len(got) != 1 || got[0].Content != "It is 1234" {
				t.Errorf("the log has %+v, %v", got, err)
			}
			s.discord.Delete(s.channel, source.ID)
			s.shows(m.Message, withdrawnText)
		})
	}
}

// If its question was edited, so that its sources are no longer known, it goes.
func TestAnswersToEditedQuestionsThatCantBeRewrittenGo(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.overStore(t)
	s.from(s.discord.Say(s.channel, s.bo.ID, "the safe is 1234"), "It is 1234")
	q := s.ask("what is it?")
	m := s.waitText("It is 1234")
	s.logged(t)
	failing := s.discord.Inject("PATCH /channels/*/messages/*", 1000, discordtest.ServerError())
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" who is it?")
	s.out.wait(t, "couldn't show an answer")
	failing.Release()
	s.discord.WaitFor("the answer to go", func() bool {
		now := s.now(m.Message)
		return now.Deleted || now.Content == withdrawnText
	})
}

// If only the first of two messages can be rewritten, the second goes.
func TestAnswersRewrittenByHalf(t *testing.T) {
	t.Parallel()
	s := set(t)
	store := s.overStore(t)
	source := s.discord.Say(s.channel, s.bo.ID, "the safe is 1234")
	s.from(source, twoParts)
	s.ask("what is it?")
	s.discord.WaitFor("two messages", func() bool { return len(s.discord.Sent(s.channel)) == 2 })
	s.logged(t)
	sent := s.discord.Sent(s.channel)
	s.discord.Inject("DELETE /channels/*/messages/*", discord.Attempts, discordtest.ServerError())
	s.oracle.answer = says("I don't know")
	s.press(sent[1].Message, s.ana, reply.ButtonAgain).Wait()
	s.shows(sent[0].Message, "I don't know")
	s.discord.WaitFor("the other half to go", func() bool { return s.now(sent[1].Message).Deleted })
	if got, err := store.Around(t.Context(), s.channelID,
		[]memory.MessageID{memory.MessageID(sent[1].ID)}, 0, 0); err != nil || len(got) > 0 {
		t.Errorf("the log has %+v, %v", got, err)
	}
}

// An answer is rewritten in what moderators left of it, or else posted anew.
func TestAskedAgainAfterAPartWentAway(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.oracle.answer = says(twoParts)
	s.ask("when?")
	s.over(t, 1)
	sent := s.discord.Sent(s.channel)
	s.discord.Delete(s.channel, sent[0].ID)
	s.log.waitSaid(t, "delete 1")
	s.oracle.answer = says("Saturday")
	s.press(sent[1].Message, s.ana, reply.ButtonAgain).Wait()
	s.shows(sent[1].Message, "Saturday")
	if kept := s.traces(t, 2)[1]; kept.Answer != memory.MessageID(sent[1].ID) || len(kept.Parts) > 0 {
		t.Errorf("kept %+v", kept)
	}
}

func TestAnswersDeletedWhileTheyAreWrittenAnew(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	q := s.ask("whn?")
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	say, begun := s.hush()
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
	<-begun
	s.discord.Delete(s.channel, m.ID)
	s.log.waitSaid(t, "delete 1")
	say <- "Saturday"
	if again := s.answered(t, s.channel, "Saturday"); again.ID == m.ID || again.Reference == nil ||
		again.Reference.MessageID != q.ID {
		t.Errorf("answered by %+v", again.Message)
	}
}

// Whatever Discord refuses, no preview stays as if it were being written.
func TestRefusedEditsDontLeaveThePreview(t *testing.T) {
	t.Parallel()
	code := "Here:\n```go\n" + manyLines(41) + "```"
	for name, tt := range map[string]struct {
		text     string
		patches  int // edits that are refused
		posts    int // new messages that are refused after those
		want     func(string) bool
		messages int // that were ever sent
	}{
		"a file":           {code, 1, 0, func(text string) bool { return len(text) > 300 }, 1},
		"the edit":         {"Friday, then", discord.Attempts, 0, is("Friday, then"), 2},
		"the words":        {"Friday, then", 1, 1, is(cantShow), 1},
		"a mention of all": {"Ask <@&1> then", discord.Attempts, 0, is("Ask @role then"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			shown := make(chan struct{})
			s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
				stream("Fri")
				<-shown
				return answer.Answer{Text: tt.text}, nil
			}
			s.ask("when?")
			preview := s.waitText("Fri")
			s.discord.Inject("PATCH /channels/*/messages/*", tt.patches, discordtest.Unfit())
			if tt.posts > 0 {
				s.discord.Inject("POST /channels/*/messages", tt.posts, discordtest.Unfit())
			}
			close(shown)
			m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return tt.want(m.Content) })
			s.idle(t)
			if was := s.now(preview.Message); m.ID != preview.ID && !was.Deleted {
				t.Errorf("the preview is still there: %q", was.Content)
			}
			if s.buttonsOf(m.Message)[reply.ButtonStop] != "" {
				t.Error("it still offers to stop")
			}
			if n := len(s.discord.Sent(s.channel)); n != tt.messages {
				t.Errorf("%d messages, not %d", n, tt.messages)
			}
		})
	}
}
