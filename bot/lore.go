package bot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hark/memory"
)

const (
	formLoreAdd    = "lore-add"
	formLoreEdit   = "lore-edit" // with the lore's id
	confirmLoreOff = "lore-off"  // with the lore's id

	sendInThreads memory.Permissions = 1 << 38

	loreNone     = "There is no lore that you may read here yet. `/lore add` tells me some."
	loreUnknown  = "I know no lore of that name that you may read. `/lore list` shows what there is."
	loreSeveral  = "More than one piece of lore goes by that name. Please choose one of those that I show while you type."
	loreNotYours = "Only whoever told me that, and those who may manage this server, can change it."
	loreSilent   = "You can't write in this channel, so you can't tell me anything here."
	loreTaken    = "There is lore of that name already. `/lore edit` changes it."
	loreNotKept  = "I couldn't keep that: it is forgotten already, or what it is from is."
	loreNoSource = "I don't have that message, or you may not read it. Please give me the link to a message that I remember."
	loreFrom     = "The message that it is from has to be a link to a message of this server, or the id of one of this channel."

	longestAliases = 2200 // as many as there may be, of the longest, with commas, nearly
)

// writesNot refuses whoever may write neither in a channel nor, if it is a thread, in threads, which loreChannel tells apart.
func writesNot(x *exchange) string {
	if x.Guild == 0 || !x.may(sendMessages|sendInThreads) {
		return x.text(loreSilent)
	}
	return ""
}

// lore is what may be told to whoever uses x.
func (c *commands) lore(ctx context.Context, x *exchange) ([]memory.Lore, error) {
	all, err := c.bot.answers.Lore(ctx, c.question(x))
	if err != nil {
		return nil, fmt.Errorf("list the lore of guild %d: %w", x.Guild, err)
	}
	return all, nil
}

// mayChange reports whether whoever uses x may change or remove lore.
func (x *exchange) mayChange(l memory.Lore) bool {
	return l.By != 0 && l.By == x.who() || x.may(manageGuild)
}

// loreNames are the names of the lore that may be told, or of that which may be changed. What is given by them is its id.
func (c *commands) loreNames(changeable bool) func(context.Context, *exchange) ([]optionChoice, error) {
	return func(ctx context.Context, x *exchange) ([]optionChoice, error) {
		all, err := c.lore(ctx, x)
		var names []optionChoice
		for _, l := range all {
			if !changeable || x.mayChange(l) {
				names = append(names, optionChoice{labelOf(l.Name), strconv.FormatInt(l.ID, 10)})
			}
		}
		return names, err
	}
}

// loreNamed is the lore that x names, or whose id is in the form or the button that it uses.
func (c *commands) loreNamed(ctx context.Context, x *exchange) (memory.Lore, error) {
	all, err := c.lore(ctx, x)
	if err != nil {
		return memory.Lore{}, err
	}
	name := x.option("name")
	if args := x.args(); len(args) > 0 {
		name = args[0]
	}
	switch found := memory.LoreCalled(all, name); len(found) {
	case 0:
		return memory.Lore{}, phrase(loreUnknown)
	case 1:
		return found[0], nil
	}
	return memory.Lore{}, phrase(loreSeveral)
}

// loreToChange is loreNamed, if whoever uses x may change it.
func (c *commands) loreToChange(ctx context.Context, x *exchange) (memory.Lore, error) {
	l, err := c.loreNamed(ctx, x)
	if err == nil && !x.mayChange(l) {
		err = phrase(loreNotYours)
	}
	return l, err
}

// listedLore is how much of the lore is listed, and loreGist how much of each, in characters.
const (
	listedLore = 100
	loreGist   = 80
)

func (c *commands) listLore(ctx context.Context, x *exchange) (sheet, error) {
	all, err := c.lore(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	if len(all) == 0 {
		return sheet{Content: x.text(loreNone)}, nil
	}
	lines := []string{x.text("**What I was told to remember, as far as you may read it**")}
	for _, l := range all[:min(len(all), listedLore)] {
		lines = append(lines, fmt.Sprintf("- **%s**: %s (%s)", plain(l.Name, memory.MaxLoreName), asSaid(l.Text, loreGist), toldBy(x.locale, l)))
	}
	if more := len(all) - listedLore; more > 0 {
		lines = append(lines, x.text("-# and %s more, which `/lore show` finds by their names", x.locale.number(more)))
	}
	return paged(lines), nil
}

// toldBy says who told lore, and when.
func toldBy(in locale, l memory.Lore) string {
	if l.By == 0 {
		return in.text("told by those who run me, <t:%d:f>", l.At.Unix())
	}
	return in.text("told by <@%d>, <t:%d:f>", l.By, l.At.Unix())
}

func (c *commands) showLore(ctx context.Context, x *exchange) (sheet, error) {
	l, err := c.loreNamed(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	return paged(loreLines(x.locale, l)), nil
}

// loreLines tell all of a piece of lore.
func loreLines(in locale, l memory.Lore) []string {
	lines := []string{"**" + plain(l.Name, memory.MaxLoreName) + "**"}
	for line := range strings.SplitSeq(l.Text, "\n") {
		lines = append(lines, "> "+asSaid(line, memory.MaxLoreText))
	}
	if len(l.Own) > 0 {
		lines = append(lines, in.text("Also: %s", plain(strings.Join(l.Own, ", "), 2*longestAliases)))
	}
	if found := memory.Aliases(l.Name); len(found) > 0 {
		lines = append(lines, in.text("Found by: %s", plain(strings.Join(found, ", "), 2*longestAliases)))
	}
	if l.Channel != 0 {
		lines = append(lines, in.text("-# %s, in <#%d>", toldBy(in, l), l.Channel))
	} else {
		lines = append(lines, "-# "+toldBy(in, l))
	}
	for _, s := range l.Sources {
		if url := jumpURL(l.Guild, s.Channel, s.Message); url != "" {
			lines = append(lines, in.text("-# from [this message](<%s>) in <#%d>", url, s.Channel))
		}
	}
	return lines
}

// askRemoval asks before lore is forgotten.
func (c *commands) askRemoval(ctx context.Context, x *exchange) (sheet, error) {
	l, err := c.loreToChange(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	return paragraphs(x.text("**Forget this?** My answers that used it go with it. It can't be undone."),
		fmt.Sprintf("> **%s**: %s", plain(l.Name, memory.MaxLoreName), asSaid(l.Text, 500))).asking(styleRed, x.text("Forget it"), confirmLoreOff, l.ID), nil
}

// removeLore forgets lore.
func (c *commands) removeLore(ctx context.Context, x *exchange) (sheet, error) {
	l, err := c.loreToChange(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	if err := c.apply(ctx, x, "forget lore", memory.LoreGone{Guild: l.Guild, ID: l.ID}); err != nil {
		return sheet{}, err
	}
	return sheet{Content: x.text("Forgotten. %s", x.text(outOfReach))}, nil
}
