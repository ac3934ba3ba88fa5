package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

// https://discord.com/developers/docs/interactions/receiving-and-responding
const (
	interactionCommand   = 2
	interactionComponent = 3

	respondMessage  = 4
	respondDeferred = 5
	respondUpdating = 6

	flagEphemeral = 1 << 6
)

type wireInteraction struct {
	ID          snowflake   `json:"id"`
	Application snowflake   `json:"application_id"`
	Type        int         `json:"type"`
	Token       string      `json:"token"`
	Guild       snowflake   `json:"guild_id"`
	Channel     snowflake   `json:"channel_id"`
	Member      *wireMember `json:"member"`
	User        *wireUser   `json:"user"`
	Data        struct {
		Name     string       `json:"name"`
		Target   snowflake    `json:"target_id"`
		Options  []wireOption `json:"options"`
		CustomID string       `json:"custom_id"`
		Values   []string     `json:"values"`
	} `json:"data"`
	Message *struct {
		ID      snowflake `json:"id"`
		Channel snowflake `json:"channel_id"`
		Flags   int       `json:"flags"`
	} `json:"message"`
}

type wireOption struct {
	Name    string       `json:"name"`
	Type    int          `json:"type"`
	Value   any          `json:"value"`
	Options []wireOption `json:"options"`
}

// user is who used the command: of a guild, or in a direct message.
func (i *wireInteraction) user() *wireUser {
	if i.Member != nil {
		return i.Member.User
	}
	return i.User
}

// may reports whether whoever uses it has one of the permissions in the guild.
func (i *wireInteraction) may(any memory.Permissions) bool {
	return i.Member != nil && memory.Permissions(i.Member.Permissions)&(any|memory.Administrator) != 0
}

// path names what was used: a command with its subcommand, or a component without what its id says more.
func (i *wireInteraction) path() string {
	if i.Type == interactionComponent {
		name, _, _ := strings.Cut(i.Data.CustomID, ":")
		return "component " + name
	}
	path := i.Data.Name
	for _, o := range i.Data.Options {
		if o.Type == optionSubcommand {
			path += " " + o.Name
		}
	}
	return path
}

// option is a text that was given, or an id; "" if it wasn't.
func (i *wireInteraction) option(name string) string {
	text, _ := i.given(name).(string)
	return memory.Clean(text)
}

// given is what was given for an option; nil if nothing was.
func (i *wireInteraction) given(name string) any {
	options := i.Data.Options
	if len(options) == 1 && options[0].Type == optionSubcommand {
		options = options[0].Options
	}
	for _, o := range options {
		if o.Name == name {
			return o.Value
		}
	}
	return nil
}

// exchange is one use of a command, a button or a menu, being answered. What is said in it only its user sees, but for
// changes of a message that all see.
type exchange struct {
	wireInteraction
	rest   *client
	logged <-chan struct{} // closed once the log has all that came before
}

// sheet is what is shown in an exchange.
type sheet struct {
	Content    string
	Components []component
	More       []string // what doesn't fit into Content
}

type response struct {
	Type int          `json:"type"`
	Data *messageBody `json:"data,omitempty"`
}

type messageBody struct {
	Content         string          `json:"content,omitempty"`
	Flags           int             `json:"flags,omitempty"`
	AllowedMentions allowedMentions `json:"allowed_mentions"`
	Components      []component     `json:"components,omitempty"`
}

// sheetEdit names its components even if there are none, which takes them away.
type sheetEdit struct {
	Content         string          `json:"content"`
	AllowedMentions allowedMentions `json:"allowed_mentions"`
	Components      []component     `json:"components"`
}

func (s sheet) edit() sheetEdit {
	if s.Components == nil {
		s.Components = []component{}
	}
	return sheetEdit{s.Content, nobody, s.Components}
}

// say answers at once.
func (x *exchange) say(ctx context.Context, text string) error {
	return x.respond(ctx, response{respondMessage, &messageBody{Content: text, Flags: flagEphemeral, AllowedMentions: nobody}})
}

// think promises an answer.
func (x *exchange) think(ctx context.Context) error {
	return x.respond(ctx, response{respondDeferred, &messageBody{Flags: flagEphemeral, AllowedMentions: nobody}})
}

// take promises to change the message that was clicked on.
func (x *exchange) take(ctx context.Context) error {
	return x.respond(ctx, response{Type: respondUpdating})
}

func (x *exchange) respond(ctx context.Context, r response) error {
	address := discordgo.EndpointInteractionResponse(fmt.Sprint(int64(x.ID)), x.Token)
	return x.rest.call(ctx, "POST", address, x.bucket("callback"), r, nil)
}

// show keeps the promise; again, it changes what is shown.
func (x *exchange) show(ctx context.Context, s sheet) error {
	address := discordgo.EndpointInteractionResponseActions(fmt.Sprint(int64(x.Application)), x.Token)
	return x.rest.call(ctx, "PATCH", address, x.bucket("original"), s.edit(), nil)
}

// pages shows all of a sheet.
func (x *exchange) pages(ctx context.Context, s sheet) error {
	if err := x.show(ctx, s); err != nil {
		return err
	}
	for _, more := range s.More {
		if err := x.add(ctx, more); err != nil {
			return err
		}
	}
	return nil
}

// add says more, below what is shown.
func (x *exchange) add(ctx context.Context, text string) error {
	address := discordgo.EndpointFollowupMessage(fmt.Sprint(int64(x.Application)), x.Token)
	m := messageBody{Content: text, Flags: flagEphemeral, AllowedMentions: nobody}
	return x.rest.call(ctx, "POST", address, x.bucket("more"), m, nil)
}

// heard waits until all that came before is in the log.
func (x *exchange) heard(ctx context.Context) error {
	select {
	case <-x.logged:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *exchange) guild() memory.GuildID { return memory.GuildID(x.Guild) }

// who is who uses it; 0 if Discord doesn't say.
func (x *exchange) who() memory.UserID {
	if u := x.user(); u != nil {
		return memory.UserID(u.ID)
	}
	return 0
}

// roles are those of who uses it; nil if Discord doesn't say.
func (x *exchange) roles() []memory.RoleID {
	if x.Member == nil || x.Member.Roles == nil {
		return nil
	}
	roles := []memory.RoleID{}
	for _, r := range x.Member.Roles {
		roles = append(roles, memory.RoleID(r))
	}
	return roles
}

// args is what a component's id says beyond its name.
func (x *exchange) args() []string { return strings.Split(x.Data.CustomID, ":")[1:] }

// bucket is one of a few, since Discord doesn't limit interactions by route, and each bucket lets one request
// at a time.
func (x *exchange) bucket(kind string) string {
	return fmt.Sprintf("interaction %s %d", kind, (int64(x.ID)>>22^int64(x.ID))%parallelCommands)
}
