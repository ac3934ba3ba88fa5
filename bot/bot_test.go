package bot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
	"hark/search"
)

func TestMain(m *testing.M) {
	// Each bot sleeps for a second when it stops, in discordgo's Close.
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestMentionGetsOneReply(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	now := s.discord.Now()
	source := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.oracle.answer = func(_ context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		if !slices.Contains(s.log.said(), "them: "+s.discord.Bot.Mention()+" when, <@"+s.bo.ID.String()+">?") {
			t.Error("asked before the question was logged")
		}
		stream("It is")
		stream("It is Friday [1].")
		return answer.Answer{
			Text: "It is Friday [1].",
			Sources: []answer.Source{{Number: 1, Guild: q.Guild, Channel: q.Channel, Message: memory.MessageID(source.ID),
				Author: "bo", Place: "general", Time: now}},
			Trace: memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker},
		}, nil
	}
	question := s.ask("when, " + s.bo.Mention() + "?")
	want := fmt.Sprintf("It is Friday [\\[1\\]](<https://discord.com/channels/%d/%d/%d>).\n-# Sources: [1] bo, #general, %s",
		s.guild.ID, s.channel, source.ID, now.UTC().Format("2 Jan"))
	m := s.answered(t, s.channel, want)

	if m.Reference == nil || m.Reference.MessageID != question.ID || len(m.Pinged) != 0 {
		t.Errorf("the reply refers to %+v and pings %v", m.Reference, m.Pinged)
	}
	if q := s.oracle.questions(); len(q) != 1 || q[0].Text != "when, <@"+s.bo.ID.String()+">?" || q[0].Name != "ana" ||
		!slices.Equal(q[0].Mentions, []memory.UserID{memory.UserID(s.bo.ID)}) || !q[0].Now.Equal(now) || q[0].OnlyAsker {
		t.Errorf("asked %+v", q)
	}
	if got := len(s.discord.Sent(s.channel)); got != 1 {
		t.Errorf("%d messages sent", got)
	}
	trace := s.oracle.traces(t, 1)[0]
	if trace.Answer != memory.MessageID(m.ID) || len(trace.Parts) != 0 || trace.Question != memory.MessageID(question.ID) {
		t.Errorf("kept %+v", trace)
	}
	posted, _ := find(s.log, func(p memory.Posted) bool { return p.Message.Kind == memory.FromHark })
	if p := posted.Message; p.ID != memory.MessageID(m.ID) || p.Author != memory.UserID(s.discord.Bot.ID) ||
		p.ReplyTo != memory.MessageID(question.ID) || p.Guild != memory.GuildID(s.guild.ID) || p.Edited.IsZero() != (len(m.Versions) == 1) {
		t.Errorf("logged %+v", p)
	}
	if strings.Contains(s.out.String(), "Friday") {
		t.Error("what was said is in the journal")
	}
}

func TestBodiesThatAreSent(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream("@everyone one")
		s.discord.WaitSent(s.channel, func(discordtest.Sent) bool { return true })
		return answer.Answer{Text: "@everyone <@1> one, two"}, nil
	}
	q := s.ask("count")
	m := s.answered(t, s.channel, "@everyone <@1> one, two")
	const nobody = `"allowed_mentions":{"parse":[],"users":[],"roles":[],"replied_user":false}`
	create := fmt.Sprintf(`{"content":"@everyone one","nonce":"a%s-0","enforce_nonce":true,%s,`+
		`"message_reference":{"message_id":"%d","channel_id":"%d","fail_if_not_exists":false}}`,
		strings.TrimSuffix(strings.TrimPrefix(nonce("a", memory.MessageID(q.ID), 0), "a"), "-0"), nobody, q.ID, s.channel)
	edit := `{"content":"@everyone \u003c@1\u003e one, two",` + nobody + `}`
	if len(m.Bodies) != 2 || string(m.Bodies[0]) != create || string(m.Bodies[1]) != edit {
		t.Errorf("sent %s\nwant %s\n and %s", m.Bodies, create, edit)
	}
	if n := nonce("a", 1<<63-1, 99); len(n) > 25 {
		t.Errorf("nonce %s is too long", n)
	}
}

