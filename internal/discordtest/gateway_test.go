package discordtest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"hark/internal/discordtest"
)

func TestConnectAndHear(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	b := connect(t, discord)
	said := discord.Say(c.ID, ana.ID, "hello")
	discord.Edit(c.ID, said.ID, "hello there")
	discord.EditBriefly(c.ID, said.ID, "hello you")
	discord.Delete(c.ID, said.ID)
	two := []discordtest.ID{discord.Say(c.ID, ana.ID, "one").ID, discord.Say(c.ID, ana.ID, "two").ID}
	discord.BulkDelete(c.ID, two...)
	discord.DM(ana.ID, "psst")
	got := b.waitHeard(t, 10)
	want := []string{"ready", "guild Garden", "create hello", "update hello there", "update hello you",
		"delete " + said.ID.String(), "create one", "create two", "bulk 2", "create psst"}
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	if m := discord.Messages(c.ID); len(m) != 0 {
		t.Errorf("deleted messages are there: %v", m)
	}
}

// TestDropIsResumed says three things: one before the connection breaks, one as it breaks and one while the bot is
// away. It hears each once, in order, then RESUMED.
func TestDropIsResumed(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	b := connect(t, discord)
	discord.DropAfter(1)
	for _, text := range []string{"one", "two", "three"} {
		discord.Say(c.ID, ana.ID, text)
	}
	got := b.waitHeard(t, 6)
	want := []string{"ready", "guild Garden", "create one", "create two", "create three", "resumed"}
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	if i, r := discord.Identifies(), discord.Resumes(); i != 1 || r != 1 {
		t.Errorf("%d identifies and %d resumes, want one each", i, r)
	}
}

func TestRefusedResumeLosesTheGap(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	b := connect(t, discord)
	discord.RefuseResumes(1)
	discord.Drop()
	discord.Say(c.ID, ana.ID, "in the gap")
	discord.WaitFor("a new session", func() bool { return discord.Identifies() == 2 })
	discord.WaitReady()
	discord.Say(c.ID, ana.ID, "after")
	got := b.waitHeard(t, 5)
	want := []string{"ready", "guild Garden", "ready", "guild Garden", "create after"}
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	page, err := b.ChannelMessages(c.ID.String(), 100, "", "", "")
	if err != nil || len(page) != 2 || page[1].Content != "in the gap" {
		t.Errorf("REST has %v, %v, want the gap as well", page, err)
	}
}

// closeCode opens a session that the gateway closes, and returns the code.
func closeCode(t *testing.T, discord *discordtest.Server, first any) int {
	t.Helper()
	ws := dial(t, discord)
	if err := ws.WriteJSON(first); err != nil {
		t.Fatal(err)
	}
	for {
		_, _, err := ws.ReadMessage()
		if closed := (*websocket.CloseError)(nil); errors.As(err, &closed) {
			return closed.Code
		}
		if err != nil {
			t.Fatalf("read: %v", err)
		}
	}
}

func dial(t *testing.T, discord *discordtest.Server) *websocket.Conn {
	t.Helper()
	ws, _, err := discord.Dialer().Dial("ws"+strings.TrimPrefix(discord.URL, "http")+"/?v=9&encoding=json", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func op(op int, d map[string]any) map[string]any { return map[string]any{"op": op, "d": d} }

func TestCloseCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		code int
		send func(token string) any
	}{
		{"wrong token", 4004, func(string) any { return op(2, map[string]any{"token": "Bot wrong", "intents": 1}) }},
		{"wrong token in a resume", 4004, func(string) any { return op(6, map[string]any{"token": "wrong", "seq": 1}) }},
		{"switched-off intent", 4014, func(token string) any { return op(2, map[string]any{"token": token, "intents": 1 << 15}) }},
		{"no such intent", 4013, func(token string) any { return op(2, map[string]any{"token": token, "intents": 1 << 30}) }},
		{"not identified", 4003, func(string) any { return op(3, nil) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			discord := discordtest.New(t, discordtest.WithoutIntents(discordtest.MessageContent))
			if got := closeCode(t, discord, test.send(discord.Token)); got != test.code {
				t.Errorf("closed with %d, want %d", got, test.code)
			}
		})
	}
}

