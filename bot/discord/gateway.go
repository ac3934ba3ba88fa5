package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"github.com/rs/zerolog"

	"hark/internal/metrics"
	"hark/internal/pace"
	"hark/memory"
)

// discordgo's gateway isn't used: it decodes every event three times, and reconnects after every close code, even
// the final ones. https://discord.com/developers/docs/events/gateway

// maxReconnectWait bounds the pause between attempts to reconnect.
const maxReconnectWait = 2 * time.Minute

// SessionsAtOnce is how many sessions may begin without an extra pause. After that there is one each
// maxReconnectWait, 730 a day: at 1,000 Discord revokes the token.
const SessionsAtOnce = 10

// maxKeptBuffer bounds the read buffer kept for the next frame, in bytes.
const maxKeptBuffer = 1 << 20

// Intents are the intents that are always requested.
const Intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages |
	discordgo.IntentMessageContent | discordgo.IntentGuildScheduledEvents

// closeKeepSession is the close code after which Hark's session can be resumed.
const closeKeepSession = 4000

// Gateway opcodes.
const (
	opDispatch            = 0
	opHeartbeat           = 1
	opIdentify            = 2
	opResume              = 6
	opReconnect           = 7
	opRequestGuildMembers = 8
	opInvalidSession      = 9
	opHello               = 10
	opHeartbeatAck        = 11 // of a heartbeat
)

var (
	errTimedOut       = errors.New("the gateway doesn't get to its first event")
	errReconnect      = errors.New("the gateway asks to connect again")
	errInvalidSession = errors.New("the gateway doesn't know the session")
	errEarly          = errors.New("the session may begin only later")
)

// sentFrame is a frame to the gateway.
type sentFrame struct {
	Op   int `json:"op"`
	Data any `json:"d"`
}

