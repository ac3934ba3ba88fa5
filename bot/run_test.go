package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/bot/discord"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/wait"
)

func TestConnectionsThatEndAreMadeAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end                 func(d *discordtest.Server)
		resumes, identifies int
	}{
		"broken":              {(*discordtest.Server).Drop, 1, 1},
		"Discord asks for it": {(*discordtest.Server).AskReconnect, 1, 1},
		"timed out":           {func(d *discordtest.Server) { d.CloseWith(4009) }, 0, 2},
		"refused to resume": {func(d *discordtest.Server) {
			d.RefuseResumes(1)
			d.Drop()
		}, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := catching(t).run(t).ready(t)
			tt.end(s.discord)
			s.discord.Say(s.channel, s.ana.ID, "in the gap")
			s.discord.WaitFor("a connection", func() bool {
				return s.discord.Resumes() == tt.resumes && s.discord.Identifies() == tt.identifies
			})
			s.discord.WaitReady()
			s.ask("still there?")
			s.log.waitSaid(t, "them: in the gap")
			s.answered(t, s.channel, "Friday")
			s.discord.WaitFor("Hark to be ready", func() bool { return s.bot.Ready() == nil })
		})
	}
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
		{name: "token", cfg: Config{Token: "wrong"}, is: discord.ErrToken, say: "Reset Token"},
		{name: "intent", options: []discordtest.Option{discordtest.WithIntents(0)}, is: discord.ErrIntents,
			say: "Message Content Intent"},
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
	s.discord.ResetToken("another")
	s.discord.CloseWith(4000)
	if err := <-ended; !errors.Is(err, discord.ErrToken) {
		t.Errorf("got %v", err)
	}
}

func TestUnreachableAtTheStart(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.discord.Inject("GET /users/*", 1000, discordtest.ServerError())
	if err := s.bot.Run(t.Context()); !errors.Is(err, discord.ErrUnreachable) ||
		!strings.Contains(err.Error(), "discord.api_url") {
		t.Errorf("got %v", err)
	}
	s = set(t)
	s.discord.Inject("GET /gateway/bot", 1000, discordtest.ServerError())
	if err := s.bot.Run(t.Context()); !errors.Is(err, discord.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

// One session too many would cost the token.
func TestSessionsThatDiscordDoesNotAllow(t *testing.T) {
	t.Parallel()
	s := set(t)
	says := func(n int, limit string) *discordtest.Injection {
		return s.discord.Inject("GET /gateway/bot", n, discordtest.Untold(`{"url":"ws`+
			strings.TrimPrefix(s.discord.URL, "http")+`"`+limit+`}`))
	}
	used := says(1, `,"session_start_limit":{"total":1000,"remaining":0,"reset_after":9}`)
	again := says(2, `,"session_start_limit":{"total":1000,"remaining":0,"reset_after":0}`)
	says(1, "") // of a proxy that doesn't tell
	s.run(t).ready(t)
	if used.Hits() != 1 || again.Hits() != 2 || s.discord.Identifies() != 1 {
		t.Errorf("%d sessions, and Discord was asked %d times while it allowed none", s.discord.Identifies(),
			used.Hits()+again.Hits())
	}
	if n := strings.Count(s.out.String(), "waiting before the next"); n != 3 || !strings.Contains(s.out.String(),
		`"wait":9,`) {
		t.Errorf("waited %d times: %s", n, s.out.String())
	}
	s.logs(t, "waiting before the next")
}

func TestSessionsThatEndAreBegunMoreSlowly(t *testing.T) {
	t.Parallel()
	s := set(t).run(t)
	for n := 1; n <= discord.SessionsAtOnce; n++ {
		s.discord.WaitFor("a session", func() bool { return s.discord.Identifies() == n })
		s.discord.WaitReady()
		s.discord.CloseWith(4009)
	}
	s.out.wait(t, "waiting before the next")
	if n := s.discord.Identifies(); n != discord.SessionsAtOnce {
		t.Errorf("%d sessions", n)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{}, {Token: "Bot "}, {Token: "two words"}, {Token: "t", APIURL: "ftp://x"},
		{Token: "t", APIURL: "discord.com"}, {Token: "t", APIURL: "http://%"}} {
		if _, err := New(cfg, nil, nil, zerolog.Nop()); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}

// On a stop, answers that end within the grace are finished, others say that they were interrupted. That of a model
// that doesn't stop is taken back.
func TestStopInMidAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		grace, unwind time.Duration
		goesOn        func(cut, stopped, never <-chan struct{})
		err           error
		want          string
	}{
		"cut short": {0, wait.Limit, func(cut, _, _ <-chan struct{}) { <-cut }, context.Canceled,
			"It is Fri\n-# ⚠️ Interrupted: " + restarting},
		"nearly done": {wait.Limit, wait.Limit, func(_, stopped, _ <-chan struct{}) { <-stopped }, nil, "It is Fri"},
		"deaf":        {0, 50 * time.Millisecond, func(_, _, never <-chan struct{}) { <-never }, nil, restarting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			s.bot.timing.grace, s.bot.timing.reply.Unwind = tt.grace, tt.unwind
			s.run(t).ready(t)
			begun, stopped, never := make(chan struct{}), make(chan struct{}), make(chan struct{})
			defer close(never)
			s.oracle.answer = func(ctx context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
				stream("It is Fri")
				close(begun)
				tt.goesOn(ctx.Done(), stopped, never)
				return answer.Answer{Text: "It is Fri"}, tt.err
			}
			s.ask("when?")
			<-begun
			s.cancel()
			close(stopped)
			s.stops(t)
			sent := s.discord.Sent(s.channel)
			if len(sent) != 1 || sent[0].Content != tt.want || s.withoutText(sent[0]) != (tt.want != "It is Fri") {
				t.Errorf("sent %+v, logged %q", sent, s.log.said())
			}
		})
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
	s.stops(t)
}

func TestStopLogsWhatWasTakenIn(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	release := s.log.hold()
	for i := range 1000 {
		s.discord.Say(s.channel, s.ana.ID, fmt.Sprint("message ", i))
	}
	// The command's answer shows that all before it was taken in.
	s.discord.Slash(s.channel, s.ana.ID, "context", opt("question", "when?")).Wait()
	s.cancel()
	release()
	s.stops(t)
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
