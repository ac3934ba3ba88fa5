package discordtest

import (
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

type object map[string]any

// event is something to dispatch: to sessions with one of the intents, and, where it is of a channel, only if the
// bot can see that.
type event struct {
	name    string
	intents Intents // 0: whatever the intents
	channel *channel
	payload any
	only    *session // for one session's eyes: READY and what was asked for
}

// heartbeatInterval is about how many milliseconds Discord has between two heartbeats.
const heartbeatInterval = 41250

// gateway is everything that has to do with websockets. The server's lock guards it.
type gateway struct {
	sessions   map[string]*session
	conns      map[*conn]struct{}
	identifies int
	resumes    int
	refuse     int // resumes to refuse
	heartbeats int
	duplicate  int                 // events to deliver twice
	brief      map[string][]string // fields to leave out of the next event of a name
}

// session is what a resume takes up again. Its log holds every event since READY.
type session struct {
	id      string
	intents Intents
	log     [][]byte
	conn    *conn // nil while nobody is connected
}

// Identifies is how many sessions have been started.
func (s *Server) Identifies() int { return s.count(&s.gateway.identifies) }

// Resumes is how many sessions have been taken up again.
func (s *Server) Resumes() int { return s.count(&s.gateway.resumes) }

func (s *Server) count(n *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *n
}

// connected is the session that is connected and ready, if there is one.
func (s *Server) connected() *session {
	for _, x := range s.gateway.sessions {
		if x.conn != nil && x.conn.ready {
			return x
		}
	}
	return nil
}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &conn{s: s, ws: ws, wake: make(chan struct{}, 1), done: make(chan struct{})}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		ws.Close()
		return
	}
	if s.gateway.conns == nil {
		s.gateway.conns = map[*conn]struct{}{}
	}
	s.gateway.conns[c] = struct{}{}
	s.gateways.Add(1)
	c.control(10, object{"heartbeat_interval": heartbeatInterval})
	s.mu.Unlock()
	defer s.gateways.Done()

	written := make(chan struct{})
	go func() { defer close(written); c.write() }()
	c.read()
	<-written
	s.change(func() {
		c.detach()
		delete(s.gateway.conns, c)
	})
}

// emit dispatches an event to every session that wants it.
func (s *Server) emit(e event) {
	if e.channel != nil && e.only == nil && !s.permissions(e.channel, s.Bot.ID).Has(ViewChannel) {
		return
	}
	for _, x := range s.gateway.sessions {
		if e.only != nil && e.only != x || e.intents != 0 && x.intents&e.intents == 0 {
			continue
		}
		times := 1
		if e.only == nil && s.gateway.duplicate > 0 {
			s.gateway.duplicate--
			times = 2
		}
		for range times {
			x.dispatch(s, e)
		}
	}
}

func (x *session) dispatch(s *Server, e event) {
	payload := e.payload
	if m, ok := payload.(messageEvent); ok {
		payload = m.forIntents(s, x.intents)
	}
	payload = s.gateway.without(e.name, payload)
	data := encode(object{"op": 0, "t": e.name, "s": len(x.log) + 1, "d": payload})
	x.log = append(x.log, data)
	if x.conn == nil {
		return
	}
	x.conn.push(out{data: data})
}

func (s *Server) closeConnections() {
	for c := range s.gateway.conns {
		c.drop()
	}
}

// ready begins a session: READY, then every guild.
func (s *Server) ready(x *session) {
	guilds := []object{}
	for _, g := range s.sortedGuilds() {
		guilds = append(guilds, object{"id": g.ID, "unavailable": true})
	}
	s.emit(event{only: x, name: "READY", payload: object{"v": 9, "user": s.Bot, "guilds": guilds, "session_id": x.id,
		"resume_gateway_url": s.gatewayURL(), "private_channels": []any{}, "shard": []int{0, 1},
		"application": object{"id": s.AppID, "flags": s.intents.applicationFlags()}}})
	if x.intents&Guilds != 0 {
		for _, g := range s.sortedGuilds() {
			s.emit(event{only: x, name: "GUILD_CREATE", payload: s.guildCreate(g)})
		}
	}
	x.conn.becomeReady()
}

// guildCreate is a guild as the gateway tells it: with its channels and the threads the bot can see, and of the
// members with the bot only, as for a bot without presences.
func (s *Server) guildCreate(g *guild) object {
	if g.unavailable {
		return object{"id": g.ID, "unavailable": true}
	}
	channels, threads := []Channel{}, []Channel{}
	for _, id := range g.channels {
		c := s.channels[id]
		switch {
		case !c.Type.IsThread():
			channels = append(channels, s.told(c))
		case s.permissions(c, s.Bot.ID).Has(ViewChannel) && !c.Thread.Archived:
			threads = append(threads, c.clone())
		}
	}
	o := s.guildObject(g)
	o["channels"], o["threads"] = channels, threads
	o["members"] = []Member{*g.members[s.Bot.ID]}
	o["member_count"], o["large"], o["unavailable"] = len(g.members), false, false
	o["joined_at"] = g.members[s.Bot.ID].JoinedAt
	o["presences"], o["voice_states"], o["stage_instances"] = []any{}, []any{}, []any{}
	return o
}

// messageEvent is a message whose readable part depends on the session it goes to.
type messageEvent struct {
	channel *channel
	message stored
}

func (e messageEvent) forIntents(s *Server, i Intents) any {
	m := s.readable(&e.message, i)
	if e.channel.GuildID == 0 {
		return m
	}
	g := s.guilds[e.channel.GuildID]
	type mentioned struct {
		User
		Member *Member `json:"member,omitempty"`
	}
	told := struct {
		Message
		GuildID  ID          `json:"guild_id"`
		Member   *Member     `json:"member,omitempty"`
		Mentions []mentioned `json:"mentions"`
	}{Message: m, GuildID: e.channel.GuildID, Mentions: []mentioned{}}
	beside := func(id ID) *Member {
		if g == nil || g.members[id] == nil {
			return nil
		}
		alone := g.members[id].withoutUser()
		return &alone
	}
	for _, u := range m.Mentions {
		told.Mentions = append(told.Mentions, mentioned{u, beside(u.ID)})
	}
	if m.WebhookID == 0 {
		told.Member = beside(m.Author.ID)
	}
	return told
}

func (s *Server) emitMessage(name string, c *channel, m *stored) {
	s.emit(event{name: name, intents: messageIntent(c), channel: c, payload: messageEvent{c, snapshot(m)}})
}

// snapshot is the message as it is now, whatever becomes of it before it is told.
func snapshot(m *stored) stored {
	now := *m
	now.Message = m.clone()
	return now
}

// withGuild is a member as member events tell it.
type withGuild struct {
	guild ID
	m     *Member
}

func (w withGuild) member() any {
	return struct {
		Member
		GuildID ID `json:"guild_id"`
	}{*w.m, w.guild}
}

func (s *Server) gatewayURL() string { return "ws" + s.URL[len("http"):] }

// grace is how long a client is given to see a close frame before the connection goes.
const grace = 5 * time.Second
