package discordtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// command is an application command as it was registered.
type command struct {
	commandPart
	ID  ID
	raw map[string]any // all that Discord answers
}

// commandPart is a command (of type 1 slash, 2 user or 3 message), an option of one or a choice of an option.
type commandPart struct {
	Type          int               `json:"type"`
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	NameIn        map[string]string `json:"name_localizations"`
	DescriptionIn map[string]string `json:"description_localizations"`
	Perms         *Permissions      `json:"default_member_permissions"`
	Required      bool              `json:"required"`
	Autocomplete  bool              `json:"autocomplete"`
	Value         any               `json:"value"`
	Options       []commandPart     `json:"options"`
	Choices       []commandPart     `json:"choices"`
	ChannelTypes  []ChannelType     `json:"channel_types"`
}

// discordLocales are those that Discord can be used in. https://discord.com/developers/docs/reference#locales
var discordLocales = strings.Fields(
	"ar bg cs da de el en-GB en-US es-419 es-ES fi fr he hi hr hu id it ja ko lt nl no pl pt-BR ro ru sv-SE th tr uk vi zh-CN zh-TW")

// Limits of commands that Discord's document doesn't tell.
// https://discord.com/developers/docs/interactions/application-commands
const (
	maxCommands      = 100
	maxCommandLength = 8000 // all names, descriptions and values, in the longest language each
	maxChoiceLength  = 100
)

var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// Commands are the names of the commands that are registered globally (guild 0) or in a guild, in order.
func (s *Server) Commands(guildID ID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, c := range s.commands[guildID] {
		names = append(names, c.Name)
	}
	return names
}

// Command is a command that can be used: a slash command without subcommands, a subcommand, or an action in a menu.
type Command struct {
	Path    string // the names of the command, its group and the subcommand, with blanks between
	Type    int    // 1: slash, 2: user, 3: message
	Options []CommandOption
}

// CommandOption is an option of a Command.
type CommandOption struct {
	Name     string
	Type     int
	Required bool
}

// Registered are the commands that can be used globally.
func (s *Server) Registered() (all []Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var add func(kind int, path string, options []commandPart)
	add = func(kind int, path string, options []commandPart) {
		c := Command{Path: path, Type: kind}
		for _, o := range options {
			if o.nests() {
				add(kind, path+" "+o.Name, o.Options)
			} else {
				c.Options = append(c.Options, CommandOption{o.Name, o.Type, o.Required})
			}
		}
		if len(c.Options) > 0 || len(options) == 0 {
			all = append(all, c)
		}
	}
	for _, c := range s.commands[0] {
		add(c.Type, c.Name, c.Options)
	}
	return all
}

// DenyCommands makes a guild one that the bot was invited to without the scope applications.commands.
func (s *Server) DenyCommands(guildID ID) {
	defer s.change()()
	s.guild(guildID).commandsDenied = true
}

// ownApp denies commands of other applications, and of guilds that let none in.
func (s *Server) ownApp(c *call) {
	g := c.id("guild")
	if c.id("application") != s.AppID || g != 0 && (s.guilds[g] == nil || s.guilds[g].commandsDenied) {
		deny(missingAccess)
	}
}

// getCommands tells what is registered, with other languages only if it is asked for them.
func (s *Server) getCommands(c *call) reply {
	s.ownApp(c)
	raws := rawCommands(s.commands[c.id("guild")])
	if c.r.URL.Query().Get("with_localizations") != "true" {
		for i := range raws {
			raws[i] = maps.Clone(raws[i])
			delete(raws[i], "name_localizations")
			delete(raws[i], "description_localizations")
		}
	}
	return ok(raws)
}

// putCommands replaces all commands.
func (s *Server) putCommands(c *call) reply {
	s.ownApp(c)
	var raws []map[string]any
	var parts []commandPart
	s.read(c, &raws)
	s.decode(c, &parts)
	if len(raws) > maxCommands {
		s.refuse(c, BadRequest, refuse(400, 30032, "Maximum number of application commands reached (100)"),
			"%d commands", len(raws))
	}
	kinds := map[int][]commandPart{}
	for i := range parts {
		p := &parts[i]
		p.Type = max(p.Type, slashCommand)
		kinds[p.Type] = append(kinds[p.Type], *p)
		if err := p.check(p.Type == slashCommand); err != nil {
			s.badBody(c, err)
		}
		if n := p.length(); n > maxCommandLength {
			s.badBody(c, fmt.Errorf("command %q has %d characters in all, and %d are allowed", p.Name, n,
				maxCommandLength))
		}
	}
	for _, same := range kinds {
		if err := distinct(same); err != nil {
			s.badBody(c, err)
		}
	}
	var fresh []*command
	for i, p := range parts {
		fresh = append(fresh, s.register(c.id("guild"), p, raws[i]))
	}
	s.commands[c.id("guild")] = fresh
	return ok(rawCommands(fresh))
}

