package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/listen"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

// status shows the state of Hark, for this server alone. It doesn't wait for the log, which may be what fails.
func (c *Commands) status(ctx context.Context, x *interaction) (response, error) {
	if err := c.loadGuild(ctx, x); err != nil {
		return response{}, err
	}
	g := x.server
	kept, err := c.keeping(ctx, x)
	if err != nil {
		return response{}, err
	}
	expiring, agree := x.expiringLine()
	shut, forget, err := c.shutLine(ctx, x, x.visibleGuild())
	if err != nil {
		return response{}, err
	}
	all, err := c.working(ctx, x)
	if err != nil {
		return response{}, err
	}
	may, err := c.questions.TokenQuota(ctx, memory.Membership{Guild: x.guild()}, nil, c.Now())
	if err != nil {
		return response{}, fmt.Errorf("look up what server %d has spent: %w", x.Guild, err)
	}
	mark := "✓ "
	if _, paused := c.Replies.Choices.In(g, 0).PausedAt(c.Now()); paused {
		mark = "⏸️ "
	}
	shown := paragraphs(x.Text("**How I am**"), c.connection(x), all, c.writing(x), kept, expiring, shut,
		x.refutedLine(), c.services(x, g), c.spentLine(x, may.All),
		mark+c.pauseLine(x.Locale, g), x.Text("-# Hark %s", cmp.Or(c.Version, "?")))
	shown.Components = append(agree, forget...)
	return shown, nil
}

func (c *Commands) connection(x *interaction) string {
	if err := c.State(); err != nil {
		return "✗ " + x.Text("**Discord**: the connection is lost, and I'm reconnecting. You don't need to do anything.")
	}
	return "✓ " + x.Text("**Discord**: connected; I was started <t:%d:R>", c.Replies.Since.Unix())
}

// working says how many processes and shards there are, if there are several.
func (c *Commands) working(ctx context.Context, x *interaction) (string, error) {
	if c.Working == nil {
		return "", nil
	}
	shards, processes, err := c.Working(ctx)
	if err != nil {
		return "", fmt.Errorf("look up who else works: %w", err)
	}
	n := x.Locale.Number(processes)
	held := x.Locale.Number(shards)
	all := x.Locale.Number(c.Shard.Count())
	if shards < c.Shard.Count() {
		return "✗ " + x.Text("**All of me**: processes: %s, shards at work: %s of %s. Servers of the others wait until another process takes them over. Nothing is lost.",
			n, held, all), nil
	}
	return "✓ " + x.Text("**All of me**: processes: %s, shards at work: %s of %s", n, held, all), nil
}

// writing says whether the log can be written, and how many events wait.
func (c *Commands) writing(x *interaction) string {
	waiting := c.Queue.Len()
	if c.Writer.Failing() {
		return "✗ " + x.Count(waiting,
			"**Memory**: I can't write to my disk. %s event waits, and is lost if I'm stopped. Whoever runs me should look at the disk now: my log says what is wrong.",
			"**Memory**: I can't write to my disk. %s events wait, and are lost if I'm stopped. Whoever runs me should look at the disk now: my log says what is wrong.")
	}
	return "✓ " + x.Count(waiting, "**Memory**: can be written; %s event waits",
		"**Memory**: can be written; %s events wait")
}

// keeping says how much is kept, and what remains to be done with it.
func (c *Commands) keeping(ctx context.Context, x *interaction) (string, error) {
	g := x.visibleGuild()
	var scope memory.Scope
	for _, channel := range g.Channels {
		if channel.Kind != memory.CategoryChannel && c.Policy.Remembers(g, channel.ID) {
			scope.Channels = append(scope.Channels, channel.ID)
		}
	}
	messages, _, err := c.Memory.Frequencies(ctx, scope, nil, 0)
	if err != nil {
		return "", fmt.Errorf("count the messages of server %d: %w", g.ID, err)
	}
	people, err := c.Memory.People(ctx, g.ID)
	if err != nil {
		return "", fmt.Errorf("look up the people of server %d: %w", g.ID, err)
	}
	var known []memory.UserID
	for _, p := range people {
		if !p.Bot {
			known = append(known, p.ID)
		}
	}
	counted := len(known)
	if !x.seesAll() {
		wrote, err := c.Memory.Presence(ctx, scope, known)
		if err != nil {
			return "", fmt.Errorf("look up who wrote in server %d: %w", g.ID, err)
		}
		counted = len(wrote)
	}
	line := "✓ " + x.Text("**Remembered here**: messages: %s, channels: %s, people: %s", x.Locale.Number(messages),
		x.Locale.Number(len(scope.Channels)), x.Locale.Number(counted))
	switch {
	case asks(g, c.Policy):
		line = "✗ " + x.Text("**Remembered here**: nothing, since nobody has decided yet. `/hark memory` decides it.")
	case len(scope.Channels) == 0 && (x.seesAll() || g.Choice == memory.Ignore):
		line = "➖ " + x.Text("**Remembered here**: nothing, as was decided. `/hark memory` changes it.")
	}
	more, err := c.toDo(ctx, x, g)
	return markdown.Lines(line, more), err
}

