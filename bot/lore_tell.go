package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

// loreFields are those of a form for lore.
func loreFields(in locale, l memory.Lore) []field {
	return []field{
		{ID: "name", Label: in.text("Name"), Value: l.Name, Needed: true, Most: memory.MaxLoreName},
		{ID: "text", Label: in.text("What I shall remember"), Value: l.Text, Long: true, Needed: true, Most: memory.MaxLoreText},
		{ID: "aliases", Label: in.text("Other names, with commas between them"), Value: strings.Join(l.Own, ", "), Most: longestAliases},
	}
}

// askLore is the form for what /lore add wasn't told.
func (c *commands) askLore(_ context.Context, x *exchange) (form, error) {
	if x.words("name") != "" && strings.TrimSpace(x.option("text")) != "" {
		return form{}, errNoForm
	}
	name := formLoreAdd
	if from := x.option("from"); from != "" {
		at, err := x.link(from)
		if err != nil {
			return form{}, err
		}
		name = id(name, at.Channel, at.Message)
	}
	return form{ID: name, Title: x.text("What shall I remember?"), Fields: loreFields(x.locale, memory.Lore{
		Name: x.words("name"), Text: x.option("text"), Own: namesIn(x.option("aliases")),
	})}, nil
}

// namesIn are names with commas between them.
func namesIn(names string) []string {
	var all []string
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// told is lore as it was told, by options or in a form.
func (x *exchange) told(l memory.Lore) memory.Lore {
	if x.Type == interactionForm {
		l.Name, l.Text, l.Own = x.field("name"), x.field("text"), namesIn(x.field("aliases"))
		return l
	}
	name := "name"
	if l.ID != 0 {
		name = "new-name"
	}
	if given := x.words(name); given != "" {
		l.Name = given
	}
	if given := x.option("text"); strings.TrimSpace(given) != "" {
		l.Text = given
	}
	if given := x.option("aliases"); given != "" {
		l.Own = namesIn(given)
	}
	return l
}

// addOneLore keeps what was told. It may be told where the channel it was told in may be read, as a message there.
func (c *commands) addOneLore(ctx context.Context, x *exchange, m member) (sheet, error) {
	channel := memory.ChannelID(x.Channel)
	kept, err := c.bot.admit.remembers(ctx, x.guild(), channel)
	thread := slices.ContainsFunc(m.guild.Channels, func(at memory.Channel) bool { return at.ID == channel && at.Kind.IsThread() })
	switch {
	case err != nil:
		return sheet{}, err
	case m.out:
		return sheet{Content: x.text(youAreOut)}, nil
	case thread && !x.may(sendInThreads), !thread && !x.may(sendMessages):
		return sheet{Content: x.text(loreSilent)}, nil
	case !kept:
		return sheet{Content: x.text(nothingKeptHere)}, nil
	}
	l := x.told(memory.Lore{})
	l.ID, l.Guild, l.Channel, l.By, l.At = int64(x.ID), x.guild(), channel, x.who(), c.at(x).UTC().Truncate(time.Millisecond)
	if l.Sources, err = c.loreSource(ctx, x, m); err != nil {
		return sheet{}, err
	}
	return c.keepLore(ctx, x, l, x.text("Noted. I find it by its name and by these other names when somebody asks me, where those who read the answer may read this channel."))
}

// loreSource is the message that lore is from, if x names one that whoever uses it may read.
func (c *commands) loreSource(ctx context.Context, x *exchange, m member) ([]memory.Spot, error) {
	var at memory.Spot
	switch args := x.args(); {
	case x.Type == interactionForm && len(args) == 2:
		n, ok := integers(args, 10)
		if !ok {
			return nil, phrase(loreFrom)
		}
		at = memory.Spot{Channel: memory.ChannelID(n[0]), Message: memory.MessageID(n[1])}
	case x.option("from") != "":
		var err error
		if at, err = x.link(x.option("from")); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	if err := c.bot.settled(ctx, x.guild()); err != nil {
		return nil, err
	}
	if !slices.Contains(c.readable(x, m), at.Channel) {
		return nil, phrase(loreNoSource)
	}
	there, err := c.bot.memory.Messages(ctx, at.Channel, []memory.MessageID{at.Message})
	if err != nil {
		return nil, fmt.Errorf("look up message %d: %w", at.Message, err)
	}
	if len(there) == 0 {
		return nil, phrase(loreNoSource)
	}
	return []memory.Spot{at}, nil
}

// link is where the message is that a link leads to, or that has an id in the channel.
func (x *exchange) link(s string) (memory.Spot, error) {
	parts := strings.Split(strings.Trim(strings.TrimSpace(s), "<>"), "/")
	switch n, _ := integers(parts[max(0, len(parts)-3):], 10); {
	case len(n) == 1:
		return memory.Spot{Channel: memory.ChannelID(x.Channel), Message: memory.MessageID(n[0])}, nil
	case len(n) == 3 && memory.GuildID(n[0]) == x.guild():
		return memory.Spot{Channel: memory.ChannelID(n[1]), Message: memory.MessageID(n[2])}, nil
	}
	return memory.Spot{}, phrase(loreFrom)
}

// keepLore keeps lore and shows it. Of what whoever tells it may not read nothing is told, not even that a name is taken.
func (c *commands) keepLore(ctx context.Context, x *exchange, l memory.Lore, done string) (sheet, error) {
	l, err := l.Checked()
	if err != nil {
		return sheet{Content: x.text("I can't keep that: %s.", x.complaint(err))}, nil
	}
	all, err := c.lore(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	if slices.ContainsFunc(all, func(old memory.Lore) bool { return old.ID != l.ID && strings.EqualFold(old.Name, l.Name) }) {
		return sheet{Content: x.text(loreTaken)}, nil
	}
	if err := c.apply(ctx, x, "keep lore", memory.LoreTold{Lore: l}); err != nil {
		return sheet{}, err
	}
	if all, err = c.lore(ctx, x); err != nil {
		return sheet{}, err
	}
	if !slices.ContainsFunc(all, func(kept memory.Lore) bool { return kept.ID == l.ID && kept.At.Equal(l.At) }) {
		return sheet{Content: x.text(loreNotKept)}, nil
	}
	return paged(append([]string{done}, loreLines(x.locale, l)...)), nil
}

// askChange is the form for a change of lore of which nothing was told.
func (c *commands) askChange(ctx context.Context, x *exchange) (form, error) {
	if x.words("new-name") != "" || strings.TrimSpace(x.option("text")) != "" || x.option("aliases") != "" {
		return form{}, errNoForm
	}
	l, err := c.loreToChange(ctx, x)
	if err != nil {
		return form{}, err
	}
	return form{ID: id(formLoreEdit, l.ID), Title: x.text("What shall I remember?"), Fields: loreFields(x.locale, l)}, nil
}

// editLore changes lore. Who told it first, where, and what it is from stay.
func (c *commands) editLore(ctx context.Context, x *exchange) (sheet, error) {
	l, err := c.loreToChange(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	was := l.At
	l = x.told(l)
	if l.At = c.at(x).UTC().Truncate(time.Millisecond); !l.At.After(was) {
		l.At = was.Add(time.Millisecond)
	}
	return c.keepLore(ctx, x, l, x.text("Changed."))
}
