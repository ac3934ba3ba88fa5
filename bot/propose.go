package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/pattern"
	"hark/memory"
)

// What is to be remembered is shown in a message of its own below the answer, which nobody but Hark can
// write. Until somebody agrees it is nowhere else: what is remembered then is read from the message, which
// Discord hands back with the press.

const (
	unreadable locale.Phrase = "I can't read any more what I was to remember: something took it out of the message. Please tell me again."
	sourceGone locale.Phrase = "Something that this is from was deleted or changed meanwhile, or isn't remembered, so I don't keep it."
	keptNot    locale.Phrase = "I remember nothing here, so I don't keep that either."
	youOptOut  locale.Phrase = youAreOut
	notTaken   locale.Phrase = "I couldn't keep it: it was taken back before, or falls under something that I was told to forget."
)

var jumpLink = pattern.Of(`\(<https://discord\.com/channels/(?:@me|[0-9]{1,19})/([0-9]{1,19})/([0-9]{1,19})>\)`)

// loreIn is the lore that a message shows, to be kept under the message's id.
func loreIn(x *exchange) (memory.Lore, error) {
	l := memory.Lore{
		ID: int64(x.Message.ID), Guild: x.guild(), Channel: memory.ChannelID(x.Channel), By: x.who(), At: memory.MessageID(x.ID).Time(),
	}
	lines := strings.Split(x.Message.Content, "\n")
	in, known := saysShallI(lines[0])
	if len(lines) < 3 || !known {
		return l, unreadable
	}
	also, sources := in.Text(alsoCalled, ""), in.Text(from, "")
	name, bold := strings.CutPrefix(lines[1], "**")
	name, closed := strings.CutSuffix(name, "**")
	if !bold || !closed {
		return l, unreadable
	}
	l.Name = name
	var text []string
	for _, line := range lines[2:] {
		switch {
		case strings.HasPrefix(line, quoted) || line == strings.TrimSpace(quoted):
			text = append(text, strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
		case strings.HasPrefix(line, also):
			l.Own = append(l.Own, strings.TrimPrefix(line, also))
		case strings.HasPrefix(line, sources):
			links := jumpLink().FindAllStringSubmatch(line, -1)
			if len(links) == 0 || len(links) != strings.Count(line, "](") {
				return l, unreadable
			}
			for _, link := range links {
				channel, _ := strconv.ParseInt(link[1], 10, 64)
				message, _ := strconv.ParseInt(link[2], 10, 64)
				l.Sources = append(l.Sources, memory.Spot{Channel: memory.ChannelID(channel),
					Message: memory.MessageID(message)})
			}
		default:
			return l, unreadable
		}
	}
	l.Text = strings.Join(text, "\n")
	l, err := l.Checked()
	if err != nil {
		return l, unreadable
	}
	return l, nil
}

// saysShallI is the locale in which a line says that something is to be remembered, if it does: it may be
// another by now than that of the channel.
func saysShallI(line string) (locale.Locale, bool) {
	for _, c := range locale.Catalogs() {
		if in := (locale.Locale{Catalog: c}); in.Text(shallI) == line {
			return in, true
		}
	}
	in := locale.Locale{}
	return in, in.Text(shallI) == line
}

// remember keeps what a message proposes.
func (c *commands) remember(ctx context.Context, x *exchange) (sheet, error) {
	if x.Message == nil || x.Message.Author == nil || memory.UserID(x.Message.Author.ID) != c.bot.self {
		return sheet{}, unreadable
	}
	l, err := loreIn(x)
	if err != nil {
		return sheet{}, err
	}
	if err := c.mayKeep(ctx, x, l); err != nil {
		return sheet{}, err
	}
	c.agreeing.Lock()
	defer c.agreeing.Unlock()
	kept, err := c.hasLore(ctx, l)
	if err == nil && !kept {
		if err = c.keepProposed(ctx, x, l); err == nil {
			kept, err = c.hasLore(ctx, l)
		}
	}
	switch {
	case err != nil:
		return sheet{}, err
	case !kept:
		return sheet{}, notTaken
	}
	return sheet{Content: x.Text("Remembered: %s", markdown.Plain(l.Name, memory.MaxLoreName))}, nil
}

// mayKeep is why lore can't be kept, if it can't.
func (c *commands) mayKeep(ctx context.Context, x *exchange, l memory.Lore) error {
	if !x.remembers(l.Channel) {
		return keptNot
	}
	out, err := c.bot.memory.OptedOut(ctx, l.Guild, l.By)
	if err != nil {
		return fmt.Errorf("look whether somebody has opted out: %w", err)
	}
	if out {
		return youOptOut
	}
	_, err = c.bot.replies.sourcesOf(ctx, l, memory.MessageID(x.Message.ID))
	return err
}

func (c *commands) hasLore(ctx context.Context, l memory.Lore) (bool, error) {
	all, err := c.bot.memory.Lore(ctx, l.Guild)
	if err != nil {
		return false, fmt.Errorf("look up lore: %w", err)
	}
	return slices.ContainsFunc(all, func(k memory.Lore) bool { return k.ID == l.ID }), nil
}

// keepProposed keeps lore, and has the answer that proposed it go with it: Discord shows its name there.
func (c *commands) keepProposed(ctx context.Context, x *exchange, l memory.Lore) error {
	events := []memory.Event{memory.LoreTold{Lore: l}}
	q := memory.TraceQuery{Channel: memory.ChannelID(x.Channel), Answer: memory.MessageID(x.Message.ID), Prompts: true}
	traces, err := c.bot.memory.Traces(ctx, q)
	if err != nil {
		return fmt.Errorf("look up how an answer came about: %w", err)
	}
	for _, t := range traces {
		if t.Asker != 0 { // else it is the bare sources of an answer that isn't logged
			events = append(events, memory.Answered{Trace: t.WithSources(l.AsSource(true))})
		}
	}
	return c.apply(ctx, x, "keep lore", events...)
}

// forgo takes a proposal away.
func (c *commands) forgo(ctx context.Context, x *exchange) (sheet, error) {
	if err := c.takeDown(ctx, x, memory.MessageID(x.Message.ID)); err != nil {
		return sheet{}, err
	}
	return sheet{}, errShown
}
