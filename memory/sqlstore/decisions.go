package sqlstore

import (
	"slices"

	"hark/memory"
)

// decisionCache holds the opt-outs and forgettings that every message is checked against.
type decisionCache struct {
	out   map[memory.Membership]bool
	rules []rule
	// newest is the greatest end of a rule that isn't endless. Most new messages are past it.
	newest memory.MessageID
}

// rule is a forgetting, and what it covers now and later.
type rule struct {
	memory.Forgetting
	end   memory.MessageID // exclusive; or endless
	whole bool             // covers everything up to its own time
}

const endless memory.MessageID = 1<<63 - 1

func ruleOf(f memory.Forgetting) rule {
	o := rule{Forgetting: f, end: endless}
	if f.Why == memory.WhyDeleted {
		return o
	}
	o.whole = f.Before.IsZero()
	if o.whole || f.Before.After(f.At) { // nothing said after the order can be forgotten
		f.Before = f.At
	}
	o.end = FirstAt(f.Before)
	return o
}

type location struct {
	guild   memory.GuildID
	channel memory.ChannelID
	parent  memory.ChannelID // of a thread
}

func locationOf(c memory.Channel) location {
	at := location{guild: c.Guild, channel: c.ID}
	if c.Kind.IsThread() {
		at.parent = c.Parent
	}
	return at
}

// coversEveryone reports whether o covers id at s for every author.
func (o *rule) coversEveryone(s location, id memory.MessageID) bool {
	return o.User == 0 && o.covers(s, id, 0)
}

func (o *rule) covers(s location, id memory.MessageID, author memory.UserID) bool {
	return id < o.end && (o.User == 0 || o.User == author) && (o.Guild == memory.Everywhere || o.Guild == s.guild) &&
		(o.Channel == 0 || o.Channel == s.channel || o.Channel == s.parent)
}

func (d *decisionCache) add(o rule) {
	d.rules = append(d.rules, o)
	if o.end != endless {
		d.newest = max(d.newest, o.end)
	}
}

func (d *decisionCache) forgotten(s location, id memory.MessageID, author memory.UserID) bool {
	for i := range d.rules {
		if o := &d.rules[i]; (id < d.newest || o.end == endless) && o.covers(s, id, author) {
			return true
		}
	}
	return false
}

func newDecisionCache() *decisionCache {
	return &decisionCache{out: map[memory.Membership]bool{}, newest: noMessage}
}

// opt records an opt-out or opt-in.
func (d *decisionCache) opt(guild memory.GuildID, user memory.UserID, out bool) {
	d.out[memory.Membership{Guild: guild, User: user}] = out
}

func (d *decisionCache) hasOptedOut(guild memory.GuildID, user memory.UserID) bool {
	return d.out[memory.Membership{Guild: guild, User: user}]
}

// readForgetting reads a row of forgettingColumns and adds its rule.
func (d *decisionCache) readForgetting(scan Scanner) (f memory.Forgetting, err error) {
	var o rule
	err = o.scan(scan)
	d.add(o)
	return o.Forgetting, err
}

// mayDrop reports whether a message would be dropped for some author.
func (d *decisionCache) mayDrop(at location, id memory.MessageID) bool {
	for m := range d.out {
		if d.out[m] && m.Guild == at.guild {
			return true
		}
	}
	return slices.ContainsFunc(d.rules, func(o rule) bool { return o.User != 0 && o.covers(at, id, o.User) })
}

// decisions returns the cached decisions; the first call reads them.
func (t *transaction) decisions() *decisionCache {
	w := &t.store.ingest
	if w.decisions != nil {
		return w.decisions
	}
	d := newDecisionCache()
	eachKey(t, func(guild memory.GuildID, user memory.UserID) { d.opt(guild, user, true) },
		"SELECT guild, user FROM opted WHERE out = 1")
	t.each(func(scan Scanner) error {
		_, err := d.readForgetting(scan)
		return err
	}, "SELECT "+forgettingColumns+" FROM forgetting WHERE begun > 0")
	w.decisions = d
	return d
}

// locationAt returns a location. The channel may be unknown.
func (t *transaction) locationAt(guild memory.GuildID, channel memory.ChannelID) location {
	if c := t.knownChannel(channel); c != nil {
		return c.location
	}
	return location{guild: guild, channel: channel}
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

// decisionEvents are what people decide about remembering.
var decisionEvents = []handler{
	handle((*transaction).opt),
	handleStructure((*transaction).choose),
}

func (t *transaction) opt(e memory.Opted) {
	t.hideNext = true // also for a repeated event, whose forgetting may not be hidden yet
	d := t.decisions()
	if !t.putNewer(optedTable, e.Guild, e.User, e.Out, millis(e.At)) {
		return
	}
	wasOut := d.hasOptedOut(e.Guild, e.User)
	d.opt(e.Guild, e.User, e.Out)
	t.store.ingest.dropped = dropped{} // later messages of somebody who opts in aren't dropped
	if e.Out {
		t.exec("DELETE FROM connection WHERE guild = ? AND user = ?", e.Guild, e.User)
		t.exec("UPDATE spent SET user = 0 WHERE guild = ? AND user = ?", e.Guild, e.User)
		t.execAll([]any{e.Guild, e.User}, "UPDATE setting SET chooser = 0 WHERE guild = ? AND chooser = ?",
			"UPDATE role_limit SET chooser = 0 WHERE guild = ? AND chooser = ?",
			"UPDATE guild SET chooser = 0 WHERE id = ? AND chooser = ?",
			"UPDATE channel SET chooser = 0 WHERE guild = ? AND chooser = ?")
	}
	if e.Out || wasOut { // opting in keeps out what was said meanwhile
		t.forgetOnce(memory.Forgetting{Guild: e.Guild, User: e.User, Why: memory.WhyOptOut, At: e.At})
	}
}

// choose keeps a decision about remembering. Nothing said before remembering begins counts as missing.
func (t *transaction) choose(e memory.Chose) {
	t.guildNo(e.Guild)
	table := "guild"
	which := " WHERE id = ?"
	args := []any{e.Guild}
	if e.Channel != 0 {
		c := t.channel(e.Guild, e.Channel)
		table = "channel"
		which = " WHERE guild = ? AND id = ?"
		args = []any{c.guild, e.Channel}
	}
	var was memory.Choice
	var chosen int64
	t.row("SELECT choice, chosen FROM "+table+which, args...).into(&was, &chosen)
	at := millis(e.At)
	if chosen != 0 && at <= chosen {
		return
	}
	decided := []any{e.Choice, at, t.chooser(e.Guild, e.By, e.At)}
	t.exec("UPDATE "+table+" SET choice = ?, chosen = ?, chooser = ?"+which, append(decided, args...)...)
	if e.Choice == memory.Ignore || e.Choice == was {
		return
	}
	// Edits made while it wasn't remembered are unknown.
	t.sweep(memory.Absent{Guild: e.Guild, Channel: e.Channel, At: e.At})
	t.exec("UPDATE channel SET heard = max(heard, ?3) WHERE "+within, e.Guild, e.Channel,
		memory.FirstMessageID(e.At))
}
