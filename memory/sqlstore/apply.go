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
	case !t.isKnown(m.Channel, m.ID):
		t.store.ingest.dropped.add(m.Channel, m.ID)
	case out && t.stored(c, m.ID).row != 0:
	default:
		t.delete(m.Channel, m.ID, hideRepeats)
	}
}

// dropped holds the newest messages that were dropped because of their author, whom edits, stars, names and
// deletions don't name.
type dropped struct{ newer, older map[memory.MessageRef]bool }

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

func (d *dropped) has(channel memory.ChannelID, id memory.MessageID) bool {
	at := memory.MessageRef{Channel: channel, Message: id}
	return d.newer[at] || d.older[at]
}

// mayBeDropped reports whether a missing message may have been dropped because of its author: it was heard,
// is in no gap, and somebody in its guild has opted out or is forgotten. It holds after a restart too.
func (t *transaction) mayBeDropped(c *channel, id memory.MessageID) bool {
	return t.decisions().mayDrop(c.location, id) && value[bool](t, `SELECT
		?2 <= max(c.heard, ?3, coalesce((SELECT since FROM guild g WHERE g.id = c.guild), 0))
		AND NOT EXISTS (SELECT 1 FROM message WHERE channel = c.no AND id = ?2)
		AND NOT EXISTS (SELECT 1 FROM gap WHERE channel = c.id AND sweep = 0 AND after < ?2 AND until >= ?2)
		FROM channel c WHERE c.no = ?1`, c.no, id, t.heard[c.no])
}

// insertEdited logs a new message, with the text of an edit that came first, if any.
func (t *transaction) insertEdited(c *channel, m memory.Message, terms string) {
	whole := millis(m.Edited)
	var edited int64
	var content string
	early := t.row("DELETE FROM early_edit WHERE channel = ? AND id = ? RETURNING edited, content", m.Channel, m.ID).
		into(&edited, t.store.vault.opened(&content, func() Place { return editPlace(m.Channel, m.ID) }))
	t.changed.Text = t.changed.Text || early
	if early && newer(edited, content, whole, m.Content) {
		m.Content = content
		m.Edited = fromMillis(edited)
		m = t.editedCopy(m)
		m.Tokens = t.store.options.Tokens(m.Text())
		terms = indexTerms(new(text.Batch), m)
	}
	m.Starred = value[bool](t, "SELECT starred FROM star WHERE channel = ? AND id = ?", m.Channel, m.ID)
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
	t.later(`INSERT INTO message (row, channel, id, author, kind, reply_to, edited, whole, starred, tokens,
		segment, content, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		row, c.no, m.ID, m.Author, m.Kind, m.ReplyTo, millis(m.Edited), whole, m.Starred, m.Tokens, segment,
		t.seal(at("message", "content", c.no, m.ID), m.Content),
		t.sealAny(at("message", "extra", c.no, m.ID), t.encodeExtra(m)))
	t.index(row, terms)
	t.deriveCopy(m)
}

// deleted removes messages deleted in Discord. An unknown one leaves a tombstone, because it may still arrive, unless
// it wouldn't be logged.
func (t *transaction) deleted(e memory.Deleted) {
	for _, id := range e.IDs {
		if t.isKnown(e.Channel, id) {
			t.channel(e.Guild, e.Channel)
			t.delete(e.Channel, id, hideRepeats)
		} else if !e.Unlogged && !t.store.ingest.dropped.has(e.Channel, id) {
			c := t.channel(e.Guild, e.Channel)
			c.highest = max(c.highest, id)
			t.addTombstone(e.Channel, id)
		}
	}
}

func (t *transaction) addTombstone(channel memory.ChannelID, id memory.MessageID) {
	t.exec("INSERT INTO tombstone (channel, id) VALUES (?, ?) ON CONFLICT DO NOTHING", channel, id)
}

// messageTables hold data by a message's channel and id, even before the message arrives.
var messageTables = []string{"early_edit", "external_id", "star", "rewritten", "question", "taken"}

// delete removes a message, present or yet to come, with everything derived from it.
func (t *transaction) delete(channel memory.ChannelID, id memory.MessageID, hide hiding) {
	t.changed.Text = true
	defer t.in(t.locationAt(t.guild, channel).guild)()
	t.addTombstone(channel, id)
	for _, table := range messageTables {
		t.exec("DELETE FROM "+table+" WHERE channel = ? AND id = ?", channel, id)
	}
	t.rekeyTrace(channel, id)
	t.unshow(channel, id)
	t.invalidate(madeFrom(aMessage, channel, id), cause{hide, memory.MessageRef{Channel: channel, Message: id}})
	c := t.knownChannel(channel)
	if c == nil {
		return
	}
	c.highest = max(c.highest, id)
	if old := t.stored(c, id); old.row != 0 && !old.pendingDeletion {
		t.remove(c, old)
	}
}

func (t *transaction) isKnown(channel memory.ChannelID, id memory.MessageID) bool {
	if value[bool](t, knownQuery, channel, id) {
		return true
	}
	if !t.isTerminalKnown() {
		return false
	}
	defer t.in(memory.LocalGuild)()
	return t.has("SELECT 1 FROM source WHERE kind = 0 AND place = ? AND id = ?", channel, id)
}

var knownQuery = `SELECT EXISTS (SELECT 1 FROM channel c
		JOIN message m ON m.channel = c.no AND m.id = ?2 WHERE c.id = ?1)
	OR EXISTS (SELECT 1 FROM trace WHERE channel = ?1 AND answer = ?2)
	OR EXISTS (SELECT 1 FROM source WHERE kind = 0 AND place = ?1 AND id = ?2)
	OR EXISTS (SELECT 1 FROM ` +
	strings.Join(messageTables, " WHERE channel = ?1 AND id = ?2) OR EXISTS (SELECT 1 FROM ") +
	" WHERE channel = ?1 AND id = ?2)"

// remove deletes a stored message from the log, full text, its segment and the counts.
func (t *transaction) remove(c *channel, old storedMessage) {
	t.reindex(old, memory.Message{})
	t.exec("DELETE FROM message WHERE row = ?", old.row)
	t.underiveCopy(old.Message)
	c.tail = nil
	if old.segment == 0 {
		return
	}
	t.count(old.Message, c.no, -1)
	change := t.segment(old.segment, c.no)
	change.size--
	change.invalid = true
}

// star keeps whether a message, present or yet to come, is starred.
func (t *transaction) star(e memory.Starred) {
	if e.At.IsZero() || t.isGone(e.Guild, e.Channel, e.ID) {
		return
	}
	c := t.knownChannel(e.Channel)
	if c != nil && t.mayBeDropped(c, e.ID) {
		return
	}
	if t.putNewer(starTable, e.Channel, e.ID, e.On, millis(e.At)) && c != nil {
		c.highest = max(c.highest, e.ID)
		t.exec("UPDATE message SET starred = ? WHERE channel = ? AND id = ?", e.On, c.no, e.ID)
	}
}

// extra holds the fields that few messages have.
type extra struct {
	Files    []memory.File   `json:"files,omitempty"`
	Mentions []memory.UserID `json:"mentions,omitempty"`
	Links    []memory.Link   `json:"links,omitempty"`
	Original memory.Original `json:"original,omitzero"`
}

type asExtra struct{ *memory.Message }

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

func (t *transaction) encodeExtra(m memory.Message) any {
	if len(m.Files)+len(m.Mentions)+len(m.Links) == 0 && !m.IsCopy() {
		return nil
	}
	return t.jsonText(extra{m.Files, m.Mentions, m.Links, m.Original})
}
