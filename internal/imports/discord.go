package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

// The parts of an export that are kept. Its URLs expire and its roles are those of long ago, so they aren't.
type (
	exportGuild struct {
		ID   text `json:"id"`
		Name text `json:"name"`
	}
	exportChannel struct {
		ID     text `json:"id"`
		Type   text `json:"type"`
		Parent text `json:"categoryId"` // of a thread: its channel
		Name   text `json:"name"`
	}
	exportUser struct {
		ID            text `json:"id"`
		Name          text `json:"name"`
		Nickname      text `json:"nickname"` // in the guild; else the display name
		Discriminator text `json:"discriminator"`
		IsBot         bool `json:"isBot"`
	}
	exportBody struct {
		Content     text `json:"content"`
		Attachments []struct {
			FileName text `json:"fileName"`
		} `json:"attachments"`
		Embeds []struct {
			URL         text `json:"url"`
			Title       text `json:"title"`
			Description text `json:"description"`
			Fields      []struct {
				Name  text `json:"name"`
				Value text `json:"value"`
			} `json:"fields"`
		} `json:"embeds"`
		Stickers []struct {
			Name text `json:"name"`
		} `json:"stickers"`
	}
	exportMessage struct {
		exportBody
		ID        text         `json:"id"`
		Type      text         `json:"type"`
		Time      text         `json:"timestamp"`
		Edited    text         `json:"timestampEdited"`
		IsPinned  bool         `json:"isPinned"`
		Author    exportUser   `json:"author"`
		Mentions  []exportUser `json:"mentions"`
		Forwarded exportBody   `json:"forwardedMessage"`
		Reference struct {
			Type    text `json:"type"`
			Message text `json:"messageId"`
			Channel text `json:"channelId"`
		} `json:"reference"`
	}
)

// channelKinds maps DiscordChatExporter's channel types. Any other type is a text channel.
var channelKinds = map[text]memory.ChannelKind{
	"GuildTextChat":       memory.TextChannel,
	"GuildNews":           memory.TextChannel,
	"GuildVoiceChat":      memory.VoiceChannel,
	"GuildStageVoice":     memory.VoiceChannel,
	"GuildForum":          memory.ForumChannel,
	"GuildMedia":          memory.ForumChannel,
	"GuildCategory":       memory.CategoryChannel,
	"GuildNewsThread":     memory.PublicThread,
	"GuildPublicThread":   memory.PublicThread,
	"GuildPrivateThread":  memory.PrivateThread,
	"DirectTextChat":      memory.DirectChannel,
	"DirectGroupTextChat": memory.DirectChannel,
}

// spoken are the types of messages that somebody wrote; all others are notices. DiscordChatExporter writes some as
// numbers: 20 and 23 are answers to commands, 21 begins a thread.
var spoken = map[text]bool{
	"": true, "Default": true, "Reply": true,
	"0": true, "19": true, "20": true, "21": true, "23": true,
}

// export reads one export.
type export struct {
	dec     *json.Decoder
	src     *source
	b       *batch
	guild   *exportGuild
	channel *exportChannel
	place   memory.Channel // where the messages go, once both are known
	count   int            // of messages met
}

func readExport(ctx context.Context, src *source, b *batch) error {
	e := &export{dec: json.NewDecoder(src), src: src, b: b}
	if err := e.object(ctx); err != nil {
		return err
	}
	_, err := e.token()
	switch {
	case err == nil:
		return fmt.Errorf("the file goes on after the end of its export %s: make it one file for each export; what was read so far is kept", e.where())
	case errors.Is(err, io.EOF):
		return nil
	}
	return e.fault(err)
}

// object reads the whole export.
func (e *export) object(ctx context.Context) error {
	if _, err := e.token(); err != nil {
		return e.fault(err)
	}
	for e.more() {
		key, err := e.token()
		if err != nil {
			return e.fault(err)
		}
		switch key {
		case "guild":
			err = e.decode(&e.guild)
		case "channel":
			err = e.decode(&e.channel)
		case "messages":
			err = e.messages(ctx)
		default:
			err = e.decode(new(json.RawMessage)) // which is passed over
		}
		if err != nil {
			return err
		}
	}
	_, err := e.token()
	return e.fault(err)
}

func (e *export) messages(ctx context.Context) error {
	if err := e.locate(); err != nil {
		return err
	}
	if start, err := e.token(); err != nil {
		return e.fault(err)
	} else if start != json.Delim('[') {
		return errOther
	}
	e.b.guild(e.place.Guild, string(e.guild.Name))
	e.b.channel(e.place)
	for e.more() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var m exportMessage
		if err := e.decode(&m); err != nil {
			return err
		}
		e.count++
		if err := e.message(ctx, m); err != nil {
			return err
		}
	}
	_, err := e.token()
	return e.fault(err)
}

// locate adds the guild and the channel. They are unplaced, because Discord hasn't confirmed them.
func (e *export) locate() error {
	if e.guild == nil || e.channel == nil {
		return errors.New("the file doesn't say its server and channel before its messages: " + expected)
	}
	guild, channel := idOf[memory.GuildID](e.guild.ID), idOf[memory.ChannelID](e.channel.ID)
	if channel == 0 || guild == 0 && e.guild.ID != "0" {
		return errors.New("the export has no ids of its server and channel: export the channel again with DiscordChatExporter")
	}
	e.place = unplaced(memory.Channel{
		ID: channel, Guild: guild, Parent: idOf[memory.ChannelID](e.channel.Parent),
		Kind: channelKinds[e.channel.Type], Name: string(e.channel.Name),
	})
	return nil
}

