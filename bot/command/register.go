package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// Ready takes a READY event: it registers the commands. It doesn't wait.
func (c *Commands) Ready(data json.RawMessage) {
	var b begun
	if err := json.Unmarshal(data, &b); err != nil || b.Application.ID == 0 {
		return
	}
	c.Grants.Met(int64(b.Application.ID))
	c.begin(b)
}

// TakenUp is called instead of Ready if the session is another process's. app is the application's id; 0: unknown.
func (c *Commands) TakenUp(app int64) {
	var b begun
	b.Application.ID = discord.Snowflake(app)
	if app != 0 {
		c.begin(b)
	}
}

func (c *Commands) begin(b begun) {
	c.Begin(func(ctx context.Context) {
		if err := c.register(ctx, b); err != nil && ctx.Err() == nil {
			c.Log.Error().Err(err).Msg("couldn't register the commands; trying again at the next connection")
		}
	})
}

// fewGuilds bounds the guilds that are searched for commands left by an earlier Options.DevGuild: each takes a
// request at every connection, and developers' bots are in a few guilds.
const fewGuilds = 20

// register updates Discord's lists of our commands: the global one, or with Options.DevGuild that guild's. It
// empties the other, since Discord would show both. One shard does it; the others only learn the ids.
func (c *Commands) register(ctx context.Context, b begun) error {
	app := fmt.Sprint(int64(b.Application.ID))
	dev := c.DevGuild
	ours := inLanguages(c.declared())
	if !c.Shard.IsFirst() {
		var there []command
		err := c.Client.Commands(ctx, app, dev, &there)
		if err == nil {
			c.know(there)
			c.Progress()
		}
		return err
	}
	var errs []error
	if dev == 0 {
		if err := c.setCommands(ctx, app, 0, ours); err != nil {
			return err
		}
	} else {
		err := c.setCommands(ctx, app, dev, ofGuild(ours))
		if isForbidden(err) {
			return fmt.Errorf("register commands in the server %d: Hark isn't there, or was invited without commands; invite it with %s, or change discord.dev_guild",
				dev, discord.InviteURL(app, dev))
		}
		if err != nil {
			return err
		}
		errs = append(errs, c.setCommands(ctx, app, 0, []command{}))
	}
	for _, of := range b.Guilds { // one may be an earlier Options.DevGuild
		g := memory.GuildID(of.ID)
		if g == dev || len(b.Guilds) > fewGuilds || c.Shard.Count() > 1 {
			continue
		}
		if err := c.setCommands(ctx, app, g, []command{}); !isForbidden(err) { // if forbidden, it has none
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// setCommands makes the commands registered in a guild, or globally if it is 0, equal to ours. It writes only if
// they differ.
func (c *Commands) setCommands(ctx context.Context, app string, guild memory.GuildID, ours []command) error {
	var there []command
	if err := c.Client.Commands(ctx, app, guild, &there); err != nil {
		return err
	}
	if !sameCommands(there, ours) {
		if err := c.Client.SetCommands(ctx, app, guild, ours, &there); err != nil {
			return err
		}
	}
	if len(ours) > 0 {
		c.know(there)
		c.Progress()
	}
	return nil
}

// sameCommands reports whether Discord's commands are ours, in any order.
func sameCommands(there, ours []command) bool {
	same := func(ours, theirs command) bool {
		theirs.ID = 0
		if ours.Contexts == nil { // Discord fills these in for a guild's commands
			theirs.Contexts = nil
			theirs.Integrations = nil
		}
		return reflect.DeepEqual(ours, theirs)
	}
	return len(there) == len(ours) && !slices.ContainsFunc(ours, func(c command) bool {
		return !slices.ContainsFunc(there, func(o command) bool { return same(c, o) })
	})
}

// ofGuild removes what a guild's commands can't have.
func ofGuild(commands []command) []command {
	for i := range commands {
		commands[i].Contexts = nil
		commands[i].Integrations = nil
	}
	return commands
}

func isForbidden(err error) bool { return discord.Status(err) == 403 }

// languagesOf are Discord's codes by the names of the catalogs.
// https://discord.com/developers/docs/reference#locales
var languagesOf = map[string][]string{
	"de": {"de"}, "fr": {"fr"}, "es": {"es-ES", "es-419"}, "ja": {"ja"}, "zh-TW": {"zh-TW"},
}

// inLanguages returns commands as they are registered: with names and descriptions in all languages. Interactions
// always have the English names.
func inLanguages(commands []command) []command {
	all := make([]command, len(commands))
	for i, c := range commands {
		c.option = c.option.inLanguages()
		c.needs = 0
		c.says = ""
		all[i] = c
	}
	return all
}

func (o option) inLanguages() option {
	o.NameIn, o.DescriptionIn = inAll(o.Name, nameIn), inAll(o.Description, wordsIn)
	options := o.Options
	choices := o.Choices
	o.Options = nil
	o.Choices = nil
	o.handler = nil
	for _, within := range options {
		o.Options = append(o.Options, within.inLanguages())
	}
	for _, c := range choices {
		if c.Name != c.Value { // else the value is shown as it is
			c.NameIn = inAll(c.Name, wordsIn)
		}
		o.Choices = append(o.Choices, c)
	}
	return o
}

func nameIn(c *locale.Catalog, english string) string  { return c.Commands[english] }
func wordsIn(c *locale.Catalog, english string) string { return c.Texts[english] }

// inAll returns a text's translations by Discord's language codes; nil if there are none.
func inAll(english string, in func(*locale.Catalog, string) string) map[string]string {
	all := map[string]string{}
	for of, names := range languagesOf {
		translated := in(locale.Catalogs()[of], english)
		for _, language := range names {
			if translated != "" {
				all[language] = translated
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// begun is the data of READY, which begins a gateway session.
type begun struct {
	Application struct {
		ID discord.Snowflake `json:"id"`
	} `json:"application"`
	Guilds []struct {
		ID discord.Snowflake `json:"id"`
	} `json:"guilds"`
}
