package discord

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"hark/bot/markdown"
	"hark/memory"
)

// https://discord.com/developers/docs/interactions/receiving-and-responding
const (
	InteractionCommand   = 2
	InteractionComponent = 3
	InteractionTyping    = 4
	InteractionForm      = 5

	RespondMessage  = 4
	RespondDeferred = 5
	RespondUpdating = 6
	RespondChoices  = 8
	RespondForm     = 9

	FlagEphemeral = 1 << 6
)

// Interaction is one use of a command, a component or a form.
type Interaction struct {
	ID          Snowflake `json:"id"`
	Application Snowflake `json:"application_id"`
	Type        int       `json:"type"`
	Token       string    `json:"token"`
	Guild       Snowflake `json:"guild_id"`
	Channel     Snowflake `json:"channel_id"`
	Member      *Member   `json:"member"`
	User        *User     `json:"user"`
	Locale      string    `json:"locale"` // of whoever uses it, such as "de" or "es-419"
	// AppPermissions are what Hark may do in the channel; 0 if Discord doesn't say.
	AppPermissions Permissions `json:"app_permissions"`
	Data           struct {
		Name     string    `json:"name"`
		Target   Snowflake `json:"target_id"`
		Options  []Option  `json:"options"`
		CustomID string    `json:"custom_id"`
		Values   []string  `json:"values"`
		// Components are the rows of a form.
		Components []Component `json:"components"`
		Resolved   struct {
			Messages map[string]*Message `json:"messages"`
		} `json:"resolved"`
	} `json:"data"`
	Message *struct {
		ID      Snowflake `json:"id"`
		Channel Snowflake `json:"channel_id"`
		Flags   int       `json:"flags"`
		Author  *User     `json:"author"`
		Content string    `json:"content"`
	} `json:"message"`
}

// Option is what was given for an option of a command, or a subcommand that was used.
type Option struct {
	Name    string   `json:"name"`
	Type    int      `json:"type"`
	Value   any      `json:"value"`
	Options []Option `json:"options"`
	Focused bool     `json:"focused"` // whether it is being typed
}

// Invoker is who used the command: of a guild, or in a direct message.
func (i *Interaction) Invoker() *User {
	if i.Member != nil {
		return i.Member.User
	}
	return i.User
}

// May reports whether whoever uses it has one of the permissions in the guild.
func (i *Interaction) May(any memory.Permissions) bool {
	return i.Member != nil && memory.Permissions(i.Member.Permissions)&(any|memory.Administrator) != 0
}

// Path names what was used: a command with its group and subcommand, or a component or a form without what
// its id says more.
func (i *Interaction) Path() string {
	name, _, _ := strings.Cut(i.Data.CustomID, ":")
	switch i.Type {
	case InteractionComponent:
		return "component " + name
	case InteractionForm:
		return "form " + name
	}
	path, _ := i.command()
	return path
}

// command is the path of a command with its group and subcommand, and the options that were given.
func (i *Interaction) command() (path string, options []Option) {
	path, options = i.Data.Name, i.Data.Options
	for len(options) == 1 && (options[0].Type == OptionSubcommand || options[0].Type == OptionGroup) {
		path, options = path+" "+options[0].Name, options[0].Options
	}
	return path, options
}

// Option is a text that was given, by an option or in a form, or an id; "" if none was.
func (i *Interaction) Option(name string) string {
	text, _ := i.Given(name).(string)
	return memory.Clean(text)
}

// Which is what the id of a button or a form says first, or else what an option names.
func (i *Interaction) Which(option string) string {
	if args := i.Args(); len(args) > 0 {
		return args[0]
	}
	return i.Words(option)
}

// Words are an option on one line, without blanks round it.
func (i *Interaction) Words(option string) string { return markdown.OneLine(i.Option(option)) }

// OptionID is somebody or something that was given; false if nothing was.
func (i *Interaction) OptionID(name string) (id int64, given bool) {
	id, err := strconv.ParseInt(i.Option(name), 10, 64)
	return id, err == nil && id > 0
}

// Is reports whether an option is given that switches something on.
func (i *Interaction) Is(name string) bool {
	is, _ := i.Given(name).(bool)
	return is
}

// Given is what was given for an option or in a field of a form; nil if nothing was.
func (i *Interaction) Given(name string) any {
	_, options := i.command()
	for _, o := range options {
		if o.Name == name {
			return o.Value
		}
	}
	for _, row := range i.Data.Components {
		if row.Component != nil {
			row.Components = append(row.Components, *row.Component)
		}
		for _, in := range row.Components {
			if in.CustomID == name {
				return in.Value
			}
		}
	}
	return nil
}

// Response answers an interaction.
type Response struct {
	Type int `json:"type"`
	Data any `json:"data,omitempty"`
}

// Args is what a component's or a form's id says beyond its name.
func (i *Interaction) Args() []string { return strings.Split(i.Data.CustomID, ":")[1:] }

// interactionBuckets are in how many buckets the requests about interactions are: Discord doesn't limit them by route,
// and each bucket lets one request at a time.
const interactionBuckets = 64

func (i *Interaction) bucket(kind string) string {
	return fmt.Sprintf("interaction %s %d", kind, (int64(i.ID)>>22^int64(i.ID))%interactionBuckets)
}

// Respond answers an interaction at once.
func (c *Client) Respond(ctx context.Context, i *Interaction, r Response) error {
	address := discordgo.EndpointInteractionResponse(fmt.Sprint(int64(i.ID)), i.Token)
	return c.call(ctx, http.MethodPost, address, i.bucket("callback"), r, nil)
}

// EditResponse changes what was answered, or of the message that was clicked on what m has.
func (c *Client) EditResponse(ctx context.Context, i *Interaction, m any, files []markdown.File) error {
	address := discordgo.EndpointInteractionResponseActions(fmt.Sprint(int64(i.Application)), i.Token)
	return c.call(ctx, http.MethodPatch, address, i.bucket("original"), withFiles(m, files), nil)
}

// FollowUp says more, or gives files, below what was answered, for the eyes of whoever is answered.
func (c *Client) FollowUp(ctx context.Context, i *Interaction, text string, files []markdown.File) error {
	address := discordgo.EndpointFollowupMessage(fmt.Sprint(int64(i.Application)), i.Token)
	m := Outgoing{Content: text, Flags: FlagEphemeral, AllowedMentions: Nobody, Attachments: Attachments(files)}
	return c.call(ctx, http.MethodPost, address, i.bucket("more"), withFiles(m, files), nil)
}

// IsPublic reports whether what is used stands below a message that others see as well.
func (i *Interaction) IsPublic() bool {
	return i.Message != nil && i.Message.Flags&FlagEphemeral == 0
}

// https://discord.com/developers/docs/interactions/application-commands
const (
	CommandSlash   = 1
	CommandUser    = 2
	CommandMessage = 3

	OptionSubcommand = 1
	OptionGroup      = 2
	OptionText       = 3
	OptionNumber     = 4
	OptionSwitch     = 5
	OptionUser       = 6
	OptionChannel    = 7
	OptionRole       = 8

	InGuilds, InDirect = 0, 1
)

// Typed is what has been typed so far of the option in focus.
func (i *Interaction) Typed() string {
	_, options := i.command()
	for _, o := range options {
		if o.Focused {
			text, _ := o.Value.(string)
			return text
		}
	}
	return ""
}

// Value is the first that was chosen from a menu; "" if none was.
func (i *Interaction) Value() string {
	if len(i.Data.Values) == 0 {
		return ""
	}
	return i.Data.Values[0]
}
