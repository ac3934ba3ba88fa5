package discordtest

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

type object map[string]any

// Intents is what a gateway session asks to be told of.
type Intents int

// The intents that the fake knows.
const (
	Guilds         Intents = 1 << 0
	Members        Intents = 1 << 1
	Presences      Intents = 1 << 8
	GuildMessages  Intents = 1 << 9
	DirectMessages Intents = 1 << 12
	MessageContent Intents = 1 << 15

	// Privileged are those that have to be switched on in the developer portal.
	Privileged = Members | Presences | MessageContent

	knownIntents Intents = 1<<26 - 1
)

// applicationFlags say in the application's flags which privileged intents are on, for a bot in few guilds.
func (i Intents) applicationFlags() int {
	var f int
	for intent, flag := range map[Intents]int{Presences: 1 << 13, Members: 1 << 15, MessageContent: 1 << 19} {
		if i&intent != 0 {
			f |= flag
		}
	}
	return f
}

func messageIntent(c *channel) Intents {
	if c.Type == Direct {
		return DirectMessages
	}
	return GuildMessages
}

// event is dispatched to the sessions of its guild's shard with one of the intents and, if it has a channel, only
// if the bot can see that.
type event struct {
	name    string
	guild   ID      // 0: direct messages
	intents Intents // 0: all sessions
	channel *channel
	payload any
}

// heartbeatInterval is about Discord's, in milliseconds.
const heartbeatInterval = 41250

// gateway is the state of the websockets. The server's lock guards it.
type gateway struct {
	sessions        map[string]*session
	conns           map[*conn]struct{}
	begun           []Begun
	buckets         map[int]time.Time // when each began its last session
	identifies      int
	resumes         int
	resumesToRefuse int                 // resumes to refuse
	duplicate       int                 // events to deliver twice
	omitted         map[string][]string // fields to leave out of the next event of a name
}

// session is a gateway session. Its log has every event since READY, for resumes.
type session struct {
	id      string
	shard   shard
	intents Intents
	log     [][]byte
	conn    *conn // nil: not connected
}

// Identifies returns how many sessions began.
func (s *Server) Identifies() int { return s.count(&s.gateway.identifies) }

// Resumes returns how many sessions were resumed.
func (s *Server) Resumes() int { return s.count(&s.gateway.resumes) }

func (s *Server) count(n *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *n
}

// connected returns the connected, ready sessions.
func (s *Server) connected() (all []*session) {
	for _, x := range s.gateway.sessions {
		if x.conn != nil && x.conn.ready {
			all = append(all, x)
		}
	}
	return all
}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer ws.Close()
	c := &conn{s: s, ws: ws, door: doorOf(r), wake: sync.NewCond(&s.mu)}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.gateway.conns[c] = struct{}{}
	s.gateways.Add(1)
	c.control(10, object{"heartbeat_interval": heartbeatInterval})
	s.mu.Unlock()
	defer s.gateways.Done()

	written := make(chan struct{})
	go func() { defer close(written); c.write() }()
	c.read()
	left := s.change()
	c.detach()
	delete(s.gateway.conns, c)
	left()
	<-written
}

// emit dispatches an event to every session that wants it.
func (s *Server) emit(e event) {
	if e.channel != nil && !s.permissions(e.channel, s.Bot.ID).Has(ViewChannel) {
		return
	}
	for _, x := range s.gateway.sessions {
		if e.intents != 0 && x.intents&e.intents == 0 || !x.shard.has(e.guild) {
			continue
		}
		times := 1
		if s.gateway.duplicate > 0 {
			s.gateway.duplicate--
			times = 2
		}
		for range times {
			x.dispatch(s, e.name, e.payload)
		}
	}
}

// emitGuild dispatches an event of the Guilds intent.
func (s *Server) emitGuild(id ID, name string, payload any) {
	s.emit(event{name: name, guild: id, intents: Guilds, payload: payload})
}

func (x *session) dispatch(s *Server, name string, payload any) {
	data := encode(object{"op": 0, "t": name, "s": len(x.log) + 1, "d": s.gateway.omitFields(name, payload)})
	x.log = append(x.log, data)
	if x.conn != nil {
		x.conn.push(outFrame{data: data})
	}
}