func rawCommands(cs []*command) []map[string]any {
	raws := []map[string]any{}
	for _, c := range cs {
		raws = append(raws, c.raw)
	}
	return raws
}

// register gives a command its id and, beside what was sent, what Discord adds in its answers.
func (s *Server) register(g ID, p commandPart, sent map[string]any) *command {
	cmd := &command{commandPart: p, ID: s.clock.nextID(),
		raw: map[string]any{"description": "", "default_member_permissions": nil}}
	maps.DeleteFunc(sent, func(_ string, v any) bool { return v == nil })
	maps.Copy(cmd.raw, sent)
	maps.Copy(cmd.raw, map[string]any{"id": cmd.ID, "application_id": s.AppID, "version": s.clock.nextID(),
		"type": cmd.Type})
	if g != 0 { // where it can be used is known then
		maps.Copy(cmd.raw, map[string]any{"guild_id": g, "contexts": nil, "integration_types": []int{0}})
	}
	return cmd
}

// check holds a command or an option, and what is in it, to those of Discord's rules that its document
// doesn't tell. Names that are typed have a form.
func (p commandPart) check(typed bool) error {
	names := map[string]string{"English": p.Name}
	maps.Copy(names, p.NameIn)
	for language, name := range names {
		if typed && (!commandName.MatchString(name) || name != strings.ToLower(name)) {
			return fmt.Errorf("name %q of %q in %s can't be typed", name, p.Name, language)
		}
	}
	for _, texts := range []map[string]string{p.NameIn, p.DescriptionIn} {
		for language := range texts {
			if !slices.Contains(discordLocales, language) {
				return fmt.Errorf("%q is in %q, which is none of Discord's languages", p.Name, language)
			}
		}
	}
	if typed && p.Description == "" {
		return fmt.Errorf("%q has no description", p.Name)
	}
	for i, o := range p.Options {
		completable := o.Type == stringOption || o.Type == integerOption || o.Type == numberOption
		switch {
		case o.nests() != p.Options[0].nests():
			return fmt.Errorf("%q has subcommands beside other options", p.Name)
		case o.Type == subcommandGroup && len(o.Options) == 0:
			return fmt.Errorf("group %q of %q needs a subcommand", o.Name, p.Name)
		case o.Autocomplete && (!completable || len(o.Choices) > 0):
			return fmt.Errorf("option %q of %q, of type %d, can't be completed", o.Name, p.Name, o.Type)
		case i > 0 && o.Required && !p.Options[i-1].Required:
			return fmt.Errorf("required option %q of %q comes after one that isn't", o.Name, p.Name)
		}
		if err := o.check(true); err != nil {
			return err
		}
	}
	for _, c := range p.Choices {
		if text, _ := c.Value.(string); utf8.RuneCountInString(text) > maxChoiceLength {
			return fmt.Errorf("choice %q has a value of more than %d characters", c.Name, maxChoiceLength)
		}
	}
	if err := distinct(p.Choices); err != nil {
		return err
	}
	return distinct(p.Options)
}

func (p commandPart) nests() bool { return p.Type == subcommand || p.Type == subcommandGroup }

// distinct is why parts can't be told apart by name in some language, if they can't.
func distinct(all []commandPart) error {
	for _, language := range discordLocales {
		seen := map[string]bool{}
		for _, p := range all {
			name, translated := p.NameIn[language]
			if !translated {
				name = p.Name
			}
			if seen[name] {
				return fmt.Errorf("two have the name %q in %s", name, language)
			}
			seen[name] = true
		}
	}
	return nil
}

// length is how many characters count.
func (p commandPart) length() int {
	longest := func(own string, others map[string]string) int {
		n := utf8.RuneCountInString(own)
		for _, other := range others {
			n = max(n, utf8.RuneCountInString(other))
		}
		return n
	}
	text, _ := p.Value.(string)
	n := longest(p.Name, p.NameIn) + longest(p.Description, p.DescriptionIn) + utf8.RuneCountInString(text)
	for _, inner := range slices.Concat(p.Options, p.Choices) {
		n += inner.length()
	}
	return n
}
