package imports

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/memory"
)

// room is where a channel's messages go.
type room struct {
	memory.Channel
	local bool // nobody knows its server
}

// folk is what a database tells of somebody.
type folk struct {
	name string
	bot  bool
}

// message adds a row.
func (t *table) message(ctx context.Context, row map[string]string) error {
	if isTrue(row[partDeleted]) || strings.TrimSpace(row[partText]) == "" {
		return nil // there is nothing to remember
	}
	at, timed := moment(row[partTime])
	p, why := t.postOf(row, at, timed)
	author, known := snowflake(text(row[partAuthor]))
	who, err := t.person(ctx, row)
	if err != nil {
		return err
	}
	p.Author, p.Kind = memory.UserID(author), kindOfRole(row[partRole], who.bot)
	switch {
	case p.Kind == memory.FromMember || who.bot:
	case p.Kind == memory.FromSystem:
		p.Author, who.name = 0, ""
	case !known || row[partAuthor] != t.self: // many bots keep whom they answered with what they said
		role := strings.TrimSpace(row[partRole])
		p.Author, who.name = UserID("table "+role), role
	case who.name == "":
		who.name = strings.TrimSpace(row[partRole])
	}
	switch {
	case why != "":
	case row[partChannel] == "":
		why = "has no channel"
	case !known && p.Kind == memory.FromMember:
		why = "has no id of its author, so what they decide about it couldn't be obeyed"
	}
	if why != "" {
		t.b.skip(fmt.Sprintf("row %d of %s %s", t.done, t.table, why))
		return nil
	}
	where, err := t.room(ctx, row)
	if err != nil {
		return err
	}
	if where.local {
		out, err := t.isOut(ctx, p.Author)
		if err != nil {
			return err
		}
		if out {
			t.b.sum.Out++
			return nil
		}
	}
	p.Guild, p.Channel = where.Guild, where.ID
	t.b.channel(where.Channel)
	if who.name != "" {
		// That somebody is a bot isn't taken from here: a bot is no audience, and a file that is wrong would open channels.
		if err := t.b.person(ctx, memory.Person{ID: p.Author, Guild: p.Guild, Username: who.name}, p.ID); err != nil {
			return err
		}
	}
	return t.b.post(ctx, p)
}

// sameTime is how far a message's id and its time may tell different times: times without a zone may be those of any.
const sameTime = 26 * time.Hour

// postOf is a row's message without who wrote it and where, or why it can't be told. Its id is Discord's if it can be one; a
// bot's own number becomes the message's name.
func (t *table) postOf(row map[string]string, at time.Time, timed bool) (p post, why string) {
	p.Content = row[partText]
	id, is := snowflake(text(row[partID]))
	said := memory.MessageID(id).Time()
	const first = 1 << 22 * int64(24*time.Hour/time.Millisecond) // what bots count stays below Discord's first day
	if is && id >= first && (!timed || at.Sub(said).Abs() <= sameTime) {
		p.ID = memory.MessageID(id)
		if to, ok := snowflake(text(row[partReply])); ok && to >= first && to < id {
			p.ReplyTo = memory.MessageID(to)
		}
		return p, ""
	}
	if !timed {
		return p, "has neither an id of Discord's nor a time that can be read"
	}
	if p.name = row[partID]; p.name == "" {
		sum := sha256.Sum256([]byte(strings.Join([]string{row[partChannel], row[partAuthor], row[partTime], row[partText]}, "\x00")))
		p.name = fmt.Sprintf("%x", sum[:8])
	}
	var err error
	if p.ID, err = messageID(at, p.name); err != nil {
		return p, "has a " + err.Error()
	}
	if to := row[partReply]; to != "" {
		p.answers = []string{to}
	}
	return p, ""
}

// room is where a row's message goes: the server is the row's, that of the table of channels, or the one in which the
// channel is remembered.
func (t *table) room(ctx context.Context, row map[string]string) (room, error) {
	key := row[partChannel] + "\x00" + row[partGuild]
	if r, ok := t.rooms[key]; ok {
		return r, nil
	}
	told, err := t.look(ctx, t.channels, row[partChannel])
	if err != nil {
		return room{}, err
	}
	name := row[partPlace]
	if name == "" {
		name = told[partPlace]
	}
	var r room
	id, is := snowflake(text(row[partChannel]))
	r.ID, r.Kind, r.Name, r.Unplaced = memory.ChannelID(id), memory.TextChannel, name, true
	guild, known := guildIn(row[partGuild])
	if !known {
		guild, known = guildIn(told[partGuild])
	}
	if is && !known {
		if guild, known, err = t.remembered(ctx, r.ID); err != nil {
			return room{}, err
		}
	}
	r.Guild = guild
	switch {
	case !is || !known:
		if name == "" {
			name = row[partChannel]
		}
		r = room{Channel: memory.Channel{ID: ChannelID("table " + row[partChannel]), Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: name}, local: true}
		t.b.sum.Local++
	case guild == memory.DirectGuild:
		r.Kind = memory.DirectChannel
	}
	if len(t.rooms) >= maxSeen {
		clear(t.rooms)
	}
	t.rooms[key] = r
	return r, nil
}

// guildIn is the server that a column names. 0 is what bots write of direct messages.
func guildIn(s string) (memory.GuildID, bool) {
	if s == memory.DirectGuild.String() {
		return memory.DirectGuild, true
	}
	id, ok := snowflake(text(s))
	return memory.GuildID(id), ok && memory.GuildID(id) != memory.LocalGuild
}