// ready begins a session: READY, then every guild of its shard.
func (s *Server) ready(x *session) {
	guilds, ours := []object{}, slices.DeleteFunc(s.sortedGuilds(), func(g *guild) bool { return !x.shard.has(g.ID) })
	for _, g := range ours {
		guilds = append(guilds, object{"id": g.ID, "unavailable": true})
	}
	x.dispatch(s, "READY", object{"v": 9, "user": s.Bot, "guilds": guilds, "session_id": x.id,
		"resume_gateway_url": s.resumeURL(), "private_channels": []any{}, "shard": x.shard,
		"application": object{"id": s.AppID, "flags": s.intents.applicationFlags()}})
	if x.intents&Guilds != 0 {
		for _, g := range ours {
			x.dispatch(s, "GUILD_CREATE", s.guildCreate(g))
		}
	}
	x.conn.ready = true
}

// guildCreate is a guild's GUILD_CREATE: its channels, the threads that the bot can see, and only the bot of
// the members, as without presences.
func (s *Server) guildCreate(g *guild) object {
	if g.unavailable {
		return object{"id": g.ID, "unavailable": true}
	}
	channels, threads := []Channel{}, []Channel{}
	for _, id := range g.channels {
		c := s.channels[id]
		switch {
		case !c.Type.IsThread():
			channels = append(channels, s.obfuscated(c))
		case s.permissions(c, s.Bot.ID).Has(ViewChannel) && !c.Thread.Archived:
			threads = append(threads, c.Channel)
		}
	}
	o := s.guildObject(g)
	o["channels"], o["threads"] = channels, threads
	o["members"] = []Member{*g.members[s.Bot.ID]}
	o["member_count"], o["large"], o["unavailable"] = len(g.members), false, false
	o["joined_at"] = g.members[s.Bot.ID].JoinedAt
	o["guild_scheduled_events"] = slices.Concat([]ScheduledEvent{}, g.scheduled)
	o["presences"], o["voice_states"], o["stage_instances"] = []any{}, []any{}, []any{}
	return o
}

// emitMessage sends a message event, with the members concerned.
func (s *Server) emitMessage(name string, c *channel, m *storedMessage) {
	type mentioned struct {
		User
		Member *Member `json:"member,omitempty"`
	}
	told := struct {
		Message
		GuildID  ID          `json:"guild_id,omitzero"`
		Member   *Member     `json:"member,omitempty"`
		Mentions []mentioned `json:"mentions"`
	}{Message: m.Message, GuildID: c.GuildID, Mentions: []mentioned{}}
	var members map[ID]*Member
	if g := s.guilds[c.GuildID]; g != nil {
		members = g.members
	}
	for _, u := range m.Mentions {
		told.Mentions = append(told.Mentions, mentioned{u, members[u.ID].withoutUser()})
	}
	if m.WebhookID == 0 {
		told.Member = members[m.Author.ID].withoutUser()
	}
	s.emit(event{name: name, guild: c.GuildID, intents: messageIntent(c), channel: c, payload: told})
}

// emitPart sends a message event with only these fields and the place.
func (s *Server) emitPart(name string, c *channel, told object) {
	told["channel_id"] = c.ID
	if c.GuildID != 0 {
		told["guild_id"] = c.GuildID
	}
	s.emit(event{name: name, guild: c.GuildID, intents: messageIntent(c), channel: c, payload: told})
}

// in is a member as in member events.
func (m *Member) in(guild ID) any {
	return struct {
		*Member
		GuildID ID `json:"guild_id"`
	}{m, guild}
}

// CountMessages has a discordgo session, as a baseline for benchmarks, call each for every message, until it
// is closed.
func (s *Server) CountMessages(intents int, dialer *websocket.Dialer, each func()) (closes func() error, err error) {
	session, err := discordgo.New("Bot " + s.Token)
	if err != nil {
		return nil, err
	}
	session.Client, session.Dialer, session.SyncEvents = s.Client(), dialer, true
	session.Identify.Intents, session.StateEnabled, session.LogLevel = discordgo.Intent(intents), false, -1
	session.AddHandler(func(*discordgo.Session, *discordgo.MessageCreate) { each() })
	return session.Close, session.Open()
}
