package bot

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/wait"
	"hark/search"
)

// misleads has serve take the nth connection to the gateway.
func (s *scene) misleads(t *testing.T, nth int32, serve func(c *websocket.Conn)) {
	t.Helper()
	var upgrader websocket.Upgrader
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := upgrader.Upgrade(w, r, nil); err == nil {
			defer c.Close()
			serve(c)
		}
	}))
	t.Cleanup(other.Close)
	honest := s.discord.Dialer().NetDialContext
	var dials atomic.Int32
	s.bot.cfg.Dialer = &websocket.Dialer{NetDialContext: func(ctx context.Context, network,
		address string) (net.Conn, error) {
		if dials.Add(1) == nth {
			s.bot.timing.gateway.Open = wait.Limit // for the honest one
			return (&net.Dialer{}).DialContext(ctx, network, other.Listener.Addr().String())
		}
		return honest(ctx, network, address)
	}}
}

// discordgo would wait without end for a gateway that is silent.
func TestGatewayThatSaysNothingIsLeft(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.misleads(t, 1, func(c *websocket.Conn) { _, _, _ = c.ReadMessage() })
	s.bot.timing.gateway.Open = time.Second
	s.run(t).ready(t)
	s.ask("when?")
	s.answered(t, s.channel, "Friday")
	if !strings.Contains(s.out.String(), "the gateway doesn't get to its first event") {
		t.Errorf("logged %s", s.out)
	}
}

func TestStopWhileConnecting(t *testing.T) {
	t.Parallel()
	s := set(t)
	dialling := make(chan struct{})
	s.bot.cfg.Dialer = &websocket.Dialer{NetDialContext: func(ctx context.Context, network,
		address string) (net.Conn, error) {
		close(dialling)
		return nil, errors.New("no route to host")
	}}
	s.bot.timing.gateway.Retry = time.Hour
	s.run(t)
	<-dialling
	s.stops(t)
}

func TestStopWhileIntroducing(t *testing.T) {
	t.Parallel()
	s := set(t)
	hang := s.discord.Inject("GET /users/*", 1, discordtest.Hang())
	s.run(t)
	hang.WaitHits(1)
	s.stops(t)
}

func TestStopDuringAnHourOfRateLimit(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.farewell = 200 * time.Millisecond
	s.run(t).ready(t)
	limit := s.discord.Inject("POST /channels/*/messages", 100, discordtest.RateLimited(time.Hour))
	s.ask("when?")
	limit.WaitHits(1)
	s.ask("and this?")
	s.stops(t)
}

func TestAnswerThatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.reply.Answer = 50 * time.Millisecond
	s.run(t).ready(t)
	s.oracle.answer = func(ctx context.Context, _ answer.Question, _ func(string)) (answer.Answer, error) {
		<-ctx.Done()
		return answer.Answer{}, ctx.Err()
	}
	s.replied(t, s.ask("when?"))
}

func TestWhatAnAnswerHadToDoWithoutIsLogged(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	for text, a := range map[string]answer.Answer{
		errDown.Error():          {ModelError: errDown},
		"no order for an answer": {Unranked: errors.New("no order for an answer")},
	} {
		a.Text = text
		s.oracle.answer = gives(a, nil)
		s.ask("when?")
		s.answered(t, s.channel, text)
		s.out.wait(t, text)
	}
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return answer.Recalled{Result: search.Result{RerankFailed: errors.New("no order for a command")}}, nil
	}
	s.discord.Slash(s.channel, s.ana.ID, "context", opt("question", "when?"))
	s.out.wait(t, "no order for a command")
}

func TestOddInteractions(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	never := make(chan struct{})
	s.bot.commands.Put([]byte(`{"id":{}}`), never)
	s.bot.commands.Put([]byte(`{"id":"5","type":3,"token":"x"}`), never)
	// A command of an earlier version is answered.
	s.bot.commands.Put([]byte(`{"id":"6","type":2,"token":"unknown","data":{"name":"remember"}}`), never)
	s.discord.WaitFor("an answer", func() bool {
		return slices.ContainsFunc(s.discord.Requests(), func(r discordtest.Request) bool {
			return strings.Contains(r.Path, "/6/unknown/callback") && strings.Contains(string(r.Body), unknownTool) &&
				strings.Contains(string(r.Body), `"flags":68`)
		})
	})
	s.discord.Allow(discordtest.BadRequest)
}

