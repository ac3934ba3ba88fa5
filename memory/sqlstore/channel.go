package sqlstore

import (
	"cmp"
	"fmt"
	"slices"

	"hark/memory"
)

// How row numbers are composed: see the schema.
const (
	ChannelBits  = 20 // of a channel's number in its guild
	SequenceBits = 28 // of a message's in its channel
	SegmentBits  = 40 // of a segment's in its guild
	maxGuilds    = 1<<15 - 1
)

// GuildOf returns the guild number of a channel number.
func GuildOf(no int64) int64 { return no >> ChannelBits }

// channel returns a channel by id; it adds a new one.
func (t *transaction) channel(guild memory.GuildID, id memory.ChannelID) *channel {
	c := t.knownChannel(id)
	if c == nil {
		t.addChannel(memory.Channel{
			ID:       id,
			Guild:    guild,
			Kind:     kindIn(guild),
			Unplaced: true,
		})
		c = t.knownChannel(id)
	}
	return c
}

// kindIn returns the kind of a channel of which only the guild is known.
func kindIn(guild memory.GuildID) memory.ChannelKind {
	switch guild {
	case memory.DirectGuild:
		return memory.DirectChannel
	case memory.LocalGuild:
		return memory.LocalChannel
	}
	return memory.TextChannel
}

func (t *transaction) knownChannel(id memory.ChannelID) *channel {
	w := &t.store.ingest
	if c, ok := w.channels[id]; ok {
		return c
	}
	c := &channel{}
	at := memory.Channel{ID: id}
	if !t.row(`SELECT no, guild, parent, kind, name, owner, unplaced FROM channel
		WHERE id = ?1 AND (guild = ?2 OR ?2 = -1)`, id, t.store.guildOf(id)).
		into(&c.no, &at.Guild, &at.Parent, &at.Kind, t.store.vault.channelName(&at, &c.no), &at.Owner, &at.Unplaced) {
		return nil
	}
	c.place(at)
	c.next = value[int64](t, "SELECT coalesce(max(row), ?1) + 1 FROM message WHERE row >= ?1 AND row < ?2 AND guild = ?3",
		c.no<<SequenceBits, (c.no+1)<<SequenceBits, c.guild)
	c.highest = value[memory.MessageID](t, `SELECT max(
		coalesce((SELECT max(id) FROM source WHERE kind = 0 AND place = ?2 AND guild = ?4), ?3), max(
		coalesce((SELECT max(id) FROM message WHERE channel = ?1 AND guild = ?4), ?3),
		coalesce((SELECT max(id) FROM early_edit WHERE channel = ?2 AND guild = ?4), ?3),
		coalesce((SELECT max(id) FROM tombstone WHERE channel = ?2 AND guild = ?4), ?3),
		coalesce((SELECT max(id) FROM star WHERE channel = ?2 AND guild = ?4), ?3)))`, c.no, id, noMessage, c.guild)
	w.channels[id] = c
	return c
}

// guildAt returns the guild of a channel; the given one if the channel is unknown.
func (t *transaction) guildAt(guild memory.GuildID, channel memory.ChannelID) memory.GuildID {
	return t.locationAt(guild, channel).guild
}

func (c *channel) place(known memory.Channel) {
	c.location = locationOf(known)
	c.owner = cmp.Or(known.Owner, c.owner)
	c.nameless = known.Unplaced && known.Name == "" && c.owner == 0
}

