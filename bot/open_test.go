package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// closed waits until no question is open.
func (s *scene) closed(t *testing.T) {
	t.Helper()
	s.log.wait(t, "all questions to be closed", func() bool {
		open, _ := s.log.Questions(t.Context())
		return len(open) == 0
	})
}

// replies are the texts of Hark's messages in the channel that aren't deleted.
func (s *scene) replies() (texts []string) {
	for _, m := range s.discord.Sent(s.channel) {
		if !m.Deleted {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// Recent questions from downtime are answered, oldest first, each once.
func TestMissedQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	s := catching(t)
	s.oracle.answer = takes(1)
	s.run(t).ready(t)
	s.ask("heard?")
	s.answered(t, s.channel, "re: heard?")
	s.stop(t)
	s.discord.Advance(time.Hour)
	s.ask("too long ago?")
	s.discord.Advance(11 * time.Minute)
	gone := s.ask("deleted?")
	s.ask("first?")
	s.ask("second?")
	s.discord.Delete(s.channel, gone.ID)
	s.resume(t, Config{CatchUp: month, Reconcile: true, AnswerMissed: 10 * time.Minute})
	s.answered(t, s.channel, "re: first?")
	s.answered(t, s.channel, "re: second?")
	s.filled(t)
	s.closed(t)
	s.stop(t)
	s.resume(t, Config{CatchUp: month, Reconcile: true, AnswerMissed: 10 * time.Minute}).ready(t)
	s.ask("later?")
	s.answered(t, s.channel, "re: later?")
	s.idle(t)
	if got := fmt.Sprint(s.replies()); got != "[re: heard? re: first? re: second? re: later?]" {
		t.Errorf("the answers are %s", got)
	}
}

// A question that was answered before the process ended in mid-gap isn't asked again.
func TestMissedQuestionsAreAskedOnceThoughTheirGapGoesOn(t *testing.T) {
	t.Parallel()
	s := catching(t)
	s.oracle.answer = takes(1)
	s.run(t).ready(t)
	s.say(s.channel, 1, "before")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.discord.Advance(time.Minute)
	s.ask("first?")
	gone := s.ask("deleted?") // so that the channel's last message id isn't in the page
	s.discord.Delete(s.channel, gone.ID)
	messages := fmt.Sprintf("GET /channels/%d/messages", s.channel)
	first := s.discord.Inject(messages, 1, discordtest.Hang())
	cfg := Config{CatchUp: month, Reconcile: true, AnswerMissed: 10 * time.Minute}
	s.resume(t, cfg)
	first.WaitHits(1)
	rest := s.discord.Inject(messages, 1000, discordtest.ServerError()) // a hanging request would hold up the answer
	first.Release()
	rest.WaitHits(1)
	s.answered(t, s.channel, "re: first?")
	s.closed(t)
	s.stop(t)
	rest.Release()
	s.discord.Advance(6 * time.Minute) // nonces are forgotten by then
	s.ask("second?")
	s.resume(t, cfg)
	s.answered(t, s.channel, "re: second?")
	s.filled(t)
	s.closed(t)
	s.idle(t)
	if got := fmt.Sprint(s.replies()); got != "[re: first? re: second?]" {
		t.Errorf("the answers are %s", got)
	}
	s.mirrors(t, s.channel)
}

// opens is a scene with a question that the process before left open, if begun with half an answer.
func opens(t *testing.T, begun bool) (s *scene, q discordtest.Message, stump discordtest.Sent) {
	t.Helper()
	s = catching(t).run(t).ready(t)
	s.stops(t)
	q, a := s.leavesOpen(t)
	if begun {
		to, o := s.senderOf(a), reply.Owned{Asker: a.Asker, Question: a.ID}
		first, err := to.Create(t.Context(), 0, strings.Repeat("a", 2000), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Before = []memory.MessageID{first.ID}
		stop := []discord.Component{discord.Row(discord.Button(discord.StyleGrey, "Stop", o.ID(reply.ButtonStop)))}
		if _, err := to.Create(t.Context(), 1, "On Fri", stop, nil); err != nil {
			t.Fatal(err)
		}
		stump = s.discord.Sent(s.channel)[1]
	}
	return s, q, stump
}

// senderOf sends an answer as the process before did.
func (s *scene) senderOf(a *ingest.Question) *discord.Sender {
	return &discord.Sender{Client: s.bot.ingest.Client, Channel: a.Channel, Question: a.ID,
		Asker: a.Asker, Purpose: "a"}
}

// leavesOpen asks something that is logged as open.
func (s *scene) leavesOpen(t *testing.T) (discordtest.Message, *ingest.Question) {
	t.Helper()
	q := s.ask("when?")
	a := &ingest.Question{ID: memory.MessageID(q.ID), Guild: s.guildID, Channel: s.channelID, Asker: s.anaID}
	said := memory.Posted{Live: true, Message: memory.Message{ID: a.ID, Guild: a.Guild, Channel: a.Channel,
		Author: a.Asker, Content: q.Content}}
	s.apply(t, said, a.Opened())
	return q, a
}

// All accepted questions are answered after a restart, even more than may wait.
func TestAllQuestionsLeftOpenAreAnswered(t *testing.T) {
	t.Parallel()
	s, last, _ := opens(t, false)
	for range waitingQuestions + 2 {
		last, _ = s.leavesOpen(t)
	}
	takenUp := make(chan struct{})
	s.oracle.answer = func(ctx context.Context, _ answer.Question, _ func(string)) (answer.Answer, error) {
		select {
		case <-takenUp:
		case <-ctx.Done():
		}
		return answer.Answer{Text: "Friday"}, nil
	}
	s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
	s.discord.WaitFor("the last to be looked at", func() bool {
		return slices.ContainsFunc(s.discord.Requests(), func(r discordtest.Request) bool {
			return strings.HasSuffix(r.Path, fmt.Sprint("/messages/", last.ID))
		})
	})
	s.ask("and now?") // which isn't refused for them
	s.sees(t, "all was asked")
	close(takenUp)
	s.closed(t)
	s.idle(t)
	if got := s.replies(); len(got) != waitingQuestions+4 || slices.ContainsFunc(got, func(text string) bool {
		return !strings.HasPrefix(text, "Friday")
	}) {
		t.Errorf("the answers are %q", got)
	}
}

// A recent open question is answered in place of its half answer. That of an old one is marked as interrupted, and
// that of a deleted one loses its stop button.
func TestQuestionsLeftOpen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begun  bool
		then   func(s *scene, q discordtest.Message)
		asked  int
		stands int // messages
	}{
		"lately":            {false, func(*scene, discordtest.Message) {}, 1, 1},
		"lately, and begun": {true, func(*scene, discordtest.Message) {}, 1, 1},
		"long ago":          {true, func(s *scene, _ discordtest.Message) { s.discord.Advance(time.Hour) }, 0, 2},
		"gone":              {true, func(s *scene, q discordtest.Message) { s.discord.Delete(s.channel, q.ID) }, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, q, stump := opens(t, tt.begun)
			tt.then(s, q)
			s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
			s.closed(t)
			s.idle(t)
			if n := len(s.oracle.questions()); n != tt.asked || len(s.replies()) != tt.stands {
				t.Errorf("asked %d times; the answers are %q", n, s.replies())
			}
			if tt.asked > 0 {
				if m := s.answered(t, s.channel, "Friday"); m.Reference == nil || m.Reference.MessageID != q.ID {
					t.Errorf("answered by %+v", m)
				}
			} else if s.buttonsOf(stump.Message)[reply.ButtonStop] != "" {
				t.Error("it still offers to stop")
			}
			if name == "long ago" {
				s.says(t, s.now(stump.Message))
			}
		})
	}
}

