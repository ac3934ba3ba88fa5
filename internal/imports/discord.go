package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hark/internal/body"
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
		Within text `json:"category"`   // the parent's name
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
		Embeds   []exportEmbed `json:"embeds"`
		Stickers []struct {
			Name text `json:"name"`
		} `json:"stickers"`
	}
	exportEmbed struct {
		URL         text `json:"url"`
		Title       text `json:"title"`
		Description text `json:"description"`
		Author      struct {
			Name text `json:"name"`
		} `json:"author"`
		Footer struct {
			Text text `json:"text"`
		} `json:"footer"`
		Fields []struct {
			Name  text `json:"name"`
			Value text `json:"value"`
		} `json:"fields"`
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
		Forwarded struct {
			exportBody
			Edited text `json:"timestampEdited"`
		} `json:"forwardedMessage"`
		Reference struct {
			Type    text `json:"type"`
			Message text `json:"messageId"`
			Channel text `json:"channelId"`
			Guild   text `json:"guildId"`
		} `json:"reference"`
	}
)

// channelKinds are the kinds of channels by DiscordChatExporter's names of types in plain form, and by Discord's
// numbers of them. Any other type is a text channel.
// https://discord.com/developers/docs/resources/channel#channel-object-channel-types
var channelKinds = map[string]memory.ChannelKind{
	"guildtextchat":       memory.TextChannel,
	"guildtext":           memory.TextChannel,
	"0":                   memory.TextChannel,
	"directtextchat":      memory.DirectChannel,
	"dm":                  memory.DirectChannel,
	"1":                   memory.DirectChannel,
	"guildvoicechat":      memory.VoiceChannel,
	"guildvoice":          memory.VoiceChannel,
	"2":                   memory.VoiceChannel,
	"directgrouptextchat": memory.DirectChannel,
	"groupdm":             memory.DirectChannel,
	"3":                   memory.DirectChannel,
	"guildcategory":       memory.CategoryChannel,
	"4":                   memory.CategoryChannel,
	"guildnews":           memory.TextChannel,
	"guildannouncement":   memory.TextChannel,
	"5":                   memory.TextChannel,
	"guildnewsthread":     memory.PublicThread,
	"announcementthread":  memory.PublicThread,
	"10":                  memory.PublicThread,
	"guildpublicthread":   memory.PublicThread,
	"publicthread":        memory.PublicThread,
	"11":                  memory.PublicThread,
	"guildprivatethread":  memory.PrivateThread,
	"privatethread":       memory.PrivateThread,
	"12":                  memory.PrivateThread,
	"guildstagevoice":     memory.VoiceChannel,
	"13":                  memory.VoiceChannel,
	"guildforum":          memory.ForumChannel,
	"15":                  memory.ForumChannel,
	"guildmedia":          memory.ForumChannel,
	"16":                  memory.ForumChannel,
}

// messageTypes are Discord's numbers of the names that DiscordChatExporter has for types. It writes others as numbers.
var messageTypes = map[string]int{
	"":        body.Default,
	"default": body.Default,
	"reply":   body.Reply,
}

// isSaid reports whether somebody said messages of a type. Other programs write its name in other cases.
func isSaid(named text) bool {
	number, err := strconv.Atoi(string(named))
	if err != nil {
		var known bool
		number, known = messageTypes[plain(named)]
		return known && body.IsSaid(number)
	}
	return body.IsSaid(number)
}

// plain returns a type's name without its case, and without what stands between its words.
func plain(named text) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(string(named)))
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
	e := &export{
		dec: json.NewDecoder(src),
		src: src,
		b:   b,
	}
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
	e.parent()
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
	guild := idOf[memory.GuildID](e.guild.ID)
	channel := idOf[memory.ChannelID](e.channel.ID)
	if channel == 0 || guild == 0 && e.guild.ID != "0" {
		return errors.New("the export has no ids of its server and channel: export the channel again with DiscordChatExporter")
	}
	e.place = unplaced(memory.Channel{
		ID:     channel,
		Guild:  guild,
		Parent: idOf[memory.ChannelID](e.channel.Parent),
		Kind:   channelKinds[plain(e.channel.Type)],
		Name:   string(e.channel.Name),
	})
	return nil
}

// parent adds what the channel is in: a thread's channel, or a category. Discord may have named it already.
func (e *export) parent() {
	if e.place.Parent == 0 || e.channel.Within == "" || e.place.Guild == memory.DirectGuild {
		return
	}
	parent := unplaced(memory.Channel{
		ID:    e.place.Parent,
		Guild: e.place.Guild,
		Kind:  memory.CategoryChannel,
		Name:  string(e.channel.Within),
	})
	if e.place.Kind == memory.PublicThread || e.place.Kind == memory.PrivateThread {
		parent.Kind = memory.TextChannel
	}
	e.b.events = append(e.b.events, memory.ChannelSeen{Channel: parent})
}

// retime gives a message a new id if its own isn't a snowflake of its time. The old one becomes its name.
func (p *post) retime(m exportMessage) error {
	at := timeOf(m.Time)
	if at.IsZero() {
		return p.checkID()
	}
	if p.ID != 0 && at.Sub(p.ID.Time()).Abs() <= time.Minute {
		return nil
	}
	id, err := messageID(at, string(m.ID))
	if err != nil {
		return err
	}
	p.ID = id
	p.name = string(m.ID)
	p.ReplyTo = 0
	return nil
}