func (t *transaction) addChannel(c memory.Channel) {
	t.changed.structure[c.Guild] = true
	guild := t.guildNo(c.Guild)
	no := value[int64](t, "SELECT coalesce(max(no), ?1) + 1 FROM channel WHERE no >= ?1 AND no < ?2 AND guild = ?3",
		guild<<ChannelBits, (guild+1)<<ChannelBits, c.Guild)
	if GuildOf(no) != guild {
		ensure(fmt.Errorf("server %d has %d channels, as many as can be numbered: %w", c.Guild,
			1<<ChannelBits-1, memory.ErrRefused))
	}
	// Nothing said before the guild chose to remember counts as missing.
	var heard memory.MessageID
	var choice memory.Choice
	var chosen int64
	t.row("SELECT choice, chosen FROM guild WHERE id = ?", c.Guild).into(&choice, &chosen)
	if choice != memory.Undecided && choice != memory.Ignore {
		heard = memory.FirstMessageID(fromMillis(chosen))
	}
	name, _, _ := t.nameOf(c)
	t.exec(`INSERT INTO channel (no, heard, id, guild, parent, kind, name, tags, owner, age_limited, unplaced, overwrites)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, no, heard, c.ID, c.Guild, c.Parent, c.Kind,
		t.seal(placeOfChannelName(c.ID, no), name), t.sealTags(c, no, name), c.Owner,
		c.AgeLimited, c.Unplaced, t.jsonText(c.Overwrites))
}

// guildNo returns a guild's number, and gives a new guild one.
func (t *transaction) guildNo(id memory.GuildID) int64 {
	if no, ok := t.store.ingest.guildNos[id]; ok {
		return no
	}
	no := value[int64](t, "SELECT no FROM guild WHERE id = ?", id)
	if no == 0 {
		t.changed.structure[id] = true
		no = value[int64](t, "INSERT INTO guild (id) VALUES (?) RETURNING no", id)
		if no > maxGuilds {
			ensure(fmt.Errorf("there are %d servers already, as many as can be numbered: %w", maxGuilds,
				memory.ErrRefused))
		}
	}
	t.store.ingest.guildNos[id] = no
	t.store.ingest.guildIDs[no] = id
	return no
}

// guildOfNo returns the guild of a channel's number.
func (t *transaction) guildOfNo(channel int64) memory.GuildID {
	no := GuildOf(channel)
	id, ok := t.store.ingest.guildIDs[no]
	if !ok {
		id = value[memory.GuildID](t, "SELECT id FROM guild WHERE no = ?", no)
		t.store.ingest.guildIDs[no] = id
	}
	return id
}

// join puts m into the segment that it continues, or into a new one.
func (t *transaction) join(c *channel, m memory.Message) int64 {
	before, inOrder := t.before(c, m.ID)
	id := memory.Join(m, before)
	if id == 0 {
		id = t.newSegment(c)
	}
	change := t.segment(id, c.no)
	if change.first == 0 && change.last == 0 {
		change.first = m.ID
		change.last = m.ID
	}
	change.first = min(change.first, m.ID)
	change.last = max(change.last, m.ID)
	change.size++
	if inOrder {
		c.follow(m, id)
	} else {
		c.tail = nil
	}
	return id
}

// before returns the last messages in segments before id, and whether no message comes after it.
func (t *transaction) before(c *channel, id memory.MessageID) (before []memory.Placed, inOrder bool) {
	if c.tail == nil {
		c.tail = t.readBefore(c, 1<<62)
	}
	if n := len(c.tail); n == 0 || c.tail[n-1].ID < id {
		return c.tail, true
	}
	return t.readBefore(c, id), false
}

func (t *transaction) readBefore(c *channel, id memory.MessageID) []memory.Placed {
	placed := listIn(t, func(scan Scanner, p *memory.Placed) error {
		return scan(&p.ID, &p.Author, &p.Segment)
	}, `SELECT id, author, segment FROM said WHERE guild = ? AND channel = ? AND id < ? AND segment <> 0
		ORDER BY id DESC LIMIT ?+0`, c.guild, c.no, id, memory.LookBack)
	slices.Reverse(placed)
	sizes := map[int64]int{}
	for i, p := range placed {
		size, ok := sizes[p.Segment]
		if !ok {
			size = value[int](t, "SELECT size FROM segment WHERE guild = ? AND id = ?", c.guild, p.Segment)
			if change := t.segments[p.Segment]; change != nil {
				size += change.size // not written yet
			}
			sizes[p.Segment] = size
		}
		placed[i].Size = size
	}
	return placed
}

// follow records m as the channel's last message, in segment.
func (c *channel) follow(m memory.Message, segment int64) {
	size := 1
	for i := range c.tail {
		if c.tail[i].Segment == segment {
			c.tail[i].Size++
			size = c.tail[i].Size
		}
	}
	if len(c.tail) == memory.LookBack {
		copy(c.tail, c.tail[1:])
		c.tail = c.tail[:len(c.tail)-1]
	}
	c.tail = append(c.tail, memory.Placed{
		ID:      m.ID,
		Author:  m.Author,
		Segment: segment,
		Size:    size,
	})
}

// newSegment begins a segment of a channel and returns its id.
func (t *transaction) newSegment(c *channel) int64 {
	w := &t.store.ingest
	guild := GuildOf(c.no)
	last, ok := w.segments[guild]
	if !ok {
		last = value[int64](t, "SELECT coalesce(max(id), ?1) FROM segment WHERE id >= ?1 AND id < ?2 AND guild = ?3",
			guild<<SegmentBits, (guild+1)<<SegmentBits, c.guild)
	}
	w.segments[guild] = last + 1
	t.segment(last+1, c.no).isNew = true
	return last + 1
}

type storedMessage struct {
	memory.Message
	row             int64 // 0: not stored
	segment         int64
	whole           int64 // milliseconds; see the schema
	pendingDeletion bool
}

func (t *transaction) stored(c *channel, id memory.MessageID) (m storedMessage) {
	content, extra := t.store.vault.messageText(&m.Message, func() int64 { return c.no })
	if t.row(`SELECT row, id, author, kind, reply_to, edited, whole, starred, tokens, segment, content, extra,
		EXISTS (SELECT 1 FROM pending_deletion d WHERE d.guild = ?1 AND d.row = m.row)
		FROM message m WHERE guild = ?1 AND channel = ?2 AND id = ?3`, c.guild, c.no, id).
		into(&m.row, &m.ID, &m.Author, &m.Kind, &m.ReplyTo, asTime{&m.Edited}, &m.whole, &m.Starred, &m.Tokens,
			&m.segment, content, extra, &m.pendingDeletion) {
		m.Channel = c.channel
		m.Guild = c.guild
	}
	return m
}

func (s *Store) numbers() numbers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.nos
}

// guildOf returns the guild of a channel's number.
func (nos numbers) guildOf(no int64) memory.GuildID { return nos.guilds[GuildOf(no)] }

func (s *Store) channelNo(id memory.ChannelID) (guild memory.GuildID, no int64, ok bool) {
	nos := s.numbers()
	no, ok = nos.of[id]
	return nos.guildOf(no), no, ok
}

// guildOf returns the guild of a channel; memory.Everywhere if the channel is unknown.
func (s *Store) guildOf(id memory.ChannelID) memory.GuildID {
	guild, _, ok := s.channelNo(id)
	if !ok {
		return memory.Everywhere
	}
	return guild
}

// locationAt returns a location. The channel may be unknown.
func (t *transaction) locationAt(guild memory.GuildID, channel memory.ChannelID) location {
	if c := t.knownChannel(channel); c != nil {
		return c.location
	}
	return location{guild: guild, channel: channel}
}

// untitle deletes the vectors of a channel's segments, and has them embedded again.
func (t *transaction) untitle(no int64) {
	segments := columnIn[int64](t, "SELECT DISTINCT segment FROM message WHERE guild = ? AND channel = ? AND segment <> 0",
		t.guildOfNo(no), no)
	for _, id := range segments {
		t.segment(id, no).invalid = true
	}
}

// nameOf returns a channel's name: none if the channel was deleted, or is a thread whose owner has opted out or
// is forgotten.
func (t *transaction) nameOf(c memory.Channel) (name string, gone, deleted bool) {
	d := t.decisions()
	at := locationOf(c)
	made := memory.MessageID(c.ID)
	gone = c.Owner != 0 && d.hasOptedOut(c.Guild, c.Owner)
	for _, o := range d.rules {
		deleted = deleted || o.Why == memory.WhyDeleted && o.coversEveryone(at, made)
		gone = gone || c.Owner != 0 && o.User != 0 && o.covers(at, made, c.Owner)
	}
	if deleted || gone {
		return "", true, deleted
	}
	return memory.Clean(c.Name), false, false
}

// sealTags returns a channel's tags as they are stored: none beside an empty name.
func (t *transaction) sealTags(c memory.Channel, no int64, name string) any {
	if len(c.Tags) == 0 || name == "" {
		return ""
	}
	return t.seal(placeOfChannelTags(c.ID, no), textOfTags(c.Tags))
}

// isGone reports whether a message was deleted or dropped, or is forgotten whoever wrote it. guild is used if
// the channel is unknown.
func (t *transaction) isGone(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) bool {
	at := t.locationAt(guild, channel)
	if t.store.ingest.dropped.has(channel, id) ||
		t.has("SELECT 1 FROM tombstone WHERE guild = ? AND channel = ? AND id = ?", at.guild, channel, id) {
		return true
	}
	d := t.decisions()
	return slices.ContainsFunc(d.rules, func(o rule) bool { return o.coversEveryone(at, id) })
}
