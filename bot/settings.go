package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/memory"
)

// The names of the buttons and menus by which a guild decides. They are in messages that Discord keeps, so they stay.
const (
	choosePublic   = "public"
	chooseChannels = "choose"
	chooseNothing  = "nothing"
	chosenChannels = "channels" // with the notice's channel and id, if there is one
	chosenNever    = "never"
)

const rememberPublic = "Remember all public channels"

func (c *commands) addSettings() {
	c.tools["hark memory"] = tool{refuse: managesNot, do: c.showSettings}
	c.tools["component "+choosePublic] = tool{refuse: managesNot, updates: true, do: c.decide(memory.RememberPublic)}
	c.tools["component "+chooseNothing] = tool{refuse: managesNot, updates: true, do: c.decide(memory.Ignore)}
	c.tools["component "+chooseChannels] = tool{refuse: managesNot, do: c.askChannels}
	c.tools["component "+chosenChannels] = tool{refuse: managesNot, updates: true, do: c.chooseChannels}
	c.tools["component "+chosenNever] = tool{refuse: managesNot, updates: true, do: c.never}
}

// showSettings is what is decided, and how to decide otherwise.
func (c *commands) showSettings(ctx context.Context, x *exchange) (sheet, error) {
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil {
		return sheet{}, err
	}
	return c.settings(x, g), nil
}

func (c *commands) settings(x *exchange, g *memory.Guild) sheet {
	g = x.seen(g, c.bot.cfg.Policy)
	return sheet{
		Content: told(x.locale, g, c.bot.cfg.Policy),
		Components: []component{
			row(button(styleGreen, x.text(rememberPublic), choosePublic), button(styleGrey, x.text("Remember nothing"), chooseNothing)),
			row(channelMenu(chosenChannels, x.text("Remember only these channels and categories"), 1, decided(g, memory.Remember))),
			row(channelMenu(chosenNever, x.text("Never remember these"), 0, decided(g, memory.Ignore))),
		},
	}
}

// told says what of a guild is remembered.
func told(l locale, g *memory.Guild, p memory.Policy) string {
	var b strings.Builder
	switch choice := choiceFor(g, p); {
	case choice == memory.Undecided && p.Ask:
		b.WriteString(l.text("Nobody has decided yet what I may remember here, so I remember nothing."))
	case choice == memory.Undecided:
		b.WriteString(l.text("I remember what is said in all channels that I can read: that is how I was set up."))
	default:
		b.WriteString(outcomeOf(l, choice))
	}
	if chosen := decided(g, memory.Remember); len(chosen) > 0 {
		b.WriteString("\n" + l.text("Chosen by name: %s.", channelList(l, chosen)))
	}
	if never := decided(g, memory.Ignore); len(never) > 0 {
		b.WriteString("\n" + l.text("Never remembered: %s. What I kept of them before is told to nobody.", channelList(l, never)))
	}
	if !g.Learn.IsZero() {
		b.WriteString("\n" + l.text("I learn about members who want it from what they write: `/hark learn` changes that."))
	}
	if !p.AgeLimited {
		b.WriteString("\n" + l.text("-# Age-restricted channels are remembered only if they are chosen by name."))
	}
	return b.String()
}

// choiceFor is what was chosen for g as a whole. Where that is nothing, or not yet anything, and channels were chosen by name, it is
// those.
func choiceFor(g *memory.Guild, p memory.Policy) memory.Choice {
	if (g.Choice == memory.Ignore || g.Choice == memory.Undecided && p.Ask) && len(decided(g, memory.Remember)) > 0 {
		return memory.RememberChosen
	}
	return g.Choice
}

func outcomeOf(l locale, choice memory.Choice) string {
	switch choice {
	case memory.Remember:
		return l.text("I remember what is said in all channels that I can read.")
	case memory.RememberPublic:
		return l.text("I remember what is said in the channels that everybody here can read.")
	case memory.RememberChosen:
		return l.text("I remember what is said in the channels that were chosen, and nothing else.")
	}
	return l.text("I remember nothing of what is said here.")
}

// listedChannels is how many channels are named one by one.
const listedChannels = 30

func channelList(l locale, ids []memory.ChannelID) string {
	var names []string
	for _, id := range ids[:min(len(ids), listedChannels)] {
		names = append(names, fmt.Sprintf("<#%d>", id))
	}
	if more := len(ids) - listedChannels; more > 0 {
		names = append(names, l.text("and %s more", l.number(more)))
	}
	return l.list(names)
}