// remembered is the server in which a channel is remembered.
func (t *table) remembered(ctx context.Context, id memory.ChannelID) (memory.GuildID, bool, error) {
	if !t.asked {
		guilds, err := t.allGuilds(ctx)
		if err != nil {
			return 0, false, err
		}
		for _, g := range guilds {
			for _, c := range g.Channels {
				t.guildOf[c.ID] = g.ID
			}
		}
		t.asked = true
	}
	guild, ok := t.guildOf[id]
	return guild, ok && guild != memory.LocalGuild, nil
}

func (t *table) allGuilds(ctx context.Context) ([]*memory.Guild, error) {
	ids, err := t.known.Guilds(ctx)
	var guilds []*memory.Guild
	for _, id := range ids {
		var g *memory.Guild
		if g, err = t.known.Guild(ctx, id); err != nil {
			break
		}
		guilds = append(guilds, g)
	}
	if err != nil {
		t.b.failed = true
		return nil, fmt.Errorf("look up which servers are remembered: %w", err)
	}
	return guilds, nil
}

// isOut reports whether somebody has opted out in any server.
func (t *table) isOut(ctx context.Context, user memory.UserID) (bool, error) {
	if out, ok := t.out[user]; ok {
		return out, nil
	}
	guilds, err := t.known.Guilds(ctx)
	out := false
	for _, g := range guilds {
		if err == nil && !out {
			out, err = t.known.OptedOut(ctx, g, user)
		}
	}
	if err != nil {
		t.b.failed = true
		return false, fmt.Errorf("look whether somebody has opted out: %w", err)
	}
	if len(t.out) >= maxSeen {
		clear(t.out)
	}
	t.out[user] = out
	return out, nil
}

// person is who wrote a row, as far as the database tells.
func (t *table) person(ctx context.Context, row map[string]string) (folk, error) {
	key := row[partAuthor]
	who, ok := t.folk[key]
	if !ok {
		told, err := t.look(ctx, t.users, key)
		if err != nil {
			return folk{}, err
		}
		who = folk{strings.TrimSpace(told[partName]), isTrue(told[partBot])}
		if len(t.folk) >= maxSeen {
			clear(t.folk)
		}
		t.folk[key] = who
	}
	if name := strings.TrimSpace(row[partName]); name != "" {
		who.name = name
	}
	who.bot = who.bot || isTrue(row[partBot])
	return who, nil
}

// look is the row of a lookup table with that key; nil if there is none.
func (t *table) look(ctx context.Context, l lookup, key string) (map[string]string, error) {
	if l.table == "" || key == "" {
		return nil, nil
	}
	found := map[string]string{}
	for part, column := range l.columns {
		var value sql.NullString
		err := t.db.QueryRowContext(ctx, "SELECT "+asText(column)+" FROM "+quoteName(l.table)+" WHERE "+quoteName(l.key)+" = ? LIMIT 1", key).Scan(&value)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, tableFault(ctx, err, "the table "+l.table)
		}
		found[part] = memory.Clean(value.String)
	}
	return found, nil
}

// ownAuthor is the author of what the bot itself said, if all of that has one who never speaks as a member.
func (t *table) ownAuthor(ctx context.Context) (string, error) {
	if t.columns[partRole] == "" {
		return "", nil
	}
	role := "lower(trim(" + asText(t.columns[partRole]) + "))"
	own := role + " IN ('" + strings.Join(botRoles, "', '") + "')"
	author, from := asText(t.columns[partAuthor]), " FROM "+quoteName(t.table)
	var first, last sql.NullString
	var asMember bool
	err := t.db.QueryRowContext(ctx, "SELECT min("+author+"), max("+author+")"+from+" WHERE "+own).Scan(&first, &last)
	if err == nil {
		err = t.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1"+from+" WHERE "+author+" = ? AND ("+own+") IS NOT TRUE)", first.String).Scan(&asMember)
	}
	if err != nil {
		return "", tableFault(ctx, err, "the table "+t.table)
	}
	if first.String != last.String || asMember {
		return "", nil
	}
	return first.String, nil
}

// botRoles are words that bots keep for what they said themselves.
var botRoles = []string{"assistant", "bot", "ai", "model", "agent"}

// kindOfRole is who speaks, by the word that a bot keeps for it.
func kindOfRole(role string, bot bool) memory.Kind {
	role = strings.ToLower(strings.TrimSpace(role))
	switch {
	case slices.Contains(botRoles, role):
		return memory.FromBot
	case role == "system" || role == "notice":
		return memory.FromSystem
	case bot:
		return memory.FromBot
	}
	return memory.FromMember
}

// isTrue reports whether a flag or a time of something is set.
func isTrue(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "0", "false", "f", "no", "0.0":
		return false
	}
	return true
}

// moment is the time that a column tells: as text of the form 2024-05-31 12:00:00, without a zone in UTC, or in seconds,
// milliseconds, microseconds or nanoseconds since 1970.
func moment(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
		for _, most := range []float64{1e11, 1e14, 1e17} { // of one unit, then of the next: until the year 5138
			if math.Abs(n) < most {
				return time.UnixMicro(int64(math.Round(n * 1e17 / most))).UTC(), n != 0
			}
		}
		return time.UnixMicro(int64(n / 1e3)).UTC(), n < 1e20
	}
	if len(s) > 10 && s[10] == 'T' {
		s = s[:10] + " " + s[11:]
	}
	for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05-0700", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
