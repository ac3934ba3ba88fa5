package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/internal/discordtest"
	"hark/internal/metrics/metricstest"
	"hark/internal/wait"
	"hark/memory"
)

// scene is a Bot running on a fake Discord with one guild.
type scene struct {
	discord *discordtest.Server
	guild   discordtest.Guild
	channel discordtest.ID
	ana, bo discordtest.User

	// The same ids in memory's types.
	guildID     memory.GuildID
	channelID   memory.ChannelID
	anaID, boID memory.UserID

	log    *notebook
	oracle *oracle
	engine Answerer // instead of the oracle, unless nil
	out    *journal
	bot    *Bot
	cancel context.CancelFunc
	ended  chan error
	did    map[discordtest.ID]string // the use that a message answers
}

// journal is the log for people.
type journal struct {
	mu      sync.Mutex
	text    strings.Builder
	changed wait.Signal
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.changed.Send()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) wait(t *testing.T, what string) {
	t.Helper()
	j.changed.Until(t, fmt.Sprintf("%q in the journal", what), func() bool {
		return strings.Contains(j.String(), what)
	}, j.String)
}

// quick has no waits except against hanging.
func quick() timing {
	t := usual
	t.reply.Pace, t.grace = time.Millisecond, 0
	t.gateway.Retry, t.gateway.Ask = time.Millisecond, time.Millisecond
	t.ingest.Retry, t.ingest.Sweep, t.ingest.Gather = time.Millisecond, 0, 0
	// for a slow machine
	t.reply.Unwind, t.farewell, t.drain, t.guildWait, t.commands.AtOnce = wait.Limit, wait.Limit, wait.Limit,
		wait.Limit, wait.Limit
	return t
}

// noon is when scenes begin.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// set makes a scene. Its bot isn't running yet.
func set(t *testing.T, options ...discordtest.Option) *scene {
	t.Helper()
	d := discordtest.New(t, append([]discordtest.Option{discordtest.WithTime(noon)}, options...)...)
	s := &scene{discord: d, log: newNotebook(t), out: &journal{},
		oracle: &oracle{answer: says("Friday")}, did: map[discordtest.ID]string{}}
	s.log.poke, s.log.tick = d.Poke, func() { d.Advance(time.Millisecond) }
	s.guild = d.AddGuild("Garden")
	s.channel = d.AddChannel(s.guild.ID, discordtest.Channel{Name: "general"}).ID
	s.ana = d.AddMember(s.guild.ID, discordtest.User{Username: "ana"})
	s.bo = d.AddMember(s.guild.ID, discordtest.User{Username: "bo"})
	s.guildID, s.channelID = memory.GuildID(s.guild.ID), memory.ChannelID(s.channel)
	s.anaID, s.boID = memory.UserID(s.ana.ID), memory.UserID(s.bo.ID)
	return s.with(t, Config{Token: d.Token})
}

func (s *scene) with(t *testing.T, cfg Config) *scene {
	t.Helper()
	cfg.Client, cfg.Dialer, cfg.Now, cfg.Progress = s.discord.Client(), s.discord.Dialer(), s.discord.Now,
		s.discord.Poke
	cfg.Metrics = nil // each bot counts by itself
	if cfg.APIURL == "" {
		cfg.APIURL = s.discord.URL
	}
	answers := cmp.Or[Answerer](s.engine, s.oracle)
	b, err := New(cfg, s.log, answers, zerolog.New(s.out))
	if err != nil {
		t.Fatal(err)
	}
	b.timing = quick()
	s.bot = b
	return s
}

// asking is a scene whose guilds are asked. ana manages the guild.
func asking(t *testing.T, options ...discordtest.Option) *scene {
	t.Helper()
	s := set(t, options...)
	role := s.discord.AddRole(s.guild.ID, "admins", discordtest.ManageGuild)
	s.discord.UpdateMember(s.guild.ID, s.ana.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, role.ID) })
	s.discord.SetCommandPermission(s.guild.ID, s.ana.ID, starCommand, true)
	return s.withPolicy(t)
}

func (s *scene) withPolicy(t *testing.T) *scene {
	s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Ask: true}, EditAnswers: true})
	s.bot.timing.interval, s.bot.timing.commands.Progress = time.Millisecond, time.Millisecond
	return s
}

// again runs another bot like the one before.
func (s *scene) again(t *testing.T) {
	t.Helper()
	s.stops(t)
	s.withPolicy(t).begins(t)
}

// counted are the bot's metrics. See metricstest.Counted.
func (s *scene) counted(t *testing.T) map[string]int {
	t.Helper()
	return metricstest.Counted(t, s.bot.cfg.Metrics)
}

