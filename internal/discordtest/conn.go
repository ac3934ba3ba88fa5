package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// conn is one websocket. What is pushed is written in order by one goroutine; another reads. The server's lock
// guards all but the websocket itself.
type conn struct {
	s       *Server
	ws      *websocket.Conn
	session *session
	queue   []out
	late    []out // acks and reconnects that have to wait for READY or RESUMED
	ready   bool
	gone    bool
	wake    chan struct{}
	done    chan struct{} // closed when the connection is to be dropped
	once    sync.Once
}

// out is a frame to write; with code, a close frame.
type out struct {
	data []byte
	code int
}

func (c *conn) push(o out) {
	if c.gone {
		return
	}
	c.queue = append(c.queue, o)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) control(op int, d any) {
	o := out{data: encode(object{"op": op, "d": d})}
	if !c.ready && (op == 7 || op == 11) {
		c.late = append(c.late, o) // before READY or RESUMED they would lock discordgo up for good
		return
	}
	c.push(o)
}

func (c *conn) becomeReady() {
	c.ready = true
	for _, o := range c.late {
		c.push(o)
	}
	c.late = nil
}

// closeWith ends the connection with a close code after what is queued.
func (c *conn) closeWith(code int) {
	c.push(out{code: code})
	c.detach()
	c.gone = true
}

// drop breaks the connection after what is queued, with no word.
func (c *conn) drop() {
	c.push(out{code: -1})
	c.detach()
	c.gone = true
}

// detach leaves the session without a connection, to be resumed.
func (c *conn) detach() {
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	c.ready = false
}

func (c *conn) write() {
	defer c.ws.Close()
	for {
		c.s.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.s.mu.Unlock()
		for _, o := range queue {
			if !c.send(o) {
				return
			}
		}
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
	}
}

// send writes one frame and reports whether the connection goes on.
func (c *conn) send(o out) bool {
	switch {
	case o.code == -1:
		return false
	case o.code > 0:
		c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(o.code, closeReasons[o.code]),
			time.Now().Add(grace))
		c.ws.SetReadDeadline(time.Now().Add(grace))
		select {
		case <-c.done: // the client has closed, or the deadline has passed
		case <-c.s.done:
		}
		return false
	}
	return c.ws.WriteMessage(websocket.TextMessage, o.data) == nil
}

var closeReasons = map[int]string{
	4000: "Unknown error.",
	4003: "Not authenticated.",
	4004: "Authentication failed.",
	4005: "Already authenticated.",
	4013: "Invalid intent(s).",
	4014: "Disallowed intent(s).",
}

// read takes what the client sends until it goes.
func (c *conn) read() {
	defer c.once.Do(func() { close(c.done) })
	for {
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			c.left(err)
			return
		}
		var m struct {
			Op int             `json:"op"`
			D  json.RawMessage `json:"d"`
		}
		c.s.change(func() {
			if err := json.Unmarshal(data, &m); err != nil {
				c.s.misuse(GatewayMisuse, "a frame that is not JSON: %v", err)
				c.closeWith(4002)
				return
			}
			c.receive(m.Op, m.D)
		})
	}
}

// left ends the session if the client said good-bye: close codes 1000 and 1001 mean that it won't be resumed.
func (c *conn) left(err error) {
	if !websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		return
	}
	c.s.change(func() {
		if c.session != nil && c.session.conn == c {
			delete(c.s.gateway.sessions, c.session.id)
		}
	})
}

func (c *conn) receive(op int, d json.RawMessage) {
	if c.gone {
		return
	}
	if c.session == nil && op != 1 && op != 2 && op != 6 {
		c.closeWith(4003)
		return
	}
	switch op {
	case 1:
		c.s.gateway.heartbeats++
		c.control(11, nil)
	case 2:
		c.identify(d)
	case 6:
		c.resume(d)
	case 3, 4: // presence and voice: nothing that a test looks at
	default:
		c.s.misuse(GatewayMisuse, "opcode %d", op)
		c.closeWith(4001)
	}
}

func (c *conn) identify(d json.RawMessage) {
	var q struct {
		Token   string  `json:"token"`
		Intents Intents `json:"intents"`
	}
	switch err := json.Unmarshal(d, &q); {
	case err != nil:
		c.s.misuse(GatewayMisuse, "identify: %v", err)
		c.closeWith(4002)
	case c.session != nil:
		c.closeWith(4005)
	case strings.TrimPrefix(q.Token, "Bot ") != c.s.Token:
		c.closeWith(4004)
	case q.Intents&^knownIntents != 0:
		c.closeWith(4013)
	case q.Intents&Privileged&^c.s.intents != 0:
		c.closeWith(4014)
	default:
		c.s.gateway.identifies++
		maps.DeleteFunc(c.s.gateway.sessions, func(_ string, x *session) bool { return x.conn == nil })
		x := &session{id: fmt.Sprintf("session-%d", c.s.gateway.identifies), intents: q.Intents, conn: c}
		c.session = x
		c.s.gateway.sessions[x.id] = x
		c.s.ready(x)
	}
}

// resume replays what the session has missed, RESUMED last, or says that it can't.
func (c *conn) resume(d json.RawMessage) {
	var q struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	if err := json.Unmarshal(d, &q); err != nil {
		c.s.misuse(GatewayMisuse, "resume: %v", err)
		c.closeWith(4002)
		return
	}
	if strings.TrimPrefix(q.Token, "Bot ") != c.s.Token {
		c.closeWith(4004)
		return
	}
	x := c.s.gateway.sessions[q.SessionID]
	if x != nil && c.s.gateway.refuse > 0 {
		c.s.gateway.refuse--
		delete(c.s.gateway.sessions, x.id)
		x = nil
	}
	if x == nil || q.Seq > len(x.log) || q.Seq < 0 {
		c.control(9, false)
		return
	}
	if x.conn != nil {
		x.conn.drop()
	}
	c.session, x.conn = x, c
	for _, data := range x.log[q.Seq:] {
		c.push(out{data: data})
	}
	c.s.gateway.resumes++
	x.dispatch(c.s, event{only: x, name: "RESUMED", payload: object{"_trace": []string{}}})
	c.becomeReady()
}
