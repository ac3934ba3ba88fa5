package discordtest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
)

// bot is a real discordgo session that keeps what it is told, in order.
type bot struct {
	*discordgo.Session
	discord *discordtest.Server

	mu   sync.Mutex
	told []string // "MESSAGE_CREATE 12: text"
}

const wanted = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages |
	discordgo.IntentsMessageContent | discordgo.IntentsGuildMembers

// newBot is a session on the fake that isn't open yet.
func newBot(t testing.TB, discord *discordtest.Server) *bot {
	t.Helper()
	session, err := discordgo.New("Bot " + discord.Token)
	if err != nil {
		t.Fatal(err)
	}
	session.Client, session.Dialer, session.SyncEvents = discord.Client(), discord.Dialer(), true
	session.Identify.Intents = wanted
	session.LogLevel = -1
	b := &bot{Session: session, discord: discord}
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { b.hear("create %s", m.Content) })
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageUpdate) { b.hear("update %s", m.Content) })
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageDelete) { b.hear("delete %s", m.ID) })
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageDeleteBulk) { b.hear("bulk %d", len(m.Messages)) })
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.Resumed) { b.hear("resumed") })
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.Ready) { b.hear("ready") })
	session.AddHandler(func(_ *discordgo.Session, m *discordgo.GuildCreate) { b.hear("guild %s", m.Name) })
	return b
}

// connect opens the session. It ends with the fake: Close would sleep for a second in every test.
func connect(t testing.TB, discord *discordtest.Server) *bot {
	t.Helper()
	b := newBot(t, discord)
	b.open(t)
	return b
}

func (b *bot) open(t testing.TB) {
	t.Helper()
	before := b.discord.Heartbeats()
	if err := b.Open(); err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		b.Lock()
		b.ShouldReconnectOnError = false
		b.Unlock()
	})
	b.discord.WaitReady()
	// If the connection broke before the first heartbeat, discordgo would connect twice: once for that and once for reading.
	b.discord.WaitFor("the first heartbeat", func() bool { return b.discord.Heartbeats() > before })
}

func (b *bot) hear(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, fmt.Sprintf(format, args...))
	b.discord.Poke()
}

func (b *bot) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.told...)
}

// waitHeard returns once the bot has been told n things.
func (b *bot) waitHeard(t testing.TB, n int) []string {
	t.Helper()
	b.discord.WaitFor(fmt.Sprintf("the bot to hear %d things", n), func() bool { return len(b.heard()) >= n })
	return b.heard()
}

// place is a guild with a channel and somebody to talk.
func place(discord *discordtest.Server) (discordtest.Guild, discordtest.Channel, discordtest.User) {
	g := discord.AddGuild("Garden")
	c := discord.AddChannel(g.ID, discordtest.Channel{Name: "general"})
	return g, c, discord.AddMember(g.ID, discordtest.User{Username: "ana"})
}

// post sends raw JSON as the bot under test does.
func (b *bot) post(channel discordtest.ID, body map[string]any) error {
	url := discordgo.EndpointChannelMessages(channel.String())
	_, err := b.RequestWithBucketID("POST", url, body, url)
	return err
}

// plain is a message as it ought to be sent.
func plain(text string) map[string]any {
	return map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}}
}
