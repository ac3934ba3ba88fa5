package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// command is an application command as it was registered.
type command struct {
	ID       ID
	Name     string
	Type     int // 1 slash, 2 user, 3 message
	Options  []commandOption
	Contexts []int
	Perms    *Permissions
	raw      map[string]any // all that Discord answers
}

type commandOption struct {
	Type         int             `json:"type"`
	Name         string          `json:"name"`
	Required     bool            `json:"required"`
	Autocomplete bool            `json:"autocomplete"`
	Options      []commandOption `json:"options"`
	Choices      []commandChoice `json:"choices"`
	ChannelTypes []ChannelType   `json:"channel_types"`
}

// Discord's limits of commands. https://discord.com/developers/docs/interactions/application-commands
const (
	longestName        = 32
	longestDescription = 100
	mostOptions        = 25
	mostChoices        = 25
	longestChoice      = 100 // its name, and its value if that is a text
)

type commandChoice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

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

// DenyCommands makes a guild one that the bot was invited to without the scope applications.commands.
func (s *Server) DenyCommands(guildID ID) {
	s.tb.Helper()
	s.change(func() { s.commandless[s.guild(guildID).ID] = true })
}

// ownApp denies commands of other applications, and of guilds that let none in.
func (s *Server) ownApp(c *call) {
	g := c.r.PathValue("guild")
	if c.id("app") != s.AppID || g != "" && (s.guilds[parseID(g)] == nil || s.commandless[parseID(g)]) {
		deny(missingAccess)
	}
}

func (s *Server) getCommands(c *call) reply {
	s.ownApp(c)
	raws := rawCommands(s.commands[c.id("guild")])
	if c.r.URL.Query().Get("with_localizations") != "true" {
		for i, raw := range raws {
			raws[i] = withoutLocalizations(raw).(map[string]any)
		}
	}
	return ok(raws)
}