func TestMisuseOfTheGateway(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		code int // 0: the connection stays
		send func(guild discordtest.ID) any
	}{
		{"not JSON's form", 4002, func(discordtest.ID) any { return "hello" }},
		{"identify of another form", 4002, func(discordtest.ID) any { return op(2, map[string]any{"token": 5}) }},
		{"unknown opcode", 4001, func(discordtest.ID) any { return op(42, nil) }},
		{"no guild", 0, func(discordtest.ID) any { return op(8, map[string]any{"guild_id": []string{}}) }},
		{"all members without the intent", 0, func(g discordtest.ID) any {
			return op(8, map[string]any{"guild_id": g, "query": "", "limit": 0})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rec, discord := recorded(t)
			g, _, _ := place(discord)
			ws := dial(t, discord)
			identified := op(2, map[string]any{"token": discord.Token, "intents": 1})
			if test.name != "identify of another form" {
				if err := ws.WriteJSON(identified); err != nil {
					t.Fatal(err)
				}
				discord.WaitReady()
			}
			if err := ws.WriteJSON(test.send(g.ID)); err != nil {
				t.Fatal(err)
			}
			discord.WaitFor("a report", func() bool { return len(discord.Misuses()) > 0 })
			rec.expect(t, discordtest.GatewayMisuse)
			for test.code != 0 {
				_, _, err := ws.ReadMessage()
				if err == nil {
					continue
				}
				if !websocket.IsCloseError(err, test.code) {
					t.Errorf("closed with %v, want %d", err, test.code)
				}
				break
			}
		})
	}
}

// TestDiscordgoIsClosedWith4004 is why a bot has to look for the code itself.
func TestDiscordgoIsClosedWith4004(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	b := newBot(t, discord)
	b.Identify.Token, b.ShouldReconnectOnError = "Bot wrong", false
	if err := b.Open(); !websocket.IsCloseError(err, 4004) {
		t.Errorf("open: %v, want close code 4004", err)
	}
	if _, err := b.User("@me"); err != nil {
		t.Errorf("the right token over REST: %v", err)
	}
	b.Token = "Bot wrong"
	_, err := b.User("@me")
	if refused := (*discordgo.RESTError)(nil); !errors.As(err, &refused) || refused.Response.StatusCode != 401 {
		t.Errorf("a wrong token over REST: %v, want 401", err)
	}
}

// TestIntents compares what is told with and without Message Content.
func TestIntents(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t, discordtest.WithoutIntents(discordtest.MessageContent))
	_, c, ana := place(discord)
	b := newBot(t, discord)
	b.Identify.Intents &^= discordgo.IntentsMessageContent | discordgo.IntentsDirectMessages
	b.open(t)
	discord.Say(c.ID, ana.ID, "not for the bot", discordtest.WithFile("a.png", ""))
	secret := discord.Say(c.ID, ana.ID, "secret")
	discord.Say(c.ID, ana.ID, discord.Bot.Mention()+" for the bot", discordtest.ReplyTo(secret.ID))
	discord.DM(ana.ID, "no intent for this")
	discord.Say(c.ID, ana.ID, "the end")
	got := b.waitHeard(t, 6)[2:]
	want := []string{"create ", "create ", "create " + discord.Bot.Mention() + " for the bot", "create "}
	if !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	page, err := b.ChannelMessages(c.ID.String(), 100, "", "", "")
	if err != nil || len(page) != 4 || page[3].Content != "" || len(page[3].Attachments) != 0 || page[1].Content == "" ||
		page[1].ReferencedMessage.Content != "" {
		t.Errorf("REST has %+v, %v", page, err)
	}
	if _, err := b.Application("@me"); err != nil {
		t.Error(err)
	}
}

