package sqlstore

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hark/memory"
)

// channel is what the writer knows of a channel it writes to.
type channel struct {
	spot
	nameless bool          // so that nothing but messages is known of it
	owner    memory.UserID // of a thread; 0 if that isn't known
	no       int64
	next     int64 // row of the next message
	// highest is the highest id that the channel's messages, early edits, stars and tombstones have.
	highest memory.MessageID
	// tail are the channel's last messages that lie in segments, oldest first, at most memory.LookBack; nil
	// if they must be read first.
	tail []memory.Placed
}

// Rows: see migrations.
const (
	ChannelBits  = 20 // of a channel's number in its guild
	SequenceBits = 28 // of a message's in its channel
	SegmentBits  = 40 // of a segment's in its guild
	maxGuilds    = 1<<15 - 1
)

// GuildOf is the guild number of a channel number.
func GuildOf(no int64) int64 { return no >> ChannelBits }

// channel is the channel with that id, made if it isn't known yet.
func (t *transaction) channel(guild memory.GuildID, id memory.ChannelID) (*channel, error) {
	c, err := t.knownChannel(id)
	if c != nil || err != nil {
		return c, err
	}
	if err := t.addChannel(memory.Channel{ID: id, Guild: guild, Kind: kindIn(guild), Unplaced: true}); err != nil {
		return nil, err
	}
	return t.knownChannel(id)
}

// kindIn is the kind of a channel of which only its guild is known.
func kindIn(guild memory.GuildID) memory.ChannelKind {
	switch guild {
	case memory.DirectGuild:
		return memory.DirectChannel
	case memory.LocalGuild:
		return memory.LocalChannel
	}
	return memory.TextChannel
}

// knownChannel is the channel with that id, or nil.
func (t *transaction) knownChannel(id memory.ChannelID) (*channel, error) {
	w := &t.store.ingest
	if c, ok := w.channels[id]; ok {
		return c, nil
	}
	c := &channel{}
	at := memory.Channel{ID: id}
	ok, err := Found(t.row("SELECT no, guild, parent, kind, name, owner, unplaced FROM channel WHERE id = ?",
		int64(id)).
		Scan(&c.no, &at.Guild, &at.Parent, &at.Kind, &at.Name, &at.Owner, &at.Unplaced))
	if !ok || err != nil {
		return nil, err
	}
	c.place(at)
	first, end := c.no<<SequenceBits, (c.no+1)<<SequenceBits
	if err := t.row("SELECT coalesce(max(row), ?1) + 1 FROM message WHERE row >= ?1 AND row < ?2", first,
		end).Scan(&c.next); err != nil {
		return nil, err
	}
	err = t.row(`SELECT max(coalesce((SELECT max(id) FROM message WHERE channel = ?1), ?3),
		coalesce((SELECT max(id) FROM early_edit WHERE channel = ?2), ?3), coalesce((SELECT max(id) FROM tombstone WHERE channel = ?2), ?3),
		coalesce((SELECT max(id) FROM star WHERE channel = ?2), ?3))`,
		c.no, int64(id), int64(noMessage)).Scan(&c.highest)
	if err != nil {
		return nil, err
	}
	if w.channels == nil {
		w.channels = map[memory.ChannelID]*channel{}
	}
	w.channels[id] = c
	return c, nil
}

// place notes what is known of a channel.
func (c *channel) place(known memory.Channel) {
	c.spot = spot{guild: known.Guild, channel: known.ID}
	if known.Kind.IsThread() {
		c.parent = known.Parent
	}
	c.owner = cmp.Or(known.Owner, c.owner)
	c.nameless = known.Unplaced && known.Name == "" && c.owner == 0
}

// addChannel stores a channel that isn't known yet.
func (t *transaction) addChannel(c memory.Channel) error {
	t.changed.structure = true
	guild, err := t.guildNo(c.Guild)
	if err != nil {
		return err
	}
	var no int64
	err = t.row("SELECT coalesce(max(no), ?1) + 1 FROM channel WHERE no >= ?1 AND no < ?2",
		guild<<ChannelBits, (guild+1)<<ChannelBits).Scan(&no)
	if err != nil {
		return err
	}
	if GuildOf(no) != guild {
		return fmt.Errorf("guild %d has %d channels, as many as can be numbered: %w", c.Guild,
			1<<ChannelBits-1, memory.ErrRefused)
	}
	overwrites, err := json.Marshal(c.Overwrites)
	if err != nil {
		return err
	}
	// What was said there before the guild chose to remember isn't missing.
	var heard memory.MessageID
	var choice memory.Choice
	var chosen int64
	if err := t.row("SELECT choice, chosen FROM guild WHERE id = ?", int64(c.Guild)).Scan(&choice,
		&chosen); err != nil {
		return err
	}
	if remembers(choice) {
		heard = memory.FirstMessageID(FromMillis(chosen))
	}
	name, _, _, err := t.nameOf(c)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO channel (no, heard, id, guild, parent, kind, name, owner, age_limited,
		unplaced, overwrites) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		no, int64(heard), int64(c.ID), int64(c.Guild), int64(c.Parent), int(c.Kind), name, int64(c.Owner), c.AgeLimited, c.Unplaced, string(overwrites))
}