// retime gives a message a new id if its own isn't a snowflake of its time. The old one becomes its name.
func (p *post) retime(m exportMessage) error {
	at := timeOf(m.Time)
	if at.IsZero() || at.Sub(p.ID.Time()).Abs() <= time.Minute {
		return nil
	}
	id, err := messageID(at, string(m.ID))
	if err != nil {
		return err
	}
	p.ID, p.name = id, string(m.ID)
	if p.ReplyTo != 0 {
		p.ReplyTo, p.answers = 0, []string{string(m.Reference.Message)}
	}
	return nil
}

func (e *export) message(ctx context.Context, m exportMessage) error {
	id := idOf[memory.MessageID](m.ID)
	if id == 0 {
		return e.b.skip("message %d (before byte %d) has no id", e.count, e.dec.InputOffset())
	}
	p := &post{Message: memory.Message{
		ID: id, Guild: e.place.Guild, Channel: e.place.ID, Kind: m.kind(),
		Content: m.text(), Files: m.files(), Links: m.links(), ReplyTo: e.replyTo(m), Starred: m.IsPinned,
		Edited: timeOf(m.Edited),
	}}
	if err := p.retime(m); err != nil {
		return e.b.skip("message %d (before byte %d) has a %v", e.count, e.dec.InputOffset(), err)
	}
	for _, u := range append([]exportUser{m.Author}, m.Mentions...) {
		p.people = append(p.people, u.person(e.place.Guild))
	}
	return e.b.post(ctx, p)
}

// replyTo returns the message that m replies to, if it is in the same channel.
func (e *export) replyTo(m exportMessage) memory.MessageID {
	channel := idOf[memory.ChannelID](m.Reference.Channel)
	if channel != 0 && channel != e.place.ID || m.Reference.Type == "Forward" || m.kind() == memory.FromSystem {
		return 0
	}
	return idOf[memory.MessageID](m.Reference.Message)
}

// kind returns the kind of message. Modern accounts have the discriminator 0000 like webhooks, but aren't bots.
func (m exportMessage) kind() memory.Kind {
	switch {
	case !spoken[m.Type]:
		return memory.FromSystem
	case m.Author.IsBot && m.Author.Discriminator == "0000":
		return memory.FromWebhook
	case m.Author.IsBot:
		return memory.FromBot
	}
	return memory.FromMember
}

// text returns m's content, else what it forwards or embeds; then its stickers.
func (m exportMessage) text() string {
	parts := []string{string(m.Content)}
	if m.Content == "" {
		parts = m.embeds()
	}
	if m.Forwarded.Content != "" {
		parts = append(parts, string(m.Forwarded.Content))
	} else {
		parts = append(parts, m.Forwarded.embeds()...)
	}
	for _, s := range append(m.Stickers, m.Forwarded.Stickers...) {
		parts = append(parts, "[sticker: "+string(s.Name)+"]")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" }), "\n")
}

func (b exportBody) embeds() []string {
	var parts []string
	for _, e := range b.Embeds {
		parts = append(parts, string(e.Title), string(e.Description))
		for _, f := range e.Fields {
			parts = append(parts, strings.TrimPrefix(string(f.Name+": "+f.Value), ": "))
		}
	}
	return parts
}

// links returns the previews below what was written.
func (m exportMessage) links() []memory.Link {
	var all []memory.Link
	for _, e := range m.Embeds {
		l := memory.Link{Title: string(e.Title), Description: string(e.Description)}
		if m.Content != "" && e.URL != "" && l != (memory.Link{}) {
			all = append(all, l)
		}
	}
	return all
}

func (m exportMessage) files() []memory.File {
	var files []memory.File
	for _, a := range append(m.Attachments, m.Forwarded.Attachments...) {
		files = append(files, memory.File{Name: string(a.FileName)})
	}
	return files
}

func (u exportUser) person(guild memory.GuildID) memory.Person {
	p := memory.Person{ID: idOf[memory.UserID](u.ID), Guild: guild, Username: string(u.Name), Bot: u.IsBot}
	if u.Nickname != u.Name {
		p.Nick = string(u.Nickname)
	}
	return p
}

// token, more and decode are the decoder's, with no item longer than maxItem.

func (e *export) token() (json.Token, error) {
	e.src.item()
	return e.dec.Token()
}

func (e *export) more() bool {
	e.src.item()
	return e.dec.More()
}

// decode reads a value. A field of the wrong type stays empty.
func (e *export) decode(v any) error {
	e.src.item()
	err := e.dec.Decode(v)
	if _, ill := errors.AsType[*json.UnmarshalTypeError](err); ill {
		return nil
	}
	return e.fault(err)
}

func (e *export) where() string {
	return fmt.Sprintf("after message %d, near byte %d of the text", e.count, e.dec.InputOffset())
}

// fault returns an error about the file if err isn't nil.
func (e *export) fault(err error) error {
	syntax, is := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return nil
	case !is:
		return damaged(err, e.where())
	case strings.Contains(syntax.Error(), `\x00`):
		return fmt.Errorf("%w (%s); what was read so far is kept", errNUL, e.where())
	}
	return fmt.Errorf("the export is not JSON %s (%w): export the channel again; what was read so far is kept", e.where(), err)
}
