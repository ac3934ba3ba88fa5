package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/pace"
	"hark/memory"
)

// The notice that asks, in three parts: the second is there if a language model is configured.
const (
	noticeAsks = "**May I remember what is said here?**\n" +
		"Hi! I answer questions from what was said in this server, if I may remember it: the text of messages, who wrote them and when, and the names of files. Nobody is told what they couldn't read themselves."
	noticeModel = " To answer, I show a language model what I remember that matters to the question."
	noticeEnd   = "Those who manage this server decide. **Until then I keep nothing of what is said here**: I only know the conversation that is going on, and forget it afterwards.\n" +
		"-# Everybody can see what I keep about them with `/memory show`, and opt out with `/memory optout`."
)

const (
	noticeOwner = "**%s**: there is no channel that everybody can read and I can write in, so I'm telling you as its owner. `/hark memory` there decides it."
	noticeFoot  = "-# Those who manage this server can change it with `/hark memory`. Everybody can see what I keep about them with `/memory show`, and opt out with `/memory optout`. `/privacy` says more."
)

// noticeRoom is kept free, in units, for the line that says who decided.
const noticeRoom = 100

// noticePlaces is how many channels are tried.
const noticePlaces = 5

func (at noticeLocation) String() string {
	return fmt.Sprintf("%d %d %d", at.channel, at.message, at.hash)
}

func NewNotices(o *Options) *Notices {
	return &Notices{
		Options: o,
		notices: map[memory.GuildID]*notice{},
		guilds:  map[memory.GuildID]bool{},
		Wake:    make(chan struct{}, 1),
	}
}

// See takes committed events' subjects. It doesn't wait.
func (n *Notices) See(subjects []ingest.Subject) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range subjects {
		if s.Told || s.Stated {
			n.guilds[s.Guild] = true
			pace.Wake(n.Wake)
		}
	}
}

// UpdateAll updates every notice, and tells owners what of what was stated of roles doesn't count any more. It retries
// temporary failures at its next call.
func (n *Notices) UpdateAll(ctx context.Context) {
	n.mu.Lock()
	guilds := slices.Sorted(maps.Keys(n.guilds))
	n.mu.Unlock()
	for _, id := range guilds {
		if err := n.tellRefuted(ctx, id); err != nil && ctx.Err() == nil {
			n.Log.Warn().Err(discord.Redact(err)).Int64("guild", int64(id)).
				Msg("couldn't tell an owner what was stated of roles and isn't true; trying again")
		}
		err := n.update(ctx, id)
		if err == nil || ctx.Err() != nil {
			continue
		}
		n.Log.Warn().Err(err).Int64("guild", int64(id)).Msg("couldn't say what is remembered in a server")
		if errors.Is(err, discord.ErrGone) {
			n.mu.Lock()
			delete(n.guilds, id)
			n.mu.Unlock()
		}
	}
}

// update posts or edits the notice of a guild if its text is out of date.
func (n *Notices) update(ctx context.Context, id memory.GuildID) error {
	n.editing.Lock()
	defer n.editing.Unlock()
	g, err := n.Memory.Guild(ctx, id)
	if err != nil {
		return err
	}
	if !g.Left.IsZero() {
		delete(n.notices, id)
		return nil
	}
	is := n.noticeOf(g)
	if len(is.unsaved) > 0 {
		return n.save(ctx, is)
	}
	if is.guild == g || !is.known && (g.Choice != memory.Undecided || !n.Policy.Ask) {
		return nil
	}
	text := n.content(ctx, g, is.channel)
	closed := is.message != 0 && !isElsewhere(g, is.channel) && !isPublicToAll(g, is.channel)
	if is.known && is.hash == contentHash(text) && !closed {
		is.guild = g
		return nil
	}
	if is.known && is.lastHash != contentHash(text) { // more changes may follow
		is.lastHash = contentHash(text)
		return nil
	}
	at := is.noticeLocation
	at.hash = contentHash(text)
	t := discord.Sender{Client: n.Client, Channel: at.channel}
	if closed {
		err = discord.Wrap(t.Request(ctx, "DELETE", at.message, nil, nil), "delete the notice in channel", t.Channel)
		if err != nil && !errors.Is(err, discord.ErrGone) {
			return err
		}
		at.message = 0
	}
	if at.message != 0 {
		err = n.edit(ctx, &t, at.message, response{Content: text, Components: n.buttons(ctx, g, at.channel)})
		if err == nil {
			return n.setLocation(ctx, id, is, at)
		}
	}
	if at.message == 0 || errors.Is(err, discord.ErrGone) {
		at, err = n.post(ctx, g)
	}
	if is.known && errors.Is(err, discord.ErrGone) { // don't retry before the text changes
		return errors.Join(err, n.setLocation(ctx, id, is, noticeLocation{hash: contentHash(text)}))
	}
	if err != nil {
		return err
	}
	return n.setLocation(ctx, id, is, at)
}

