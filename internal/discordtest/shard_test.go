package discordtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// gatewayClient is a bare gateway connection.
type gatewayClient struct {
	t  *testing.T
	ws *websocket.Conn
}

type gatewayFrame struct {
	Op   int             `json:"op"`
	Type string          `json:"t"`
	Seq  int             `json:"s"`
	Data json.RawMessage `json:"d"`
}

func connectTo(t *testing.T, url string) *gatewayClient {
	t.Helper()
	ws, answer, err := websocket.DefaultDialer.Dial("ws"+url[len("http"):], nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	t.Cleanup(func() { ws.Close() })
	c := &gatewayClient{t, ws}
	c.next(10, "")
	return c
}

func (c *gatewayClient) send(op int, d object) {
	c.t.Helper()
	if err := c.ws.WriteJSON(object{"op": op, "d": d}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *gatewayClient) identify(s *Server, no, of int) {
	c.t.Helper()
	c.send(2, object{"token": s.Token, "intents": Guilds | GuildMessages | DirectMessages | MessageContent,
		"shard": []int{no, of}})
}

// next reads a frame, which must be this.
func (c *gatewayClient) next(op int, event string) gatewayFrame {
	c.t.Helper()
	var f gatewayFrame
	if err := c.ws.ReadJSON(&f); err != nil {
		c.t.Fatalf("wanted op %d %s: %v", op, event, err)
	}
	if f.Op != op || f.Type != event {
		c.t.Fatalf("got op %d %s, wanted op %d %s", f.Op, f.Type, op, event)
	}
	return f
}

func (c *gatewayClient) guild(event, field string) ID {
	c.t.Helper()
	told := map[string]json.RawMessage{}
	var id ID
	if err := json.Unmarshal(c.next(0, event).Data, &told); err != nil {
		c.t.Fatal(err)
	}
	if raw, there := told[field]; there {
		if err := json.Unmarshal(raw, &id); err != nil {
			c.t.Fatal(err)
		}
	}
	return id
}

func TestShardsGetTheirOwn(t *testing.T) {
	t.Parallel()
	s := New(t, WithShards(2))
	var guilds [2]Guild
	var channels [2]Channel
	for no := range guilds {
		s.NextOn(no, 2)
		guilds[no] = s.AddGuild("Garden")
		channels[no] = s.AddChannel(guilds[no].ID, Channel{Name: "general"})
	}
	ana := s.AddMember(guilds[0].ID, User{Username: "ana"})
	door := s.Door()
	shards := [2]*gatewayClient{connectTo(t, s.URL), connectTo(t, door)}
	var session string
	for no, c := range shards {
		c.identify(s, no, 2)
		var ready struct {
			Session string `json:"session_id"`
			Shard   [2]int `json:"shard"`
		}
		if err := json.Unmarshal(c.next(0, "READY").Data, &ready); err != nil || ready.Shard != [2]int{no, 2} {
			t.Fatalf("ready %+v, %v", ready, err)
		}
		session = ready.Session
		if id := c.guild("GUILD_CREATE", "id"); id != guilds[no].ID {
			t.Errorf("shard %d was told of guild %d", no, id)
		}
	}
	s.WaitShards(2)
	s.DM(ana.ID, "hello")
	for no, c := range shards {
		s.Say(channels[no].ID, guilds[no].Owner.ID, "hello")
		if no == 0 {
			if id := c.guild("MESSAGE_CREATE", "guild_id"); id != 0 {
				t.Errorf("the direct message came from guild %d", id)
			}
		}
		if id := c.guild("MESSAGE_CREATE", "guild_id"); id != guilds[no].ID {
			t.Errorf("shard %d was told of guild %d", no, id)
		}
	}

	// another process takes the session up, through its own door
	shards[1].ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4000, ""), time.Now().Add(time.Second))
	shards[1].ws.ReadMessage()
	s.Say(channels[1].ID, guilds[1].Owner.ID, "meanwhile")
	other := connectTo(t, s.Door())
	other.send(6, object{"token": s.Token, "session_id": session, "seq": 3})
	other.next(0, "MESSAGE_CREATE")
	other.next(0, "RESUMED")
	all := s.Begun()
	for i, want := range []Begun{{Shard: 0, Door: 0}, {Shard: 1, Door: 1}, {Shard: 1, Door: 2, Resumed: true}} {
		if b := all[i]; b.Shard != want.Shard || b.Of != 2 || b.Door != want.Door || b.Resumed != want.Resumed {
			t.Errorf("session %d: %+v", i, b)
		}
	}

	// 1000 ends it
	other.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
	other.ws.ReadMessage()
	again := connectTo(t, s.URL)
	again.send(6, object{"token": s.Token, "session_id": session, "seq": 3})
	again.next(9, "")
}

func TestIdentifyingTooEarly(t *testing.T) {
	t.Parallel()
	s := New(t, WithConcurrency(2), WithIdentifyEvery(time.Hour))
	s.Allow(Early)
	for no, want := range []gatewayFrame{{Type: "READY"}, {Type: "READY"}, {Op: 9}} {
		c := connectTo(t, s.URL)
		c.identify(s, no, 4)
		c.next(want.Op, want.Type)
	}
	s.SetShards(8, 8)
	c := connectTo(t, s.URL)
	c.identify(s, 3, 4)
	if _, _, err := c.ws.ReadMessage(); !websocket.IsCloseError(err, 4011) {
		t.Errorf("too few shards: %v", err)
	}
	if got := s.Misuses(Early); got != 1 {
		t.Errorf("%d misuses", got)
	}
}
