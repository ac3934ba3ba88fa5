package bot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/internal/browsertest"
	"hark/internal/discordtest"
	"hark/memory"
)

func TestMain(m *testing.M) {
	if os.Getenv(soakEnv) != "" {
		os.Exit(m.Run())
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(browsertest.ThenClose(m))
}

func TestMentionGetsOneReply(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	now := s.discord.Now()
	source := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.oracle.answer = func(_ context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		stream("It is")
		stream("It is Friday [1].")
		return answer.Answer{
			Text: "It is Friday [1].",
			Sources: []answer.Source{{Number: 1, Guild: q.Guild, Channel: q.Channel,
				Message: memory.MessageID(source.ID),
				Author:  "bo", Place: "general", Time: now}},
			Trace: traceOf(q),
		}, nil
	}
	question := s.ask("when, " + s.bo.Mention() + "?")
	m := s.replied(t, question)

	if m.Reference == nil || m.Reference.MessageID != question.ID || len(m.Pinged) != 0 {
		t.Errorf("the reply refers to %+v and pings %v", m.Reference, m.Pinged)
	}
	if q := s.oracle.questions(); len(q) != 1 || q[0].Text != "when, <@"+s.bo.ID.String()+">?" || q[0].Name != "ana" ||
		!slices.Equal(q[0].Mentions, []memory.UserID{s.boID}) || !q[0].Now.Equal(now) ||
		q[0].OnlyAsker {
		t.Errorf("asked %+v", q)
	}
	if got := len(s.discord.Sent(s.channel)); got != 1 {
		t.Errorf("%d messages sent", got)
	}
	trace := s.traces(t, 1)[0]
	if trace.Answer != memory.MessageID(m.ID) || len(trace.Parts) != 0 ||
		trace.Question != memory.MessageID(question.ID) {
		t.Errorf("kept %+v", trace)
	}
	posted, _ := find(s.log, func(p memory.Posted) bool { return p.Message.Kind == memory.FromHark })
	if p := posted.Message; p.ID != memory.MessageID(m.ID) || p.Author != memory.UserID(s.discord.Bot.ID) ||
		p.ReplyTo != memory.MessageID(question.ID) || p.Guild != s.guildID ||
		p.Edited.IsZero() != (len(m.Versions) == 1) {
		t.Errorf("logged %+v", p)
	}
	if strings.Contains(s.out.String(), "Friday") {
		t.Error("what was said is in the journal")
	}
}

// Where no language is set, what stands below an answer and in place of one is in the question's.
func TestWordsOfHarksOwnFollowTheQuestion(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.answer = func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		if q.Text != "Wann ist das Sommerfest?" {
			return answer.Answer{}, errors.New("broken")
		}
		return says("Freitag")(ctx, q, stream)
	}
	s.replied(t, s.ask("Wann ist das Sommerfest?"))
	s.replied(t, s.ask("¿Cuándo es la fiesta de verano?"))
	s.apply(t, memory.SettingChosen{Guild: s.guildID, Key: memory.SettingLanguage, Value: "fr", At: noon})
	s.replied(t, s.ask("Wer hat den Schlüssel zum Schuppen?"))
}

func TestReplyAndDirectMessageAreAnswered(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Direct: true}}).run(t).ready(t)
	s.ask("when?")
	first := s.answered(t, s.channel, "Friday")
	s.traces(t, 1)
	s.discord.Say(s.channel, s.bo.ID, "are you sure?", discordtest.QuietReplyTo(first.ID))
	s.traces(t, 2)
	dm := s.discord.DM(s.ana.ID, "and in private?")
	s.answered(t, dm.ChannelID, "Friday")
	s.traces(t, 3)
	s.posts(t, s.channel, s.bo.ID, "nothing for you")
	q := s.oracle.questions()
	if len(q) != 3 || q[1].Text != "are you sure?" || q[1].ReplyTo != memory.MessageID(first.ID) ||
		len(q[1].Mentions) != 0 ||
		q[2].Guild != memory.DirectGuild || q[2].Channel != memory.ChannelID(dm.ChannelID) ||
		q[2].Text != "and in private?" {
		t.Errorf("asked %+v", q)
	}
	if _, ok := find(s.log, func(e memory.ChannelSeen) bool {
		return e.Channel.ID == memory.ChannelID(dm.ChannelID) && e.Channel.Kind == memory.DirectChannel
	}); !ok {
		t.Error("the direct channel isn't in the log")
	}
}

func TestEventsStayInOrder(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	var want []string
	for i := range 100 {
		a := s.discord.Say(s.channel, s.ana.ID, fmt.Sprint("a", i))
		s.discord.Edit(s.channel, a.ID, fmt.Sprint("b", i))
		s.discord.EditBriefly(s.channel, a.ID, fmt.Sprint("c", i))
		s.discord.Delete(s.channel, a.ID)
		want = append(want, fmt.Sprint("them: a", i), fmt.Sprint("them: b", i), fmt.Sprint("edit: c", i), "delete 1")
	}
	x, y := s.discord.Say(s.channel, s.ana.ID, "x"), s.discord.Say(s.channel, s.ana.ID, "y")
	s.discord.BulkDelete(s.channel, x.ID, y.ID)
	s.discord.Say(s.channel, s.ana.ID, "the end")
	want = append(want, "them: x", "them: y", "delete 2", "them: the end")
	s.log.waitSaid(t, "them: the end")
	if got := s.log.said(); !slices.Equal(got, want) {
		t.Errorf("logged %q", got)
	}
}