// shutLine names the channels that Hark was shut out of and still keeps something of; "" if there are none. For one
// channel it adds a button that deletes it.
func (c *Commands) shutLine(ctx context.Context, x *interaction, g *memory.Guild) (string, []discord.Component, error) {
	shut, err := ingest.ShutOut(ctx, c.Memory, g)
	if err != nil {
		return "", nil, err
	}
	var kept []memory.ChannelID
	for _, at := range g.Channels {
		if at.Kind.IsThread() || !shut[at.ID] {
			continue
		}
		var scope memory.Scope
		for _, of := range g.WithThreads(at.ID) {
			scope.Channels = append(scope.Channels, of.ID)
		}
		messages, _, err := c.Memory.Frequencies(ctx, scope, nil, 0)
		if err != nil {
			return "", nil, fmt.Errorf("count the messages of channel %d: %w", at.ID, err)
		}
		if messages > 0 {
			kept = append(kept, at.ID)
		}
	}
	if len(kept) == 0 {
		return "", nil, nil
	}
	line := "✗ " + x.Text("I can't read %s any more and don't hear what is deleted there, so I use nothing that I kept from it. Once I may view it and read its history again, I compare the two first. `/hark purge channel` makes me forget it.",
		channelList(x.Locale, kept))
	if len(kept) > 1 {
		return line, nil, nil
	}
	return line, []discord.Component{discord.Row(discord.Button(discord.StyleGrey,
		x.Text("Forget what I kept of it"), ID(asksPurge, kept[0])))}, nil
}

// toDo says what remains to be indexed, fetched, compared and deleted in g.
func (c *Commands) toDo(ctx context.Context, x *interaction, g *memory.Guild) (string, error) {
	waiting, err := c.Memory.Waiting(ctx, g.ID)
	if err != nil {
		return "", err
	}
	gaps, err := c.Memory.Gaps(ctx, memory.Everywhere, false)
	if err != nil {
		return "", fmt.Errorf("look up what is missing: %w", err)
	}
	unswept, err := c.Memory.Gaps(ctx, g.ID, true)
	if err != nil {
		return "", fmt.Errorf("look up what is to be compared: %w", err)
	}
	begun, err := c.Memory.Forgettings(ctx, memory.Everywhere, 0)
	if err != nil {
		return "", fmt.Errorf("look up what is being forgotten: %w", err)
	}
	forgetting := slices.ContainsFunc(begun, func(r memory.DeletionReport) bool {
		f := r.Forgetting
		return f.Guild == memory.Everywhere || f.Guild == g.ID &&
			(x.seesAll() || f.Channel == 0 || g.Channel(f.Channel) != nil)
	})
	fetched := channelsWith(gaps, g, x.seesAll())
	compared := channelsWith(unswept, g, x.seesAll())
	return markdown.Lines(
		when(waiting > 0 && x.seesAll(),
			"⏳ "+x.Count(waiting, "For now I find %s conversation only by its words: its meaning isn't indexed yet.",
				"For now I find %s conversations only by their words: their meaning isn't indexed yet.")),
		when(fetched > 0, "⏳ "+x.Count(fetched, "I'm fetching what I missed in %s channel.",
			"I'm fetching what I missed in %s channels.")),
		when(compared > 0, "⏳ "+x.Count(compared,
			"I may have missed changes, so I compare what I remember with Discord: %s channel is left. Until then I check there before I use anything from it.",
			"I may have missed changes, so I compare what I remember with Discord: %s channels are left. Until then I check there before I use anything from them.")),
		when(forgetting, "⏳ "+x.Text("Something is being forgotten. It is out of my answers already, and soon out of my files."))), nil
}

// channelsWith counts the channels with gaps: all of the guild's, or only those in g.
func channelsWith(gaps []memory.Gap, g *memory.Guild, all bool) int {
	channels := map[memory.ChannelID]bool{}
	for _, gap := range gaps {
		if gap.Guild == g.ID && (all || g.Channel(gap.Channel) != nil) {
			channels[gap.Channel] = true
		}
	}
	return len(channels)
}

// services shows the state of the servers that answers need here.
func (c *Commands) services(x *interaction, g *memory.Guild) string {
	if c.Health == nil {
		return ""
	}
	h := c.Health()
	model, there := h.Models[c.Replies.Choices.In(g, memory.ChannelID(x.Channel)).Model]
	if !there {
		model = h.Models[c.Replies.Choices.Default.Model]
	}
	return markdown.Lines(
		serviceLine(x.Locale, x.Text("Model in this channel"), x.Text("I quote what was said."), model),
		serviceLine(x.Locale, x.Text("Search by meaning"), x.Text("I search by words."), h.Embedder),
		serviceLine(x.Locale, x.Text("Reranker"), x.Text("none is needed."), h.Reranker),
		c.mediaLines(x, g, h))
}

// mediaLines show the transcription server's state, and how many voice messages and pictures were told of today.
func (c *Commands) mediaLines(x *interaction, g *memory.Guild, h Health) string {
	if h.Voice.Name == "" && h.Pictures == 0 {
		return ""
	}
	today := listen.Today(g, c.Now())
	return markdown.Lines(
		when(h.Voice.Name != "", serviceLine(x.Locale, x.Text("Voice messages"), "", h.Voice)+" "+
			x.Text("(today: %s)", x.Locale.Number(today.Voice()))),
		when(h.Pictures > 0, "✓ "+x.Text("**Pictures described today**: %s of %s", x.Locale.Number(today.Pictures()),
			x.Locale.Number(h.Pictures))))
}

// spentLine says how many tokens all members together used today.
func (c *Commands) spentLine(x *interaction, all reply.Share) string {
	spent := x.Locale.Number(all.Spent)
	limit := x.Locale.Number(all.Limit)
	_, tomorrow := memory.Day(c.Now())
	switch {
	case all.Limit == memory.Unlimited:
		return "✓ " + x.Text("**Tokens today**: %s, without a limit", spent)
	case !all.Fits(0):
		return "✗ " + x.Text("**Tokens today**: %s of %s, so I only quote until <t:%d:t>. `/hark limits` decides how many there are.", spent, limit, tomorrow.Unix())
	}
	return "✓ " + x.Text("**Tokens today**: %s of %s", spent, limit)
}