// TestOnlyWhatTheBotCanSee: no events from a channel that is closed to it, nor from a private thread it isn't in.
func TestOnlyWhatTheBotCanSee(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, c, ana := place(discord)
	closed := discord.AddChannel(g.ID, discordtest.Channel{Name: "staff",
		Overwrites: []discordtest.Overwrite{discordtest.ForRole(g.ID, 0, discordtest.ViewChannel)}})
	thread := discord.AddChannel(g.ID, discordtest.Channel{Name: "private", Type: discordtest.PrivateThread, ParentID: &c.ID})
	b := connect(t, discord)
	discord.Say(closed.ID, ana.ID, "secret")
	discord.Say(thread.ID, ana.ID, "secret")
	discord.SetOverwrite(closed.ID, discordtest.ForRole(g.BotRole.ID, discordtest.ViewChannel, 0))
	discord.UpdateChannel(thread.ID, func(c *discordtest.Channel) { c.Invited = append(c.Invited, discord.Bot.ID) })
	discord.Say(closed.ID, ana.ID, "now")
	discord.Say(thread.ID, ana.ID, "here")
	got := b.waitHeard(t, 4)[2:]
	if want := []string{"create now", "create here"}; !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

func TestRequestMembers(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, _, ana := place(discord)
	for n := range 1500 {
		discord.AddMember(g.ID, discordtest.User{Username: fmt.Sprintf("member-%d", n)})
	}
	b := connect(t, discord)
	chunks := make(chan *discordgo.GuildMembersChunk, 8)
	b.AddHandler(func(_ *discordgo.Session, c *discordgo.GuildMembersChunk) { chunks <- c })
	if err := b.RequestGuildMembers(g.ID.String(), "", 0, "n", false); err != nil {
		t.Fatal(err)
	}
	one, two := <-chunks, <-chunks
	if len(one.Members) != 1000 || len(two.Members) != 503 || two.ChunkIndex != 1 || two.ChunkCount != 2 || two.Nonce != "n" {
		t.Errorf("chunks of %d and %d members, %+v", len(one.Members), len(two.Members), two)
	}
	if err := b.RequestGuildMembersList(g.ID.String(), []string{ana.ID.String(), "5"}, 0, "", false); err != nil {
		t.Fatal(err)
	}
	if some := <-chunks; len(some.Members) != 1 || some.Members[0].User.Username != "ana" || len(some.NotFound) != 1 {
		t.Errorf("chunk %+v", some)
	}
}

// TestStructure makes every change of a guild and looks at what discordgo makes of it.
func TestStructure(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	b := connect(t, discord)
	seen := make(chan string, 64)
	b.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { seen <- e.Type })
	g, c, ana := place(discord)
	r := discord.AddRole(g.ID, "team", 0)
	discord.UpdateRole(g.ID, r.ID, func(r *discordtest.Role) { r.Permissions = discordtest.ManageMessages })
	discord.UpdateMember(g.ID, ana.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, r.ID) })
	discord.SetOverwrite(c.ID, discordtest.ForRole(r.ID, 0, discordtest.ViewChannel))
	if p := discord.Permissions(c.ID, ana.ID); p.Has(discordtest.ViewChannel) {
		t.Errorf("permissions %b hold what an overwrite denies", p)
	}
	thread := discord.AddChannel(g.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &c.ID})
	discord.UpdateChannel(thread.ID, func(c *discordtest.Channel) { c.Thread.Archived = true })
	discord.RemoveRole(g.ID, r.ID)
	if p := discord.Permissions(c.ID, ana.ID); !p.Has(discordtest.ViewChannel) {
		t.Errorf("permissions %b don't get back what a removed role denied", p)
	}
	discord.SetOwner(g.ID, ana.ID)
	if p := discord.Permissions(c.ID, ana.ID); !p.Has(discordtest.Administrator) {
		t.Errorf("the owner has permissions %b", p)
	}
	discord.RemoveChannel(c.ID)
	discord.RemoveMember(g.ID, ana.ID)
	discord.Outage(g.ID, false)
	discord.Outage(g.ID, true)
	discord.RemoveGuild(g.ID)
	for _, want := range []string{"GUILD_CREATE", "CHANNEL_CREATE", "GUILD_MEMBER_ADD", "GUILD_ROLE_CREATE",
		"GUILD_ROLE_UPDATE", "GUILD_MEMBER_UPDATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE",
		"GUILD_ROLE_DELETE", "GUILD_UPDATE", "THREAD_DELETE", "CHANNEL_DELETE", "GUILD_MEMBER_REMOVE", "GUILD_DELETE",
		"GUILD_CREATE", "GUILD_DELETE"} {
		if got := <-seen; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// TestClosingEndsTheSession: after close code 1000 Discord doesn't resume.
func TestClosingEndsTheSession(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	place(discord)
	b := connect(t, discord)
	b.waitHeard(t, 2)
	discord.WaitFor("a heartbeat; without one discordgo reconnects after Close", func() bool { return discord.Heartbeats() > 0 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	discord.WaitReady()
	if i, r := discord.Identifies(), discord.Resumes(); i != 2 || r != 0 {
		t.Errorf("%d identifies and %d resumes, want 2 and 0", i, r)
	}
}

// TestNoAckBeforeReady: an ack between hello and READY would lock discordgo up for good.
func TestNoAckBeforeReady(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	place(discord)
	ws := dial(t, discord)
	for _, frame := range []any{op(1, nil), op(2, map[string]any{"token": "Bot " + discord.Token, "intents": 1})} {
		if err := ws.WriteJSON(frame); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"10 ", "0 READY", "0 GUILD_CREATE", "11 "} {
		var got struct {
			Op int    `json:"op"`
			T  string `json:"t"`
		}
		if err := ws.ReadJSON(&got); err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprintf("%d %s", got.Op, got.T); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	if err := ws.WriteJSON(op(2, map[string]any{"token": discord.Token})); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, 4005) {
		t.Errorf("identified twice: %v, want close code 4005", err)
	}
}
