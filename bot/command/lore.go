package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

const (
	formLoreAdd    = "lore-add"
	formLoreEdit   = "lore-edit" // with the lore's id
	confirmLoreOff = "lore-off"  // with the lore's id

	loreSilent   = "You can't write in this channel, so you can't tell me anything here."
	loreNoSource = "I don't have that message, or you may not read it. Please give me the link to a message that I remember."
	loreFrom     = "Please give its source as the link to a message of this server, or as the id of a message of this channel."

	longestAliases = 2200 // characters of all aliases, with commas
)

// writesNot refuses users who may write neither in channels nor in threads; addOneLore tells these apart.
func writesNot(x *interaction) string {
	if x.Guild == 0 || !x.May(discord.SendMessages|discord.SendInThreads) {
		return x.Text(loreSilent)
	}
	return ""
}

// lore returns the lore that the user of x may read.
func (c *Commands) lore(ctx context.Context, x *interaction) ([]memory.Lore, error) {
	all, err := c.Answers.Lore(ctx, c.question(x))
	if err != nil {
		return nil, fmt.Errorf("list the lore of server %d: %w", x.Guild, err)
	}
	return all, nil
}

// mayChange reports whether the user of x may change or remove l.
func (x *interaction) mayChange(l memory.Lore) bool {
	return l.By != 0 && l.By == x.who() || x.May(discord.ManageGuild)
}

// loreNames completes lore that the user may read, or change. The values are ids.
func (c *Commands) loreNames(changeable bool) func(context.Context, *interaction) ([]optionChoice, error) {
	return func(ctx context.Context, x *interaction) ([]optionChoice, error) {
		all, err := c.lore(ctx, x)
		var names []optionChoice
		for _, l := range all {
			if !changeable || x.mayChange(l) {
				names = append(names, optionChoice{Name: labelOf(l.Name), Value: strconv.FormatInt(l.ID, 10)})
			}
		}
		return names, err
	}
}

// loreNamed returns the lore that x names, by a name or by the id in a form or button.
func (c *Commands) loreNamed(ctx context.Context, x *interaction) (memory.Lore, error) {
	all, err := c.lore(ctx, x)
	if err != nil {
		return memory.Lore{}, err
	}
	switch found := memory.LoreCalled(all, x.Which("name")); len(found) {
	case 0:
		return memory.Lore{}, locale.MessageKey("I know no lore of that name that you may read. `/lore list` shows what there is.")
	case 1:
		return found[0], nil
	}
	return memory.Lore{}, locale.MessageKey("More than one piece of lore goes by that name. Please choose one of those that I show while you type.")
}

// loreToChange is loreNamed, if the user of x may change it.
func (c *Commands) loreToChange(ctx context.Context, x *interaction) (memory.Lore, error) {
	l, err := c.loreNamed(ctx, x)
	if err == nil && !x.mayChange(l) {
		err = locale.MessageKey("Only whoever told me that, and those who may manage this server, can change it.")
	}
	return l, err
}

// loreToEdit is loreToChange, unless Discord decides what l says.
func (c *Commands) loreToEdit(ctx context.Context, x *interaction) (memory.Lore, error) {
	l, err := c.loreToChange(ctx, x)
	if err == nil && l.Scheduled {
		err = locale.MessageKey("That is an event of this server: it is changed in Discord, and I follow.")
	}
	return l, err
}

// listedLore is how many pieces of lore are listed, and loreGist how many characters of each.
const (
	listedLore = 100
	loreGist   = 80
)

func (c *Commands) listLore(ctx context.Context, x *interaction) (response, error) {
	all, err := c.lore(ctx, x)
	if err != nil {
		return response{}, err
	}
	if len(all) == 0 {
		return response{Content: x.Text("There is no lore that you may read here yet. `/lore add` tells me some.")}, nil
	}
	shown := []string{x.Text("**What I was told to remember, as far as you may read it**")}
	for _, l := range all[:min(len(all), listedLore)] {
		shown = append(shown, loreLine(x.Locale, l))
	}
	more := len(all) - listedLore
	return paged(append(shown, when(more > 0,
		x.Text("-# and %s more, which `/lore show` finds by their names", x.Locale.Number(more))))), nil
}

// loreLine shows lore on one line.
func loreLine(in locale.Locale, l memory.Lore) string {
	return fmt.Sprintf("- **%s**: %s (%s)", markdown.Plain(l.Name, memory.MaxLoreName), markdown.AsSaid(l.Text,
		loreGist), loreAuthor(in, l))
}

// loreAuthor says who told lore, and when.
func loreAuthor(in locale.Locale, l memory.Lore) string {
	if l.Scheduled {
		return in.Text("from this server's calendar")
	}
	if l.By == 0 {
		return in.Text("told by those who run me, <t:%d:f>", l.At.Unix())
	}
	return in.Text("told by <@%d>, <t:%d:f>", l.By, l.At.Unix())
}

