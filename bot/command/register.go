package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// Ready tells that a session has begun, so that commands are registered. It doesn't wait.
func (c *Commands) Ready(data json.RawMessage) {
	var b begun
	if err := json.Unmarshal(data, &b); err != nil || b.Application.ID == 0 {
		return
	}
	c.Grants.Met(int64(b.Application.ID))
	c.Begin(func(ctx context.Context) {
		if err := c.register(ctx, b); err != nil && ctx.Err() == nil {
			c.Log.Error().Err(err).Msg("couldn't register the commands; trying again at the next connection")
		}
	})
}

// fewGuilds is in how many it is looked whether commands of their own are left from a time with Config.DevGuild: who
// develops has a bot in a few, and each takes a request at every connection.
const fewGuilds = 20

// register brings Discord's lists of our commands up to date: that of all guilds, or with Config.DevGuild
// that of one. The other is emptied, since Discord would show both. It writes nothing where nothing is to be
// changed.
func (c *Commands) register(ctx context.Context, b begun) error {
	app, dev, ours := fmt.Sprint(int64(b.Application.ID)), c.DevGuild, inLanguages(c.declared())
	var errs []error
	if dev == 0 {
		if err := c.bring(ctx, app, 0, ours); err != nil {
			return err
		}
	} else {
		err := c.bring(ctx, app, dev, ofGuild(ours))
		if isForbidden(err) {
			return fmt.Errorf("register commands in the server %d: Hark isn't there, or was invited without commands; invite it with %s, or change discord.dev_guild",
				dev, discord.InviteURL(app, dev))
		}
		if err != nil {
			return err
		}
		errs = append(errs, c.bring(ctx, app, 0, []command{}))
	}
	for _, of := range b.Guilds { // those that were the one to develop in before
		g := memory.GuildID(of.ID)
		if g == dev || len(b.Guilds) > fewGuilds {
			continue
		}
		if err := c.bring(ctx, app, g, []command{}); !isForbidden(err) { // which has none either
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// bring makes the list of a guild, or, if it is 0, of all, ours.
func (c *Commands) bring(ctx context.Context, app string, guild memory.GuildID, ours []command) error {
	var there []command
	if err := c.Client.Commands(ctx, app, guild, &there); err != nil {
		return err
	}
	same := func(ours, theirs command) bool {
		if theirs.ID = 0; ours.Contexts == nil { // Discord knows of a guild's own where they can be used
			theirs.Contexts, theirs.Integrations = nil, nil
		}
		return reflect.DeepEqual(ours, theirs)
	}
	if !sameCommands(there, ours, same) {
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

// ofGuild is commands without what a guild's own can't have.
func ofGuild(commands []command) []command {
	for i := range commands {
		commands[i].Contexts, commands[i].Integrations = nil, nil
	}
	return commands
}

func isForbidden(err error) bool { return discord.Status(err) == 403 }

// languagesOf are what Discord calls the languages that there are catalogs of, by the catalogs' names.
// https://discord.com/developers/docs/reference#locales
var languagesOf = map[string][]string{
	"de": {"de"}, "fr": {"fr"}, "es": {"es-ES", "es-419"}, "ja": {"ja"}, "zh-TW": {"zh-TW"},
}

// inLanguages are commands with their names and descriptions in all languages, as they are registered.
// Whatever language somebody uses a command in, Discord tells of it by its English name.
func inLanguages(commands []command) []command {
	all := make([]command, len(commands))
	for i, c := range commands {
		c.option, c.needs, c.says = c.option.inLanguages(), 0, ""
		all[i] = c
	}
	return all
}

func (o option) inLanguages() option {
	o.NameIn, o.DescriptionIn = inAll(o.Name, nameIn), inAll(o.Description, wordsIn)
	options, choices := o.Options, o.Choices
	o.Options, o.Choices, o.handler = nil, nil, nil
	for _, within := range options {
		o.Options = append(o.Options, within.inLanguages())
	}
	for _, c := range choices {
		if c.Name != c.Value { // else it is a word that stands for itself
			c.NameIn = inAll(c.Name, wordsIn)
		}
		o.Choices = append(o.Choices, c)
	}
	return o
}

func nameIn(c *locale.Catalog, english string) string  { return c.Commands[english] }
func wordsIn(c *locale.Catalog, english string) string { return c.Texts[english] }

// inAll is a text in all languages that have it, by what Discord calls them; nil if none has.
func inAll(english string, in func(*locale.Catalog, string) string) map[string]string {
	all := map[string]string{}
	for of, names := range languagesOf {
		translated := ""
		if c := locale.Catalogs()[of]; c != nil {
			translated = in(c, english)
		}
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

// begun is what a session of the gateway begins with: READY's data.
type begun struct {
	Application struct {
		ID discord.Snowflake `json:"id"`
	} `json:"application"`
	Guilds []struct {
		ID discord.Snowflake `json:"id"`
	} `json:"guilds"`
}
