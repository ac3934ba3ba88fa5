package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
)

// https://discord.com/developers/docs/interactions/receiving-and-responding
const (
	interactionCommand   = 2
	interactionComponent = 3
	interactionTyping    = 4
	interactionForm      = 5

	respondMessage  = 4
	respondDeferred = 5
	respondUpdating = 6
	respondChoices  = 8
	respondForm     = 9

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
	Locale      string      `json:"locale"` // of whoever uses it, such as "de" or "es-419"
	// AppPermissions are what Hark may do in the channel; 0 if Discord doesn't say.
	AppPermissions permissions `json:"app_permissions"`
	Data           struct {
		Name     string       `json:"name"`
		Target   snowflake    `json:"target_id"`
		Options  []wireOption `json:"options"`
		CustomID string       `json:"custom_id"`
		Values   []string     `json:"values"`
		// Components are the rows of a form.
		Components []component `json:"components"`
		Resolved   struct {
			Messages map[string]*wireMessage `json:"messages"`
		} `json:"resolved"`
	} `json:"data"`
	Message *struct {
		ID      snowflake `json:"id"`
		Channel snowflake `json:"channel_id"`
		Flags   int       `json:"flags"`
		Author  *wireUser `json:"author"`
		Content string    `json:"content"`
	} `json:"message"`
}

type wireOption struct {
	Name    string       `json:"name"`
	Type    int          `json:"type"`
	Value   any          `json:"value"`
	Options []wireOption `json:"options"`
	Focused bool         `json:"focused"` // whether it is being typed
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

// path names what was used: a command with its group and subcommand, or a component or a form without what
// its id says more.
func (i *wireInteraction) path() string {
	name, _, _ := strings.Cut(i.Data.CustomID, ":")
	switch i.Type {
	case interactionComponent:
		return "component " + name
	case interactionForm:
		return "form " + name
	}
	path, _ := i.command()
	return path
}

// command is the path of a command with its group and subcommand, and the options that were given.
func (i *wireInteraction) command() (path string, options []wireOption) {
	path, options = i.Data.Name, i.Data.Options
	for len(options) == 1 && (options[0].Type == optionSubcommand || options[0].Type == optionGroup) {
		path, options = path+" "+options[0].Name, options[0].Options
	}
	return path, options
}

// option is a text that was given, by an option or in a form, or an id; "" if none was.
func (i *wireInteraction) option(name string) string {
	text, _ := i.given(name).(string)
	return memory.Clean(text)
}

// which is what the id of a button or a form says first, or else what an option names.
func (i *wireInteraction) which(option string) string {
	if args := i.args(); len(args) > 0 {
		return args[0]
	}
	return i.words(option)
}

// words are an option on one line, without blanks round it.
func (i *wireInteraction) words(option string) string { return markdown.OneLine(i.option(option)) }

// id is somebody or something that was given; false if nothing was.
func (i *wireInteraction) id(name string) (id int64, given bool) {
	id, err := strconv.ParseInt(i.option(name), 10, 64)
	return id, err == nil && id > 0
}

// is reports whether an option is given that switches something on.
func (i *wireInteraction) is(name string) bool {
	is, _ := i.given(name).(bool)
	return is
}

// given is what was given for an option or in a field of a form; nil if nothing was.
func (i *wireInteraction) given(name string) any {
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

// exchange is one use of a command, a button or a menu, being answered. What is said in it only its user sees, but for
// changes of a message that all see.
type exchange struct {
	wireInteraction
	locale.Locale // in which whoever uses it is answered
	rest          *client
	server        *memory.Guild // as the log has it; nil for handlers that are early
	policy        memory.Policy
	logged        <-chan struct{} // closed once the log has all that came before
	came          time.Time       // when we heard of it
	outcome       string          // of CommandRefused and CommandFailed, if it is one of them
	// permitted says that Discord let its user use /hark a moment ago, which showed them what they use now.
	permitted bool
}

// sheet is what is shown in an exchange.
type sheet struct {
	Content    string
	Components []component
	More       []string        // what doesn't fit into Content
	Files      []markdown.File // that go with it
}

type response struct {
	Type int `json:"type"`
	Data any `json:"data,omitempty"`
}

// edit takes away the components that there are, and leaves the files.
func (s sheet) edit() outgoing {
	return outgoing{Content: s.Content, AllowedMentions: nobody,
		Components: append([]component{}, s.Components...), Attachments: attachments(s.Files)}
}

// say answers at once.
func (x *exchange) say(ctx context.Context, text string) error {
	return x.respond(ctx, response{respondMessage, outgoing{Content: text, Flags: flagEphemeral,
		AllowedMentions: nobody}})
}

func (x *exchange) respond(ctx context.Context, r response) error {
	address := discordgo.EndpointInteractionResponse(fmt.Sprint(int64(x.ID)), x.Token)
	return x.rest.call(ctx, "POST", address, x.bucket("callback"), r, nil)
}

// show keeps the promise; again, it changes what is shown.
func (x *exchange) show(ctx context.Context, s sheet) error {
	return x.patch(ctx, withFiles(s.edit(), s.Files))
}

// patch changes what is shown, or of the message that was clicked on what body has.
func (x *exchange) patch(ctx context.Context, body any) error {
	address := discordgo.EndpointInteractionResponseActions(fmt.Sprint(int64(x.Application)), x.Token)
	return x.rest.call(ctx, "PATCH", address, x.bucket("original"), body, nil)
}

// pages shows all of a sheet.
func (x *exchange) pages(ctx context.Context, s sheet) error {
	err := x.show(ctx, s)
	if len(s.Files) > 0 && refusesFiles(err) {
		s.Files = nil
		s.More = append(slices.Clone(s.More),
			x.Text("Discord doesn't take my file here. I need the permission Attach Files in this channel, or the file is too large."))
		err = x.show(ctx, s)
	}
	if err != nil {
		return err
	}
	for _, more := range s.More {
		if err := x.add(ctx, more); err != nil {
			return err
		}
	}
	return nil
}

// add says more, or gives files, below what is shown.
func (x *exchange) add(ctx context.Context, text string, files ...markdown.File) error {
	address := discordgo.EndpointFollowupMessage(fmt.Sprint(int64(x.Application)), x.Token)
	m := outgoing{Content: text, Flags: flagEphemeral, AllowedMentions: nobody, Attachments: attachments(files)}
	return x.rest.call(ctx, "POST", address, x.bucket("more"), withFiles(m, files), nil)
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

// target is the message in whose menu a command is used, and where that was written; nil if Discord doesn't tell.
func (x *exchange) target() (m *wireMessage, channel memory.ChannelID) {
	m, channel = x.Data.Resolved.Messages[fmt.Sprint(int64(x.Data.Target))], memory.ChannelID(x.Channel)
	if m != nil && m.Channel != 0 { // a thread shows the message that it began from, which is elsewhere
		channel = memory.ChannelID(m.Channel)
	}
	return m, channel
}

// remembers reports whether what is said in a channel is remembered.
func (x *exchange) remembers(channel memory.ChannelID) bool {
	return x.policy.Remembers(x.server, channel)
}

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
	return rolesOf(x.Member)
}

// args is what a component's or a form's id says beyond its name.
func (i *wireInteraction) args() []string { return strings.Split(i.Data.CustomID, ":")[1:] }

// bucket is one of a few, since Discord doesn't limit interactions by route, and each bucket lets one request
// at a time.
func (x *exchange) bucket(kind string) string {
	return fmt.Sprintf("interaction %s %d", kind, (int64(x.ID)>>22^int64(x.ID))%parallelCommands)
}
