package command

import (
	"cmp"
	"context"
	"strconv"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/memory"
)

// command is an application command as Discord returns it.
type command struct {
	ID discord.Snowflake `json:"id,omitempty"`
	option
	Contexts     []int `json:"contexts"`          // 0: guilds, 1: direct messages with the bot
	Integrations []int `json:"integration_types"` // 0: installed in a guild
	// Permissions are what members need unless the guild decides otherwise, in decimal; nil: none.
	Permissions *string `json:"default_member_permissions,omitempty"`

	needs memory.Permissions // Permissions as bits
	says  locale.MessageKey  // describes a menu command, for which Discord takes no description
}

// option is an option, a subcommand, a group of subcommands, or the part of a command that these have too.
type option struct {
	Type        int    `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// NameIn and DescriptionIn are translations by Discord's language codes.
	NameIn        map[string]string `json:"name_localizations,omitempty"`
	DescriptionIn map[string]string `json:"description_localizations,omitempty"`
	Required      bool              `json:"required,omitempty"`
	MaxLength     int               `json:"max_length,omitempty"`
	MinValue      *int              `json:"min_value,omitempty"`
	MaxValue      *int              `json:"max_value,omitempty"`
	Options       []option          `json:"options,omitempty"`
	Choices       []optionChoice    `json:"choices,omitempty"` // the only values; nil: any value
	ChannelTypes  []int             `json:"channel_types,omitempty"`
	Autocomplete  bool              `json:"autocomplete,omitempty"`

	handler *handler // nil: the subcommands have theirs
}

type optionChoice struct {
	Name   string            `json:"name"`
	Value  string            `json:"value"`
	NameIn map[string]string `json:"name_localizations,omitempty"`
}

// slash returns a command that is typed. h is nil if it has subcommands.
func slash(name, description string, contexts []int, h *handler, options ...option) command {
	return command{
		option: option{
			Type:        discord.CommandSlash,
			Name:        name,
			Description: description,
			Options:     options,
			handler:     h,
		},
		Contexts:     contexts,
		Integrations: []int{0},
	}
}

// inMenu returns a command in the menu of messages or members.
func inMenu(kind int, name string, says locale.MessageKey, contexts []int, h handler) command {
	return command{
		option: option{
			Type:    kind,
			Name:    name,
			handler: &h,
		},
		Contexts:     contexts,
		Integrations: []int{0},
		says:         says,
	}
}

// needing returns c for members with a permission, unless the guild decides otherwise.
func (c command) needing(p memory.Permissions) command {
	c.needs = p
	c.Permissions = new(strconv.FormatUint(uint64(p), 10))
	return c
}

func sub(name, description string, h handler, options ...option) option {
	return option{
		Type:        discord.OptionSubcommand,
		Name:        name,
		Description: description,
		Options:     options,
		handler:     &h,
	}
}

func group(name, description string, options ...option) option {
	return option{
		Type:        discord.OptionGroup,
		Name:        name,
		Description: description,
		Options:     options,
	}
}

// textOption is a text of at most longest characters; 0: Discord's limit.
func textOption(name, description string, longest int) option {
	return option{
		Type:        discord.OptionText,
		Name:        name,
		Description: description,
		MaxLength:   longest,
	}
}

func channelOption(name, description string, types []int) option {
	return option{
		Type:         discord.OptionChannel,
		Name:         name,
		Description:  description,
		ChannelTypes: types,
	}
}

func (o option) required() option { o.Required = true; return o }

func (o option) completed() option { o.Autocomplete = true; return o }

// of returns o with values as its only choices.
func (o option) of(values ...string) option {
	for _, v := range values {
		o.Choices = append(o.Choices, optionChoice{Name: v, Value: v})
	}
	return o
}

const (
	longestQuestion = 1000
	longestFact     = 300
	longestAlias    = 64
)

// entry is a command, or one subcommand of it.
type entry struct {
	command
	path    string // with group and subcommand
	says    string // the description
	options []option
	handler *handler
}

// entriesOf returns an entry for each command, and for each subcommand instead of its command.
func entriesOf(commands []command) []entry {
	var all []entry
	for _, cmd := range commands {
		var walk func(path, says string, options []option, h *handler)
		walk = func(path, says string, options []option, h *handler) {
			if len(options) == 0 || options[0].Type > discord.OptionGroup {
				all = append(all, entry{cmd, path, says, options, h})
				return
			}
			for _, o := range options {
				walk(path+" "+o.Name, o.Description, o.Options, o.handler)
			}
		}
		walk(cmd.Name, cmp.Or(cmd.Description, string(cmd.says)), cmd.Options, cmd.handler)
	}
	return all
}

// handler handles a command, a button, a menu or a modal.
type handler struct {
	// managers restricts it to those who manage the server or whom the server gave the command.
	managers bool
	// needs are the permissions that a command asks for, unless the server gives it to somebody; 0: none.
	needs memory.Permissions
	// refuse returns why it can't be done, from the interaction alone; "" if it can. May be nil.
	refuse func(x *interaction) string
	// updates changes the clicked message, rather than showing a new one.
	updates bool
	// early runs it before earlier events are in the log, and without the guild.
	early bool
	// endless lets it run on when Discord accepts no more responses.
	endless bool
	// opens returns a form to show at once instead of do; without an id: none. May be nil.
	opens func(ctx context.Context, x *interaction) (discord.Form, error)
	// completes returns choices for the option that is being typed. May be nil.
	completes func(ctx context.Context, x *interaction) ([]optionChoice, error)
	do        action
}

// action returns the response to an interaction.
type action = func(ctx context.Context, x *interaction) (response, error)
