package bot

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"hark/memory"
)

// What Discord sends, as far as it is used. The structs are our own because discordgo's don't tell a missing
// field from an empty one, which matters: an edit without an author isn't one by nobody.

// snowflake is an id, a string in Discord's JSON; null and "" are 0.
type snowflake int64

func (s *snowflake) UnmarshalJSON(b []byte) error {
	b = bytes.Trim(b, `"`)
	if len(b) == 0 || string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%.30q is no id", b)
	}
	*s = snowflake(n)
	return nil
}

// permissions is a set of bits, a string in Discord's JSON.
type permissions memory.Permissions

func (p *permissions) UnmarshalJSON(b []byte) error {
	b = bytes.Trim(b, `"`)
	n, ok := new(big.Int).SetString(string(b), 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 256 {
		return fmt.Errorf("%.30q is no set of permissions", b)
	}
	// The bits that decide who reads are among the low ones, however many there will be.
	*p = permissions(n.And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	return nil
}

type wireGateway struct {
	URL    string     `json:"url"`
	Shards int        `json:"shards"`
	Limit  wireStarts `json:"session_start_limit"`
}

type wireStarts struct {
	Total     int   `json:"total"`
	Remaining int   `json:"remaining"`
	Reset     int64 `json:"reset_after"` // milliseconds
}

func (w wireStarts) reset() time.Duration { return time.Duration(w.Reset) * time.Millisecond }

type wireUser struct {
	ID         snowflake   `json:"id"`
	Username   string      `json:"username"`
	GlobalName string      `json:"global_name"`
	Bot        bool        `json:"bot"`
	Member     *wireMember `json:"member"` // where the user is one of a message's mentions
}

type wireMember struct {
	User   *wireUser   `json:"user"`
	Nick   string      `json:"nick"`
	Roles  []snowflake `json:"roles"`
	Joined time.Time   `json:"joined_at"`
	// Permissions comes with an interaction: what the member may do in the channel, in which an owner may do all.
	Permissions permissions `json:"permissions"`
}

type wireMessage struct {
	ID          snowflake   `json:"id"`
	Channel     snowflake   `json:"channel_id"`
	Guild       snowflake   `json:"guild_id"`
	Type        *int        `json:"type"`
	Author      *wireUser   `json:"author"`
	Member      *wireMember `json:"member"`
	Content     *string     `json:"content"`
	Edited      time.Time   `json:"edited_timestamp"`
	Webhook     snowflake   `json:"webhook_id"`
	Flags       int         `json:"flags"`
	Mentions    []*wireUser `json:"mentions"`
	Attachments []wireFile  `json:"attachments"`
	Components  []component `json:"components"`
	Stickers    []struct {
		Name string `json:"name"`
	} `json:"sticker_items"`
	Poll *struct {
		Question wirePollText `json:"question"`
		Answers  []struct {
			Media wirePollText `json:"poll_media"`
		} `json:"answers"`
	} `json:"poll"`
	Reference *struct {
		Type    int       `json:"type"`
		Message snowflake `json:"message_id"`
		Channel snowflake `json:"channel_id"`
	} `json:"message_reference"`
	Referenced *wireMessage `json:"referenced_message"`
	Snapshots  []struct {
		Message wireMessage `json:"message"`
	} `json:"message_snapshots"`
}

type wireFile struct {
	Filename    string `json:"filename"`
	Title       string `json:"title"`
	Description string `json:"description"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
}

type wirePollText struct {
	Text string `json:"text"`
}

type wireDelete struct {
	ID      snowflake   `json:"id"`
	IDs     []snowflake `json:"ids"`
	Channel snowflake   `json:"channel_id"`
	Guild   snowflake   `json:"guild_id"`
}

type wireGuild struct {
	ID          snowflake      `json:"id"`
	Name        string         `json:"name"`
	Owner       snowflake      `json:"owner_id"`
	System      snowflake      `json:"system_channel_id"` // for the guild's own notices
	Unavailable bool           `json:"unavailable"`
	Roles       []*wireRole    `json:"roles"`
	Channels    []*wireChannel `json:"channels"`
	Threads     []*wireChannel `json:"threads"`
	Members     []*wireMember  `json:"members"`
}

type wireRole struct {
	ID          snowflake    `json:"id"`
	Name        string       `json:"name"`
	Permissions *permissions `json:"permissions"`
	Tags        *struct {
		Bot snowflake `json:"bot_id"`
	} `json:"tags"`
}

type wireChannel struct {
	ID       snowflake `json:"id"`
	Guild    snowflake `json:"guild_id"`
	Parent   snowflake `json:"parent_id"`
	Position int       `json:"position"`
	Type     *int      `json:"type"`
	Name     string    `json:"name"`
	Owner    snowflake `json:"owner_id"` // of a thread
	NSFW     *bool     `json:"nsfw"`
	Flags    int       `json:"flags"`
	Last     snowflake `json:"last_message_id"`
	New      bool      `json:"newly_created"` // a thread that nothing can be missing of
	Thread   *struct {
		Archived time.Time `json:"archive_timestamp"`
	} `json:"thread_metadata"`
	Overwrites []wireOverwrite `json:"permission_overwrites"` // nil: Discord didn't tell
}

type wireOverwrite struct {
	ID    snowflake    `json:"id"`
	Type  *int         `json:"type"`
	Allow *permissions `json:"allow"`
	Deny  *permissions `json:"deny"`
}

// set is what p holds; nil, which Discord didn't tell: nothing.
func (p *permissions) set() memory.Permissions {
	if p == nil {
		return 0
	}
	return memory.Permissions(*p)
}

// kind is the channel's kind, if messages can be written there or it is a category.
func (w *wireChannel) kind() (memory.ChannelKind, bool) {
	if w.Type == nil {
		return 0, false
	}
	kind, ok := kinds[*w.Type]
	return kind, ok
}

// isWhole reports whether Discord told all that decides who may read the channel. Events may lack fields, and what is
// missing isn't empty.
func (w *wireChannel) isWhole() bool {
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

// isWhole is isWhole of a channel, for a guild without its channels.
func (w *wireGuild) isWhole() bool {
	for _, r := range w.Roles {
		if !r.isWhole() {
			return false
		}
	}
	return len(w.Roles) > 0 && w.Owner != 0
}

func (w *wireRole) isWhole() bool { return w != nil && w.ID != 0 && w.Permissions != nil }
