package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// conn is one websocket. One goroutine writes what is pushed, in order; another reads. The server's lock
// guards all except the websocket.
type conn struct {
	s       *Server
	ws      *websocket.Conn
	door    int
	session *session
	beats   int // heartbeats received
	queue   []outFrame
	ready   bool
	closed  bool // nothing more is read or pushed
	wake    *sync.Cond
}

// outFrame is a frame to write; with code, a close frame.
type outFrame struct {
	data []byte
	code int
}

// abruptClose, as a close code, breaks the connection without a close frame.
const abruptClose = -1

// grace is how long a client has to read a close frame.
const grace = 5 * time.Second

func (c *conn) push(o outFrame) {
	if !c.closed {
		c.queue = append(c.queue, o)
		c.wake.Signal()
	}
}

func (c *conn) control(op int, d any) {
	c.push(outFrame{data: encode(object{"op": op, "d": d})})
}

// closeWith closes the connection after what is queued.
func (c *conn) closeWith(code int) {
	c.push(outFrame{code: code})
	c.detach()
}

// detach stops pushing. The session can be resumed.
func (c *conn) detach() {
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	c.ready, c.closed = false, true
	c.wake.Signal()
}

// write writes what is pushed.
func (c *conn) write() {
	for {
		c.s.mu.Lock()
		for len(c.queue) == 0 && !c.closed {
			c.wake.Wait()
		}
		queue := c.queue
		c.queue = nil
		c.s.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, o := range queue { // read sees when the client is gone
			switch {
			case o.code == abruptClose:
				c.ws.Close()
			case o.code > 0:
				late := time.Now().Add(grace)
				c.ws.WriteControl(websocket.CloseMessage,
					websocket.FormatCloseMessage(o.code, closeReasons[o.code]), late)
				c.ws.SetReadDeadline(late)
			default:
				c.ws.WriteMessage(websocket.TextMessage, o.data)
			}
		}
	}
}

var closeReasons = map[int]string{
	4000: "Unknown error.",
	4003: "Not authenticated.",
	4004: "Authentication failed.",
	4005: "Already authenticated.",
	4010: "Invalid shard.",
	4011: "Sharding required.",
	4013: "Invalid intent(s).",
	4014: "Disallowed intent(s).",
}

// read reads until the client goes. After close code 1000 or 1001 its session can't be resumed.
func (c *conn) read() {
	for {
		_, data, err := c.ws.ReadMessage()
		done := c.s.change()
		switch bye := websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway); {
		case bye && c.session != nil && c.session.conn == c:
			delete(c.s.gateway.sessions, c.session.id)
		case err == nil && !c.closed:
			c.receive(data)
		}
		done()
		if err != nil {
			return
		}
	}
}

func (c *conn) receive(data []byte) {
	var m struct {
		Op int             `json:"op"`
		D  json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		c.s.misuse(GatewayMisuse, "a frame that is not JSON: %v", err)
		c.closeWith(4002)
		return
	}
	switch op := m.Op; {
	case op == 1:
		c.beats++
		c.control(11, nil)
	case op == 2 || op == 6:
		c.identify(op == 6, m.D)
	case c.session == nil:
		c.closeWith(4003)
	case op == 8:
		c.members(m.D)
	default:
		c.s.misuse(GatewayMisuse, "opcode %d", op)
		c.closeWith(4001)
	}
}

// memberChunkSize is the members in a chunk. Discord's is 1,000; a small one makes several chunks.
const memberChunkSize = 3