// noticeOf returns the state of the notice of g.
func (n *Notices) noticeOf(g *memory.Guild) *notice {
	is := n.notices[g.ID]
	if is == nil {
		is = &notice{}
		_, err := fmt.Sscan(g.Settings[memory.SettingNotice], &is.channel, &is.message, &is.hash)
		is.known = err == nil
		n.notices[g.ID] = is
	}
	return is
}

// setLocation stores where the notice of a guild is and what it says.
func (n *Notices) setLocation(ctx context.Context, id memory.GuildID, is *notice, at noticeLocation) error {
	is.noticeLocation = at
	is.known = true
	is.unsaved = []memory.Event{memory.SettingChosen{
		Guild: id,
		Key:   memory.SettingNotice,
		Value: at.String(),
		At:    n.Now(),
	}}
	if at.message != 0 {
		is.unsaved = append(is.unsaved, memory.Asked{
			Guild:   id,
			Channel: at.channel,
			Message: at.message,
		})
	}
	return n.save(ctx, is)
}

func (n *Notices) save(ctx context.Context, is *notice) error {
	if err := n.Memory.Apply(ctx, is.unsaved...); err != nil {
		return fmt.Errorf("keep what the notice says: %w", err)
	}
	is.unsaved = nil
	return nil
}

func contentHash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // its error is always nil
	return h.Sum64()
}

// content returns the text of the notice of g in a channel. Outside g it is for the owner, who gets it if no channel
// is open to everybody.
func (n *Notices) content(ctx context.Context, g *memory.Guild, channel memory.ChannelID) string {
	l := n.Replies.LocaleIn(ctx, g.ID, channel)
	policy := n.Policy
	owner := when(isElsewhere(g, channel), l.Text(noticeOwner, markdown.Plain(g.Name, 100)))
	if asks(g, policy) {
		return markdown.Lines(owner, askingText(l, n.Privacy))
	}
	shown := *g // as far as everybody can see it
	shown.Choice = choiceFor(g, policy)
	shown.Channels = slices.DeleteFunc(slices.Clone(g.Channels), func(c memory.Channel) bool {
		return !g.IsPublic(c.ID)
	})
	text := markdown.Lines(owner, policyText(l, &shown, policy))
	if shown.Choice != memory.Ignore {
		text = markdown.Lines(text, retainedText(l, g, 0, n.Retention), l.Text(goesAlong),
			sentText(l, n.Privacy, !g.Learn.IsZero()))
	}
	foot := l.Text(noticeFoot)
	return markdown.Lines(append(fitting(strings.Split(text, "\n"),
		markdown.MessageLimit-markdown.Units(foot)-noticeRoom), foot)...)
}

// askingText asks what may be remembered.
func askingText(l locale.Locale, p Privacy) string {
	model := when(len(p.Models) > 0, l.Text(noticeModel))
	return markdown.Lines(l.Text(noticeAsks)+model, l.Text(noticeEnd))
}

func isElsewhere(g *memory.Guild, channel memory.ChannelID) bool {
	return channel != 0 && g.Channel(channel) == nil
}

// isPublicToAll reports whether everybody in g can read a channel, whatever their age.
func isPublicToAll(g *memory.Guild, channel memory.ChannelID) bool {
	return g.IsPublic(channel) && !isAgeLimited(g, channel)
}

func (n *Notices) buttons(ctx context.Context, g *memory.Guild, channel memory.ChannelID) []discord.Component {
	if !asks(g, n.Policy) || isElsewhere(g, channel) {
		return nil
	}
	l := n.Replies.LocaleIn(ctx, g.ID, channel)
	return []discord.Component{discord.Row(
		discord.Button(discord.StyleGreen, l.Text(rememberPublic), choosePublic),
		discord.Button(discord.StyleGrey, l.Text("Choose channels"), chooseChannels),
		discord.Button(discord.StyleGrey, l.Text("Not now"), chooseNothing))}
}

func (n *Notices) edit(ctx context.Context, t *discord.Sender, id memory.MessageID, s response) error {
	return discord.Wrap(t.Request(ctx, "PATCH", id, s.edit(), nil), "edit the notice in channel", t.Channel)
}

