package bot

import (
	"slices"
	"strconv"

	"hark/memory"
)

// command is a command as it is registered, in the form in which Discord gives it back.
type command struct {
	Type        int    `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// NameIn and DescriptionIn are in other languages, by what Discord calls them.
	NameIn        map[string]string `json:"name_localizations,omitempty"`
	DescriptionIn map[string]string `json:"description_localizations,omitempty"`
	Options       []option          `json:"options,omitempty"`
	Contexts      []int             `json:"contexts"`          // 0: guilds, 1: direct messages with the bot
	Integrations  []int             `json:"integration_types"` // 0: installed in a guild
	// Permissions are what members need whom the guild hasn't given the command otherwise, in decimal; nil: none.
	Permissions *string `json:"default_member_permissions,omitempty"`
}

type option struct {
	Type          int               `json:"type"`
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	NameIn        map[string]string `json:"name_localizations,omitempty"`
	DescriptionIn map[string]string `json:"description_localizations,omitempty"`
	Required      bool              `json:"required,omitempty"`
	MaxLength     int               `json:"max_length,omitempty"`
	MinValue      *int              `json:"min_value,omitempty"`
	MaxValue      *int              `json:"max_value,omitempty"`
	Options       []option          `json:"options,omitempty"`
	// Choices are all that can be given; nil: anything can. They are registered as Offered, which inLanguages makes of them.
	Choices      []optionChoice `json:"-"`
	Offered      []offered      `json:"choices,omitempty"`
	ChannelTypes []int          `json:"channel_types,omitempty"`
	Autocomplete bool           `json:"autocomplete,omitempty"` // whether choices are asked for while it is typed
}

type optionChoice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// offered is a choice as it is registered.
type offered struct {
	optionChoice
	NameIn map[string]string `json:"name_localizations,omitempty"`
}

// https://discord.com/developers/docs/interactions/application-commands
const (
	commandSlash   = 1
	commandUser    = 2
	commandMessage = 3

	optionSubcommand = 1
	optionGroup      = 2
	optionText       = 3
	optionNumber     = 4
	optionSwitch     = 5
	optionUser       = 6
	optionChannel    = 7
	optionRole       = 8

	inGuilds, inDirect = 0, 1
)

// The permissions that decide who may decide. https://discord.com/developers/docs/topics/permissions
const (
	manageGuild    memory.Permissions = 1 << 5
	sendMessages   memory.Permissions = 1 << 11
	manageMessages memory.Permissions = 1 << 13
)

// starCommand is in the menu of a message.
const starCommand = "Remember ⭐"

const (
	longestQuestion = 1000
	longestFact     = 300
	longestAlias    = 64
)

// registered are the commands there are.
func registered() []command {
	return []command{
		{
			Type: commandSlash, Name: "context", Description: "Shows what I'd remember for a question. Only you see it.",
			Options:  []option{textOption("question", "What you'd ask me", longestQuestion)},
			Contexts: []int{inGuilds, inDirect}, Integrations: []int{0},
		},
		{
			Type: commandSlash, Name: "memory", Description: "What I remember about you, and whether I do. Only you see it.",
			Options: []option{
				sub("show", "Shows all that I keep about you"),
				sub("add", "Tells me something about you that I should know", textOption("text", "What I should know", longestFact)),
				sub("alias", "Tells me another name that you go by", textOption("name", "The name", longestAlias)),
				editSubcommand(),
				sub("remove", "Takes back something that I was told about you"),
				sub("learn", "Lets me learn about you from what you write here, or keeps me from it", switchOption),
				sub("forget", "Has me forget all that you wrote here"),
				exportSubcommand(),
				sub("optout", "Has me forget all that you wrote here, and keep nothing of yours any more"),
				sub("optin", "Lets me remember you again, from now on"),
			},
			Contexts: []int{inGuilds, inDirect}, Integrations: []int{0},
		},
		{
			Type: commandSlash, Name: "hark", Description: "For those who manage this server",
			Options: slices.Concat([]option{
				sub("memory", "Decides what I remember of what is said here"),
				sub("fact", "Tells me something about a member, who can see it",
					option{Type: optionUser, Name: "member", Description: "Whom it is about", Required: true},
					textOption("text", "What I should know", longestFact)),
				sub("learn", "Lets me learn about members who want it, from what they write, or keeps me from it", switchOption),
				sub("settings", "Shows all that is set for a channel or for this server, with buttons and menus to change it", whereOptions()...),
				sub("set", "Sets how I answer: model, mode, language, persona and so on", setOptions()...),
				sub("limits", "Shows or decides how much members may ask me", limitOptions()...),
			}, adminOptions(), keepingOptions()),
			Contexts: []int{inGuilds}, Integrations: []int{0}, Permissions: needs(manageGuild),
		},
		{
			Type: commandSlash, Name: "model", Description: "Shows which model answers, or chooses another",
			Options:  modelOptions(),
			Contexts: []int{inGuilds}, Integrations: []int{0}, Permissions: needs(manageGuild),
		},
		loreCommand(),
		recallCommand(),
		catchUpCommand(),
		{
			Type: commandSlash, Name: "limits", Description: "Shows how much you may ask me, and what is left. Only you see it.",
			Contexts: []int{inGuilds, inDirect}, Integrations: []int{0},
		},
		{
			Type: commandMessage, Name: starCommand,
			Contexts: []int{inGuilds}, Integrations: []int{0}, Permissions: needs(manageMessages),
		},
		{Type: commandMessage, Name: relatedCommand, Contexts: []int{inGuilds, inDirect}, Integrations: []int{0}},
		{Type: commandMessage, Name: whyCommand, Contexts: []int{inGuilds, inDirect}, Integrations: []int{0}},
		{Type: commandMessage, Name: forgetCommand, Contexts: []int{inGuilds, inDirect}, Integrations: []int{0}},
		{Type: commandUser, Name: aboutCommand, Contexts: []int{inGuilds, inDirect}, Integrations: []int{0}},
		privacyCommand(),
		helpCommand(),
	}
}

var switchOption = option{Type: optionSwitch, Name: "on", Description: "Whether I may", Required: true}

func sub(name, description string, options ...option) option {
	return option{Type: optionSubcommand, Name: name, Description: description, Options: options}
}

func textOption(name, description string, longest int) option {
	return option{Type: optionText, Name: name, Description: description, Required: true, MaxLength: longest}
}

func needs(p memory.Permissions) *string { return new(strconv.FormatUint(uint64(p), 10)) }

// sameCommands reports whether Discord's list is ours, in whatever order.
func sameCommands(there, ours []command, same func(a, b command) bool) bool {
	return len(there) == len(ours) && !slices.ContainsFunc(ours, func(c command) bool {
		return !slices.ContainsFunc(there, func(o command) bool { return same(c, o) })
	})
}