// members sends all members of a guild in chunks. The session needs the intent.
func (c *conn) members(d json.RawMessage) {
	var q struct {
		Guild    ID      `json:"guild_id"`
		Query    *string `json:"query"`
		Limit    int     `json:"limit"`
		Nonce    string  `json:"nonce"`
		Presence bool    `json:"presences"`
	}
	err := json.Unmarshal(d, &q)
	if err != nil || q.Query == nil || *q.Query != "" || q.Limit != 0 || q.Presence ||
		c.session.intents&Members == 0 {
		c.s.misuse(GatewayMisuse, "request of members: %s, %v", d, err)
		return
	}
	g := c.s.guilds[q.Guild]
	if g == nil || g.unavailable {
		return
	}
	ids := slices.Sorted(maps.Keys(g.members))
	parts := slices.Collect(slices.Chunk(ids, memberChunkSize))
	for i, part := range parts {
		told := []*Member{}
		for _, id := range part {
			told = append(told, g.members[id])
		}
		c.session.dispatch(c.s, "GUILD_MEMBERS_CHUNK", object{"guild_id": g.ID, "members": told, "chunk_index": i,
			"chunk_count": len(parts), "nonce": q.Nonce})
	}
}

// identify begins or resumes a session.
func (c *conn) identify(resume bool, d json.RawMessage) {
	var q struct {
		Token     string  `json:"token"`
		Intents   Intents `json:"intents"`
		SessionID string  `json:"session_id"`
		Seq       int     `json:"seq"`
		Shard     *shard  `json:"shard"`
	}
	switch err := json.Unmarshal(d, &q); {
	case err != nil:
		c.s.misuse(GatewayMisuse, "identify or resume: %v", err)
		c.closeWith(4002)
	case c.session != nil:
		c.closeWith(4005)
	case strings.TrimPrefix(q.Token, "Bot ") != c.s.Token:
		c.closeWith(4004)
	case resume:
		c.resume(q.SessionID, q.Seq)
	case q.Intents&^knownIntents != 0:
		c.closeWith(4013)
	case q.Intents&Privileged&^c.s.intents != 0:
		c.closeWith(4014)
	default:
		if q.Shard == nil {
			q.Shard = &shard{0, 1}
		}
		c.begin(*q.Shard, q.Intents)
	}
}

// begin begins a session, or refuses it.
func (c *conn) begin(of shard, intents Intents) {
	g := &c.s.gateway
	if of[0] < 0 || of[0] >= of[1] {
		c.closeWith(4010)
		return
	}
	if of[1] < c.s.leastShards {
		c.closeWith(4011)
		return
	}
	now, bucket := time.Now(), of[0]%c.s.concurrency
	if since := now.Sub(g.buckets[bucket]); since < c.s.identifyEvery {
		c.s.misuse(Early, "shard %d of %d, %v after another of bucket %d", of[0], of[1], since, bucket)
		c.control(9, false)
		return
	}
	g.buckets[bucket] = now
	g.identifies++
	maps.DeleteFunc(g.sessions, func(_ string, x *session) bool { return x.conn == nil && x.shard == of })
	c.session = &session{id: fmt.Sprintf("session-%d", g.identifies), shard: of, intents: intents, conn: c}
	g.sessions[c.session.id] = c.session
	c.record(false)
	c.s.ready(c.session)
}

// record notes that the connection began or resumed its session.
func (c *conn) record(resumed bool) {
	x := c.session
	var beside []int
	for other := range c.s.gateway.conns {
		if other != c && !other.closed && other.session != nil && other.session.shard == x.shard {
			beside = append(beside, other.door)
		}
	}
	c.s.gateway.begun = append(c.s.gateway.begun,
		Begun{x.id, x.shard[0], x.shard[1], c.door, resumed, time.Now(), beside})
}

// resume replays missed events, then RESUMED, or refuses.
func (c *conn) resume(id string, seq int) {
	x := c.s.gateway.sessions[id]
	if x != nil && c.s.gateway.resumesToRefuse > 0 {
		c.s.gateway.resumesToRefuse--
		delete(c.s.gateway.sessions, x.id)
		x = nil
	}
	if x == nil || seq > len(x.log) || seq < 0 {
		c.control(9, false)
		return
	}
	if x.conn != nil {
		x.conn.closeWith(abruptClose)
	}
	c.session, x.conn = x, c
	for _, data := range x.log[seq:] {
		c.push(outFrame{data: data})
	}
	c.s.gateway.resumes++
	c.record(true)
	x.dispatch(c.s, "RESUMED", object{"_trace": []string{}})
	c.ready = true
}