// guildNo is the guild's number, given out now if it has none.
func (t *transaction) guildNo(id memory.GuildID) (int64, error) {
	if no, ok := t.store.ingest.guildNos[id]; ok {
		return no, nil
	}
	var no int64
	ok, err := Found(t.row("SELECT no FROM guild WHERE id = ?", int64(id)).Scan(&no))
	if err != nil {
		return 0, err
	}
	if !ok {
		t.changed.structure = true
		if err := t.row("INSERT INTO guild (id) VALUES (?) RETURNING no", int64(id)).Scan(&no); err != nil {
			return 0, err
		}
		if no > maxGuilds {
			return 0, fmt.Errorf("there are %d guilds already, as many as can be numbered: %w", maxGuilds,
				memory.ErrRefused)
		}
	}
	if t.store.ingest.guildNos == nil {
		t.store.ingest.guildNos = map[memory.GuildID]int64{}
	}
	t.store.ingest.guildNos[id] = no
	return no, nil
}

// join puts m into the segment it continues, or into a new one.
func (t *transaction) join(c *channel, m memory.Message) (int64, error) {
	before, inOrder, err := t.before(c, m.ID)
	if err != nil {
		return 0, err
	}
	id := memory.Join(m, before)
	if id == 0 {
		if id, err = t.newSegment(GuildOf(c.no)); err != nil {
			return 0, err
		}
	}
	change := t.segment(id, c.no)
	if change.first == 0 && change.last == 0 {
		change.first, change.last = m.ID, m.ID
	}
	change.first, change.last = min(change.first, m.ID), max(change.last, m.ID)
	change.size++
	if !inOrder {
		c.tail = nil
		return id, nil
	}
	c.follow(m, id)
	return id, nil
}

// before are the messages in segments before id, and whether none comes after it.
func (t *transaction) before(c *channel, id memory.MessageID) (before []memory.Placed, inOrder bool, err error) {
	if c.tail == nil {
		if c.tail, err = t.readBefore(c.no, 1<<62); err != nil {
			return nil, false, err
		}
	}
	if n := len(c.tail); n == 0 || c.tail[n-1].ID < id {
		return c.tail, true, nil
	}
	before, err = t.readBefore(c.no, id)
	return before, false, err
}

func (t *transaction) readBefore(no int64, id memory.MessageID) ([]memory.Placed, error) {
	sizes := map[int64]int{}
	placed, err := list(t.ctx, t, func(scan Scanner, p *memory.Placed) error {
		return scan(&p.ID, &p.Author, &p.Segment)
	},
		`SELECT id, author, segment FROM said WHERE channel = ? AND id < ? AND segment <> 0 ORDER BY id DESC
			LIMIT ?+0`, no, int64(id), memory.LookBack)
	if err != nil {
		return nil, err
	}
	slices.Reverse(placed)
	for i, p := range placed {
		if _, ok := sizes[p.Segment]; !ok {
			var size int
			if _, err := Found(t.row("SELECT size FROM segment WHERE id = ?", p.Segment).Scan(&size)); err != nil {
				return nil, err
			}
			if change, ok := t.segments[p.Segment]; ok {
				size += change.size // not written yet
			}
			sizes[p.Segment] = size
		}
		placed[i].Size = sizes[p.Segment]
	}
	return placed, nil
}

// follow notes that m came last and lies in segment.
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
	c.tail = append(c.tail, memory.Placed{ID: m.ID, Author: m.Author, Segment: segment, Size: size})
}

func (t *transaction) newSegment(guild int64) (int64, error) {
	w := &t.store.ingest
	last, ok := w.segments[guild]
	if !ok {
		if err := t.row("SELECT coalesce(max(id), ?1) FROM segment WHERE id >= ?1 AND id < ?2",
			guild<<SegmentBits, (guild+1)<<SegmentBits).Scan(&last); err != nil {
			return 0, err
		}
	}
	if w.segments == nil {
		w.segments = map[int64]int64{}
	}
	w.segments[guild] = last + 1
	return last + 1, nil
}

// storedMessage is a message with what the file alone knows of it.
type storedMessage struct {
	memory.Message
	segment int64
	whole   int64 // milliseconds; see migrations
	doomed  bool  // being forgotten
}

// stored is the message as it is in the file, and its row; 0 if it isn't there.
func (t *transaction) stored(c *channel, id memory.MessageID) (storedMessage, int64, error) {
	var row int64
	var m storedMessage
	var edited int64
	var extra sql.NullString
	ok, err := Found(t.row(`SELECT m.row, m.author, m.kind, m.reply_to, m.edited, m.whole, m.starred, m.tokens, m.segment, m.content, m.extra, c.id, c.guild,
		EXISTS (SELECT 1 FROM doomed d WHERE d.row = m.row)
		FROM message m JOIN channel c ON c.no = m.channel WHERE m.channel = ? AND m.id = ?`, c.no, int64(id)).
		Scan(&row, &m.Author, &m.Kind, &m.ReplyTo, &edited, &m.whole, &m.Starred, &m.Tokens, &m.segment,
			&m.Content, &extra, &m.Channel, &m.Guild, &m.doomed))
	if !ok || err != nil {
		return m, 0, err
	}
	m.ID, m.Edited = id, FromMillis(edited)
	return m, row, decodeExtra(extra, &m.Message)
}

func decodeExtra(s sql.NullString, m *memory.Message) error {
	if !s.Valid {
		return nil
	}
	var e extra
	err := json.Unmarshal([]byte(s.String), &e)
	m.Files, m.Mentions = e.Files, e.Mentions
	return err
}

// millis is t in milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func FromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