func TestTroubleWithDiscordIsOneMessage(t *testing.T) {
	t.Parallel()
	for name, inject := range map[string]func(d *discordtest.Server){
		"502 after it was done": func(d *discordtest.Server) {
			d.Inject("POST /channels/*/messages", 6, discordtest.DoneButBadGateway())
		},
		"an answer that breaks off": func(d *discordtest.Server) {
			d.Inject("POST /channels/*/messages", 1, discordtest.Malformed())
		},
		"500": func(d *discordtest.Server) { d.Inject("POST /channels/*/messages", 3, discordtest.ServerError()) },
		"a rate limit": func(d *discordtest.Server) {
			d.Inject("POST /channels/*/messages", 2, discordtest.RateLimited(20*time.Millisecond))
			d.Inject("PATCH /channels/*/messages/*", 2, discordtest.RateLimited(20*time.Millisecond))
		},
		"Cloudflare's": func(d *discordtest.Server) { d.Inject("POST /channels/*/messages", 1, discordtest.Banned()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
				stream("It is")
				return answer.Answer{Text: "It is Friday"}, nil
			}
			inject(s.discord)
			s.ask("when?")
			s.answered(t, s.channel, "It is Friday")
			if n := len(s.discord.Sent(s.channel)); n != 1 {
				t.Errorf("%d messages", n)
			}
		})
	}
}

func TestLongAnswerIsSeveralMessages(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	text := strings.Repeat("It began so. ", 200) + "\n" + strings.Repeat("And so it goes on. ", 120) + "The end"
	s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		for i := 1; i <= 10; i++ {
			stream(text[:len(text)*i/10])
		}
		return answer.Answer{Text: text}, nil
	}
	s.ask("tell me all")
	trace := s.traces(t, 1)[0]
	sent := s.discord.Sent(s.channel)
	if len(sent) != len(trace.Parts)+1 || len(sent) < 3 || trace.Answer != memory.MessageID(sent[0].ID) ||
		sent[1].Reference != nil {
		t.Fatalf("%d messages, kept %+v", len(sent), trace)
	}
	for i, m := range sent {
		if !slices.Contains(s.log.said(), "hark: "+m.Content) {
			t.Errorf("message %d isn't logged as it is", i)
		}
	}
}

type sentenceError struct{}

func (sentenceError) Error() string    { return "dial tcp 10.0.0.7:80: connection refused" }
func (sentenceError) Sentence() string { return "The model doesn't answer." }

func TestFailureIsToldAndLogged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, streamed string
		err            error
		coded          bool // what is told has a code
	}{
		{"with a sentence", "", fmt.Errorf("answer: %w", sentenceError{}), false}, {"without", "", errDown, true},
		{"half-way", "It is", sentenceError{}, false}, {"half-way in code", "```\nIt is", sentenceError{}, false},
		{"half-way in a mark", "It is **on Friday [1", sentenceError{}, false},
		{"an empty answer", "", nil, true}, {"a panic", "", errors.New("panic"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.traceless = true
			s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
				if tt.streamed != "" {
					stream(tt.streamed)
				}
				if tt.name == "a panic" {
					panic("at the disco")
				}
				return answer.Answer{Text: tt.streamed}, tt.err
			}
			m := s.replied(t, s.ask("when?"))
			out := s.out.String()
			if coded := s.reads(m.Content) != m.Content; coded != tt.coded || !s.withoutText(m) {
				t.Errorf("told %q, logged %s", m.Content, out)
			}
			if strings.Contains(m.Content, "10.0.0.7") || strings.Contains(out, "disco\"") {
				t.Error("it tells too much")
			}
		})
	}
}

func TestAnswerEndsWhenItsMessageIsDeleted(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	ended := make(chan error, 1)
	s.oracle.answer = func(ctx context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream("Well,")
		m := s.discord.WaitSent(s.channel, func(discordtest.Sent) bool { return true })
		s.discord.Delete(s.channel, m.ID)
		stream("Well, you see")
		<-ctx.Done()
		ended <- ctx.Err()
		return answer.Answer{}, ctx.Err()
	}
	s.ask("when?")
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.log.waitSaid(t, "delete 1")
	s.oracle.answer = says("Friday")
	s.ask("again?")
	s.answered(t, s.channel, "Friday")
}

func TestAnswerWithoutHistoryIsNoReply(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ReadMessageHistory))
	s.ask("when?")
	if m := s.answered(t, s.channel, "Friday"); m.Reference != nil {
		t.Error("it is a reply")
	}
}

func TestEventThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.bot.ingest.Queue.Put(ingest.Item{
		Raw: ingest.ReadEvent("MESSAGE_CREATE", []byte(`{"id":"77","content":["secret"]}`))})
	s.posts(t, s.channel, s.ana.ID, "goes on")
	if out := s.out.String(); !strings.Contains(out, "MESSAGE_CREATE 77") || strings.Contains(out, "secret") {
		t.Errorf("logged %s", out)
	}
}
