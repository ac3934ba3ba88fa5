package discordtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Interaction is one use of a command, a component or a form, with the bot's responses.
type Interaction struct {
	ID    ID
	Token string

	s        *Server
	channel  *channel
	user     ID
	source   *storedMessage // the message a component belongs to
	kind     int            // 2 command, 3 component, 4 autocomplete, 5 modal
	answered bool
	response Response
	original *storedMessage
	follows  []*storedMessage
	meta     json.RawMessage
}

// Response is the callback to an interaction.
type Response struct {
	Type      int             // 4 message, 5 deferred, 6 deferred update, 7 update, 8 autocomplete, 9 modal
	Ephemeral bool            // only the user sees it
	Data      json.RawMessage // as sent
}

// Deferred reports whether the response is only an acknowledgement.
func (r Response) Deferred() bool { return r.Type == 5 || r.Type == 6 }

// Discord's types of commands and options.
const (
	slashCommand, userCommand, messageCommand                = 1, 2, 3
	stringOption, integerOption, channelOption, numberOption = 3, 4, 7, 10
	subcommand, subcommandGroup                              = 1, 2
)

const (
	answerWithin  = 3 * time.Second
	tokenLifetime = 15 * time.Minute
)

// Opt is a slash command's option: a string, a number, a boolean or an ID.
type Opt struct {
	Name  string
	Value any
}

// Slash uses a registered slash command. A subcommand follows after a space: "memory forget".
func (s *Server) Slash(channelID, user ID, name string, options ...Opt) *Interaction {
	return s.command(channelID, user, slashCommand, name, options, 0, 2)
}

// Complete requests autocomplete choices; the last option is in focus.
func (s *Server) Complete(channelID, user ID, name string, options ...Opt) *Interaction {
	return s.command(channelID, user, slashCommand, name, options, 0, 4)
}

// MessageAction uses a message command.
func (s *Server) MessageAction(m Message, user ID, name string) *Interaction {
	return s.command(m.ChannelID, user, messageCommand, name, nil, m.ID, 2)
}

// UserAction uses a user command.
func (s *Server) UserAction(channelID, target, user ID, name string) *Interaction {
	return s.command(channelID, user, userCommand, name, nil, target, 2)
}

func (s *Server) command(channelID, user ID, kind int, name string, options []Opt, target ID,
	itype int) *Interaction {
	defer s.change()()
	c := s.channel(channelID)
	first, subs, _ := strings.Cut(name, " ")
	if kind != slashCommand {
		first, subs = name, ""
	}
	cmd := s.registered(c.GuildID, first, kind)
	if !s.letsAll && !s.mayUse(c, user, cmd) {
		s.fatalf("Discord doesn't show %q to user %d: see SetCommandPermission", first, user)
	}
	data := object{"id": cmd.ID, "name": cmd.Name, "type": cmd.Type}
	if c.GuildID != 0 {
		data["guild_id"] = c.GuildID
	}
	resolved := object{}
	if target != 0 {
		data["target_id"] = target
		s.resolve(c, resolved, target)
	}
	if kind == slashCommand {
		data["options"] = s.fill(c, cmd.Options, strings.Fields(subs), options, itype == 4, resolved)
	}
	if len(resolved) > 0 {
		data["resolved"] = resolved
	}
	return s.interact(Interaction{channel: c, user: user, kind: itype}, data, object{})
}

// registered returns the command of that name, the guild's own before the global one.
func (s *Server) registered(g ID, name string, kind int) *command {
	for _, where := range []ID{g, 0} {
		for _, c := range s.commands[where] {
			if c.Name == name && c.Type == kind {
				return c
			}
		}
	}
	s.fatalf("no command %q of type %d is registered", name, kind)
	return nil
}

// fill returns the options as Discord sends them, within their subcommands.
func (s *Server) fill(c *channel, declared []commandPart, subs []string, given []Opt, typing bool,
	resolved object) []object {
	if len(subs) > 0 {
		d := s.declared(declared, subs[0])
		return []object{{"name": d.Name, "type": d.Type, "options": s.fill(c, d.Options, subs[1:], given,
			typing, resolved)}}
	}
	filled := []object{}
	for n, o := range given {
		d := s.declared(declared, o.Name)
		if !typing {
			s.checkOption(d, o)
		}
		x := object{"name": o.Name, "type": d.Type, "value": o.Value}
		if id, ok := o.Value.(ID); ok {
			s.resolve(c, resolved, id)
		}
		if typing && n == len(given)-1 {
			x["focused"] = true
		}
		filled = append(filled, x)
	}
	for _, d := range declared {
		if d.Required && !typing && !slices.ContainsFunc(given, func(o Opt) bool { return o.Name == d.Name }) {
			s.fatalf("option %q is required", d.Name)
		}
	}
	return filled
}

func (s *Server) declared(options []commandPart, name string) commandPart {
	i := slices.IndexFunc(options, func(o commandPart) bool { return o.Name == name })
	if i < 0 {
		s.fatalf("no option %q is registered", name)
	}
	return options[i]
}

// checkOption ends the test if Discord wouldn't accept that value for an option.
func (s *Server) checkOption(d commandPart, given Opt) {
	isGiven := func(c commandPart) bool { return fmt.Sprint(c.Value) == fmt.Sprint(given.Value) }
	if len(d.Choices) > 0 && !slices.ContainsFunc(d.Choices, isGiven) {
		s.fatalf("%v is no choice of option %q", given.Value, d.Name)
	}
	if id, ok := given.Value.(ID); ok && d.Type == channelOption && len(d.ChannelTypes) > 0 &&
		!slices.Contains(d.ChannelTypes, s.channel(id).Type) {
		s.fatalf("channel %d is of no type that option %q takes", id, d.Name)
	}
}

