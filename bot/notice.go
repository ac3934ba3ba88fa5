package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

const noticeText = "**May I remember what is said here?**\n" +
	"Hi! I answer questions from what was said in this server, if I may remember it: the text of messages, who wrote them " +
	"and when, and the names of files. Nobody is told what they couldn't read themselves. To answer, I show a language " +
	"model what I remember that matters to the question.\n" +
	"Those who manage this server decide. **Until then I keep nothing of what is said here**: I only know the " +
	"conversation that is going on, and forget it afterwards.\n" +
	"-# Everybody can see what I keep about them with `/memory show`, and opt out with `/memory optout`."

// noticePlaces is in how many channels it is tried to post a notice.
const noticePlaces = 5

// notices asks guilds that haven't decided what may be remembered: each once.
type notices struct {
	bot    *Bot
	mu     sync.Mutex
	guilds map[memory.GuildID]bool         // to be looked at
	posted map[memory.GuildID]memory.Asked // that the log hasn't taken yet
	wake   chan struct{}
}

func newNotices(b *Bot) *notices {
	return &notices{bot: b, guilds: map[memory.GuildID]bool{}, posted: map[memory.GuildID]memory.Asked{}, wake: make(chan struct{}, 1)}
}

// see is told what is in the log. It doesn't wait.
func (n *notices) see(events []memory.Event) {
	if !n.bot.cfg.Policy.Ask {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range events {
		if seen, ok := e.(memory.GuildSeen); ok {
			n.guilds[seen.Guild.ID] = true
			select {
			case n.wake <- struct{}{}:
			default:
			}
		}
	}
}

// ask asks the guilds that have to be asked. What fails for a while is tried again the next time.
func (n *notices) ask(ctx context.Context) {
	n.mu.Lock()
	guilds := n.guilds
	n.guilds = map[memory.GuildID]bool{}
	n.mu.Unlock()
	for id := range guilds {
		err := n.askGuild(ctx, id)
		if err == nil || ctx.Err() != nil {
			continue
		}
		n.bot.log.Warn().Err(err).Int64("guild", int64(id)).Msg("couldn't ask what may be remembered")
		if !errors.Is(err, errGone) {
			n.mu.Lock()
			n.guilds[id] = true
			n.mu.Unlock()
		}
	}
}

func (n *notices) askGuild(ctx context.Context, id memory.GuildID) error {
	g, err := n.bot.memory.Guild(ctx, id)
	if err != nil {
		return err
	}
	if g.Asked || g.Choice != memory.Undecided || !g.Left.IsZero() {
		return nil
	}
	asked, done := n.posted[id]
	if !done {
		if asked, err = n.post(ctx, id); err != nil {
			return err
		}
		n.posted[id] = asked
	}
	if err := n.bot.memory.Apply(ctx, asked); err != nil {
		return fmt.Errorf("keep that guild %d was asked: %w", id, err)
	}
	delete(n.posted, id)
	return nil
}

// post posts the notice where it is seen, and says where that was. One that is there already is enough: the process
// may have died before that was logged.
func (n *notices) post(ctx context.Context, guild memory.GuildID) (memory.Asked, error) {
	places, err := n.places(ctx, guild)
	if err != nil {
		return memory.Asked{}, err
	}
	refused := fmt.Errorf("ask guild %d: %w: there is no channel to write in: give Hark %s in one, or all that it needs by %s",
		guild, errGone, locale{}.permissionNames(memory.ViewChannel|sendMessages), n.bot.grantLink(guild, 0))
	for _, channel := range places[:min(len(places), noticePlaces)] {
		l := n.bot.localeIn(ctx, guild, channel)
		t := &thread{client: n.bot.rest, channel: channel, question: memory.MessageID(guild), purpose: "n"}
		id, err := n.there(ctx, channel)
		if err == nil && id == 0 {
			var p posted
			p, err = t.post(ctx, messageCreate{
				Content: l.text(noticeText), Nonce: nonce(t.purpose, t.question, 0), EnforceNonce: true, AllowedMentions: nobody,
				Components: []component{row(button(styleGreen, l.text(rememberPublic), choosePublic),
					button(styleGrey, l.text("Choose channels"), chooseChannels), button(styleGrey, l.text("Not now"), chooseNothing))},
			})
			id = p.id
		}
		if err == nil {
			return memory.Asked{Guild: guild, Channel: channel, Message: id}, nil
		}
		if !errors.Is(err, errGone) {
			return memory.Asked{}, err
		}
		refused = err
	}
	return memory.Asked{}, refused
}

// there is the notice that is in a channel already, or 0.
func (n *notices) there(ctx context.Context, channel memory.ChannelID) (memory.MessageID, error) {
	var last []struct {
		ID         snowflake   `json:"id"`
		Author     *wireUser   `json:"author"`
		Components []component `json:"components"`
	}
	address := discordgo.EndpointChannelMessages(channel.String())
	if err := n.bot.rest.call(ctx, "GET", address+"?limit=50", address, nil, &last); err != nil {
		return 0, wrap(err, "look for the notice in channel", channel)
	}
	for _, m := range last {
		ours := m.Author != nil && memory.UserID(m.Author.ID) == n.bot.self
		if ours && slices.ContainsFunc(m.Components, func(r component) bool {
			return slices.ContainsFunc(r.Components, func(c component) bool { return c.CustomID == chooseChannels })
		}) {
			return memory.MessageID(m.ID), nil
		}
	}
	return 0, nil
}

// noticeGuild is what decides where in a guild the notice goes.
type noticeGuild struct {
	wireGuild
	System snowflake `json:"system_channel_id"`
}

type noticeChannel struct {
	wireChannel
	Position int `json:"position"`
}

// places are the channels in which Hark may write: the one for the guild's own notices first, then the text channels
// from the top.
func (n *notices) places(ctx context.Context, id memory.GuildID) ([]memory.ChannelID, error) {
	var g noticeGuild
	var channels []noticeChannel
	var self wireMember
	for _, r := range []struct {
		address string
		into    any
	}{
		{discordgo.EndpointGuild(id.String()), &g},
		{discordgo.EndpointGuildChannels(id.String()), &channels},
		{discordgo.EndpointGuildMember(id.String(), n.bot.self.String()), &self},
	} {
		if err := n.bot.rest.call(ctx, "GET", r.address, r.address, nil, r.into); err != nil {
			if s := status(err); s == http.StatusForbidden || s == http.StatusNotFound {
				return nil, fmt.Errorf("look at guild %d: %w: HTTP %d", id, errGone, s)
			}
			return nil, fmt.Errorf("look at guild %d: %w", id, err)
		}
	}
	channels = slices.DeleteFunc(channels, func(c noticeChannel) bool {
		return c.Type == nil || *c.Type != 0 || !may(n.bot.self, &g.wireGuild, &c.wireChannel, self.Roles).Has(memory.ViewChannel|sendMessages)
	})
	slices.SortFunc(channels, func(a, b noticeChannel) int {
		first := func(c noticeChannel) int {
			if c.ID == g.System {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	ids := make([]memory.ChannelID, len(channels))
	for i, c := range channels {
		ids[i] = memory.ChannelID(c.ID)
	}
	return ids, nil
}