// run runs the bot until the test ends or stop is called.
func (s *scene) run(t *testing.T) *scene {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s.cancel, s.ended = cancel, ended
	go func() { ended <- s.bot.Run(ctx) }()
	t.Cleanup(func() {
		if err := s.stop(t); err != nil {
			t.Errorf("Run: %v", err)
		}
		if t.Failed() {
			t.Logf("logged:\n%s", s.out)
		}
	})
	return s
}

// ready waits until the bot is connected, has logged the guild and registered its commands.
func (s *scene) ready(t *testing.T) *scene {
	t.Helper()
	s.discord.WaitReady()
	waitLogged(t, s.log, "the guild", func(e memory.GuildSeen) bool {
		return e.Guild.ID == memory.GuildID(s.guild.ID)
	})
	if s.bot.cfg.DevGuild == 0 {
		s.discord.WaitFor("the commands", func() bool { return len(s.discord.Commands(0)) > 0 })
	}
	return s
}

func (s *scene) apply(t *testing.T, events ...memory.Event) {
	t.Helper()
	if err := s.log.Apply(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
}

// idle reports whether nothing is to be committed, answered or done.
func (b *Bot) idle() bool {
	// Commands and events may ask questions, and answers are committed: causes are looked at first.
	if !b.commands.Idle() || b.ingest.Queue.Len() != 0 {
		return false
	}
	_, _, active := b.questions.Counts()
	return active == 0 && b.ingest.Queue.Len() == 0
}

// posts says something, and waits until that is logged.
func (s *scene) posts(t *testing.T, channel, who discordtest.ID, text string) discordtest.Message {
	t.Helper()
	m := s.discord.Say(channel, who, text)
	s.log.waitSaid(t, "them: "+text)
	return m
}

// addChannel adds a text channel.
func (s *scene) addChannel(name string, overwrites ...discordtest.Overwrite) discordtest.Channel {
	return s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: name, Overwrites: overwrites})
}

// addThread adds a public thread.
func (s *scene) addThread(name string, parent discordtest.ID) discordtest.Channel {
	return s.discord.AddChannel(s.guild.ID,
		discordtest.Channel{Name: name, Type: discordtest.PublicThread, ParentID: &parent})
}

// secret adds a channel that only Hark sees, and administrators, and those to whom more overwrites show it.
func (s *scene) secret(name string, more ...discordtest.Overwrite) discordtest.Channel {
	return s.addChannel(name, append(more, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel),
		discordtest.ForRole(s.guild.BotRole.ID, discordtest.ViewChannel, 0))...)
}

// stop stops the bot and returns what Run returned; nil from the second call on.
func (s *scene) stop(t *testing.T) error {
	t.Helper()
	s.cancel()
	err := wait.For(t, "Run to return", s.ended)
	s.ended <- nil
	return err
}

// stops stops the bot, which must end well.
func (s *scene) stops(t *testing.T) {
	t.Helper()
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}
}

// begins runs a bot after another, and waits until it is connected.
func (s *scene) begins(t *testing.T) *scene {
	t.Helper()
	before := s.discord.Identifies()
	s.run(t)
	s.discord.WaitFor("another session", func() bool { return s.discord.Identifies() > before })
	s.discord.WaitReady()
	return s
}

// ask asks Hark in the channel as ana.
func (s *scene) ask(text string) discordtest.Message {
	return s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" "+text)
}

// waitText waits for a message of the bot's.
func (s *scene) waitText(text string) discordtest.Sent {
	return s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == text })
}

// answered waits for a message of the bot's that is logged.
func (s *scene) answered(t *testing.T, channel discordtest.ID, text string) discordtest.Sent {
	t.Helper()
	m := s.discord.WaitSent(channel, func(m discordtest.Sent) bool { return m.Content == text })
	s.log.waitSaid(t, "hark: "+text)
	return m
}

// told waits for a message of the bot's that is logged without its text: it has no known sources.
func (s *scene) told(t *testing.T, channel discordtest.ID, is func(text string) bool) discordtest.Sent {
	t.Helper()
	m := s.discord.WaitSent(channel, func(m discordtest.Sent) bool { return is(m.Content) })
	s.log.wait(t, fmt.Sprintf("message %d", m.ID), func() bool { return s.withoutText(m) })
	return m
}

func (s *scene) withoutText(m discordtest.Sent) bool {
	e, ok := find(s.log, func(e memory.Posted) bool { return e.Message.ID == memory.MessageID(m.ID) })
	return ok && e.Message.Kind == memory.FromHark && e.Message.Content == ""
}

func is(want string) func(string) bool { return func(text string) bool { return text == want } }

var errDown = errors.New("no space left on device")