func (c *Commands) showLore(ctx context.Context, x *interaction) (response, error) {
	l, err := c.loreNamed(ctx, x)
	if err != nil {
		return response{}, err
	}
	return paragraphs(loreLines(x.Locale, l)), nil
}

// loreLines shows all of a piece of lore.
func loreLines(in locale.Locale, l memory.Lore) string {
	quoted := ""
	found := memory.Aliases(l.Name)
	origin := "-# " + loreAuthor(in, l)
	for line := range strings.SplitSeq(l.Text, "\n") {
		quoted = markdown.Lines(quoted, "> "+markdown.AsSaid(line, memory.MaxLoreText))
	}
	if l.Channel != 0 {
		origin = in.Text("-# %s, in <#%d>", loreAuthor(in, l), l.Channel)
	}
	for _, s := range l.Sources {
		if url := markdown.JumpURL(l.Guild, s.Channel, s.Message); url != "" {
			origin = markdown.Lines(origin, in.Text("-# from [this message](<%s>) in <#%d>", url, s.Channel))
		}
	}
	return markdown.Lines("**"+markdown.Plain(l.Name, memory.MaxLoreName)+"**", quoted,
		when(len(l.Own) > 0, in.Text("Also: %s", markdown.Plain(strings.Join(l.Own, ", "), 2*longestAliases))),
		when(len(found) > 0, in.Text("Found by: %s", markdown.Plain(strings.Join(found, ", "), 2*longestAliases))),
		origin)
}

// askRemoval asks before lore is deleted.
func (c *Commands) askRemoval(ctx context.Context, x *interaction) (response, error) {
	l, err := c.loreToChange(ctx, x)
	if err != nil {
		return response{}, err
	}
	return paragraphs(x.Text("**Forget this?** My answers that used it go with it. It can't be undone."),
		fmt.Sprintf("> **%s**: %s", markdown.Plain(l.Name, memory.MaxLoreName), markdown.AsSaid(l.Text, 500))).asking(
		discord.StyleRed, x.Text("Forget it"), confirmLoreOff, l.ID), nil
}

func (c *Commands) removeLore(ctx context.Context, x *interaction) (response, error) {
	l, err := c.loreToChange(ctx, x)
	if err != nil {
		return response{}, err
	}
	return paragraphs(x.Text("Forgotten."), x.Text(outOfReach)),
		c.apply(ctx, x, "forget lore", memory.LoreGone{Guild: l.Guild, ID: l.ID})
}

func (x *interaction) loreForm(id string, l memory.Lore) discord.Form {
	return discord.Form{
		ID:    id,
		Title: x.Text("What shall I remember?"),
		Fields: []discord.Component{
			discord.Input(discord.InputLine, "name", x.Text("Name"), l.Name, memory.MaxLoreName, true),
			discord.Input(discord.InputText, "text", x.Text("What I shall remember"), l.Text, memory.MaxLoreText, true),
			discord.Input(discord.InputLine, "aliases", x.Text("Other names, with commas between them"),
				strings.Join(l.Own, ", "), longestAliases, false),
		},
	}
}

// askLore returns the form of /lore add, if its options lack something.
func (c *Commands) askLore(_ context.Context, x *interaction) (discord.Form, error) {
	if x.Words("name") != "" && strings.TrimSpace(x.Option("text")) != "" {
		return discord.Form{}, nil
	}
	name := formLoreAdd
	if from := x.Option("from"); from != "" {
		at, err := x.link(from)
		if err != nil {
			return discord.Form{}, err
		}
		name = ID(name, fmt.Sprintf("%d/%d/%d", x.guild(), at.Channel, at.Message))
	}
	return x.loreForm(name, x.told(memory.Lore{})), nil
}

