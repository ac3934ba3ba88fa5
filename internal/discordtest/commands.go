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

func (s *Server) ownApp(c *call) *reply {
	if c.id("app") != s.AppID {
		return &missingAccess
	}
	if g := c.r.PathValue("guild"); g != "" && (s.guilds[parseID(g)] == nil || s.commandless[parseID(g)]) {
		return &missingAccess
	}
	return nil
}

func (s *Server) getCommands(c *call) reply {
	if refused := s.ownApp(c); refused != nil {
		return *refused
	}
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
	if refused := s.ownApp(c); refused != nil {
		return *refused
	}
	var raws []json.RawMessage
	if bad := s.read(c, &raws); bad != nil {
		return *bad
	}
	if len(raws) > 100 {
		s.misuse(BadRequest, "PUT %s: %d commands, and 100 are allowed", c.path, len(raws))
		return refuse(400, 30032, "Maximum number of application commands reached (100)")
	}
	var fresh []*command
	for _, raw := range raws {
		cmd, err := s.parseCommand(c.id("guild"), raw)
		if err != nil {
			return s.badBody(c, err)
		}
		fresh = append(fresh, cmd)
	}
	if err := distinctNames(raws); err != nil {
		return s.badBody(c, err)
	}
	s.commands[c.id("guild")] = fresh
	return ok(rawCommands(fresh))
}

func (s *Server) postCommand(c *call) reply {
	if refused := s.ownApp(c); refused != nil {
		return *refused
	}
	if bad := s.checkOdd(c); bad != nil {
		return *bad
	}
	g := c.id("guild")
	cmd, err := s.parseCommand(g, c.body)
	if err != nil {
		return s.badBody(c, err)
	}
	status := 201
	s.commands[g] = slices.DeleteFunc(s.commands[g], func(x *command) bool {
		if x.ID == cmd.ID {
			status = 200
		}
		return x.ID == cmd.ID
	})
	s.commands[g] = append(s.commands[g], cmd)
	return reply{status, cmd.raw}
}

func (s *Server) deleteCommand(c *call) reply {
	if refused := s.ownApp(c); refused != nil {
		return *refused
	}
	g, n := c.id("guild"), 0
	s.commands[g] = slices.DeleteFunc(s.commands[g], func(x *command) bool {
		if x.ID == c.id("command") {
			n++
		}
		return x.ID == c.id("command")
	})
	if n == 0 {
		return refuse(404, 10063, "Unknown application command")
	}
	return none()
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
	n := utf8.RuneCountInString(b.Description)
	switch {
	case b.Name == "" || utf8.RuneCountInString(b.Name) > 32:
		return nil, fmt.Errorf("command name %q has to have 1 to 32 characters", b.Name)
	case b.Type == 1 && (b.Name != strings.ToLower(b.Name) || strings.ContainsAny(b.Name, " /.")):
		return nil, fmt.Errorf("command name %q has to be lower case, without spaces", b.Name)
	case b.Type == 1 && (n < 1 || n > 100):
		return nil, fmt.Errorf("description of command %q has to have 1 to 100 characters", b.Name)
	case b.Type != 1 && (n > 0 || len(b.Options) > 0):
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

func checkOptions(where string, options []commandOption) error {
	if len(options) > 25 {
		return fmt.Errorf("%q has %d options, and 25 are allowed", where, len(options))
	}
	optional := false
	for _, o := range options {
		if len(o.Choices) > 25 {
			return fmt.Errorf("option %q of %q has %d choices, and 25 are allowed", o.Name, where, len(o.Choices))
		}
		if err := checkChoices(o); err != nil {
			return fmt.Errorf("option %q of %q: %w", o.Name, where, err)
		}
		if err := checkNesting(o, options); err != nil {
			return fmt.Errorf("option %q of %q: %w", o.Name, where, err)
		}
		if o.Required && optional {
			return fmt.Errorf("required option %q of %q comes after one that isn't", o.Name, where)
		}
		optional = optional || !o.Required
		if err := checkOptions(o.Name, o.Options); err != nil {
			return err
		}
	}
	return nil
}

// checkNesting holds an option to what may stand beside it and in it.
func checkNesting(o commandOption, beside []commandOption) error {
	nests := func(o commandOption) bool { return o.Type == subcommand || o.Type == subcommandGroup }
	switch {
	case nests(o) != nests(beside[0]):
		return fmt.Errorf("subcommands and other options can't stand beside each other")
	case o.Autocomplete && o.Type != stringOption && o.Type != integerOption && o.Type != numberOption:
		return fmt.Errorf("one of type %d can't be completed", o.Type)
	case o.Type == subcommandGroup && len(o.Options) == 0:
		return fmt.Errorf("a group needs a subcommand")
	}
	for _, inner := range o.Options {
		if !nests(o) || o.Type == subcommand && nests(inner) || o.Type == subcommandGroup && inner.Type != subcommand {
			return fmt.Errorf("one of type %d can't hold one of type %d", o.Type, inner.Type)
		}
	}
	return nil
}

func checkChoices(o commandOption) error {
	if len(o.Choices) > 0 && (o.Type != stringOption && o.Type != integerOption && o.Type != numberOption || o.Autocomplete) {
		return fmt.Errorf("one of type %d, or that is completed, can have no choices", o.Type)
	}
	names := map[string]bool{}
	for _, c := range o.Choices {
		if n := utf8.RuneCountInString(c.Name); n < 1 || n > 100 || names[c.Name] {
			return fmt.Errorf("choice %q has to have a name of its own, of 1 to 100 characters", c.Name)
		}
		names[c.Name] = true
		if text, ok := c.Value.(string); ok != (o.Type == stringOption) || utf8.RuneCountInString(text) > 100 {
			return fmt.Errorf("the value of choice %q has to be of the option's type, a text of at most 100 characters", c.Name)
		}
	}
	if len(o.ChannelTypes) > 0 && o.Type != channelOption {
		return fmt.Errorf("one of type %d can have no types of channel", o.Type)
	}
	return nil
}