// putCommands replaces all commands. One whose name and type stay keeps its id.
func (s *Server) putCommands(c *call) reply {
	s.ownApp(c)
	var raws []json.RawMessage
	s.read(c, &raws)
	if len(raws) > 100 {
		s.misuse(BadRequest, "PUT %s: %d commands, and 100 are allowed", c.path, len(raws))
		return refuse(400, 30032, "Maximum number of application commands reached (100)")
	}
	var fresh []*command
	for _, raw := range raws {
		cmd, err := s.parseCommand(c.id("guild"), raw)
		if err != nil {
			s.badBody(c, err)
		}
		fresh = append(fresh, cmd)
	}
	if err := distinctNames(raws); err != nil {
		s.badBody(c, err)
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

// parseCommand reads a command and holds it to Discord's limits.
func (s *Server) parseCommand(g ID, raw json.RawMessage) (*command, error) {
	var b struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Type        int             `json:"type"`
		Options     []commandOption `json:"options"`
		Contexts    []int           `json:"contexts"`
		Perms       *Permissions    `json:"default_member_permissions"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("read the command: %w", err)
	}
	if b.Type == 0 {
		b.Type = 1
	}
	switch {
	case !fits(b.Name, longestName):
		return nil, fmt.Errorf("command name %q has to have 1 to %d characters", b.Name, longestName)
	case b.Type == 1 && (b.Name != strings.ToLower(b.Name) || strings.ContainsAny(b.Name, " /.")):
		return nil, fmt.Errorf("command name %q has to be lower case, without spaces", b.Name)
	case b.Type == 1 && !fits(b.Description, longestDescription):
		return nil, fmt.Errorf("description of command %q has to have 1 to %d characters", b.Name, longestDescription)
	case b.Type != 1 && (b.Description != "" || len(b.Options) > 0):
		return nil, fmt.Errorf("command %q of type %d can have no description and no options", b.Name, b.Type)
	}
	if err := checkOptions(b.Name, b.Options); err != nil {
		return nil, err
	}
	if err := checkLocalizations(raw); err != nil {
		return nil, err
	}
	cmd := &command{Name: b.Name, Type: b.Type, Options: b.Options, Contexts: b.Contexts, Perms: b.Perms}
	for _, old := range s.commands[g] {
		if old.Name == b.Name && old.Type == b.Type {
			cmd.ID = old.ID
		}
	}
	if cmd.ID == 0 {
		cmd.ID = s.clock.nextID()
	}
	return cmd, s.describeCommand(cmd, g, raw)
}

// describeCommand adds to what was registered what Discord adds in its answers.
func (s *Server) describeCommand(cmd *command, g ID, raw json.RawMessage) error {
	var sent map[string]any
	if err := json.Unmarshal(raw, &sent); err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	cmd.raw = map[string]any{"description": "", "default_member_permissions": nil}
	for k, v := range sent {
		if v != nil {
			cmd.raw[k] = v
		}
	}
	maps.Copy(cmd.raw, map[string]any{"id": cmd.ID, "application_id": s.AppID, "version": s.clock.nextID(), "type": cmd.Type})
	if g != 0 { // where it can be used is known then
		cmd.raw["guild_id"], cmd.raw["contexts"] = g, nil
		cmd.raw["integration_types"] = []int{0}
	}
	return nil
}

// checkOptions holds options to Discord's limits: how many there are and in which order, what may stand beside what and in what,
// and which can be completed or chosen from.
func checkOptions(where string, options []commandOption) error {
	if len(options) > mostOptions {
		return fmt.Errorf("%q has %d options, and %d are allowed", where, len(options), mostOptions)
	}
	nests := func(o commandOption) bool { return o.Type == subcommand || o.Type == subcommandGroup }
	optional := false
	for _, o := range options {
		typed := o.Type == stringOption || o.Type == integerOption || o.Type == numberOption
		misplaced := func(inner commandOption) bool {
			return !nests(o) || o.Type == subcommand && nests(inner) || o.Type == subcommandGroup && inner.Type != subcommand
		}
		names := map[string]bool{}
		for _, c := range o.Choices {
			names[c.Name] = true
			if _, text := c.Value.(string); text != (o.Type == stringOption) {
				return fmt.Errorf("the value of choice %q has to be of the type of option %q", c.Name, o.Name)
			}
		}
		switch {
		case nests(o) != nests(options[0]):
			return fmt.Errorf("%q has subcommands beside other options", where)
		case slices.ContainsFunc(o.Options, misplaced):
			return fmt.Errorf("option %q of %q, of type %d, has options that can't be in it", o.Name, where, o.Type)
		case o.Type == subcommandGroup && len(o.Options) == 0:
			return fmt.Errorf("group %q of %q needs a subcommand", o.Name, where)
		case !typed && (o.Autocomplete || len(o.Choices) > 0) || o.Autocomplete && len(o.Choices) > 0:
			return fmt.Errorf("option %q of %q, of type %d, can't be completed or have choices", o.Name, where, o.Type)
		case len(o.ChannelTypes) > 0 && o.Type != channelOption:
			return fmt.Errorf("option %q of %q, of type %d, can have no types of channel", o.Name, where, o.Type)
		case len(names) != len(o.Choices):
			return fmt.Errorf("option %q of %q has choices of the same name", o.Name, where)
		case o.Required && optional:
			return fmt.Errorf("required option %q of %q comes after one that isn't", o.Name, where)
		}
		optional = optional || !o.Required
		if err := checkChoices(o.Choices); err != nil {
			return fmt.Errorf("option %q of %q: %w", o.Name, where, err)
		}
		if err := checkOptions(o.Name, o.Options); err != nil {
			return err
		}
	}
	return nil
}

// checkChoices holds choices to their number and lengths.
func checkChoices(choices []commandChoice) error {
	if len(choices) > mostChoices {
		return fmt.Errorf("%d choices, and %d are allowed", len(choices), mostChoices)
	}
	for _, c := range choices {
		text, _ := c.Value.(string)
		if !fits(c.Name, longestChoice) || utf8.RuneCountInString(text) > longestChoice {
			return fmt.Errorf("choice %q has to have a name of 1 to %d characters, and a value of no more", c.Name, longestChoice)
		}
	}
	return nil
}