func TestTooManyCommands(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) { return answer.Recalled{}, nil }
	release := s.log.hold()
	uses := make([]*discordtest.Interaction, parallelCommands)
	for n := range uses {
		uses[n] = s.discord.Slash(s.channel, s.ana.ID, "context", opt("question", "when?"))
	}
	for _, u := range uses {
		u.Wait()
	}
	s.says(t, s.use(t, s.ana, "context", opt("question", "one more")))
	typed := func() map[string]string {
		return s.discord.Complete(s.channel, s.ana.ID, "help", opt("command", "/mem")).Wait().Choices()
	}
	if len(typed()) == 0 {
		t.Error("nothing is offered to those who type")
	}
	release()
	for _, u := range uses {
		u.WaitMessage()
	}
}

// A session that Discord can't resume right now is resumed later.
func TestSessionThatIsTakenUpLater(t *testing.T) {
	t.Parallel()
	s := set(t)
	beats := make(chan string, 1)
	s.misleads(t, 2, func(c *websocket.Conn) {
		for _, frame := range []string{`{"op":10,"d":{"heartbeat_interval":99999999}}`,
			`{"op":0,"t":"MESSAGE_CREATE","d":{"content":"cut short`, `{"op":0,"t":"NEW","s":null,"d":{}}`,
			`{"op":1}`} {
			_ = c.WriteMessage(websocket.TextMessage, []byte(frame))
		}
		_, _, _ = c.ReadMessage()
		_, beat, _ := c.ReadMessage()
		beats <- string(beat)
		_ = c.WriteMessage(websocket.TextMessage, []byte(`{"op":9,"d":true}`))
		_, _, _ = c.ReadMessage()
	})
	s.run(t).ready(t)
	s.discord.Drop()
	s.discord.WaitFor("the session", func() bool { return s.discord.Resumes() == 1 })
	s.discord.WaitReady()
	if beat := <-beats; strings.Contains(beat, "null") || s.discord.Identifies() != 1 {
		t.Errorf("%d sessions; the heartbeat is %s", s.discord.Identifies(), beat)
	}
	s.out.wait(t, "passed over what the gateway sent")
}

// A connection ends when heartbeats do. The next is to where Discord said.
func TestConnectionThatHearsNoHeartbeatsIsLeft(t *testing.T) {
	t.Parallel()
	s := set(t)
	heard := make(chan int, 1)
	s.misleads(t, 1, func(c *websocket.Conn) {
		_ = c.WriteMessage(websocket.TextMessage, []byte(`{"op":10,"d":{"heartbeat_interval":1000}}`))
		_, _, _ = c.ReadMessage()
		_ = c.WriteMessage(websocket.TextMessage,
			[]byte(`{"op":0,"t":"READY","s":1,"d":{"session_id":"x","resume_gateway_url":"ws://there"}}`))
		n := 0
		for _, _, err := c.ReadMessage(); err == nil; _, _, err = c.ReadMessage() {
			if n++; n <= 4 {
				_ = c.WriteMessage(websocket.TextMessage, []byte(`{"op":11}`))
			}
		}
		heard <- n
	})
	dial, dialled := s.bot.cfg.Dialer.NetDialContext, make(chan string, 9)
	s.bot.cfg.Dialer.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled <- address
		return dial(ctx, network, address)
	}
	s.run(t).ready(t)
	<-dialled
	if n, again := <-heard, <-dialled; n < 5 || again != "there:80" {
		t.Errorf("left after %d heartbeats for %s", n, again)
	}
}

// A session survives that Discord can't be reached, and is resumed even where no other may begin.
func TestSessionSurvivesThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := set(t)
	honest := s.discord.Dialer().NetDialContext
	dials := 0
	s.bot.cfg.Dialer = &websocket.Dialer{NetDialContext: func(ctx context.Context, network, address string) (net.Conn,
		error) {
		if dials++; dials == 2 {
			<-ctx.Done()
			s.bot.timing.gateway.Open = wait.Limit
			return nil, ctx.Err()
		}
		s.bot.timing.gateway.Open = 10 * time.Millisecond // for the next
		return honest(ctx, network, address)
	}}
	s.run(t).ready(t)
	s.discord.Inject("GET /gateway/bot", math.MaxInt, discordtest.Untold(
		`{"url":"ws`+strings.TrimPrefix(s.discord.URL, "http")+
			`","session_start_limit":{"total":1000,"remaining":0,"reset_after":1}}`))
	s.discord.Drop()
	s.discord.WaitFor("the session", func() bool { return s.discord.Resumes() == 1 })
	s.discord.WaitReady()
	if n := s.discord.Identifies(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}
