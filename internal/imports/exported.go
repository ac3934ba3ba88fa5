package imports

import (
	"context"

	"hark/memory"
)

// exportedLine is what "hark export" adds to a recall set's message. One with a server is from Discord and
// returns to its place under its own id, unless it was forgotten there.
type exportedLine struct {
	Server    text            `json:"server"`
	ChannelID text            `json:"channel_id"`
	In        text            `json:"in"` // what the channel is, as channelWords have it
	Parent    text            `json:"parent_id"`
	Owner     text            `json:"owner_id"`
	Tags      []text          `json:"tags"`
	AuthorID  text            `json:"author_id"`
	Username  text            `json:"username"` // where it differs from the author's name
	Kind      text            `json:"kind"`     // as speakerWords have it
	Edited    text            `json:"edited"`
	Files     []exportedFile  `json:"files"`
	Links     []exportedLink  `json:"links"`
	Mentions  []exportedNamed `json:"mentions"`
	Starred   bool            `json:"starred"`
	CopyOf    struct {
		Server    text  `json:"server"`
		ChannelID text  `json:"channel_id"`
		ID        text  `json:"id"`
		Version   int64 `json:"version"`
	} `json:"copy_of"`
}

type (
	exportedFile struct {
		Name        text `json:"name"`
		Description text `json:"description"`
		ID          text `json:"id"`
		Kind        text `json:"kind"`
		Told        text `json:"told"`
	}
	exportedLink struct {
		Title       text `json:"title"`
		Description text `json:"description"`
	}
	exportedNamed struct {
		ID   text `json:"id"`
		Name text `json:"name"`
	}
)

// channelWords and speakerWords are what exports call kinds of channels and of messages.
var (
	channelWords = map[memory.ChannelKind]string{
		memory.TextChannel: "text", memory.VoiceChannel: "voice", memory.ForumChannel: "forum",
		memory.PublicThread: "thread", memory.PrivateThread: "private thread", memory.DirectChannel: "direct",
	}
	speakerWords = map[memory.Kind]string{
		memory.FromMember: "", memory.FromBot: "bot", memory.FromWebhook: "webhook",
		memory.FromHark: "hark", memory.FromSystem: "notice",
	}
)

// ChannelWord returns the word for a kind of channel in exports.
func ChannelWord(k memory.ChannelKind) string { return channelWords[k] }

// SpeakerWord returns the word for a kind of message in exports; empty for people.
func SpeakerWord(k memory.Kind) string { return speakerWords[k] }

// kindCalled returns the kind for a word; the zero kind if there is none.
func kindCalled[K memory.ChannelKind | memory.Kind](words map[K]string, word text) K {
	for k, w := range words {
		if w == string(word) {
			return k
		}
	}
	return 0
}

// exported adds a message from Discord.
func (b *batch) exported(ctx context.Context, number int, l setLine) error {
	place := unplaced(memory.Channel{
		ID:     idOf[memory.ChannelID](l.ChannelID),
		Guild:  idOf[memory.GuildID](l.Server),
		Parent: idOf[memory.ChannelID](l.Parent),
		Owner:  idOf[memory.UserID](l.Owner),
		Kind:   kindCalled(channelWords, l.In),
		Name:   string(l.Channel),
	})
	for _, name := range l.Tags {
		place.Tags = append(place.Tags, memory.Tag{Name: string(name)})
	}
	known := place.Guild != 0 && place.Guild != memory.LocalGuild || l.Server == text(memory.DirectGuild.String())
	id := idOf[memory.MessageID](l.ID)
	if !known || place.ID == 0 || id == 0 {
		return b.skip("line %d has a server, but not the ids that Discord gave the server, the channel and the message",
			number)
	}
	p := &post{Message: memory.Message{
		ID:      id,
		Guild:   place.Guild,
		Channel: place.ID,
		Kind:    kindCalled(speakerWords, l.Kind),
		Content: string(l.Text),
		Starred: l.Starred,
		Edited:  timeOf(l.Edited),
	}}
	if p.Kind == memory.FromHark { // what it drew on isn't told, so it couldn't be forgotten with that
		b.sum.Answers++
		return nil
	}
	for _, f := range l.Files {
		p.Files = append(p.Files, memory.File{
			Name:        string(f.Name),
			Description: string(f.Description),
			ID:          idOf[int64](f.ID),
			Kind:        memory.FileKind(f.Kind),
			Told:        string(f.Told),
		})
	}
	for _, x := range l.Links {
		p.Links = append(p.Links, memory.Link{Title: string(x.Title), Description: string(x.Description)})
	}
	p.Original = memory.Original{
		Guild:   idOf[memory.GuildID](l.CopyOf.Server),
		Channel: idOf[memory.ChannelID](l.CopyOf.ChannelID),
		Message: idOf[memory.MessageID](l.CopyOf.ID),
		Version: l.CopyOf.Version,
	}
	if len(l.ReplyTo) > 0 {
		p.ReplyTo = idOf[memory.MessageID](l.ReplyTo[0])
	}
	who := memory.Person{
		ID:       idOf[memory.UserID](l.AuthorID),
		Guild:    p.Guild,
		Username: string(l.Author),
	}
	if l.Username != "" {
		who.Username = string(l.Username)
		who.Nick = string(l.Author)
	}
	who.Bot = p.Kind != memory.FromMember && p.Kind != memory.FromSystem
	p.people = []memory.Person{who}
	for _, u := range l.Mentions {
		p.people = append(p.people, memory.Person{
			ID:       idOf[memory.UserID](u.ID),
			Guild:    p.Guild,
			Username: string(u.Name),
		})
	}
	b.channel(place)
	return b.post(ctx, p)
}

// unplaced returns a Discord channel from a file, whose place Discord hasn't confirmed.
func unplaced(c memory.Channel) memory.Channel {
	c.Unplaced = true
	if c.Guild == memory.DirectGuild {
		c.Kind = memory.DirectChannel
		c.Parent = 0
	}
	return c
}
