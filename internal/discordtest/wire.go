package discordtest

import "encoding/json"

// Permissions is a set of Discord's permission bits; a decimal string in JSON.
type Permissions uint64

// The permissions that the fake knows how to ask for.
const (
	Administrator         Permissions = 1 << 3
	ManageGuild           Permissions = 1 << 5
	ViewChannel           Permissions = 1 << 10
	SendMessages          Permissions = 1 << 11
	ManageMessages        Permissions = 1 << 13
	EmbedLinks            Permissions = 1 << 14
	AttachFiles           Permissions = 1 << 15
	ReadMessageHistory    Permissions = 1 << 16
	MentionEveryone       Permissions = 1 << 17
	Connect               Permissions = 1 << 20
	UseCommands           Permissions = 1 << 31
	ManageThreads         Permissions = 1 << 34
	SendMessagesInThreads Permissions = 1 << 38

	// Everyday is what @everyone of a new guild may do, and the bot's own role too.
	Everyday = ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory | Connect | UseCommands |
		SendMessagesInThreads
)

// Has reports whether p holds every permission of q.
func (p Permissions) Has(q Permissions) bool { return p&q == q }

// MarshalText writes the bits in decimal.
func (p Permissions) MarshalText() ([]byte, error) { return ID(p).MarshalText() }

// UnmarshalText reads decimal bits.
func (p *Permissions) UnmarshalText(b []byte) error {
	var bits ID
	err := bits.UnmarshalText(b)
	*p = Permissions(bits)
	return err
}

// ChannelType is Discord's number for a kind of channel.
type ChannelType int

// The kinds of channel that the fake has.
const (
	Text          ChannelType = 0
	Direct        ChannelType = 1
	Voice         ChannelType = 2
	Category      ChannelType = 4
	PublicThread  ChannelType = 11
	PrivateThread ChannelType = 12
	Stage         ChannelType = 13
	Forum         ChannelType = 15
	Media         ChannelType = 16
)

// IsThread reports whether the channel lives in a parent channel.
func (t ChannelType) IsThread() bool { return t == PublicThread || t == PrivateThread || t == 10 }

// User is an account. Only Username is needed when one is added.
type User struct {
	ID            ID        `json:"id"`
	Username      string    `json:"username"`
	GlobalName    *string   `json:"global_name"`
	Discriminator string    `json:"discriminator"`
	Avatar        *string   `json:"avatar"`
	Bot           bool      `json:"bot,omitempty"`
	PublicFlags   int       `json:"public_flags"`
	Flags         int       `json:"flags"`
	PrimaryGuild  *struct{} `json:"primary_guild"`
}

// Mention is the text that mentions the user.
func (u User) Mention() string { return "<@" + u.ID.String() + ">" }

// Member is a user in a guild.
type Member struct {
	User          *User   `json:"user,omitempty"`
	Nick          *string `json:"nick"`
	Roles         []ID    `json:"roles"`
	JoinedAt      string  `json:"joined_at"`
	Avatar        *string `json:"avatar"`
	Banner        *string `json:"banner"`
	DisabledUntil *string `json:"communication_disabled_until"`
	PremiumSince  *string `json:"premium_since"`
	Flags         int     `json:"flags"`
	Pending       bool    `json:"pending"`
	Mute          bool    `json:"mute"`
	Deaf          bool    `json:"deaf"`
}

// withoutUser is the member as it accompanies a message, whose author is told beside it; nil if there is none.
func (m *Member) withoutUser() *Member {
	if m == nil {
		return nil
	}
	alone := *m
	alone.User = nil
	return &alone
}

// Role is a role of a guild. @everyone's id is the guild's.
type Role struct {
	ID           ID          `json:"id"`
	Name         string      `json:"name"`
	Permissions  Permissions `json:"permissions"`
	Position     int         `json:"position"`
	Color        int         `json:"color"`
	Colors       colors      `json:"colors"`
	Hoist        bool        `json:"hoist"`
	Managed      bool        `json:"managed"`
	Mentionable  bool        `json:"mentionable"`
	Icon         *string     `json:"icon"`
	UnicodeEmoji *string     `json:"unicode_emoji"`
	Flags        int         `json:"flags"`
	Tags         *roleTags   `json:"tags,omitempty"`
}

// roleTags say whose a managed role is.
type roleTags struct {
	BotID ID `json:"bot_id,omitzero"`
}

type colors struct {
	Primary   int  `json:"primary_color"`
	Secondary *int `json:"secondary_color"`
	Tertiary  *int `json:"tertiary_color"`
}

// Overwrite changes the permissions of a role (Type 0) or a member (Type 1) in one channel.
type Overwrite struct {
	ID    ID          `json:"id"`
	Type  int         `json:"type"`
	Allow Permissions `json:"allow"`
	Deny  Permissions `json:"deny"`
}

// ForRole is an overwrite for a role; the guild's id stands for @everyone.
func ForRole(role ID, allow, deny Permissions) Overwrite {
	return Overwrite{ID: role, Allow: allow, Deny: deny}
}

// ForMember is an overwrite for one member.
func ForMember(user ID, allow, deny Permissions) Overwrite {
	return Overwrite{ID: user, Type: 1, Allow: allow, Deny: deny}
}