func TestReplyAndDirectMessageAreAnswered(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.ask("when?")
	first := s.answered(t, s.channel, "Friday")
	s.oracle.traces(t, 1)
	s.discord.Say(s.channel, s.bo.ID, "are you sure?", discordtest.QuietReplyTo(first.ID))
	s.oracle.traces(t, 2)
	dm := s.discord.DM(s.ana.ID, "and in private?")
	s.answered(t, dm.ChannelID, "Friday")
	s.oracle.traces(t, 3)
	s.discord.Say(s.channel, s.bo.ID, "nothing for you")
	s.log.waitSaid(t, "them: nothing for you")
	q := s.oracle.questions()
	if len(q) != 3 || q[1].Text != "are you sure?" || q[1].ReplyTo != memory.MessageID(first.ID) || len(q[1].Mentions) != 0 ||
		q[2].Guild != memory.DirectGuild || q[2].Channel != memory.ChannelID(dm.ChannelID) || q[2].Text != "and in private?" {
		t.Errorf("asked %+v", q)
	}
	if _, ok := find(s.log, func(e memory.ChannelSeen) bool {
		return e.Channel.ID == memory.ChannelID(dm.ChannelID) && e.Channel.Kind == memory.DirectChannel
	}); !ok {
		t.Error("the direct channel isn't in the log")
	}
}

func TestMentionAloneIsToldHowToAsk(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.ask("")
	s.answered(t, s.channel, fmt.Sprintf(askMe, s.discord.Bot.ID))
	if len(s.oracle.questions()) != 0 {
		t.Error("an empty question was asked")
	}
}

func TestBotsAndWebhooksAreNeitherLoggedNorAnswered(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	beep := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "beep", Bot: true})
	s.discord.Say(s.channel, beep.ID, s.discord.Bot.Mention()+" boop")
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" news", discordtest.ViaWebhook("news"))
	s.discord.Say(s.channel, s.ana.ID, "the end")
	s.log.waitSaid(t, "them: the end")
	if got := s.log.said(); len(got) != 1 || len(s.oracle.questions()) != 0 {
		t.Errorf("logged %q, asked %d", got, len(s.oracle.questions()))
	}
}

func TestSlowModelDelaysNoLogging(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	begun, end := make(chan struct{}), make(chan struct{})
	s.oracle.answer = func(_ context.Context, _ answer.Question, _ func(string)) (answer.Answer, error) {
		close(begun)
		<-end
		return answer.Answer{Text: "at last"}, nil
	}
	s.ask("think hard")
	<-begun
	s.discord.WaitTyping(s.channel)
	for i := range 500 {
		s.discord.Say(s.channel, s.bo.ID, fmt.Sprint("meanwhile ", i))
	}
	s.log.waitSaid(t, "them: meanwhile 499")
	close(end)
	s.answered(t, s.channel, "at last")
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

func TestGuildIsLoggedAsItChanges(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	d := s.discord
	staff := d.AddRole(s.guild.ID, "staff", 0)
	room := d.AddChannel(s.guild.ID, discordtest.Channel{Name: "staff",
		Overwrites: []discordtest.Overwrite{discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel)}})
	d.SetOverwrite(room.ID, discordtest.ForRole(staff.ID, discordtest.ViewChannel, 0))
	d.UpdateMember(s.guild.ID, s.ana.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, staff.ID) })
	d.Say(s.channel, s.ana.ID, "as staff")
	s.log.waitSaid(t, "them: as staff")
	if _, ok := find(s.log, func(e memory.RoleSeen) bool { return e.Role.ID == memory.RoleID(staff.ID) }); !ok {
		t.Error("the role isn't logged")
	}
	ch, _ := find(s.log, func(e memory.ChannelSeen) bool { return e.Channel.ID == memory.ChannelID(room.ID) })
	if len(ch.Channel.Overwrites) != 2 || ch.Channel.Guild != memory.GuildID(s.guild.ID) {
		t.Errorf("the channel is logged as %+v", ch.Channel)
	}
	p, _ := find(s.log, func(e memory.PersonSeen) bool { return e.Person.ID == memory.UserID(s.ana.ID) })
	if !p.Person.RolesKnown || !slices.Contains(p.Person.Roles, memory.RoleID(staff.ID)) {
		t.Errorf("ana is logged as %+v", p.Person)
	}
	g, _ := find(s.log, func(e memory.GuildSeen) bool { return true })
	if !slices.ContainsFunc(g.Guild.Roles, func(r memory.Role) bool { return r.Bot == memory.UserID(d.Bot.ID) }) {
		t.Errorf("the bot's role isn't marked: %+v", g.Guild.Roles)
	}
	d.RemoveChannel(room.ID)
	d.RemoveRole(s.guild.ID, staff.ID)
	s.log.wait(t, "the role's end", func() bool {
		_, ok := find(s.log, func(e memory.RoleGone) bool { return e.Role == memory.RoleID(staff.ID) })
		return ok
	})
	if _, ok := find(s.log, func(e memory.ChannelGone) bool { return e.Channel == memory.ChannelID(room.ID) }); !ok {
		t.Error("the channel's end isn't logged")
	}
}

func TestDuplicatedQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.Duplicate(1)
	s.ask("when?")
	s.answered(t, s.channel, "Friday")
	s.discord.Say(s.channel, s.bo.ID, "the end")
	s.log.waitSaid(t, "them: the end")
	if n := len(s.oracle.questions()); n != 1 || len(s.discord.Sent(s.channel)) != 1 {
		t.Errorf("asked %d times", n)
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
	text := "```go\n" + strings.Repeat("x := x + 1\n", 400) + "```\n" + strings.Repeat("And so it goes on. ", 80) + "The end"
	s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		for i := 1; i <= 10; i++ {
			stream(text[:len(text)*i/10])
		}
		return answer.Answer{Text: text}, nil
	}
	s.ask("tell me all")
	trace := s.oracle.traces(t, 1)[0]
	sent := s.discord.Sent(s.channel)
	if len(sent) != len(trace.Parts)+1 || len(sent) < 3 || trace.Answer != memory.MessageID(sent[0].ID) || sent[1].Reference != nil {
		t.Fatalf("%d messages, kept %+v", len(sent), trace)
	}
	for i, m := range sent {
		if strings.Count(m.Content, fence)%2 != 0 {
			t.Errorf("message %d leaves its code block open", i)
		}
		if !slices.Contains(s.log.said(), "hark: "+m.Content) {
			t.Errorf("message %d isn't logged as it is", i)
		}
	}
	if !strings.HasSuffix(sent[len(sent)-1].Content, "The end") {
		t.Error("the end is missing")
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
		want           string
	}{
		{"with a sentence", "", fmt.Errorf("answer: %w", sentenceError{}), "The model doesn't answer."},
		{"without", "", errDown, "Something went wrong on my side."},
		{"half-way", "It is", sentenceError{}, "It is\n-# ⚠️ Interrupted: The model doesn't answer."},
		{"half-way in code", "```\nIt is", sentenceError{}, "```\nIt is\n```\n-# ⚠️ Interrupted: The model doesn't answer."},
		{"an empty answer", "", nil, "Something went wrong on my side."},
		{"a panic", "", errors.New("panic"), "Something went wrong on my side."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
				if tt.streamed != "" {
					stream(tt.streamed)
				}
				if tt.name == "a panic" {
					panic("at the disco")
				}
				return answer.Answer{}, tt.err
			}
			s.ask("when?")
			m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, tt.want) })
			s.log.waitSaid(t, "hark: "+m.Content)
			out := s.out.String()
			if _, code, ok := strings.Cut(m.Content, "this code: "); ok != (tt.want[:4] == "Some") || ok && !strings.Contains(out, code) {
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

func TestTooManyQuestions(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	end := make(chan struct{})
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		<-end
		return answer.Answer{Text: "re: " + q.Text}, nil
	}
	for i := range waitingQuestions + 4 {
		s.ask(fmt.Sprint("question ", i))
	}
	s.answered(t, s.channel, tooMany)
	close(end)
	for i := range waitingQuestions + 1 {
		s.answered(t, s.channel, fmt.Sprint("re: question ", i))
	}
	if n := len(s.discord.Sent(s.channel)); n != waitingQuestions+2 {
		t.Errorf("%d messages", n)
	}
}