// An answer that wasn't logged before the process ended is rewritten in place, without the help of nonces. If there is
// no time for that either, nothing more is said.
func TestAnswersThatWereNotLoggedStayTheOnlyOnes(t *testing.T) {
	t.Parallel()
	s, q, stump := opens(t, true)
	a := &ingest.Question{ID: memory.MessageID(q.ID), Guild: s.guildID, Channel: s.channelID, Asker: s.anaID}
	o := reply.Owned{Asker: a.Asker, Question: a.ID,
		Before: []memory.MessageID{memory.MessageID(s.discord.Sent(s.channel)[0].ID)}}
	if _, err := s.senderOf(a).Edit(t.Context(), memory.MessageID(stump.ID), "On Friday, it was said.",
		o.Done(locale.Locale{}, true), nil); err != nil {
		t.Fatal(err)
	}
	if s.buttonsOf(stump.Message)[reply.ButtonStop] != "" || s.buttonsOf(stump.Message)[reply.ButtonAgain] == "" {
		t.Fatal("it isn't finished")
	}
	s.discord.Advance(9 * time.Minute)
	s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
	s.answered(t, s.channel, "Friday")
	s.closed(t)
	s.idle(t)
	if got := s.replies(); len(got) != 1 {
		t.Errorf("the answers are %q", got)
	}
	s.bot.questions.TellStopping(t.Context(), &ingest.Question{ID: a.ID, Guild: a.Guild,
		Channel: a.Channel, Asker: a.Asker,
		Shown: []memory.MessageID{1}})
	if got := s.replies(); len(got) != 1 {
		t.Errorf("the answers are %q", got)
	}
}

