package sqlstore

import (
	"strings"

	"hark/internal/text"
	"hark/memory"
)

func (t *transaction) apply(e *event) {
	at := placeOf(e.Event)
	if at.ID != 0 {
		at.Guild = t.locationAt(at.Guild, at.ID).guild
	}
	defer t.in(at.Guild)()
	switch v := e.Event.(type) {
	case memory.Posted:
		t.post(e)
	case memory.Heard:
		t.hear(t.channel(v.Guild, v.Channel).no, v.ID)
	case memory.Starred:
		t.star(v)
	case memory.Told:
		t.tell(v)
	case memory.Edited:
		t.edit(v)
	case memory.Deleted:
		for _, id := range v.IDs {
			t.deleted(v.Guild, v.Channel, id, v.Unlogged)
		}
	case memory.Rewritten:
		t.rewrite(v)
	case memory.Named:
		t.name(v)
	case memory.Answered:
		t.keepTrace(v.Trace)
	case memory.Called:
		t.keepRecord(e.record)
	case memory.GapFound:
		t.findGap(v.Gap)
	case memory.GapFilled:
		t.fillGap(v)
	case memory.Absent:
		t.sweep(v)
	case memory.ShutOut:
		t.shutOut(v)
	case memory.QuestionOpened:
		t.exec("INSERT INTO question (channel, id, guild) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			v.Question.Channel, v.Question.ID, v.Question.Guild)
	case memory.QuestionClosed:
		t.exec("DELETE FROM question WHERE channel = ? AND id = ?", v.Channel, v.ID)
	case memory.Spent:
		t.spend(v)
	case memory.Marked:
		t.exec("DELETE FROM withdrawn WHERE channel = ? AND message = ?", v.Channel, v.Message)
	case memory.PersonSeen:
		t.seePerson(v.Person, v.Said)
	case memory.PersonLeft:
		t.changed.people[v.Guild] = true
		t.exec("UPDATE person SET nick = '', roles = NULL WHERE guild = ? AND id = ?", v.Guild, v.User)
		t.exec("UPDATE connection SET hash = '', uses = 0, used = 0 WHERE guild = ? AND user = ?", v.Guild, v.User)
	case memory.FactTold:
		t.tellFact(v)
	case memory.FactGone:
		t.deleteKnowledge(aFact, v.Guild, v.Fact)
	case memory.LoreTold:
		t.tellLore(v.Lore)
	case memory.LoreGone:
		t.deleteKnowledge(aLore, v.Guild, v.ID)
	case memory.Summarised:
		t.summarise(v)
	case memory.SessionCondensed:
		t.condense(v.Condensed)
	case memory.CondensedGone:
		t.endSession(v)
	case memory.Opted:
		t.opt(v)
	case memory.Forgetting:
		t.forgetOnce(v)
	case memory.Learn:
		t.learn(v)
	case memory.Connected:
		t.connect(v)
	case memory.ConnectionUsed:
		t.useConnection(v)
	default:
		t.applyStructure(v)
	}
}

// placeOf returns the guild that an event is about and, if it is about one, the channel. Everywhere means that only
// the channel is known.
func placeOf(e memory.Event) (at memory.Channel) {
	at = memory.Channel{Guild: memory.Everywhere}
	switch e := e.(type) {
	case memory.Posted:
		at.Guild, at.ID = e.Message.Guild, e.Message.Channel
	case memory.Heard:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Starred:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Told:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Edited:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Deleted:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Rewritten:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Named:
		at.ID = e.Channel
	case memory.Answered:
		at.Guild, at.ID = e.Trace.Guild, e.Trace.Channel
	case memory.Called:
		at.Guild, at.ID = e.Record.Guild, e.Record.Channel
	case memory.GapFound:
		at.Guild, at.ID = e.Gap.Guild, e.Gap.Channel
	case memory.GapFilled:
		at.Guild, at.ID = e.Gap.Guild, e.Gap.Channel
	case memory.QuestionOpened:
		at.Guild, at.ID = e.Question.Guild, e.Question.Channel
	case memory.QuestionClosed:
		at.ID = e.Channel
	case memory.Marked:
		at.ID = e.Channel
	case memory.Summarised:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.SessionCondensed:
		at.Guild, at.ID = e.Condensed.Guild, e.Condensed.Channel
	case memory.CondensedGone:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.ShutOut:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.ChannelGone: // Discord may omit the guild
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Absent:
		at.Guild = e.Guild
	case memory.Spent:
		at.Guild = e.Guild
	case memory.PersonSeen:
		at.Guild = e.Person.Guild
	case memory.PersonLeft:
		at.Guild = e.Guild
	case memory.FactTold:
		at.Guild = e.Guild
	case memory.FactGone:
		at.Guild = e.Guild
	case memory.LoreTold:
		at.Guild = e.Lore.Guild
	case memory.LoreGone:
		at.Guild = e.Guild
	case memory.Opted:
		at.Guild = e.Guild
	case memory.Learn:
		at.Guild = e.Guild
	case memory.Connected:
		at.Guild = e.Guild
	case memory.ConnectionUsed:
		at.Guild = e.Guild
	case memory.GuildSeen:
		at.Guild = e.Guild.ID
	case memory.GuildNamed:
		at.Guild = e.Guild
	case memory.GuildLeft:
		at.Guild = e.Guild
	case memory.ChannelSeen:
		at.Guild = e.Channel.Guild
	case memory.ChannelDeleted:
		at.Guild = e.Guild
	case memory.RoleSeen:
		at.Guild = e.Guild
	case memory.RoleGone:
		at.Guild = e.Guild
	case memory.Chose:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.Asked:
		at.Guild = e.Guild
	case memory.Learned:
		at.Guild, at.ID = e.Guild, e.Channel
	case memory.SettingChosen:
		at.Guild = e.Guild
	case memory.LimitChosen:
		at.Guild = e.Guild
	case memory.Forgetting:
		at.Guild = e.Guild
	}
	return at
}

// post logs a message or its newer version, unless its author has opted out or it is forgotten.
func (t *transaction) post(e *event) {
	m := e.message
	c := t.channel(m.Guild, m.Channel)
	if e.live {
		t.hear(c.no, m.ID)
	}
	d := t.decisions()
	if out := d.OptedOut(m.Guild, m.Author); out ||
		d.forgotten(location{m.Guild, m.Channel, c.parent}, m.ID, m.Author) {
		t.drop(c, m, out)
		return
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
		d.older, d.newer = d.newer, nil
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
		m.Content, m.Edited = content, FromMillis(edited)
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
		t.sealAny(at("message", "extra", c.no, m.ID), encodeExtra(m)))
	t.index(row, terms)
}

// deleted removes a message deleted in Discord. An unknown one leaves a tombstone, because it may still
// arrive, unless it wouldn't be logged.
func (t *transaction) deleted(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID, unlogged bool) {
	if t.isKnown(channel, id) {
		t.channel(guild, channel)
		t.delete(channel, id, hideRepeats)
	} else if !unlogged && !t.store.ingest.dropped.has(channel, id) {
		c := t.channel(guild, channel)
		c.highest = max(c.highest, id)
		t.addTombstone(channel, id)
	}
}

func (t *transaction) addTombstone(channel memory.ChannelID, id memory.MessageID) {
	t.exec("INSERT INTO tombstone (channel, id) VALUES (?, ?) ON CONFLICT DO NOTHING", channel, id)
}

// messageTables hold data by a message's channel and id, even before the message arrives.
var messageTables = []string{"early_edit", "called", "star", "rewritten", "question", "taken"}

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

func (t *transaction) name(e memory.Named) {
	name := memory.Clean(e.Name)
	if must(t.store.called(t.ctx, t, e.Channel, name)) != 0 {
		return
	}
	t.exec(`INSERT INTO called (channel, id, name, token) SELECT ?1, ?2, ?3, ?4
		WHERE EXISTS (SELECT 1 FROM channel c JOIN said m ON m.channel = c.no AND m.id = ?2 WHERE c.id = ?1)
		ON CONFLICT DO NOTHING`, e.Channel, e.ID, t.seal(at("called", "name", e.Channel, e.ID), name),
		t.store.vault.token(e.Channel, name))
}

// extra holds the fields that few messages have.
type extra struct {
	Files    []memory.File   `json:"files,omitempty"`
	Mentions []memory.UserID `json:"mentions,omitempty"`
	Links    []memory.Link   `json:"links,omitempty"`
}

type asExtra struct{ *memory.Message }

func (a asExtra) Scan(from any) error {
	if from == nil {
		return nil
	}
	var e extra
	err := asJSON{&e}.Scan(from)
	a.Files, a.Mentions, a.Links = e.Files, e.Mentions, e.Links
	return err
}

func encodeExtra(m memory.Message) any {
	if len(m.Files)+len(m.Mentions)+len(m.Links) == 0 {
		return nil
	}
	return jsonText(extra{m.Files, m.Mentions, m.Links})
}
