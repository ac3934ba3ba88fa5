package memory

import (
	"cmp"
	"slices"
	"time"
)

// Guild is the structure of a Discord server, as far as it decides who may read what. One from a store is
// shared: don't change it.
type Guild struct {
	ID       GuildID
	Name     string
	Owner    UserID
	Self     UserID // Hark's own; 0: unknown. Once known, it stays
	Roles    []Role // with @everyone, whose id is the guild's
	Channels []Channel

	// Chose, Asked, SettingChosen, GuildSeen and GuildLeft set the fields below. They are ignored in a
	// GuildSeen's Guild.
	Choice Choice
	By     UserID    // who chose it; as in SettingChosen
	Asked  bool      // its admins were asked what to remember
	Since  MessageID // nothing said up to here counts as missing
	Left   time.Time // when Hark was removed; zero while it is there
	Learn  time.Time // since when facts may be learned, set by Learn; zero: never
	// Settings are the guild's own. No value is empty. SetBy tells who set them, as far as it is known.
	Settings map[Setting]string
	SetBy    map[Setting]UserID
	// Limits are the chosen ones, by role.
	Limits []RoleLimit
}

// Channel returns g's channel with that id, or nil.
func (g *Guild) Channel(id ChannelID) *Channel {
	for i := range g.Channels {
		if g.Channels[i].ID == id {
			return &g.Channels[i]
		}
	}
	return nil
}

// WithThreads returns a channel of g and its known threads.
func (g *Guild) WithThreads(id ChannelID) []Channel {
	var all []Channel
	for _, c := range g.Channels {
		if c.ID == id || c.Kind.IsThread() && c.Parent == id {
			all = append(all, c)
		}
	}
	return all
}

type Role struct {
	ID          RoleID
	Name        string
	Permissions Permissions
	Bot         UserID // the only bot with this role; 0 for roles of people
}

// ChannelKind is the kind of a channel, as far as it matters to who may read it.
type ChannelKind uint8

const (
	TextChannel     ChannelKind = iota // text and announcements
	VoiceChannel                       // voice and stage: reading also needs CONNECT
	ForumChannel                       // forum and media: holds posts, which are public threads
	CategoryChannel                    // groups channels; never decides anything
	PublicThread                       // with the parent's overwrites
	PrivateThread                      // for those invited
	DirectChannel                      // direct messages
	LocalChannel                       // imported or spoken in a terminal: read at the command line only
)

// IsThread reports whether the parent's overwrites and age restriction apply.
func (k ChannelKind) IsThread() bool { return k == PublicThread || k == PrivateThread }

type Channel struct {
	ID     ChannelID
	Guild  GuildID
	Parent ChannelID // a thread's channel; else the category
	Kind   ChannelKind
	// Name is empty if unknown, for deleted channels, and for threads of somebody who has opted out or is
	// forgotten, because it is their words.
	Name       string
	Tags       []Tag  // a forum's, that its posts may have; a post's own. They come and go with Name
	Owner      UserID // who made a thread; 0: unknown
	AgeLimited bool   // Discord's nsfw
	Overwrites []Overwrite
	// Unplaced is set until Discord sends the channel, and again when it is gone. Its messages can then be
	// read on the command line only.
	Unplaced bool
	// Shut is set while the remembered messages may be out of date because Hark couldn't read the channel;
	// see ShutOut.
	Shut    bool
	Choice  Choice    // set by Chose
	By      UserID    // who chose it; as in SettingChosen
	Learned MessageID // searched for facts up to here; set by Learned
	// Settings are the channel's own. No value is empty. SetBy tells who set them, as far as it is known.
	Settings map[Setting]string
	SetBy    map[Setting]UserID
}

// Overwrite changes the permissions of a role or a person in one channel.
type Overwrite struct {
	Role  RoleID // or
	User  UserID
	Allow Permissions
	Deny  Permissions
}

// Person is a member or former member of a guild, with the names they use.
type Person struct {
	ID         UserID
	Guild      GuildID
	Username   string
	Name       string // display name, the same in every guild
	Nick       string // in this guild
	Bot        bool
	Roles      []RoleID
	RolesKnown bool      // whether Roles is known
	Facts      []Fact    // by id
	Learn      time.Time // since when facts may be learned from their messages, set by Learn; zero: never
}

// People are the persons of several guilds, by id within each.
type People [][]Person

// Of returns a person as in the last guild that knows them.
func (p People) Of(id UserID) (Person, bool) {
	for _, guild := range slices.Backward(p) {
		at, known := slices.BinarySearchFunc(guild, id, func(p Person, id UserID) int { return cmp.Compare(p.ID, id) })
		if known {
			return guild[at], true
		}
	}
	return Person{}, false
}

// Name returns the name a person uses, or their mention if unknown.
func (p People) Name(id UserID) string {
	if known, _ := p.Of(id); known.DisplayName() != "" {
		return known.DisplayName()
	}
	return "<@" + id.String() + ">"
}

func (p People) IsBot(id UserID) bool {
	known, _ := p.Of(id)
	return known.Bot
}

// Fact is something about a person that they, or an admin, told Hark.
type Fact struct {
	ID    int64  // unique in the guild; the id of the interaction or message that told it
	Text  string // valid UTF-8 without NUL; see Clean
	Alias bool   // Text is another name of the person
	By    UserID
	// Channel is where it was told, and it may be told only where that may be read. 0: anywhere in the guild.
	Channel ChannelID
	// Message, if not 0, is the message it was learned from. The fact goes when that goes or its text
	// changes.
	Message MessageID
}

func (p Person) Aliases() []string {
	var names []string
	for _, f := range p.Facts {
		if f.Alias {
			names = append(names, f.Text)
		}
	}
	return names
}

func (p Person) DisplayName() string {
	return cmp.Or(p.Nick, p.Name, p.Username)
}

// Activity is how much was written on a day.
type Activity struct {
	Day      time.Time // its start, in UTC
	Author   UserID    // 0 if not counted by author
	Messages int
}

// Presence is how much and when somebody last wrote.
type Presence struct {
	Messages int
	Last     time.Time
}

func (g *Guild) LimitOf(role RoleID) Limit {
	for _, l := range g.Limits {
		if l.Role == role {
			return l.Limit
		}
	}
	return Limit{AsConfigured, AsConfigured}
}

// Choice is whether to remember a guild, a category, a channel or a thread.
type Choice uint8

const (
	Undecided      Choice = iota
	Remember              // everything
	RememberPublic        // of a guild: the channels that @everyone can read
	RememberChosen        // of a guild: the channels and categories that say Remember
	Ignore                // nothing
)