// decide calls do, which decides for a guild, and returns the notice's new text. by is who decided.
func (n *Notices) decide(ctx context.Context, at noticeLocation, by memory.UserID,
	do func() (*memory.Guild, error)) (response, error) {
	n.editing.Lock()
	defer n.editing.Unlock()
	g, err := do()
	if err != nil {
		return response{}, err
	}
	text := n.content(ctx, g, at.channel)
	is := n.noticeOf(g)
	if is.message == 0 || is.message == at.message { // not an outdated notice
		at.hash = contentHash(text)
		if err := n.setLocation(ctx, g.ID, is, at); err != nil {
			return response{}, err
		}
	}
	return response{Content: text + "\n" + n.Replies.LocaleIn(ctx, g.ID, at.channel).Text("-# Decided by <@%d>.", by)}, nil
}

// post posts the notice of g where everybody can read it, or else to its owner, and returns where. It reuses an earlier
// notice that asks: the process may have died before it was logged.
func (n *Notices) post(ctx context.Context, g *memory.Guild) (noticeLocation, error) {
	places, err := n.candidates(ctx, g)
	if err != nil {
		return noticeLocation{}, err
	}
	refused := fmt.Errorf("ask server %d: %w: there is no channel to write in that everybody can read: give Hark %s in one, or all that it needs by %s",
		g.ID, discord.ErrGone, discord.PermissionNames(locale.Locale{},
			memory.ViewChannel|discord.SendMessages), n.Grants.Link(g.ID, 0))
	for _, channel := range places[:min(len(places), noticePlaces)] {
		at, err := n.postIn(ctx, g, channel)
		if !errors.Is(err, discord.ErrGone) {
			return at, err
		}
		refused = err
	}
	direct, err := n.Client.Direct(ctx, g.Owner)
	if err != nil {
		return noticeLocation{}, errors.Join(refused, discord.Wrap(err, "write to the owner of server",
			memory.ChannelID(g.ID)))
	}
	at, err := n.postIn(ctx, g, direct)
	if errors.Is(err, discord.ErrGone) {
		err = errors.Join(refused, err)
	}
	return at, err
}

func (n *Notices) postIn(ctx context.Context, g *memory.Guild, channel memory.ChannelID) (noticeLocation, error) {
	text := n.content(ctx, g, channel)
	buttons := n.buttons(ctx, g, channel)
	at := noticeLocation{channel: channel, hash: contentHash(text)}
	t := &discord.Sender{Client: n.Client, Channel: channel}
	if len(buttons) > 0 {
		id, err := n.findPosted(ctx, channel)
		at.message = id
		if id != 0 || err != nil {
			return at, err
		}
	}
	m := discord.Saying(text)
	m.Nonce = "n" + strconv.FormatUint(at.hash, 36)
	m.EnforceNonce = true
	m.Components = buttons
	p, err := t.Post(ctx, m)
	at.message = p.ID
	return at, err
}

// findPosted returns the notice that a channel already has; 0 if none.
func (n *Notices) findPosted(ctx context.Context, channel memory.ChannelID) (memory.MessageID, error) {
	last, err := n.Client.Newest(ctx, channel)
	if err != nil {
		return 0, discord.Wrap(err, "look for the notice in channel", channel)
	}
	for _, m := range last {
		if n.Replies.IsOurs(&m) && slices.Contains(m.Uses(), chooseChannels) {
			return memory.MessageID(m.ID), nil
		}
	}
	return 0, nil
}

// candidates returns the channels that everybody can read and Hark can write in: the system channel first, then text
// channels from the top.
func (n *Notices) candidates(ctx context.Context, known *memory.Guild) ([]memory.ChannelID, error) {
	var g discord.Guild
	var self discord.Member
	err := n.Grants.Parts(ctx, known.ID, &g, &self, &g.Channels)
	if discord.Denied(err) {
		err = fmt.Errorf("%w: HTTP %d", discord.ErrGone, discord.Status(err))
	}
	if err != nil {
		return nil, fmt.Errorf("look at server %d: %w", known.ID, err)
	}
	open := slices.DeleteFunc(g.Channels, func(c *discord.Channel) bool {
		at, ok := discord.ChannelOf(c, known.ID)
		return !ok || *c.Type != 0 || !isPublicToAll(known, at.ID) ||
			!n.Grants.May(&g, &self, &at).Has(memory.ViewChannel|discord.SendMessages)
	})
	slices.SortFunc(open, func(a, b *discord.Channel) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	var ids []memory.ChannelID
	for _, c := range open {
		at := len(ids)
		if c.ID == g.System {
			at = 0
		}
		ids = slices.Insert(ids, at, memory.ChannelID(c.ID))
	}
	return ids, nil
}
