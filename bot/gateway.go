package bot

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// longestReconnect bounds the pause between attempts to connect again: at most 720 of them a day, where
// Discord allows 1,000.
const longestReconnect = 2 * time.Minute

// settling is how long discordgo is left alone after a connection has ended: its reader and its heartbeat may
// both find that out and close the session, and the second must not close the next connection.
const settling = 100 * time.Millisecond

var errHung = errors.New("the gateway doesn't get to its first event")

// stayConnected keeps a connection to the gateway until ctx ends, or one of the final errors.
//
// discordgo would reconnect by itself, but on every close code, also those that say that it is of no use,
// and without a way to stop it.
func (b *Bot) stayConnected(ctx context.Context) error {
	var l *link
	defer func() {
		if l != nil {
			l.close()
		}
	}()
	wait, failures, everUp := b.timing.retry, 0, false
	for ctx.Err() == nil {
		if l == nil {
			l = b.newLink()
		}
		err := l.open(ctx, b.timing.open)
		end := final(err)
		if errors.Is(end, ErrIntents) && b.members.Swap(false) { // it was switched off since
			b.log.Warn().Msg("Discord refuses an intent; trying without Server Members")
			l.close()
			l = nil
			continue
		}
		if end != nil {
			return end
		}
		if err == nil {
			select {
			case <-l.down:
			case <-ctx.Done():
			}
		}
		b.roster.Lose()
		up := l.up.Swap(false)
		everUp = everUp || up
		switch {
		case ctx.Err() != nil:
			return nil
		case up:
			wait, failures = b.timing.retry, 0
			b.cfg.Metrics.GatewayLost.Inc()
			b.setState(errLost)
		default:
			failures++
			if !resumable(err) {
				l.close()
				l = nil
			}
			if !everUp && failures >= b.timing.reach {
				return unreachable(err)
			}
		}
		b.log.Warn().AnErr("why", redact(err)).Dur("wait", wait).Msg("not connected to Discord; connecting again")
		_ = sleep(ctx, settling+wait/2+rand.N(wait/2+1))
		wait = min(2*wait, longestReconnect)
	}
	return nil
}

// resumable reports whether a connection that failed with err may be taken up where it was.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
func resumable(err error) bool {
	if err == nil || errors.Is(err, errHung) {
		return false
	}
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code < 4000 {
		return true
	}
	switch closed.Code {
	case 4000, 4001, 4002, 4005, 4008:
		return true
	}
	return false
}

// link is one gateway session and its connections.
type link struct {
	session *discordgo.Session
	down    chan struct{} // receives when a connection has ended
	up      atomic.Bool   // READY or RESUMED has come

	mu    sync.Mutex
	conns []net.Conn
}

func (b *Bot) newLink() *link {
	s := b.session()
	b.gateway.Store(s)
	l := &link{session: s, down: make(chan struct{}, 1)}
	s.Dialer = l.dialer(b.cfg.Dialer)
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { b.receive(l, e) })
	s.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { wakeUp(l.down) })
	return l
}

// receive is called with each event of the gateway, in order. It must not wait.
func (b *Bot) receive(l *link, e *discordgo.Event) {
	if e.Type == "INTERACTION_CREATE" || readers[e.Type] != nil {
		b.cfg.Metrics.Events.WithLabelValues(e.Type).Inc()
	}
	switch e.Type {
	case "READY", "RESUMED":
		l.up.Store(true)
		b.cfg.Metrics.GatewayConnections.WithLabelValues(map[string]string{"READY": "new",
			"RESUMED": "resumed"}[e.Type]).Inc()
		b.setState(nil)
		b.log.Info().Str("event", e.Type).Msg("connected to Discord")
		if b.queue.put(item{raw: &rawEvent{kind: e.Type, data: e.RawData}}) && e.Type == "READY" {
			b.commands.ready(e.RawData)
		}
	case "INTERACTION_CREATE":
		logged := make(chan struct{})
		if b.queue.put(item{raw: &rawEvent{kind: e.Type, data: e.RawData}, logged: logged}) {
			b.commands.put(e.RawData, logged)
		}
	default:
		if readers[e.Type] != nil {
			b.queue.put(item{raw: &rawEvent{kind: e.Type, data: e.RawData}})
		}
	}
}

// open connects. It takes no longer than limit, whatever the other side does: discordgo itself waits for the
// first events without end, and some of them make it wait for itself.
func (l *link) open(ctx context.Context, limit time.Duration) error {
	select {
	case <-l.down: // of the connection before
	default:
	}
	opened := make(chan error, 1)
	go func() { opened <- l.session.Open() }()
	var why error
	select {
	case err := <-opened:
		if errors.Is(err, discordgo.ErrWSAlreadyOpen) {
			return nil
		}
		return err
	case <-ctx.Done():
		why = ctx.Err()
	case <-time.After(limit):
		why = errHung
	}
	l.cut()
	select {
	case <-opened:
	case <-time.After(time.Second):
	}
	return why
}

// close ends the session, politely if that takes less than three seconds.
func (l *link) close() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close()
	}()
	select {
	case <-closed:
	case <-time.After(3 * time.Second):
	}
	l.cut()
}

// cut ends the connection without asking.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

// dialer is like base, and remembers the connection, so that cut can end it.
func (l *link) dialer(base *websocket.Dialer) *websocket.Dialer {
	if base == nil {
		base = websocket.DefaultDialer
	}
	d := *base
	dial := d.NetDialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: requestTimeout}).DialContext
	}
	d.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err == nil {
			l.mu.Lock()
			l.conns = []net.Conn{c}
			l.mu.Unlock()
		}
		return c, err
	}
	return &d
}