// frame is a frame from the gateway.
type frame struct {
	Op   int             `json:"op"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
	Data json.RawMessage `json:"d"`
}

// Gateway keeps a connection to Discord's gateway.
type Gateway struct {
	Client  *Client
	Dialer  *websocket.Dialer // nil: the default
	Members bool              // whether to request the Server Members intent
	Shard   Shard
	// Session is resumed first, unless it is zero. After Run it is the session as Receive took it, or zero.
	Session Session
	// Keep ends Run with a close code after which the session can be resumed. Until it expires, the bot seems online.
	Keep bool
	// Slot reserves the next moment at which a session may begin, and returns how long to wait for it. Discord lets
	// as many begin at once as concurrency says. nil: sessions begin at once.
	Slot func(ctx context.Context, concurrency int) (time.Duration, error)
	// Receive is called with each event, in order. It must not block. It returns whether it took the event: once it
	// didn't, the session is to be resumed there.
	Receive func(event string, data json.RawMessage) bool
	// State is called when an established connection is lost.
	State func(why error)
	// Lost is called when a connection has ended or couldn't be made.
	Lost func()
	// Unasked returns a guild whose members to request now, with the request's nonce. It skips guilds that were
	// asked since that time. ask is false if there is none.
	Unasked func(now, since time.Time) (guild memory.GuildID, nonce string, ask bool)
	Timing  *GatewayTiming
	Metrics *metrics.Metrics
	Log     zerolog.Logger
	Now     func() time.Time

	slot slot // reserved for the next session; zero: none
}

// GatewayTiming holds intervals and limits.
type GatewayTiming struct {
	Retry   time.Duration // before the second attempt to connect; doubles each time
	Reach   int           // attempts to connect before giving up at the start
	Open    time.Duration // opening a connection
	Ask     time.Duration // between member requests: Discord allows 120 sends a minute
	Members time.Duration // until an incomplete member list is requested again
}

// UsualGateway is the timing outside tests.
var UsualGateway = GatewayTiming{
	Retry:   500 * time.Millisecond,
	Reach:   3,
	Open:    30 * time.Second,
	Ask:     time.Second,
	Members: time.Minute,
}

var errLost = errors.New("the connection to Discord is lost; connecting again")

// Run keeps a connection until ctx ends, or returns one of the fatal errors.
func (g *Gateway) Run(ctx context.Context) error {
	s := g.given()
	starts := sessionStarts{}
	defer func() { g.Session = g.left(s) }()
	rest := backoff{first: g.Timing.Retry, next: g.Timing.Retry}
	failures := 0
	everUp := false
	for ctx.Err() == nil {
		if s.id == "" && g.slot == (slot{}) {
			g.waitToStart(ctx, starts.pause(time.Now()))
		}
		up, err := g.connect(ctx, s)
		g.Lost()
		if used, is := errors.AsType[sessionLimitError](err); is {
			g.waitToStart(ctx, max(time.Duration(used), rest.next))
			continue
		}
		if errors.Is(err, errEarly) {
			_ = pace.Sleep(ctx, time.Until(g.slot.at)-dialTime)
			continue
		}
		if no, is := errors.AsType[slotError](err); is && ctx.Err() == nil {
			wait := rest.grow()
			g.Log.Warn().Err(no.error).Dur("wait", wait).Msg("can't tell yet when a session may begin with Discord")
			_ = pace.Sleep(ctx, wait)
			continue
		}
		end := fatal(err)
		if errors.Is(end, ErrIntents) && g.Members { // it was switched off meanwhile
			g.Members = false
			s = &gatewaySession{}
			g.Log.Warn().Msg("Discord refuses an intent; trying without Server Members")
			continue
		}
		if end != nil {
			return end
		}
		everUp = everUp || up
		if ctx.Err() != nil {
			return nil
		}
		if !resumable(err) {
			s = &gatewaySession{}
		}
		if up {
			failures = 0
			g.Metrics.GatewayLost.Inc()
			g.State(errLost)
		} else if failures++; !everUp && failures >= g.Timing.Reach {
			return unreachable(err)
		}
		wait := rest.after(err, up)
		g.Log.Warn().AnErr("why", Redact(err)).Dur("wait", wait).Msg("not connected to Discord; connecting again")
		_ = pace.Sleep(ctx, wait)
	}
	return nil
}

// backoff tells how long to wait before the next attempt to connect.
type backoff struct {
	first time.Duration
	next  time.Duration
}

// grow returns the next wait, after which the one that follows is twice as long.
func (b *backoff) grow() time.Duration {
	wait := b.next
	b.next = min(2*wait, maxReconnectWait)
	return wait
}

// after returns the wait after a connection that ended with err and was up or not. Where Discord has spoken, waits
// begin anew. For a session that it doesn't know, it asks for a random wait of one to five seconds, which is two to ten
// times the usual first one.
// https://discord.com/developers/docs/events/gateway#resuming
func (b *backoff) after(err error, up bool) time.Duration {
	unknown := errors.Is(err, errInvalidSession)
	if up || unknown {
		b.next = b.first
	}
	if unknown {
		return 2*b.first + rand.N(8*b.first+1)
	}
	wait := b.grow()
	return wait/2 + rand.N(wait/2+1)
}

func (g *Gateway) intents() discordgo.Intent {
	if g.Members {
		return Intents | discordgo.IntentGuildMembers
	}
	return Intents
}

// resumable reports whether a session whose connection ended with err may be taken up.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
func resumable(err error) bool {
	if err == nil || errors.Is(err, errTimedOut) || errors.Is(err, errInvalidSession) {
		return false
	}
	closed, is := errors.AsType[*websocket.CloseError](err)
	if !is || closed.Code < 4000 {
		return true
	}
	switch closed.Code {
	case 4000, 4001, 4002, 4005, 4008:
		return true
	}
	return false
}

// connect connects and receives events until the connection ends. It returns why, and whether it got READY or
// RESUMED. When ctx ends, it sends a close frame.
func (g *Gateway) connect(ctx context.Context, s *gatewaySession) (up bool, err error) {
	address, concurrency, err := g.address(ctx, s)
	if err != nil {
		return false, err // says nothing about the session
	}
	soon, cancel := context.WithTimeout(ctx, g.Timing.Open)
	defer cancel()
	late, _ := soon.Deadline()
	ws, err := g.dial(soon, address)
	if err != nil {
		s.gateway = ""
		return false, err
	}
	defer func() {
		if !up && ctx.Err() == nil && !time.Now().Before(late) {
			err = errTimedOut
		}
	}()
	defer ws.Close()
	defer context.AfterFunc(ctx, func() {
		end := time.Now().Add(time.Second)
		code := websocket.CloseNormalClosure
		if g.Keep {
			code = closeKeepSession
		}
		_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), end)
		_ = ws.SetReadDeadline(end)
	})()
	_ = ws.SetReadDeadline(late)
	_ = ws.SetWriteDeadline(late)
	heart := heartbeater{ws: ws, session: s}
	done := make(chan struct{})
	defer close(done)
	refused := false // an event; it and what follows are for the next connection
	var interval time.Duration
	var read bytes.Buffer
	heard := func() {
		_ = ws.SetReadDeadline(time.Now().Add(2 * interval))
		if ctx.Err() != nil {
			_ = ws.SetReadDeadline(time.Now().Add(time.Second))
		}
	}
	for {
		_, from, err := ws.NextReader()
		if err != nil {
			return up, err
		}
		read.Reset()
		if read.Cap() > maxKeptBuffer {
			read = bytes.Buffer{}
		}
		if _, err := read.ReadFrom(from); err != nil {
			return up, err
		}
		var f frame
		if err := Unmarshal(read.Bytes(), &f); err != nil {
			g.Log.Error().Err(err).Int("bytes", read.Len()).Msg("passed over what the gateway sent")
			continue
		}
		switch f.Op {
		case opHello:
			var hello struct {
				Interval int `json:"heartbeat_interval"`
			}
			if json.Unmarshal(f.Data, &hello) != nil || hello.Interval <= 0 || interval > 0 {
				continue
			}
			interval = time.Duration(hello.Interval) * time.Millisecond
			if s.id == "" {
				if err := g.waitSlot(soon, concurrency); err != nil {
					return up, err
				}
			}
			if err := ws.WriteJSON(g.identify(s)); err != nil {
				return up, err
			}
			go heart.run(interval, done)
		case opHeartbeat:
			heart.beat()
		case opHeartbeatAck:
			if up {
				heard()
			}
		case opReconnect:
			return up, errReconnect
		case opInvalidSession:
			if string(f.Data) == "true" { // it can still be resumed
				return up, errReconnect
			}
			return up, errInvalidSession
		case opDispatch:
			if f.Type == "READY" || f.Type == "RESUMED" {
				if g.Members && !up {
					go g.askForMembers(&heart, done)
				}
				up = true
				heard()
				s.readReady(f)
			}
			refused = !g.Receive(f.Type, f.Data) || refused
			if f.Seq > 0 && !refused {
				s.seq.Store(f.Seq)
			}
		}
	}
}

// address returns where the session can be resumed or begun, and how many may begin at once.
func (g *Gateway) address(ctx context.Context, s *gatewaySession) (address string, concurrency int, err error) {
	if s.gateway != "" {
		return s.gateway, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.Timing.Open)
	defer cancel()
	once := *g.Client
	once.tries = 1
	found, err := once.gateway(ctx)
	if err != nil {
		return "", 0, err
	}
	if l := found.Limit; s.id == "" && l.Total > 0 && l.Remaining <= 0 {
		return "", 0, sessionLimitError(l.reset())
	}
	return found.URL, found.Limit.Concurrency, nil
}

// dial connects to an address of the gateway.
func (g *Gateway) dial(ctx context.Context, address string) (*websocket.Conn, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	at.RawQuery = url.Values{"v": {discordgo.APIVersion}, "encoding": {"json"}}.Encode()
	ws, _, err := cmp.Or(g.Dialer, websocket.DefaultDialer).DialContext(ctx, at.String(), nil)
	return ws, err
}

// identify returns the answer to hello: identify or resume.
func (g *Gateway) identify(s *gatewaySession) sentFrame {
	if s.id != "" {
		return sentFrame{opResume, map[string]any{"token": g.Client.session.Token, "session_id": s.id,
			"seq": s.seq.Load()}}
	}
	return sentFrame{opIdentify, map[string]any{"token": g.Client.session.Token, "intents": g.intents(),
		"shard":      []int{g.Shard.No, g.Shard.Count()},
		"properties": map[string]string{"os": runtime.GOOS, "browser": "hark", "device": "hark"}}}
}

// heartbeater sends heartbeats and other frames of a session. Write errors surface in the reader.
type heartbeater struct {
	mu      sync.Mutex
	ws      *websocket.Conn
	session *gatewaySession
}

// run sends heartbeats until done, the first after a random part of interval.
func (h *heartbeater) run(interval time.Duration, done <-chan struct{}) {
	next := time.NewTimer(rand.N(interval))
	defer next.Stop()
	for {
		select {
		case <-next.C:
			next.Reset(interval)
			h.beat()
		case <-done:
			return
		}
	}
}

func (h *heartbeater) beat() {
	var seq any // null before the first event
	if n := h.session.seq.Load(); n > 0 {
		seq = n
	}
	h.send(sentFrame{opHeartbeat, seq})
}

func (h *heartbeater) send(m sentFrame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.ws.SetWriteDeadline(time.Now().Add(requestTimeout))
	_ = h.ws.WriteJSON(m)
}

// askForMembers requests guild members until done. A guild that hasn't answered isn't asked again at once:
// https://discord.com/developers/docs/events/gateway-events#rate-limited
func (g *Gateway) askForMembers(h *heartbeater, done <-chan struct{}) {
	next := time.NewTicker(g.Timing.Ask)
	defer next.Stop()
	for {
		select {
		case now := <-next.C:
			if guild, nonce, ask := g.Unasked(now, now.Add(-g.Timing.Members)); ask {
				h.send(sentFrame{opRequestGuildMembers, map[string]any{"guild_id": guild.String(), "query": "", "limit": 0,
					"nonce": nonce}})
			}
		case <-done:
			return
		}
	}
}