// decided are the channels of which that was chosen, by id.
func decided(g *memory.Guild, choice memory.Choice) []memory.ChannelID {
	var ids []memory.ChannelID
	for _, c := range g.Channels {
		if c.Choice == choice {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// decide chooses for a whole guild.
func (c *commands) decide(choice memory.Choice) func(context.Context, *exchange) (sheet, error) {
	return func(ctx context.Context, x *exchange) (sheet, error) {
		g, err := c.bot.admit.guild(ctx, x.guild())
		if err != nil {
			return sheet{}, err
		}
		choices := []memory.Chose{{Choice: choice}}
		if choice == memory.Ignore { // also what was chosen by name
			for _, id := range decided(g, memory.Remember) {
				choices = append(choices, memory.Chose{Channel: id})
			}
		}
		if x.Message == nil || !x.isPublic() {
			if g, err = c.choose(ctx, x, choices...); err != nil {
				return sheet{}, err
			}
			return c.settings(x, g), nil
		}
		at := noticeAt{channel: memory.ChannelID(x.Channel), message: memory.MessageID(x.Message.ID)}
		_, shown, err := c.bot.notices.decided(ctx, at, x.who(), func() (*memory.Guild, error) { return c.choose(ctx, x, choices...) })
		return shown, err
	}
}

// choose commits choices, and is the guild then.
func (c *commands) choose(ctx context.Context, x *exchange, choices ...memory.Chose) (*memory.Guild, error) {
	events := make([]memory.Event, len(choices))
	for i, chose := range choices {
		chose.Guild, chose.At = x.guild(), c.bot.now()
		events[i] = chose
	}
	if err := c.bot.memory.Apply(ctx, events...); err != nil {
		return nil, fmt.Errorf("keep what guild %d has decided: %w", x.Guild, err)
	}
	c.bot.filler.nudge()
	return c.bot.admit.guild(ctx, x.guild())
}

// askChannels asks for the channels, whoever clicked only.
func (c *commands) askChannels(ctx context.Context, x *exchange) (sheet, error) {
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil {
		return sheet{}, err
	}
	id := chosenChannels
	if x.Message != nil {
		id = fmt.Sprintf("%s:%d:%d", id, x.Channel, x.Message.ID)
	}
	return sheet{
		Content: x.text("Which channels may I remember? A category stands for all channels in it, a channel for its threads as well."),
		Components: []component{
			row(channelMenu(id, x.text("Remember these channels and categories"), 1, decided(x.seen(g, c.bot.cfg.Policy), memory.Remember))),
		},
	}, nil
}

// chooseChannels has the channels chosen remembered, and no others.
func (c *commands) chooseChannels(ctx context.Context, x *exchange) (sheet, error) {
	choices, err := c.changes(ctx, x, memory.Remember)
	if err != nil {
		return sheet{}, err
	}
	choose := func() (*memory.Guild, error) {
		return c.choose(ctx, x, append(choices, memory.Chose{Choice: memory.RememberChosen})...)
	}
	var g *memory.Guild
	if at, is := noticeIn(x.args()); is {
		g, err = c.chooseByNotice(ctx, x, at, choose)
	} else {
		g, err = choose()
	}
	if err != nil {
		return sheet{}, err
	}
	return c.settings(x, g), nil
}

// chooseByNotice chooses channels, and says so in the notice whose button asked for them.
func (c *commands) chooseByNotice(ctx context.Context, x *exchange, at noticeAt, choose func() (*memory.Guild, error)) (*memory.Guild, error) {
	g, shown, err := c.bot.notices.decided(ctx, at, x.who(), choose)
	if err != nil {
		return nil, err
	}
	t := thread{client: c.bot.rest, channel: at.channel}
	if err := c.bot.notices.edit(ctx, &t, at.message, shown); err != nil {
		c.bot.log.Warn().Err(err).Int64("guild", int64(x.Guild)).Msg("couldn't say in the notice what was decided")
	}
	return g, nil
}

// noticeIn is the notice that the arguments of a menu's id name, if they name one.
func noticeIn(args []string) (at noticeAt, is bool) {
	if len(args) != 2 {
		return at, false
	}
	channel, err1 := strconv.ParseInt(args[0], 10, 64)
	message, err2 := strconv.ParseInt(args[1], 10, 64)
	return noticeAt{channel: memory.ChannelID(channel), message: memory.MessageID(message)}, err1 == nil && err2 == nil
}

// never has the channels chosen ignored, and those that were and aren't chosen now no longer.
func (c *commands) never(ctx context.Context, x *exchange) (sheet, error) {
	choices, err := c.changes(ctx, x, memory.Ignore)
	if err != nil {
		return sheet{}, err
	}
	g, err := c.choose(ctx, x, choices...)
	if err != nil {
		return sheet{}, err
	}
	return c.settings(x, g), nil
}

// changes is what makes the channels chosen in a menu those of a choice.
func (c *commands) changes(ctx context.Context, x *exchange, choice memory.Choice) ([]memory.Chose, error) {
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil {
		return nil, err
	}
	var choices []memory.Chose
	var ids []memory.ChannelID
	for _, v := range x.Data.Values {
		n, err := strconv.ParseInt(v, 10, 64)
		id := memory.ChannelID(n)
		known := slices.ContainsFunc(g.Channels, func(c memory.Channel) bool { return c.ID == id })
		if err != nil || !known {
			return nil, errUnknownChannel
		}
		ids = append(ids, id)
		choices = append(choices, memory.Chose{Channel: id, Choice: choice})
	}
	before := decided(x.seen(g, c.bot.cfg.Policy), choice)
	for _, id := range before[:min(len(before), menuLimit)] { // what the menu showed
		if !slices.Contains(ids, id) {
			choices = append(choices, memory.Chose{Channel: id})
		}
	}
	return choices, nil
}

// errUnknownChannel has a sentence for whoever chose.
var errUnknownChannel error = unknownChannel{}

type unknownChannel struct{}

func (unknownChannel) Error() string { return "a channel was chosen that isn't known" }
func (unknownChannel) Sentence() string {
	return "I don't know one of these channels yet. Please try again in a moment."
}
