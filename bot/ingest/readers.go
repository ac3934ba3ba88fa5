package ingest

import (
	"encoding/json"
	"fmt"

	"hark/bot/discord"
	"hark/internal/crash"
)

// readers decode the kinds of events that matter.
var readers = map[string]func(json.RawMessage) (decoded, error){
	"MESSAGE_CREATE":      reader((*converter).messageCreate),
	"MESSAGE_UPDATE":      reader((*converter).messageUpdate),
	"MESSAGE_DELETE":      reader((*converter).messageDelete),
	"MESSAGE_DELETE_BULK": reader((*converter).messageDelete),
	"READY":               reader((*converter).ready),
	"GUILD_CREATE":        reader((*converter).guildCreate),
	"GUILD_DELETE":        reader((*converter).guildDelete),
	"GUILD_UPDATE":        reader((*converter).guildUpdate),
	"CHANNEL_CREATE":      reader((*converter).channelSeen),
	"CHANNEL_UPDATE":      reader((*converter).channelSeen),
	"CHANNEL_DELETE":      reader((*converter).channelDeleted),
	"THREAD_CREATE":       reader((*converter).channelSeen),
	"THREAD_UPDATE":       reader((*converter).channelSeen),
	"THREAD_DELETE":       reader((*converter).channelDeleted),
	"THREAD_LIST_SYNC":    reader((*converter).threadListSync),
	"GUILD_ROLE_CREATE":   reader((*converter).roleSeen),
	"GUILD_ROLE_UPDATE":   reader((*converter).roleSeen),
	"GUILD_ROLE_DELETE":   reader((*converter).roleGone),
	"GUILD_MEMBER_ADD":    reader((*converter).memberSeen),
	"GUILD_MEMBER_UPDATE": reader((*converter).memberSeen),
	"GUILD_MEMBER_REMOVE": reader((*converter).memberLeft),
	"GUILD_MEMBERS_CHUNK": reader((*converter).membersChunk),
	"RESUMED":             reader((*converter).resumed),
	"INTERACTION_CREATE":  reader((*converter).interaction),

	"GUILD_SCHEDULED_EVENT_CREATE": reader((*converter).scheduled),
	"GUILD_SCHEDULED_EVENT_UPDATE": reader((*converter).scheduled),
	"GUILD_SCHEDULED_EVENT_DELETE": reader((*converter).unscheduled),
}

// convert converts an event. It never panics. Errors name nothing of the event but its kind and id.
func (c *converter) convert(e rawEvent) (out converted, err error) {
	defer func() {
		if r := recover(); r != nil {
			out = c.unreadable(e)
			err = fmt.Errorf("convert %s %d: %s", e.kind, discord.EventID(e.data), crash.Report("read", r))
		}
	}()
	if decode := readers[e.kind]; decode != nil && e.decoded.read == nil {
		e.decoded, out.err = decode(e.data)
	}
	if e.fetched != nil {
		c.fetched(e.fetched, &out)
	} else if e.decoded.read != nil {
		e.decoded.read(c, &out)
	}
	if out.err != nil {
		return c.unreadable(e), fmt.Errorf("convert %s %d: %w", e.kind, discord.EventID(e.data), out.err)
	}
	return out, nil
}

// ReadEvent returns a decoded gateway event, or nil if its kind doesn't matter. convert reports what can't be
// decoded.
func ReadEvent(kind string, data json.RawMessage) (e *rawEvent) {
	decode := readers[kind]
	if decode == nil {
		return nil
	}
	e = &rawEvent{kind: kind, data: data}
	defer func() { _ = recover() }()
	e.decoded, _ = decode(e.data)
	return e
}

func reader[T any](read func(*converter, *T, *converted)) func(json.RawMessage) (decoded, error) {
	return func(data json.RawMessage) (decoded, error) {
		v := new(T)
		if err := discord.Unmarshal(data, v); err != nil {
			return decoded{}, err
		}
		message, _ := any(v).(*discord.Message)
		return decoded{message, func(c *converter, out *converted) { read(c, v, out) }}, nil
	}
}