func TestBrokenConnectionIsResumed(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.Drop()
	s.discord.Say(s.channel, s.ana.ID, "in the gap")
	s.ask("and asked in the gap")
	s.log.waitSaid(t, "them: in the gap")
	s.answered(t, s.channel, "Friday")
	if s.discord.Resumes() != 1 || s.discord.Identifies() != 1 {
		t.Errorf("%d resumes, %d identifies", s.discord.Resumes(), s.discord.Identifies())
	}
}

func TestRefusedResumeBeginsAnew(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.RefuseResumes(1)
	s.discord.Drop()
	s.discord.WaitFor("a new session", func() bool { return s.discord.Identifies() == 2 })
	s.discord.WaitReady()
	s.ask("still there?")
	s.answered(t, s.channel, "Friday")
	if err := s.bot.Ready(); err != nil {
		t.Error(err)
	}
}

func TestReconnectsWhenAsked(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.AskReconnect()
	s.discord.WaitFor("a resume", func() bool { return s.discord.Resumes() == 1 })
	s.discord.CloseWith(4009) // the session has timed out
	s.discord.WaitFor("a connection", func() bool { return s.discord.Resumes()+s.discord.Identifies() == 3 })
	s.discord.WaitReady()
	s.ask("still there?")
	s.answered(t, s.channel, "Friday")
}

func TestRunEndsWithWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		cfg     Config
		options []discordtest.Option
		is      error
		say     string
	}{
		{name: "token", cfg: Config{Token: "wrong"}, is: ErrToken, say: "Reset Token"},
		{name: "intent", options: []discordtest.Option{discordtest.WithoutIntents(discordtest.MessageContent)}, is: ErrIntents, say: "Message Content Intent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := set(t, tt.options...)
			if tt.cfg.Token == "" {
				tt.cfg.Token = s.discord.Token
			}
			s.with(t, tt.cfg)
			err := s.bot.Run(t.Context())
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v", err)
			}
			if s.bot.Ready() == nil {
				t.Error("ready, though it ended")
			}
		})
	}
}

func TestTokenResetWhileRunning(t *testing.T) {
	t.Parallel()
	s := set(t)
	ended := make(chan error, 1)
	go func() { ended <- s.bot.Run(t.Context()) }()
	s.ready(t)
	s.discord.Token = "another"
	s.discord.CloseWith(4000)
	if err := <-ended; !errors.Is(err, ErrToken) {
		t.Errorf("got %v", err)
	}
}

