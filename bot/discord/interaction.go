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
		ID       Snowflake `json:"id"` // the command's
		Name     string    `json:"name"`
		Target   Snowflake `json:"target_id"`
		Options  []Option  `json:"options"`
		CustomID string    `json:"custom_id"`
		Values   []string  `json:"values"`
		// Components are the rows of a form.
		Components []Component `json:"components"`
		Resolved   struct {
			Messages map[string]*Message `json:"messages"`
			Users    map[string]*User    `json:"users"`
			Members  map[string]*Member  `json:"members"` // those of Users who are in the guild
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

// Option is a given option, or a subcommand.
type Option struct {
	Name    string   `json:"name"`
	Type    int      `json:"type"`
	Value   any      `json:"value"`
	Options []Option `json:"options"`
	Focused bool     `json:"focused"` // it is being typed
}

// Invoker returns the user, in a guild or a direct message.
func (i *Interaction) Invoker() *User {
	if i.Member != nil {
		return i.Member.User
	}
	return i.User
}

// May reports whether the user has one of the permissions.
func (i *Interaction) May(any memory.Permissions) bool {
	return i.Member != nil && memory.Permissions(i.Member.Permissions)&(any|memory.Administrator) != 0
}

// Path names what was used: a command with its group and subcommand, or a component or form without its
// arguments.
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

// command returns a command's path and its options.
func (i *Interaction) command() (path string, options []Option) {
	path = i.Data.Name
	options = i.Data.Options
	for len(options) == 1 && (options[0].Type == OptionSubcommand || options[0].Type == OptionGroup) {
		path += " " + options[0].Name
		options = options[0].Options
	}
	return path, options
}

// Option returns a given text or id, from an option or a form; "" if none.
func (i *Interaction) Option(name string) string {
	text, _ := i.Given(name).(string)
	return memory.Clean(text)
}

// Which returns the first argument of a custom id, or else an option.
func (i *Interaction) Which(option string) string {
	if args := i.Args(); len(args) > 0 {
		return args[0]
	}
	return i.Words(option)
}

// Words returns an option on one line, trimmed.
func (i *Interaction) Words(option string) string { return markdown.OneLine(i.Option(option)) }

// OptionID returns a given id; false if there is none.
func (i *Interaction) OptionID(name string) (id int64, given bool) {
	id, err := strconv.ParseInt(i.Option(name), 10, 64)
	return id, err == nil && id > 0
}

// Is reports whether a boolean option is true.
func (i *Interaction) Is(name string) bool {
	is, _ := i.Given(name).(bool)
	return is
}

// Given returns the value of an option or a form's field; nil if there is none.
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

// Args returns a custom id's arguments, after its name.
func (i *Interaction) Args() []string { return strings.Split(i.Data.CustomID, ":")[1:] }

// interactionBuckets are as many as interaction requests are spread over: Discord doesn't limit them by route, and
// a bucket passes one request at a time.
const interactionBuckets = 64

func (i *Interaction) bucket(kind string) string {
	return fmt.Sprintf("interaction %s %d", kind, (int64(i.ID)>>22^int64(i.ID))%interactionBuckets)
}

// Respond answers an interaction at once.
func (c *Client) Respond(ctx context.Context, i *Interaction, r Response) error {
	address := discordgo.EndpointInteractionResponse(fmt.Sprint(int64(i.ID)), i.Token)
	return c.call(ctx, http.MethodPost, address, i.bucket("callback"), r, nil)
}

// EditResponse edits the response, or the message with the component that was used.
func (c *Client) EditResponse(ctx context.Context, i *Interaction, m any, files []markdown.File) error {
	address := discordgo.EndpointInteractionResponseActions(fmt.Sprint(int64(i.Application)), i.Token)
	return c.call(ctx, http.MethodPatch, address, i.bucket("original"), withFiles(m, files), nil)
}

// FollowUp sends an ephemeral follow-up message.
func (c *Client) FollowUp(ctx context.Context, i *Interaction, text string, files []markdown.File) error {
	address := discordgo.EndpointFollowupMessage(fmt.Sprint(int64(i.Application)), i.Token)
	m := Saying(text)
	m.Flags |= FlagEphemeral
	m.Attachments = Attachments(files)
	return c.call(ctx, http.MethodPost, address, i.bucket("more"), withFiles(m, files), nil)
}

// IsPublic reports whether the component's message is visible to others.
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

// Typed returns the text typed so far in the focused option.
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

// Value returns the first choice from a menu; "" if none.
func (i *Interaction) Value() string {
	if len(i.Data.Values) == 0 {
		return ""
	}
	return i.Data.Values[0]
}