// resolve adds what an id in an option refers to.
func (s *Server) resolve(c *channel, resolved object, id ID) {
	add := func(group string, what any) {
		m, _ := resolved[group].(object)
		if m == nil {
			m = object{}
			resolved[group] = m
		}
		m[id.String()] = what
	}
	g := s.guilds[c.GuildID]
	switch {
	case s.users[id] != nil:
		add("users", *s.users[id])
		if g != nil && g.members[id] != nil {
			add("members", g.members[id].withoutUser())
		}
	case s.channels[id] != nil:
		add("channels", s.channels[id].Channel)
	case s.find(c, id) != nil:
		add("messages", s.find(c, id).Message)
	default:
		add("roles", *s.role(g, id))
	}
}

// SetLocale sets a user's locale; the default is en-US.
func (s *Server) SetLocale(user ID, language string) {
	if !slices.Contains(discordLocales, language) {
		s.fatalf("Discord has no language %q", language)
	}
	defer s.change()()
	s.locales[user] = language
}

// Click uses a button, or a menu with values, of the bot's message. It must exist and be enabled.
func (s *Server) Click(m Message, user ID, customID string, values ...string) *Interaction {
	defer s.change()()
	c := s.channel(m.ChannelID)
	source := s.anyMessage(c, m.ID)
	component := s.component(source, customID)
	data := object{"custom_id": customID, "component_type": component.Type, "id": component.ID}
	if component.Type != 2 {
		data["values"] = values
	}
	return s.interact(Interaction{channel: c, user: user, kind: 3, source: source}, data,
		object{"interacted_message_id": m.ID})
}

// Submit submits the form that answered the interaction, by the fields' custom ids.
func (i *Interaction) Submit(fields map[string]string) *Interaction {
	defer i.s.change()()
	form, inputs, err := readForm(i.response.Data)
	if i.response.Type != 9 || err != nil {
		i.s.fatalf("the interaction was not answered with a form")
	}
	for id, in := range inputs {
		if !in.takes(fields[id]) {
			i.s.fatalf("input %q doesn't take %q", id, fields[id])
		}
	}
	rows := []object{}
	for id, value := range fields {
		if _, there := inputs[id]; !there {
			i.s.fatalf("the form has no input %q", id)
		}
		rows = append(rows, object{"type": 1, "components": []object{{"type": 4, "custom_id": id, "value": value}}})
	}
	data := object{"custom_id": form.CustomID, "components": rows}
	return i.s.interact(Interaction{channel: i.channel, user: i.user, kind: 5, source: i.source}, data,
		object{"triggering_interaction_metadata": i.meta})
}

// interact begins an interaction and sends its event. meta becomes the metadata of response messages.
func (s *Server) interact(i Interaction, data, meta object) *Interaction {
	c, by := i.channel, s.user(i.user)
	i.s, i.ID = s, s.clock.nextID()
	i.Token = "token-of-" + i.ID.String()
	s.interactions[i.Token] = &i
	owners := object{"0": c.GuildID}
	maps.Copy(meta, object{"id": i.ID, "type": i.kind, "user": by, "authorizing_integration_owners": owners})
	i.meta = encode(meta)
	payload := object{"id": i.ID, "application_id": s.AppID, "type": i.kind, "data": data, "token": i.Token,
		"version": 1, "channel_id": c.ID, "channel": c.Channel, "locale": cmp.Or(s.locales[i.user],
			"en-US"), "entitlements": []any{},
		"app_permissions": s.permissions(c, s.Bot.ID), "authorizing_integration_owners": owners,
		"context": 0, "attachment_size_limit": uploadLimit}
	if i.source != nil {
		payload["message"] = i.source.Message
	}
	if g := s.guilds[c.GuildID]; g != nil {
		payload["guild_id"], payload["guild_locale"] = c.GuildID, "en-US"
		payload["guild"] = object{"id": g.ID, "locale": "en-US", "features": []string{}}
		payload["member"] = struct {
			Member
			Permissions Permissions `json:"permissions"`
		}{*s.member(g, i.user), s.permissions(c, i.user)}
	} else {
		payload["user"], payload["context"] = by, 1
	}
	s.emit(event{name: "INTERACTION_CREATE", guild: c.GuildID, payload: payload})
	return &i
}

// Wait returns the bot's response, which may be deferred.
func (i *Interaction) Wait() Response {
	i.s.until("an answer to interaction "+i.ID.String(), func() bool { return i.answered })
	return i.response
}

// WaitMessage returns the response message once it is no longer deferred.
func (i *Interaction) WaitMessage() Sent {
	var m Sent
	i.s.until("a message in answer to interaction "+i.ID.String(), func() bool {
		if i.original == nil || i.original.Flags&Loading != 0 {
			return false
		}
		m = i.original.Sent
		return true
	})
	return m
}

// FollowUps returns the follow-up messages, with deleted ones.
func (i *Interaction) FollowUps() []Sent {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	var ms []Sent
	for _, m := range i.follows {
		ms = append(ms, m.Sent)
	}
	return ms
}

// messages returns the messages that answered the interaction and aren't deleted.
func (i *Interaction) messages() []*storedMessage {
	return slices.DeleteFunc(append([]*storedMessage{i.original}, i.follows...), func(m *storedMessage) bool {
		return m == nil || m.Deleted
	})
}

// encode returns the fake's own data as JSON.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// anyMessage returns a channel's message, also an ephemeral one.
func (s *Server) anyMessage(c *channel, id ID) *storedMessage {
	for _, i := range s.interactions {
		for _, m := range i.messages() {
			if m.ID == id {
				return m
			}
		}
	}
	return s.mustFind(c, id)
}
