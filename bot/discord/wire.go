// Package discord speaks with Discord: REST requests that end with their context and honour rate limits, the
// gateway connection, messages that ping nobody except the asker, and Hark's permissions.
//
// It alone imports discordgo, and uses only its requests and rate limits. It may import memory, bot/markdown and
// bot/locale. Begin with Client, Gateway and Sender.
package discord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"hark/internal/body"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hark/memory"
)

// The used parts of what Discord sends. discordgo's structs don't distinguish a missing field from an empty one.

// Snowflake is an id, a string in Discord's JSON; null and "" are 0.
type Snowflake int64

func (s *Snowflake) UnmarshalJSON(b []byte) error {
	b = bytes.Trim(b, `"`)
	if len(b) == 0 || string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%.30q is no id", b)
	}
	*s = Snowflake(n)
	return nil
}

// Permissions is a set of bits, a string in Discord's JSON.
type Permissions memory.Permissions

func (p *Permissions) UnmarshalJSON(b []byte) error {
	b = bytes.Trim(b, `"`)
	n, ok := new(big.Int).SetString(string(b), 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 256 {
		return fmt.Errorf("%.30q is no set of permissions", b)
	}
	// The bits that decide who reads are the low ones, however many are added.
	*p = Permissions(n.And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	return nil
}

type wireGateway struct {
	URL    string           `json:"url"`
	Shards int              `json:"shards"`
	Limit  wireSessionLimit `json:"session_start_limit"`
}

type wireSessionLimit struct {
	Total     int   `json:"total"`
	Remaining int   `json:"remaining"`
	Reset     int64 `json:"reset_after"` // milliseconds
	// Concurrency is how many sessions may begin at once: shards are in buckets by their number's remainder.
	Concurrency int `json:"max_concurrency"`
}

func (w wireSessionLimit) reset() time.Duration { return time.Duration(w.Reset) * time.Millisecond }

// User is somebody.
type User struct {
	ID         Snowflake `json:"id"`
	Username   string    `json:"username"`
	GlobalName string    `json:"global_name"`
	Bot        bool      `json:"bot"`
	Member     *Member   `json:"member"` // where the user is one of a message's mentions
}

// Member is somebody in a guild.
type Member struct {
	User   *User       `json:"user"`
	Nick   string      `json:"nick"`
	Roles  []Snowflake `json:"roles"`
	Joined time.Time   `json:"joined_at"`
	Flags  int         `json:"flags"`
	// Permissions comes with an interaction: the member's in that channel. An owner has all.
	Permissions Permissions `json:"permissions"`
}

// guestFlag is the flag of a Member who was invited to one voice channel.
const guestFlag = 1 << 4

// IsGuest reports whether somebody is a guest of a voice channel and can see nothing else of the guild. They are
// no member without roles: those read what is open to all.
func (m *Member) IsGuest() bool { return m != nil && m.Flags&guestFlag != 0 }

// Message is a message, or an event's part of it.
type Message struct {
	ID           Snowflake                 `json:"id"`
	Channel      Snowflake                 `json:"channel_id"`
	Guild        Snowflake                 `json:"guild_id"`
	Type         *int                      `json:"type"`
	Author       *User                     `json:"author"`
	Member       *Member                   `json:"member"`
	Content      *string                   `json:"content"`
	Edited       time.Time                 `json:"edited_timestamp"`
	Webhook      Snowflake                 `json:"webhook_id"`
	Flags        int                       `json:"flags"`
	Mentions     []*User                   `json:"mentions"`
	MentionRoles []Snowflake               `json:"mention_roles"`
	Attachments  []wireFile                `json:"attachments"`
	Embeds       body.List[wireEmbed]      `json:"embeds"`
	Components   body.List[body.Component] `json:"components"`
	Stickers     body.List[wireNamed]      `json:"sticker_items"`
	Poll         *wirePoll                 `json:"poll"`
	Reference    *struct {
		Type    int       `json:"type"`
		Message Snowflake `json:"message_id"`
		Channel Snowflake `json:"channel_id"`
		Guild   Snowflake `json:"guild_id"`
	} `json:"message_reference"`
	Referenced *Message `json:"referenced_message"`
	// Interaction is the use of a command that the message answers.
	Interaction *struct {
		User   *User   `json:"user"`
		Member *Member `json:"member"`
	} `json:"interaction"`
	Snapshots []struct {
		Message Message `json:"message"`
	} `json:"message_snapshots"`
}

type wireFile struct {
	ID          Snowflake `json:"id"`
	Waveform    string    `json:"waveform"`      // of a voice message only
	Seconds     float64   `json:"duration_secs"` // likewise
	Filename    string    `json:"filename"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	ContentType string    `json:"content_type"`
	Size        int       `json:"size"`
	URL         string    `json:"url"`
}

type wireEmbed struct {
	Type        string               `json:"type"`
	URL         string               `json:"url"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Author      wireNamed            `json:"author"`
	Footer      wireText             `json:"footer"`
	Fields      body.List[wireField] `json:"fields"`
}

type wireField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type wireNamed struct {
	Name string `json:"name"`
}

type wirePoll struct {
	Question wireText `json:"question"`
	Answers  []struct {
		ID    int      `json:"answer_id"`
		Media wireText `json:"poll_media"`
	} `json:"answers"`
	Expiry  time.Time `json:"expiry"`
	Results *struct {
		Finalized bool `json:"is_finalized"`
		Counts    []struct {
			ID    int `json:"id"`
			Count int `json:"count"`
		} `json:"answer_counts"`
	} `json:"results"`
}

type wireText struct {
	Text string `json:"text"`
}

// Deletion is one deleted message or several.
type Deletion struct {
	ID      Snowflake   `json:"id"`
	IDs     []Snowflake `json:"ids"`
	Channel Snowflake   `json:"channel_id"`
	Guild   Snowflake   `json:"guild_id"`
}

// Guild is a guild.
type Guild struct {
	ID          Snowflake  `json:"id"`
	Name        string     `json:"name"`
	Owner       Snowflake  `json:"owner_id"`
	System      Snowflake  `json:"system_channel_id"` // for the guild's own notices
	Unavailable bool       `json:"unavailable"`
	Roles       []*Role    `json:"roles"`
	Channels    []*Channel `json:"channels"`
	Threads     []*Channel `json:"threads"`
	Members     []*Member  `json:"members"`
	// Scheduled are the events in the guild's calendar that aren't over. GUILD_CREATE has them; nil: unknown.
	Scheduled *body.List[ScheduledEvent] `json:"guild_scheduled_events"`
}

// ScheduledEvent is an event in a guild's calendar.
type ScheduledEvent struct {
	ID          Snowflake `json:"id"`
	Guild       Snowflake `json:"guild_id"`
	Channel     Snowflake `json:"channel_id"` // where it takes place, if in Discord
	Creator     Snowflake `json:"creator_id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Start       time.Time `json:"scheduled_start_time"`
	End         time.Time `json:"scheduled_end_time"`
	Status      int       `json:"status"`
	Entity      struct {
		Location string `json:"location"`
	} `json:"entity_metadata"`
}

// The states of a ScheduledEvent that is over.
const (
	scheduledCompleted = 3
	scheduledCanceled  = 4
)

// IsOver reports whether Discord doesn't show the event any more.
func (e *ScheduledEvent) IsOver() bool {
	return e.Status == scheduledCompleted || e.Status == scheduledCanceled
}

// Role is a role of a guild.
type Role struct {
	ID          Snowflake    `json:"id"`
	Name        string       `json:"name"`
	Permissions *Permissions `json:"permissions"`
	Tags        *struct {
		Bot Snowflake `json:"bot_id"`
	} `json:"tags"`
}

// Channel is a channel or a thread.
type Channel struct {
	ID       Snowflake `json:"id"`
	Guild    Snowflake `json:"guild_id"`
	Parent   Snowflake `json:"parent_id"`
	Position int       `json:"position"`
	Type     *int      `json:"type"`
	Name     string    `json:"name"`
	Owner    Snowflake `json:"owner_id"` // of a thread
	NSFW     *bool     `json:"nsfw"`
	Flags    int       `json:"flags"`
	Last     Snowflake `json:"last_message_id"`
	New      bool      `json:"newly_created"` // a new thread, which can have no gap
	Thread   *struct {
		Archived time.Time `json:"archive_timestamp"`
	} `json:"thread_metadata"`
	Overwrites []wireOverwrite `json:"permission_overwrites"` // nil: missing
	Offered    []wireTag       `json:"available_tags"`        // of a forum
	Applied    []Snowflake     `json:"applied_tags"`          // of a post
}

type wireTag struct {
	ID   Snowflake `json:"id"`
	Name string    `json:"name"`
}

type wireOverwrite struct {
	ID    Snowflake    `json:"id"`
	Type  *int         `json:"type"`
	Allow *Permissions `json:"allow"`
	Deny  *Permissions `json:"deny"`
}

// set returns the permissions; none if Discord left them out.
func (p *Permissions) set() memory.Permissions {
	if p == nil {
		return 0
	}
	return memory.Permissions(*p)
}

// kind returns the channel's kind; false if it isn't a category and holds no messages.
func (w *Channel) kind() (memory.ChannelKind, bool) {
	if w.Type == nil {
		return 0, false
	}
	kind, ok := channelKinds[*w.Type]
	return kind, ok
}

// IsWhole reports whether w has all that decides who may read the channel. Events may lack fields; a missing
// field isn't empty.
func (w *Channel) IsWhole() bool {
	switch kind, known := w.kind(); {
	case w.Type == nil:
		return false
	case !known, kind == memory.DirectChannel, kind == memory.CategoryChannel:
		return true
	case w.Guild == 0:
		return false
	case kind.IsThread():
		return w.Parent != 0
	}
	for _, o := range w.Overwrites {
		if o.ID == 0 || o.Type == nil || o.Allow == nil || o.Deny == nil {
			return false
		}
	}
	return w.Overwrites != nil && w.NSFW != nil
}

// IsWhole reports whether w has all that decides who may read, except the channels.
func (w *Guild) IsWhole() bool {
	for _, r := range w.Roles {
		if !r.IsWhole() {
			return false
		}
	}
	return len(w.Roles) > 0 && w.Owner != 0
}

// IsWhole reports whether w has the role's permissions.
func (w *Role) IsWhole() bool { return w != nil && w.ID != 0 && w.Permissions != nil }

// Unmarshal reads the gateway's JSON, with invalid UTF-8 and duplicate names: members may write anything. So
// errors leave values out.
func Unmarshal(data []byte, into any) error {
	err := jsonv2.Unmarshal(data, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*jsonv2.SemanticError](err); ok && wrong.JSONPointer != "" {
		return fmt.Errorf("the field %s isn't of the kind expected", wrong.JSONPointer[1:])
	}
	return errors.New("not the JSON expected")
}

// EventID returns an event's id; 0 if there is none.
func EventID(data json.RawMessage) int64 {
	var v struct {
		ID Snowflake `json:"id"`
	}
	_ = json.Unmarshal(data, &v)
	return int64(v.ID)
}
