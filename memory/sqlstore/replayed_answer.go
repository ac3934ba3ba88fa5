package sqlstore

import (
	"fmt"
	"time"

	"hark/memory"
)

// Some of what Replay carries over isn't an event that happens: it is what events left of Hark's own answers. These
// types of event exist for it, and only Replay applies them.
var replayEvents = []handler{
	handle((*transaction).goWithOthers),
	handle((*transaction).withdrawAgain),
	handle((*transaction).rewriteAgain),
	handle((*transaction).leaveAgain),
}

// gone is a message that went with something, or is of a channel of which nothing else is known.
type gone struct {
	Guild   memory.GuildID
	Channel memory.ChannelID
	ID      memory.MessageID
	Taken   bool // with a source; the messages that it lists weren't deleted
}

// Place implements memory.Event.
func (e gone) Place() (memory.GuildID, memory.ChannelID) { return e.Guild, e.Channel }

func (t *transaction) goWithOthers(e gone) {
	if !t.isGone(e.Guild, e.Channel, e.ID) {
		t.delete(e.Guild, e.Channel, e.ID, hideNone)
	}
	if e.Taken && t.has("SELECT 1 FROM tombstone WHERE guild = ? AND channel = ? AND id = ?", e.Guild, e.Channel, e.ID) {
		t.exec("INSERT INTO taken (guild, channel, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", e.Guild, e.Channel, e.ID)
	}
}

// withdrew is a message of Hark's that Discord must stop showing.
type withdrew struct{ memory.Withdrawn }

// Place implements memory.Event.
func (e withdrew) Place() (memory.GuildID, memory.ChannelID) { return e.Guild, e.Channel }

func (t *transaction) withdrawAgain(e withdrew) {
	t.exec(`INSERT INTO withdrawn (guild, channel, message, first, unasked) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (channel, message, guild) DO UPDATE SET unasked = max(withdrawn.unasked, excluded.unasked)`,
		e.Guild, e.Channel, e.Message, e.First, e.Unasked)
}

// rewrote is a message of Hark's that was written anew, with its last text. Its new sources aren't told.
type rewrote struct {
	Guild   memory.GuildID
	Channel memory.ChannelID
	ID      memory.MessageID
	Edited  time.Time
	Content string
	Since   int64 // see the table rewritten; -1: not settled
}

// Place implements memory.Event.
func (e rewrote) Place() (memory.GuildID, memory.ChannelID) { return e.Guild, e.Channel }

func readRewrote(v *Vault, scan Scanner, e *rewrote) error {
	var no int64
	content := v.opened(&e.Content, func() Place { return at("message", "content", no, e.ID) })
	return scan(&e.Guild, &e.Channel, &e.ID, &no, asTime{&e.Edited}, content, &e.Since)
}

// rewriteAgain deletes a message that wasn't written anew here, since the sources of its new text are missing. Discord
// must stop showing it.
func (t *transaction) rewriteAgain(e rewrote) {
	c := t.knownChannel(e.Channel)
	if c == nil || t.isGone(e.Guild, e.Channel, e.ID) { // gone with the first message of its answer
		return
	}
	was := t.stored(c, e.ID)
	since := value[int64](t, "SELECT coalesce(edited, -1) FROM rewritten WHERE guild = ? AND channel = ? AND id = ?",
		e.Guild, e.Channel, e.ID)
	isSame := since == e.Since && was.Edited.Equal(e.Edited) && was.Content == e.Content
	if was.row == 0 || isSame {
		return
	}
	ids := []memory.MessageID{e.ID}
	t.rewrite(memory.Rewritten{
		Guild:   e.Guild,
		Channel: e.Channel,
		IDs:     ids,
	}) // so that heirs inherit its sources
	t.deleteParts(memory.Trace{
		Guild:   e.Guild,
		Channel: e.Channel,
		Answer:  e.ID,
	}, ids, true)
}

// left is what is known of a deleted answer that Discord still shows: see leaveShown.
type left struct {
	Guild    memory.GuildID
	Channel  memory.ChannelID
	First    memory.MessageID
	Author   memory.UserID
	Messages [][2]int64     // each with its question
	Sources  []storedSource // by kind, place and id
	Named    []memory.UserID
}

// Place implements memory.Event.
func (e left) Place() (memory.GuildID, memory.ChannelID) { return e.Guild, e.Channel }

var selectLeft = fmt.Sprintf(`SELECT d.guild, d.channel, d.id, d.author,
		(SELECT json_group_array(json_array(o.id, o.question) ORDER BY o.id) FROM shown o
			WHERE o.guild = d.guild AND o.derived = d.no),
		(SELECT json_group_array(json_array(o.kind, o.place, o.id, o.version, o.repeats) ORDER BY o.kind, o.place, o.id)
			FROM source o WHERE o.guild = d.guild AND o.derived = d.no),
		(SELECT json_group_array(o.user ORDER BY o.user) FROM named o WHERE o.guild = d.guild AND o.derived = d.no)
	FROM derived d WHERE d.kind = %d AND (d.guild = ?1 OR ?1 = %d)`, aShown, memory.Everywhere)

func readLeft(_ *Vault, scan Scanner, e *left) error {
	return scan(&e.Guild, &e.Channel, &e.First, &e.Author, asJSON{&e.Messages}, asJSON{&e.Sources}, asJSON{&e.Named})
}

func (t *transaction) leaveAgain(e left) {
	d := derived{
		kind:    aShown,
		guild:   e.Guild,
		channel: e.Channel,
		id:      int64(e.First),
		author:  e.Author,
		at:      e.First,
	}
	t.exec(`INSERT INTO derived (kind, place, id, guild, channel, author, at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, d.kind, d.place(), d.id, d.guild, d.channel, d.author, d.at)
	no := value[int64](t, "SELECT no FROM derived WHERE guild = ? AND kind = ? AND place = ? AND id = ?", d.guild, d.kind,
		d.place(), d.id)
	for _, m := range e.Messages {
		t.exec("INSERT INTO shown (guild, channel, id, derived, question) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			e.Guild, e.Channel, m[0], no, m[1])
	}
	t.inherit(heir{
		guild:   e.Guild,
		no:      no,
		repeats: 1,
	}, e.Sources, e.Named)
}
