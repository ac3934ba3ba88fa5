package sqlstore

import (
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// messageEvents are about messages as Discord sends them. For their edits see version.go.
var messageEvents = []handler{
	prepare(preparePosted),
	handle(func(t *transaction, e memory.Heard) { t.hear(t.channel(e.Guild, e.Channel).no, e.ID) }),
	handle((*transaction).star),
	handle((*transaction).deleted),
	handle((*transaction).keepExternalID),
}

// posted is a message to log.
type posted struct {
	memory.Posted        // with its tokens
	terms         string // its full-text entry
}

func preparePosted(p *preparer, e memory.Posted) (write, error) {
	e.Message.Tokens = p.tokens(e.Message.Text())
	ready := posted{e, indexTerms(&p.terms, e.Message)}
	return func(t *transaction) { t.post(ready) }, nil
}

// post logs a message or its newer version, unless its author has opted out or it is forgotten.
func (t *transaction) post(e posted) {
	m := e.Message
	c := t.channel(m.Guild, m.Channel)
	if e.Live {
		t.hear(c.no, m.ID)
	}
	d := t.decisions()
	if out := d.hasOptedOut(m.Guild, m.Author); out ||
		d.forgotten(location{m.Guild, m.Channel, c.parent}, m.ID, m.Author) {
		t.drop(c, m, out)
		return
	}
	if t.isStaleCopy(m) {
		m = m.WithoutCopy()
		m.Tokens = 0
		e.terms = ""
	}
	t.changed.newest = max(t.changed.newest, m.ID)
	if m.ID > c.highest { // so there is no earlier edit, star or deletion of it
		c.highest = m.ID
		t.insert(c, m, millis(m.Edited), e.terms)
		return
	}
	if t.isGone(m.Guild, m.Channel, m.ID) {
		return
	}
	switch old := t.stored(c, m.ID); {
	case old.row == 0:
		t.insertEdited(c, m, e.terms)
		t.emptyStaleCopies(m)
	case !old.pendingDeletion:
		t.replace(c, old, m)
	}
}

// drop deletes what is kept of a message that is forgotten or whose author has opted out, such as an early edit.
// It leaves a tombstone only if it deleted something. Without one, the opt-out, the forgetting that opting in
// begins or the recorded rule drops the message again, and ingest.dropped, and later mayBeDropped, drop other
// events about it, except deletions.
func (t *transaction) drop(c *channel, m memory.Message, out bool) {
	switch {
	case t.isGone(m.Guild, m.Channel, m.ID):
	case !t.isKnown(m.Guild, m.Channel, m.ID):
		t.store.ingest.dropped.add(m.Channel, m.ID)
	case out && t.stored(c, m.ID).row != 0:
	default:
		t.delete(m.Guild, m.Channel, m.ID, hideRepeats)
	}
}

// maxDropped is how many of the newest messages dropped holds at least.
const maxDropped = 10_000

func (d *dropped) add(channel memory.ChannelID, id memory.MessageID) {
	if len(d.newer) >= maxDropped {
		d.older = d.newer
		d.newer = nil
	}
	if d.newer == nil {
		d.newer = map[memory.MessageRef]bool{}
	}
	d.newer[memory.MessageRef{Channel: channel, Message: id}] = true
}

// insertEdited logs a new message, with the text of an edit that came first, if any.
func (t *transaction) insertEdited(c *channel, m memory.Message, terms string) {
	whole := millis(m.Edited)
	var edited int64
	var content string
	early := t.row("DELETE FROM early_edit WHERE guild = ? AND channel = ? AND id = ? RETURNING edited, content", c.guild,
		m.Channel, m.ID).
		into(&edited, t.store.vault.opened(&content, func() Place { return editPlace(m.Channel, m.ID) }))
	t.changed.Text = t.changed.Text || early
	if early && newer(edited, content, whole, m.Content) {
		m.Content = content
		m.Edited = fromMillis(edited)
		m = t.editedCopy(m)
		m.Tokens = t.store.options.Tokens(m.Text())
		terms = indexTerms(new(text.Batch), m)
	}
	m.Starred = value[bool](t, "SELECT starred FROM star WHERE guild = ? AND channel = ? AND id = ?", c.guild, m.Channel,
		m.ID)
	t.insert(c, m, whole, terms)
}

// insert logs a new message. whole is the time of the version that all but the text is from.
func (t *transaction) insert(c *channel, m memory.Message, whole int64, terms string) {
	segment := int64(0)
	if m.Kind.Recalled() {
		segment = t.join(c, m)
		t.count(m, c.no, 1)
	}
	row := c.next
	c.next++
	t.later(`INSERT INTO message (guild, row, channel, id, author, kind, reply_to, edited, whole, starred, tokens,
		segment, content, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.guild, row, c.no, m.ID, m.Author, m.Kind, m.ReplyTo, millis(m.Edited), whole, m.Starred, m.Tokens, segment,
		t.seal(at("message", "content", c.no, m.ID), m.Content),
		t.sealAny(at("message", "extra", c.no, m.ID), t.encodeExtra(m)))
	t.index(row, terms)
	t.deriveCopy(m)
}

// deleted removes messages deleted in Discord. An unknown one leaves a tombstone, because it may still arrive, unless
// it wouldn't be logged.
func (t *transaction) deleted(e memory.Deleted) {
	for _, id := range e.IDs {
		if t.isKnown(e.Guild, e.Channel, id) {
			c := t.channel(e.Guild, e.Channel)
			t.delete(c.guild, e.Channel, id, hideRepeats)
		} else if !e.Unlogged && !t.store.ingest.dropped.has(e.Channel, id) {
			c := t.channel(e.Guild, e.Channel)
			c.highest = max(c.highest, id)
			t.addTombstone(c.guild, e.Channel, id)
		}
	}
}

// isKnown reports whether anything is kept of a message. guild is used if the channel is unknown.
func (t *transaction) isKnown(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) bool {
	guild = t.guildAt(guild, channel)
	return value[bool](t, knownQuery, guild, channel, id) ||
		t.has("SELECT 1 FROM source WHERE guild = ? AND kind = 0 AND place = ? AND id = ?", memory.LocalGuild, channel, id)
}

const ofMessage = " WHERE guild = ?1 AND channel = ?2 AND id = ?3)"

var knownQuery = `SELECT EXISTS (SELECT 1 FROM channel c CROSS JOIN message m
		WHERE c.guild = ?1 AND c.id = ?2 AND m.guild = ?1 AND m.channel = c.no AND m.id = ?3)
	OR EXISTS (SELECT 1 FROM trace WHERE guild = ?1 AND channel = ?2 AND answer = ?3)
	OR EXISTS (SELECT 1 FROM source WHERE guild = ?1 AND kind = 0 AND place = ?2 AND id = ?3)
	OR EXISTS (SELECT 1 FROM ` + strings.Join(messageTables, ofMessage+" OR EXISTS (SELECT 1 FROM ") + ofMessage

// star keeps whether a message, present or yet to come, is starred.
func (t *transaction) star(e memory.Starred) {
	if e.At.IsZero() || t.isGone(e.Guild, e.Channel, e.ID) {
		return
	}
	c := t.knownChannel(e.Channel)
	if c != nil && t.mayBeDropped(c, e.ID) {
		return
	}
	guild := t.guildAt(e.Guild, e.Channel)
	if t.putNewer(starTable, e.Channel, e.ID, guild, e.On, millis(e.At)) && c != nil {
		c.highest = max(c.highest, e.ID)
		t.exec("UPDATE message SET starred = ? WHERE guild = ? AND channel = ? AND id = ?", e.On, guild, c.no, e.ID)
	}
}

func (a asExtra) Scan(from any) error {
	if from == nil {
		return nil
	}
	var e extra
	err := asJSON{&e}.Scan(from)
	a.Files = e.Files
	a.Mentions = e.Mentions
	a.Links = e.Links
	a.Original = e.Original
	return err
}
