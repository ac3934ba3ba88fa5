package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"hark/memory"
)

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

const forgettingColumns = "id, guild, channel, user, before, why, at, whole"

// scan reads forgettingColumns and the columns after them.
func (o *rule) scan(scan Scanner, more ...any) error {
	err := scan(append([]any{&o.ID, &o.Guild, &o.Channel, &o.User, &o.end, &o.Why, asTime{&o.At}, &o.whole},
		more...)...)
	if !o.whole && o.end != endless {
		o.Before = o.end.Time()
	}
	return err
}

// args are the arguments of every statement about a rule: ?1 the ids of its channels as JSON, ?2 its end,
// ?3 its user, ?4 its guild, ?5 its channel, ?6 whether it covers all of a person or a guild.
func (o rule) args(channels string, more ...any) []any {
	return append([]any{channels, o.end, o.User, o.Guild, o.Channel, o.coversPeople()}, more...)
}

// Conditions for the rows that a rule is about.
var (
	ofGuild   = fmt.Sprintf("(guild = ?4 OR ?4 = %d)", memory.Everywhere)
	theGuild  = fmt.Sprintf("(id = ?4 OR ?4 = %d)", memory.Everywhere) // of guilds
	concerned = fmt.Sprintf("%s AND ((id = ?5 OR ?5 = 0) OR parent = ?5 AND kind IN (%d, %d))",
		ofGuild, memory.PublicThread, memory.PrivateThread) // of channels
)

// messageTables hold data by a message's channel and id, even before the message arrives.
var messageTables = []string{"early_edit", "external_id", "star", "rewritten", "question", "taken"}

func (t *transaction) addTombstone(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) {
	t.exec("INSERT INTO tombstone (guild, channel, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", guild, channel, id)
}

// mayBeDropped reports whether a missing message may have been dropped because of its author: it was heard,
// is in no gap, and somebody in its guild has opted out or is forgotten. It holds after a restart too.
func (t *transaction) mayBeDropped(c *channel, id memory.MessageID) bool {
	return t.decisions().mayDrop(c.location, id) && value[bool](t, `SELECT
		?3 <= max(heard, ?4, coalesce((SELECT since FROM guild WHERE id = ?1), 0))
		AND NOT EXISTS (SELECT 1 FROM message WHERE guild = ?1 AND channel = ?2 AND id = ?3)
		AND NOT EXISTS (SELECT 1 FROM gap WHERE guild = ?1 AND channel = ?5 AND sweep = 0 AND after < ?3 AND until >= ?3)
		FROM channel WHERE guild = ?1 AND no = ?2`, c.guild, c.no, id, t.heard[c.no], c.channel)
}

func (o rule) coversPeople() bool { return o.whole && o.Channel == 0 }

// forgetting reads a forgetting; its ID is 0 if there is none.
func (t *transaction) forgetting(id int64) (o rule, begun int, done bool, r memory.DeletionReport) {
	begun, done, err := o.read(t.ctx, t, id, &r)
	ensure(err)
	return o, begun, done, r
}

func (o *rule) read(ctx context.Context, q Querier, id int64, r *memory.DeletionReport) (begun int,
	done bool, err error) {
	row := RowOf(ctx, q, "SELECT "+forgettingColumns+", begun, done, receipt FROM forgetting WHERE id = ?", id)
	_, err = Found(o.scan(row.Scan, &begun, &done, asJSON{r}))
	r.Forgetting = o.Forgetting
	return begun, done, err
}