func TestUnreachableAtTheStart(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.discord.Inject("GET /users/*", 1000, discordtest.ServerError())
	if err := s.bot.Run(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "discord.api_url") {
		t.Errorf("got %v", err)
	}
	s = set(t)
	s.discord.Inject("GET /gateway", 1000, discordtest.ServerError())
	if err := s.bot.Run(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{}, {Token: "Bot "}, {Token: "two words"}, {Token: "t", APIURL: "ftp://x"}, {Token: "t", APIURL: "discord.com"}, {Token: "t", APIURL: "http://%"}} {
		if _, err := New(cfg, nil, nil, zerolog.Nop()); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	for address, path := range map[string]string{
		"": "", "https://discord.com/api": "", "https://discord.com/api/v10/": "", "http://proxy:8080/discord": "/discord", "http://proxy/x/api": "/x",
	} {
		if base, err := parseBase(address); err != nil || base.Path != path {
			t.Errorf("%q: %v, %v", address, base, err)
		}
	}
}

func TestStopInMidAnswerSaysSo(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	begun := make(chan struct{})
	s.oracle.answer = func(ctx context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream("It is Fri")
		close(begun)
		<-ctx.Done()
		return answer.Answer{}, fmt.Errorf("stream: %w", ctx.Err())
	}
	s.ask("when?")
	<-begun
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	sent := s.discord.Sent(s.channel)
	want := "It is Fri\n-# ⚠️ Interrupted: " + restarting
	if len(sent) != 1 || sent[0].Content != want || !slices.Contains(s.log.said(), "hark: "+want) {
		t.Errorf("sent %+v, logged %q", sent, s.log.said())
	}
}

func TestStopFinishesWhatIsAlmostDone(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.grace = patience
	s.run(t).ready(t)
	begun, stopped := make(chan struct{}), make(chan struct{})
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		close(begun)
		<-stopped
		return answer.Answer{Text: "Friday"}, nil
	}
	s.ask("when?")
	<-begun
	s.cancel()
	close(stopped)
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	if !slices.Contains(s.log.said(), "hark: Friday") {
		t.Errorf("logged %q", s.log.said())
	}
}

func TestStopIsBoundedWhenNothingAnswers(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.farewell, s.bot.timing.drain = 100*time.Millisecond, 200*time.Millisecond
	s.run(t).ready(t)
	deaf := make(chan struct{})
	defer close(deaf)
	begun := make(chan struct{})
	s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream("It is")
		close(begun)
		<-deaf
		return answer.Answer{}, nil
	}
	hang := s.discord.Inject("PATCH /channels/*/messages/*", 100, discordtest.Hang())
	defer hang.Release()
	s.ask("when?")
	<-begun
	release := s.log.hold()
	defer release()
	s.discord.Say(s.channel, s.bo.ID, "never logged")
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
}

func TestStopLogsWhatWasTakenIn(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.waitRegistered()
	release := s.log.hold()
	for i := range 1000 {
		s.discord.Say(s.channel, s.ana.ID, fmt.Sprint("message ", i))
	}
	// What was said before a command was taken in before it.
	s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"}).Wait()
	s.cancel()
	release()
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	if got := s.log.said(); len(got) != 1000 || got[999] != "them: message 999" || s.bot.Waiting() != 0 {
		t.Errorf("%d logged, %d waiting", len(got), s.bot.Waiting())
	}
}

func TestLogThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.log.fail(errDown)
	var want []string
	for i := range 10 {
		s.discord.Say(s.channel, s.ana.ID, fmt.Sprint("message ", i))
		want = append(want, fmt.Sprint("them: message ", i))
	}
	s.log.mu.Lock()
	before := s.log.calls
	s.log.mu.Unlock()
	s.log.wait(t, "attempts", func() bool {
		s.log.mu.Lock()
		defer s.log.mu.Unlock()
		return s.log.calls > before+3
	})
	if err := s.bot.Ready(); err == nil {
		t.Error("ready, though the log fails")
	}
	s.log.fail(nil)
	s.log.waitSaid(t, "them: message 9")
	if got := s.log.said(); !slices.Equal(got, want) {
		t.Errorf("logged %q", got)
	}
	if n := strings.Count(s.out.String(), "can't be written"); n != 1 {
		t.Errorf("the outage is in the journal %d times", n)
	}
}