// namesIn splits names at commas.
func namesIn(names string) []string {
	var all []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// told returns l with what a form or the given options change.
func (x *interaction) told(l memory.Lore) memory.Lore {
	form := x.Type == discord.InteractionForm
	name := "name"
	if l.ID != 0 && !form {
		name = "new-name"
	}
	if given := x.Words(name); form || given != "" {
		l.Name = given
	}
	if given := x.Option("text"); form || strings.TrimSpace(given) != "" {
		l.Text = given
	}
	if given := x.Option("aliases"); form || given != "" {
		l.Own = namesIn(given)
	}
	return l
}

// addOneLore keeps new lore. Like a message, it is for those who may read its channel.
func (c *Commands) addOneLore(ctx context.Context, x *interaction, m member) (response, error) {
	channel := memory.ChannelID(x.Channel)
	at := x.server.Channel(channel)
	thread := at != nil && at.Kind.IsThread()
	switch {
	case m.out:
		return response{Content: x.Text(youAreOut)}, nil
	case thread && !x.May(discord.SendInThreads), !thread && !x.May(discord.SendMessages):
		return response{Content: x.Text(loreSilent)}, nil
	case !x.remembers(channel):
		return response{Content: x.Text(nothingKeptHere)}, nil
	}
	l := x.told(memory.Lore{})
	l.ID = int64(x.ID)
	l.Guild = x.guild()
	l.Channel = channel
	l.By = x.who()
	l.At = c.at(x).UTC().Truncate(time.Millisecond)
	var err error
	l.Sources, err = c.loreSource(ctx, x)
	if err != nil {
		return response{}, err
	}
	return c.keepLore(ctx, x, l, x.Text(
		"Saved. I find it by its name and by these other names, for answers whose readers may all read this channel."))
}

// loreSource returns the message that x names as the source, which its user must be able to read; nil if none.
func (c *Commands) loreSource(ctx context.Context, x *interaction) ([]memory.MessageRef, error) {
	from := x.Which("from")
	if from == "" {
		return nil, nil
	}
	at, err := x.link(from)
	if err != nil {
		return nil, err
	}
	if err := c.Settled(ctx, x.guild()); err != nil {
		return nil, err
	}
	if !slices.Contains(c.readable(ctx, x), at.Channel) {
		return nil, locale.MessageKey(loreNoSource)
	}
	there, err := c.Memory.Around(ctx, at.Channel, []memory.MessageID{at.Message}, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("look up message %d: %w", at.Message, err)
	}
	if len(there) == 0 {
		return nil, locale.MessageKey(loreNoSource)
	}
	return []memory.MessageRef{at}, nil
}

// link reads a link to a message, or the id of one in the channel of x.
func (x *interaction) link(s string) (memory.MessageRef, error) {
	parts := strings.Split(strings.Trim(strings.TrimSpace(s), "<>"), "/")
	switch n, _ := reply.Integers(parts[max(0, len(parts)-3):], 10); {
	case len(n) == 1:
		return memory.MessageRef{Channel: memory.ChannelID(x.Channel), Message: memory.MessageID(n[0])}, nil
	case len(n) == 3 && memory.GuildID(n[0]) == x.guild():
		return memory.MessageRef{Channel: memory.ChannelID(n[1]), Message: memory.MessageID(n[2])}, nil
	}
	return memory.MessageRef{}, locale.MessageKey(loreFrom)
}

// keepLore keeps lore and shows it. It reveals nothing of lore that the user may not read, not even that a name is
// taken.
func (c *Commands) keepLore(ctx context.Context, x *interaction, l memory.Lore, done string) (response, error) {
	l, err := l.Checked()
	if err != nil {
		return response{Content: x.Text("I can't keep that: %s.", markdown.Plain(x.ErrorText(err), 300))}, nil
	}
	all, err := c.lore(ctx, x)
	if err != nil {
		return response{}, err
	}
	if slices.ContainsFunc(all, func(old memory.Lore) bool {
		return old.ID != l.ID && strings.EqualFold(old.Name, l.Name)
	}) {
		return response{}, locale.MessageKey("There is lore of that name already. `/lore edit` changes it.")
	}
	if err := c.apply(ctx, x, "keep lore", memory.LoreTold{Lore: l}); err != nil {
		return response{}, err
	}
	all, err = c.lore(ctx, x)
	if err != nil {
		return response{}, err
	}
	if !slices.ContainsFunc(all, func(kept memory.Lore) bool { return kept.ID == l.ID && kept.At.Equal(l.At) }) {
		return response{}, locale.MessageKey("I couldn't keep that: it, or the message that it is from, is already forgotten.")
	}
	return paragraphs(done, loreLines(x.Locale, l)), nil
}

// askChange returns the form of /lore edit, if no change is given.
func (c *Commands) askChange(ctx context.Context, x *interaction) (discord.Form, error) {
	if x.Words("new-name") != "" || strings.TrimSpace(x.Option("text")) != "" || x.Option("aliases") != "" {
		return discord.Form{}, nil
	}
	l, err := c.loreToEdit(ctx, x)
	if err != nil {
		return discord.Form{}, err
	}
	return x.loreForm(ID(formLoreEdit, l.ID), l), nil
}

// editLore changes lore. Its author, channel and sources stay.
func (c *Commands) editLore(ctx context.Context, x *interaction) (response, error) {
	l, err := c.loreToEdit(ctx, x)
	if err != nil {
		return response{}, err
	}
	was := l.At
	l = x.told(l)
	l.At = c.at(x).UTC().Truncate(time.Millisecond)
	if !l.At.After(was) {
		l.At = was.Add(time.Millisecond)
	}
	return c.keepLore(ctx, x, l, x.Text("Changed."))
}