// Channel is a channel, a category or a thread. Name is needed when one is added, and ParentID for a thread; the
// zero Type is a text channel.
type Channel struct {
	ID            ID              `json:"id"`
	Type          ChannelType     `json:"type"`
	GuildID       ID              `json:"guild_id,omitzero"`
	Name          string          `json:"name,omitempty"`
	ParentID      *ID             `json:"parent_id,omitempty"`
	Position      int             `json:"position"`
	Topic         *string         `json:"topic,omitempty"`
	NSFW          bool            `json:"nsfw,omitempty"`
	Flags         int             `json:"flags"`
	Overwrites    []Overwrite     `json:"permission_overwrites,omitempty"`
	LastMessageID *ID             `json:"last_message_id,omitempty"`
	Recipients    []User          `json:"recipients,omitempty"`
	OwnerID       ID              `json:"owner_id,omitzero"`
	Thread        *ThreadMetadata `json:"thread_metadata,omitempty"`
	MessageCount  *int            `json:"message_count,omitempty"`
	MemberCount   *int            `json:"member_count,omitempty"`
	TotalSent     *int            `json:"total_message_sent,omitempty"`
	AvailableTags []ForumTag      `json:"available_tags,omitempty"` // of a forum
	AppliedTags   []ID            `json:"applied_tags,omitempty"`   // of a post
	// Invited are the members of a thread; who made it is one of them.
	Invited []ID `json:"-"`
}

// MarshalJSON tells of a guild's channel always who may read it, also where nothing is special about that; of
// a thread never.
func (c Channel) MarshalJSON() ([]byte, error) {
	type plain Channel
	if c.GuildID == 0 || c.Type.IsThread() {
		return json.Marshal(plain(c))
	}
	return json.Marshal(struct {
		plain
		NSFW       bool        `json:"nsfw"`
		Overwrites []Overwrite `json:"permission_overwrites"`
	}{plain(c), c.NSFW, append([]Overwrite{}, c.Overwrites...)})
}

// ForumTag is a tag that a forum's posts may have.
type ForumTag struct {
	ID        ID      `json:"id"`
	Name      string  `json:"name"`
	Moderated bool    `json:"moderated"`
	EmojiID   *ID     `json:"emoji_id"`
	EmojiName *string `json:"emoji_name"`
}

// ThreadMetadata is what threads have beyond channels.
type ThreadMetadata struct {
	Archived            bool    `json:"archived"`
	ArchiveTimestamp    *string `json:"archive_timestamp"`
	AutoArchiveDuration int     `json:"auto_archive_duration"`
	Locked              bool    `json:"locked"`
}

// Attachment is a file sent with a message. Its URL expires on the real Discord, and leads nowhere here.
type Attachment struct {
	ID          ID     `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ProxyURL    string `json:"proxy_url"`
	// Waveform and Seconds are a voice message's.
	Waveform string  `json:"waveform,omitempty"`
	Seconds  float64 `json:"duration_secs,omitempty"`
}

// Reference points from a reply to what it replies to.
type Reference struct {
	Type      int `json:"type"`
	MessageID ID  `json:"message_id,omitzero"`
	ChannelID ID  `json:"channel_id"`
	GuildID   ID  `json:"guild_id,omitzero"`
}

// Message is a message as it is now.
type Message struct {
	ID              ID                `json:"id"`
	Type            int               `json:"type"`
	ChannelID       ID                `json:"channel_id"`
	GuildID         ID                `json:"-"` // events alone tell it
	Author          User              `json:"author"`
	Content         string            `json:"content"`
	Timestamp       string            `json:"timestamp"`
	EditedTimestamp *string           `json:"edited_timestamp"`
	TTS             bool              `json:"tts"`
	Pinned          bool              `json:"pinned"`
	Flags           int               `json:"flags"`
	MentionEveryone bool              `json:"mention_everyone"`
	Mentions        []User            `json:"mentions"`
	MentionRoles    []ID              `json:"mention_roles"`
	Attachments     []Attachment      `json:"attachments"`
	Embeds          []json.RawMessage `json:"embeds"`
	Components      []json.RawMessage `json:"components"`
	Nonce           string            `json:"nonce,omitempty"`
	WebhookID       ID                `json:"webhook_id,omitzero"`
	ApplicationID   ID                `json:"application_id,omitzero"`
	Reference       *Reference        `json:"message_reference,omitempty"`
	Referenced      *Message          `json:"referenced_message,omitempty"`
	Snapshots       []Snapshot        `json:"message_snapshots,omitempty"`
	Interaction     json.RawMessage   `json:"interaction_metadata,omitempty"`
}

// Snapshot is a message as it was when it was forwarded.
type Snapshot struct {
	Message SnapshotMessage `json:"message"`
}

// SnapshotMessage is what a forward tells of the message: neither who wrote it, nor where.
type SnapshotMessage struct {
	Type            int               `json:"type"`
	Content         string            `json:"content"`
	Timestamp       string            `json:"timestamp"`
	EditedTimestamp *string           `json:"edited_timestamp"`
	Flags           int               `json:"flags"`
	Mentions        []User            `json:"mentions"`
	MentionRoles    []ID              `json:"mention_roles"`
	Attachments     []Attachment      `json:"attachments"`
	Embeds          []json.RawMessage `json:"embeds"`
	Components      []json.RawMessage `json:"components"`
}

// Flags of a message.
const (
	Crosspost     = 1 << 1 // of a channel that this one follows
	SourceDeleted = 1 << 3 // of a crosspost
	Ephemeral     = 1 << 6
	Loading       = 1 << 7
	HasSnapshot   = 1 << 14 // of a forward
)

// Sent is a message of the bot's, with what became of it.
type Sent struct {
	Message
	Versions []string          // its content at first and after each edit
	Deleted  bool              // whether it is gone
	Bodies   []json.RawMessage // the requests that made and changed it
	Doors    []int             // where those came in; see Server.Door
	Pinged   []ID              // the users and roles that it really notified; the guild's id for everyone
}