func TestContextCommand(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the *deadline* is Friday")
	s.oracle.recall = func(_ context.Context, q answer.Question) (answer.Recalled, error) {
		return answer.Recalled{Result: search.Result{Hits: []search.Hit{{
			Message: memory.Message{ID: memory.MessageID(said.ID), Guild: q.Guild, Channel: q.Channel, Author: memory.UserID(s.bo.ID),
				Content: "the *deadline* is Friday"},
			Relevance: 0.87, Why: []search.Reason{{Kind: "words", Detail: "deadline"}, {Kind: "around"}},
		}}}}, nil
	}
	s.waitRegistered()
	i := s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when is the deadline?"})
	if r := i.Wait(); !r.Deferred() || !r.Ephemeral {
		t.Errorf("answered with %+v", r)
	}
	want := fmt.Sprintf("What I'd remember for “when is the deadline?”:\n🔥 0.87 · <@%d> · <#%d> · <t:%d:f> · [jump](<https://discord.com/channels/%d/%d/%d>)\n"+
		"> the \\*deadline\\* is Friday\n-# words\\: deadline; around", s.bo.ID, s.channel, said.ID.Time().Unix(), s.guild.ID, s.channel, said.ID)
	if m := i.WaitMessage(); m.Content != want || m.Flags&discordtest.Ephemeral == 0 {
		t.Errorf("got  %s\nwant %s", m.Content, want)
	}
	q := s.oracle.questions()[0]
	if !q.OnlyAsker || q.Asker != memory.UserID(s.ana.ID) || q.Channel != memory.ChannelID(s.channel) || q.Guild != memory.GuildID(s.guild.ID) || q.ID != 0 {
		t.Errorf("asked %+v", q)
	}
}

// waitRegistered waits until Discord knows the command.
func (s *scene) waitRegistered() {
	s.discord.WaitFor("the command", func() bool { return len(s.discord.Commands(0)) > 0 })
}

func TestContextCommandIsAcknowledgedWhateverTheLogDoes(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return answer.Recalled{}, sentenceError{}
	}
	s.waitRegistered()
	release := s.log.hold()
	s.discord.Say(s.channel, s.bo.ID, "waits")
	i := s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"})
	i.Wait()
	if n := len(s.oracle.questions()); n != 0 {
		t.Errorf("%d questions asked before the asker's roles are logged", n)
	}
	release()
	if m := i.WaitMessage(); m.Content != "The model doesn't answer." {
		t.Errorf("got %q", m.Content)
	}
}

func TestContextCommandSurvivesAPanic(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) { panic("at the disco") }
	s.waitRegistered()
	dm := s.discord.DM(s.ana.ID, "hello")
	i := s.discord.Slash(dm.ChannelID, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"})
	if m := i.WaitMessage(); !strings.HasPrefix(m.Content, "Something went wrong") {
		t.Errorf("got %q", m.Content)
	}
}

func TestRegistrationWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.waitRegistered()
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}
	written := func() (n int) {
		for _, r := range s.discord.Requests() {
			if strings.Contains(r.Path, "/commands") && r.Method != "GET" {
				n++
			}
		}
		return n
	}
	read := func() (n int) {
		for _, r := range s.discord.Requests() {
			if strings.Contains(r.Path, "/commands") && r.Method == "GET" && r.Status == 200 {
				n++
			}
		}
		return n
	}
	if written() != 1 {
		t.Errorf("%d writes at first", written())
	}
	s.ended = make(chan error, 1)
	s.with(t, Config{Token: s.discord.Token}).run(t)
	s.discord.WaitFor("the second look", func() bool { return read() == 2 })
	s.ready(t)
	s.ask("when?")
	s.answered(t, s.channel, "Friday")
	if written() != 1 {
		t.Errorf("%d writes after a restart", written())
	}
}

func TestEventThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.bot.queue.put(item{raw: &rawEvent{"MESSAGE_CREATE", []byte(`{"id":"77","content":["secret"]}`)}})
	s.discord.Say(s.channel, s.ana.ID, "goes on")
	s.log.waitSaid(t, "them: goes on")
	if out := s.out.String(); !strings.Contains(out, "MESSAGE_CREATE 77") || strings.Contains(out, "secret") {
		t.Errorf("logged %s", out)
	}
}