// A question whose answer Discord doesn't take is answered at the next start.
func TestQuestionsWhoseAnswersAreNotTaken(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	failing := s.discord.Inject(fmt.Sprintf("POST /channels/%d/messages", s.channel), 1000,
		discordtest.ServerError())
	q := s.ask("when?")
	s.out.wait(t, "couldn't show an answer")
	s.stop(t)
	failing.Release()
	if n := len(s.replies()); n > 0 {
		t.Fatalf("%d answers", n)
	}
	s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
	if m := s.answered(t, s.channel, "Friday"); m.Reference.MessageID != q.ID {
		t.Errorf("answered by %+v", m)
	}
	s.closed(t)
}

// A refused question stays open until its asker was told.
func TestRefusalsThatAreNotTakenLeaveQuestionsOpen(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	s.asksTooMuch(t)
	failing := s.discord.Inject(fmt.Sprintf("POST /channels/%d/messages", s.channel), 1000,
		discordtest.ServerError())
	q := s.ask("one too many")
	s.out.wait(t, "couldn't show an answer")
	s.commitNothing(t)
	open, err := s.log.Questions(t.Context())
	if err != nil || !slices.ContainsFunc(open, func(o memory.OpenQuestion) bool {
		return o.ID == memory.MessageID(q.ID)
	}) {
		t.Errorf("open are %+v, %v", open, err)
	}
	failing.Release()
}

// An open question that can't be fetched now is fetched at the next start.
func TestQuestionsLeftOpenWhileDiscordFails(t *testing.T) {
	t.Parallel()
	s, q, _ := opens(t, false)
	failing := s.discord.Inject("GET /channels/*/messages/*", discord.Attempts, discordtest.ServerError())
	s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
	failing.WaitHits(discord.Attempts)
	s.out.wait(t, "couldn't take up an open question")
	s.stop(t)
	s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
	if m := s.answered(t, s.channel, "Friday"); m.Reference.MessageID != q.ID {
		t.Errorf("answered by %+v", m)
	}
}

// Whoever was told to ask again isn't answered at the next start, wherever the process ended: what it said is in Discord,
// though not in the log.
func TestRefusedQuestionsAreNotAnsweredAfterARestart(t *testing.T) {
	t.Parallel()
	german := locale.Named("de")
	for name, told := range map[string]string{
		"too many wait":    "I'm busy: 5 questions are waiting for me in this channel. Please ask again in a minute or two.",
		"in German":        german.Text("I'm busy: %s questions are waiting for me in this server. Please ask again in a minute or two.", "20"),
		"a limit":          "You've asked me 5 times within a minute. Please ask again <t:1782907260:R>.",
		"paused":           "Those who manage this server have paused me, so I don't answer for now.",
		"the process ends": "I'm being restarted. Please ask again in a minute.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := opens(t, false)
			q, a := s.leavesOpen(t)
			first := s.senderOf(a)
			first.Purpose = "b"
			refused, err := first.Create(t.Context(), 0, told, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.discord.Advance(6 * time.Minute) // nonces are forgotten by then
			s.resume(t, Config{CatchUp: month, AnswerMissed: 10 * time.Minute})
			s.answered(t, s.channel, "Friday") // the question before
			s.closed(t)
			s.idle(t)
			if got := s.replies(); len(got) != 2 || len(s.oracle.questions()) != 1 {
				t.Errorf("the answers are %q", got)
			}
			said, logged := find(s.log, func(e memory.Posted) bool { return e.Message.ID == refused.ID })
			if !logged || said.Message.ReplyTo != memory.MessageID(q.ID) || said.Message.Content != "" {
				t.Errorf("logged: %v, %+v", logged, said.Message)
			}
		})
	}
}