// launch is when Discord began. Ids of earlier times aren't its own.
var launch = memory.FirstMessageID(time.Date(2015, 5, 1, 0, 0, 0, 0, time.UTC))

func (p *post) checkID() error {
	if p.ID < launch {
		return errors.New("no time, and its id isn't one that Discord gave")
	}
	return nil
}

func (e *export) message(ctx context.Context, m exportMessage) error {
	if m.ID == "" {
		return e.b.skip("message %d (before byte %d) has no id", e.count, e.dec.InputOffset())
	}
	kind := m.kind()
	said := m.body()
	replied := e.replied(m)
	p := &post{Message: memory.Message{
		ID:      idOf[memory.MessageID](m.ID),
		Guild:   e.place.Guild,
		Channel: e.place.ID,
		Kind:    kind,
		Content: said.AsText(kind),
		Files:   m.files(),
		Links:   said.Links(kind),
		ReplyTo: idOf[memory.MessageID](replied),
		Starred: m.IsPinned,
		Edited:  timeOf(m.Edited),
	}}
	if err := p.retime(m); err != nil {
		return e.b.skip("message %d (before byte %d) has %v", e.count, e.dec.InputOffset(), err)
	}
	if p.name == "" {
		p.Original = m.original()
	}
	if p.name != "" && replied != "" {
		p.answers = []string{string(replied)}
	}
	if kind == memory.FromSystem {
		e.b.sum.Notices++
	}
	if isZoneless(m.Time) {
		e.b.sum.Zoneless++
	}
	for _, u := range append([]exportUser{m.Author}, m.Mentions...) {
		p.people = append(p.people, u.person(e.place.Guild))
	}
	if author := &p.people[0]; kind == memory.FromWebhook && author.Username != "" {
		author.ID = memory.WebhookPerson(e.place.ID, author.Username)
	}
	return e.b.post(ctx, p)
}

// replied returns the id that the file has for the message that m replies to, if that is in the same channel.
func (e *export) replied(m exportMessage) text {
	channel := idOf[memory.ChannelID](m.Reference.Channel)
	if channel != 0 && channel != e.place.ID || plain(m.Reference.Type) == "forward" || m.kind() == memory.FromSystem {
		return ""
	}
	return m.Reference.Message
}

// original returns what a forward copies. Exports don't tell of crossposts.
func (m exportMessage) original() memory.Original {
	if plain(m.Reference.Type) != "forward" {
		return memory.Original{}
	}
	copied := memory.Original{
		Guild:   idOf[memory.GuildID](m.Reference.Guild),
		Channel: idOf[memory.ChannelID](m.Reference.Channel),
		Message: idOf[memory.MessageID](m.Reference.Message),
	}
	return copied.Of(timeOf(m.Forwarded.Edited))
}

// kind returns the kind of message. Modern accounts have the discriminator 0000 like webhooks, but aren't bots.
func (m exportMessage) kind() memory.Kind {
	switch {
	case !isSaid(m.Type):
		return memory.FromSystem
	case m.Author.IsBot && m.Author.Discriminator == "0000":
		return memory.FromWebhook
	case m.Author.IsBot:
		return memory.FromBot
	}
	return memory.FromMember
}

// body returns what was written and what it forwards.
func (m exportMessage) body() body.Body {
	b := m.exportBody.body()
	forwarded := m.Forwarded.body()
	if !forwarded.IsEmpty() {
		b.Forwards = append(b.Forwards, forwarded)
	}
	return b
}

func (b exportBody) body() body.Body {
	to := body.Body{Content: string(b.Content)}
	for _, e := range b.Embeds {
		to.Embeds = append(to.Embeds, e.embed())
	}
	for _, s := range b.Stickers {
		to.Stickers = append(to.Stickers, string(s.Name))
	}
	return to
}

func (e exportEmbed) embed() body.Embed {
	to := body.Embed{
		URL:         string(e.URL),
		Title:       string(e.Title),
		Description: string(e.Description),
		Author:      string(e.Author.Name),
		Footer:      string(e.Footer.Text),
	}
	for _, f := range e.Fields {
		field := body.Field{
			Name:  string(f.Name),
			Value: string(f.Value),
		}
		to.Fields = append(to.Fields, field)
	}
	return to
}

func (m exportMessage) files() []memory.File {
	var files []memory.File
	for _, a := range append(m.Attachments, m.Forwarded.Attachments...) {
		files = append(files, memory.File{Name: string(a.FileName)})
	}
	return files
}

func (u exportUser) person(guild memory.GuildID) memory.Person {
	p := memory.Person{
		ID:       idOf[memory.UserID](u.ID),
		Guild:    guild,
		Username: string(u.Name),
		Bot:      u.IsBot,
	}
	called := cmp.Or(u.ID, u.Name)
	if p.ID == 0 && called != "" { // not Discord's id, as of a converted file
		p.ID = UserID(string(called))
	}
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
