package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/memory"
)

// channelKinds are DiscordChatExporter's names of channel types. What isn't here is a text channel.
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

// spoken are the message types in which somebody says something; all others are notices. Types without a
// name in DiscordChatExporter are written as numbers: 20 and 23 are answers to commands, 21 begins a thread.
var spoken = map[text]bool{
	"": true, "Default": true, "Reply": true,
	"0": true, "19": true, "20": true, "21": true, "23": true,
}

// snowflake is the id that s holds; false unless it is a positive one.
func snowflake(s text) (int64, bool) {
	id, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil || id <= 0 {
		return 0, false
	}
	return id, true
}

// joinLines joins those of parts that aren't blank.
func joinLines(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" }), "\n")
}

// token, more, decode and skip are the decoder's, with no item longer than maxItem.

func (e *export) token() (json.Token, error) {
	e.extend()
	return e.dec.Token()
}

func (e *export) more() bool {
	e.extend()
	return e.dec.More()
}

// decode reads a value. What has another type than it should is missing in it.
func (e *export) decode(v any) error {
	e.extend()
	err := e.dec.Decode(v)
	var ill *json.UnmarshalTypeError
	if err == nil || errors.As(err, &ill) {
		return nil
	}
	return e.fault(err)
}

func (e *export) skip() error {
	value, err := e.token()
	if err == nil {
		err = skipRest(e.dec, value)
	}
	if err != nil {
		return e.fault(err)
	}
	return nil
}

func (e *export) extend() { e.limit.end = e.dec.InputOffset() + maxItem + readAhead }

func (e *export) where() string {
	return fmt.Sprintf("after message %d, near byte %d of the text", e.count, e.dec.InputOffset())
}

// fault says what is wrong with the file.
func (e *export) fault(err error) error {
	var syntax *json.SyntaxError
	switch {
	case !errors.As(err, &syntax):
		return damaged(err, e.where())
	case bytes.Contains([]byte(syntax.Error()), []byte(`\x00`)):
		return fmt.Errorf("%w (%s); what was read so far is kept", errNUL, e.where())
	}
	return fmt.Errorf("the export is not JSON %s (%w): export the channel again; what was read so far is kept", e.where(), err)
}
