package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"hark/memory"
)

// A forgetting begins with a short transaction: it deletes everything derived from the messages and stores a
// rule that keeps them from coming back. Then steps mark the messages as pending deletion, which hides them
// from every read (the view said; hide.go). Last, steps delete their rows and full text (resume.go).

// forget begins a forgetting and returns its id. The caller must call Store.hide next.
func (t *transaction) forget(f memory.Forgetting) (id int64) {
	o := ruleOf(f)
	// Finished forgettings that this one covers leave the record.
	t.exec(`DELETE FROM forgetting WHERE guild = ? AND channel = ? AND user = ? AND why = ? AND before <= ?
		AND whole <= ? AND done = 1
		AND id < (SELECT max(id) FROM forgetting)`, // its number must stay taken
		o.Guild, o.Channel, o.User, o.Why, o.end, o.whole)
	id = value[int64](t, `INSERT INTO forgetting (guild, channel, user, before, why, at, whole, done, receipt)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, '{}') RETURNING id`,
		o.Guild, o.Channel, o.User, o.end, o.Why, millis(f.At), o.whole)
	t.begin(id, o)
	return id
}

// forgettingEvents order to forget.
var forgettingEvents = []handler{handle((*transaction).forgetOnce)}

// forgetOnce begins a forgetting, unless one on record, perhaps not hidden yet, covers as much for the same
// reason.
func (t *transaction) forgetOnce(f memory.Forgetting) {
	t.hideNext = true
	o := ruleOf(f)
	if !slices.ContainsFunc(t.decisions().rules, func(k rule) bool {
		return k.Guild == o.Guild && k.Channel == o.Channel && k.User == o.User && k.Why == o.Why &&
			k.end >= o.end && (k.whole || !o.whole)
	}) {
		t.forget(f)
	}
}

// States of an unfinished forgetting.
const (
	hasBegun = 1 // its messages aren't all marked
	isHidden = 2 // they all are
)

// forgettingRun is a forgetting that begins.
type forgettingRun struct {
	*transaction
	id       int64
	of       rule
	channels string // ids of the channels concerned, as JSON
	memory.DeletionReport
}

// begin deletes everything derived from what a recorded rule covers, and returns the ids of the channels
// concerned as JSON. It may run again.
func (t *transaction) begin(id int64, o rule) (channels string) {
	t.flush()
	_, _, _, r := t.forgetting(id)
	channels, err := o.channels(t.ctx, t)
	ensure(err)
	b := &forgettingRun{
		transaction:    t,
		id:             id,
		of:             o,
		channels:       channels,
		DeletionReport: r,
	}
	b.invalidate()
	t.flush()
	b.dropMessageRows()
	b.dropNames()
	b.dropPeople()
	b.dropSettings()
	b.dropStructure()
	t.changed.Text = true
	t.changed.structure[o.Guild] = true
	// the caches are read again, with the new rule
	clear(t.store.ingest.channels)
	clear(t.store.ingest.segments)
	t.store.ingest.decisions = nil
	t.exec("UPDATE forgetting SET begun = ?, receipt = ? WHERE id = ?", hasBegun, t.jsonText(b.DeletionReport), id)
	return b.channels
}

// channels returns the ids of the channels that a rule concerns, as JSON.
func (o rule) channels(ctx context.Context, q Querier) (string, error) {
	ids, err := column[memory.ChannelID](ctx, q, "SELECT id FROM channel WHERE "+concerned, o.args("")...)
	return jsonOf(ids), err
}

// messages selects the messages m in channels c that a rule covers.
func (o rule) messages() string {
	which := "?3 = 0 AND m.channel = c.no" // by the index
	if o.User != 0 {
		which = "m.author = ?3 AND " + rowsOfChannel
	}
	return "channel c CROSS JOIN said m ON m.guild = c.guild AND " + which +
		" WHERE (c.guild = ?4 OR ?4 = -1) AND c.id IN (SELECT value FROM json_each(?1)) AND m.id < ?2"
}

// run executes a statement about the rule. more begins at ?7.
func (b *forgettingRun) run(query string, more ...any) int {
	return b.exec(query, b.of.args(b.channels, more...)...)
}

// invalidate deletes what was derived from covered messages. It reads their authors, so it must run before
// they are marked.
func (b *forgettingRun) invalidate() {
	b.deletedCounts = memory.DeletionReport{}
	b.transaction.invalidate(b.of.selects(b.channels), cause{hide: b.of.hides()})
	b.addDeleted(&b.DeletionReport)
}

// hides returns which of the deleted answers Discord must stop showing: all, if all of a person, channel or
// guild is forgotten.
func (o rule) hides() hiding {
	if o.whole || o.end == endless {
		return hideAll
	}
	return hideRepeats
}

func (t *transaction) addDeleted(r *memory.DeletionReport) {
	r.Answers += t.deletedCounts.Answers
	r.Facts += t.deletedCounts.Facts
	r.Lore += t.deletedCounts.Lore
	r.Summaries += t.deletedCounts.Summaries
	r.Records += t.deletedCounts.Records
}

// dropMessageRows deletes everybody's rows in messageTables, also of messages that haven't arrived. One
// person's go with the messages.
func (b *forgettingRun) dropMessageRows() {
	if b.of.User != 0 {
		return
	}
	for _, table := range messageTables {
		if table == "taken" { // goes with its tombstone
			continue
		}
		n := b.run("DELETE FROM " + table + " WHERE " + ofGuild +
			" AND channel IN (SELECT value FROM json_each(?1)) AND id < ?2")
		if table == "early_edit" {
			b.Messages += n
		}
	}
}

// dropNames deletes the names of deleted channels and of the forgotten person's threads, and prompts that may
// show them.
func (b *forgettingRun) dropNames() {
	which := ofGuild + " AND id IN (SELECT value FROM json_each(?1))"
	switch {
	case b.of.User != 0:
		which += " AND owner = ?3 AND id < ?2"
	case b.of.Why != memory.WhyDeleted:
		return
	}
	type named struct {
		no int64
		memory.Channel
	}
	for _, c := range listIn(b.transaction, func(scan Scanner, c *named) error {
		return scan(&c.no, &c.ID, b.store.vault.channelName(&c.Channel, &c.no))
	}, "SELECT no, id, name FROM channel WHERE name <> '' AND "+which, b.of.args(b.channels)...) {
		b.untitle(c.no)
		name := c.Name
		// A prompt escapes markup and cuts long names.
		words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		b.dropPromptsNaming(append(words, "")[0])
	}
	b.run("UPDATE channel SET name = '', tags = '' WHERE name <> '' AND " + which)
}

// dropPromptsNaming deletes the prompts with a word: the guild's, and the terminal's.
func (b *forgettingRun) dropPromptsNaming(word string) {
	args := b.of.args(b.channels, memory.LocalGuild)
	of := "(" + ofGuild + " OR guild = ?7)"
	if b.store.vault == nil {
		b.dropPromptsWhere(of+" AND instr(body, ?8) > 0", append(args, word)...)
		return
	}
	gone := map[memory.GuildID][]int64{}
	b.each(func(scan Scanner) error {
		var guild memory.GuildID
		var no int64
		var m memory.MessageRef
		var body string
		opened := b.store.vault.opened(&body, func() Place { return promptPlace(m) })
		err := scan(&guild, &no, &m.Channel, &m.Message, opened)
		if strings.Contains(body, word) {
			gone[guild] = append(gone[guild], no)
		}
		return err
	}, "SELECT guild, no, channel, answer, body FROM prompt WHERE "+of, args...)
	for guild, nos := range gone {
		b.dropPromptsWhere("guild = ? AND no IN (SELECT value FROM json_each(?))", guild, jsonOf(nos))
	}
}

// dropPeople deletes people of whom everything is forgotten, and takes them out of what was spent. With a
// whole guild it deletes the guild's spending too.
func (b *forgettingRun) dropPeople() {
	if !b.of.coversPeople() {
		return
	}
	b.run("DELETE FROM learn WHERE (user = ?3 OR ?3 = 0) AND " + ofGuild)
	b.run("DELETE FROM connection WHERE (user = ?3 OR ?3 = 0) AND at < ?7 AND "+ofGuild, millis(b.of.end.Time()))
	change := "UPDATE spent SET user = 0"
	if b.of.User == 0 {
		change = "DELETE FROM spent"
	}
	b.run(change + " WHERE question < ?2 AND (user = ?3 OR ?3 = 0) AND " + ofGuild)
	const unknown = " SET chooser = 0 WHERE chooser <> 0 AND (chooser = ?3 OR ?3 = 0) AND "
	end := millis(b.of.end.Time())
	b.run("UPDATE setting"+unknown+"at < ?7 AND "+ofGuild, end)
	b.run("UPDATE role_limit"+unknown+"at < ?7 AND "+ofGuild, end)
	b.run("UPDATE channel"+unknown+"chosen < ?7 AND "+ofGuild, end)
	b.run("UPDATE guild"+unknown+"chosen < ?7 AND "+theGuild, end)
	// While in the guild, Hark needs its own roles to know what it may read.
	var own []memory.UserID
	if b.of.User == 0 && b.of.Why != memory.WhyLeft {
		own = columnIn[memory.UserID](b.transaction, "SELECT self FROM guild WHERE gone = 0 AND "+theGuild,
			b.of.args(b.channels)...)
	}
	b.People = b.run(`DELETE FROM person WHERE (id = ?3 OR ?3 = 0) AND id NOT IN (SELECT value FROM json_each(?7))
		AND `+ofGuild, jsonOf(own))
}

// dropStructure deletes the structure of guilds of which everything is forgotten, except while Hark is in them.
// Channels' numbers stay until the messages are deleted.
func (b *forgettingRun) dropStructure() {
	if !b.of.coversPeople() || b.of.User != 0 {
		return
	}
	if b.of.Why == memory.WhyLeft {
		b.run("UPDATE guild SET gone = max(gone, 1) WHERE " + theGuild)
	}
	for _, guild := range columnIn[memory.GuildID](b.transaction, fmt.Sprintf(
		"SELECT id FROM guild WHERE (gone <> 0 OR id = %d) AND ", memory.LocalGuild)+theGuild, b.of.args(b.channels)...) {
		b.dropStructureOf(guild)
	}
	clear(b.store.ingest.guildNos)
	b.changed.space = true // numbers may be reused
	b.dropUnused(b.of)
}

// dropStructureOf deletes the structure of a guild that Hark isn't in.
func (t *transaction) dropStructureOf(guild memory.GuildID) {
	t.invalidate(selects(guild, `SELECT guild, no AS derived, 0 AS repeats, 1 AS itself FROM derived
		WHERE guild = ? AND kind IN (?, ?)`, guild, aSummary, aCondensed), cause{})
	titled := columnIn[int64](t, "SELECT no FROM channel WHERE guild = ? AND name <> '' AND kind IN (?, ?)", guild,
		memory.PublicThread, memory.PrivateThread)
	for _, no := range titled {
		t.untitle(no)
	}
	t.execAll([]any{guild},
		"DELETE FROM role WHERE guild = ?",
		"DELETE FROM summary WHERE guild = ?",
		fmt.Sprintf(`UPDATE channel SET parent = 0, kind = CASE WHEN kind >= %d THEN kind ELSE 0 END, name = '', tags = '',
			owner = 0, age_limited = 0, unplaced = 1, shut = 0, overwrites = 'null', choice = 0, chosen = 0, chooser = 0,
			heard = 0, learned = 0, summarised = 0 WHERE guild = ?`, memory.DirectChannel),
		"DELETE FROM gap WHERE guild = ?",
		"DELETE FROM role_limit WHERE guild = ?",
		`UPDATE guild SET name = '', owner = 0, self = 0, choice = 0, chosen = 0, chooser = 0, asked = 0, since = 0,
			gone = 0 WHERE id = ?`)
}

// dropUnused deletes a rule's channels and guilds of which nothing else is known.
func (t *transaction) dropUnused(o rule) {
	t.exec(`DELETE FROM channel WHERE `+ofGuild+` AND unplaced <> 0 AND name = '' AND choice = 0 AND heard = 0
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.guild = channel.guild AND m.row >= channel.no << 28
			AND m.row < (channel.no + 1) << 28)
		AND NOT EXISTS (SELECT 1 FROM record r WHERE r.guild = channel.guild AND r.channel = channel.id)`, o.args("")...)
	nameless := columnIn[memory.GuildID](t, "SELECT id FROM guild WHERE name = '' AND choice = 0 AND asked = 0 AND "+
		theGuild, o.args("")...)
	for _, guild := range nameless {
		if !t.has("SELECT 1 FROM channel WHERE guild = ? LIMIT 1", guild) &&
			!t.has("SELECT 1 FROM person WHERE guild = ? LIMIT 1", guild) {
			t.exec("DELETE FROM guild WHERE id = ?", guild)
		}
	}
}

// DryRun implements memory.Store.
func (s *Store) DryRun(ctx context.Context, q memory.DryRunQuery) (memory.DryRun, error) {
	if q.Messages != nil {
		return s.extentOf(ctx, q.Channel, q.Messages)
	}
	if q.At.IsZero() {
		q.At = time.Now()
	}
	o := ruleOf(q.Forgetting)
	var e memory.DryRun
	var within any
	if q.Within != nil {
		within = jsonOf(q.Within)
	}
	channels, err := column[memory.ChannelID](ctx, s.engine, "SELECT id FROM channel WHERE "+concerned+
		" AND (?7 IS NULL OR id IN (SELECT value FROM json_each(?7)))", o.args("", within)...)
	goes := o.selects(jsonOf(channels))
	all := o
	if q.Before.IsZero() {
		all.end = endless // includes what is said until the order is given
	}
	if err == nil {
		err = s.row(ctx, "SELECT count(*), count(DISTINCT m.channel) FROM "+o.messages(), all.args(jsonOf(channels))...).
			Scan(&e.Messages, &e.Channels)
	}
	if err == nil {
		err = s.countGoing(ctx, goes, &e, `?3 IS NULL OR (channel = 0 OR channel IN (SELECT value FROM json_each(?3)))
			AND NOT EXISTS (SELECT 1 FROM source s WHERE s.guild = d.guild AND s.derived = d.no AND s.kind = 0
				AND s.place NOT IN (SELECT value FROM json_each(?3)))`, within)
	}
	return e, s.failed(err, "count what would be forgotten")
}

// countGoing counts the derived things that invalidate would delete, of those that meet condition. Its arguments begin
// at ?3.
func (s *Store) countGoing(ctx context.Context, goes selection, e *memory.DryRun, condition string, more ...any) error {
	all, err := goes.closure(ctx, s.engine, hideNone)
	if err != nil {
		return err
	}
	nos := map[memory.GuildID][]int64{}
	for _, g := range all {
		nos[g.guild] = append(nos[g.guild], g.no)
	}
	counts := map[kind]*int{aFact: &e.Facts, aLore: &e.Lore, aSummary: &e.Summaries, aCondensed: &e.Summaries,
		anAnswer: &e.Answers}
	read := func(scan Scanner) error {
		var of kind
		var n int
		err := scan(&of, &n)
		if counts[of] != nil {
			*counts[of] += n
		}
		return err
	}
	for guild, some := range nos {
		err := Each(ctx, s.engine, read, `SELECT kind, count(*) FROM derived d WHERE guild = ?1
			AND no IN (SELECT value FROM json_each(?2)) AND (`+condition+") GROUP BY kind",
			append([]any{guild, jsonOf(some)}, more...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// extentOf counts what deleting messages of a channel would delete, except answers among them.
func (s *Store) extentOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (memory.DryRun, error) {
	var e memory.DryRun
	guild, no, _ := s.channelNo(channel)
	err := s.row(ctx, `SELECT count(*) FROM said
		WHERE guild = ? AND channel = ? AND id IN (SELECT value FROM json_each(?))`, guild, no, jsonOf(ids)).
		Scan(&e.Messages)
	if err == nil {
		goes := selection{guilds: citing(s.guildOf(channel))}
		for _, in := range goes.guilds {
			goes.queries = append(goes.queries, selecting{`SELECT guild, derived, repeats, 0 AS itself FROM source
				WHERE (guild = ?1 OR ?1 = -1) AND kind = 0 AND place = ?2 AND id IN (SELECT value FROM json_each(?3))`,
				[]any{in, channel, jsonOf(ids)}})
		}
		err = s.countGoing(ctx, goes, &e, fmt.Sprintf(
			"NOT (kind = %d AND place = ?3 AND id IN (SELECT value FROM json_each(?4)))", anAnswer), channel, jsonOf(ids))
	}
	e.Channels = min(1, e.Messages)
	return e, s.failed(err, "count what goes with messages of channel %d", channel)
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
		t.forgetOnce(memory.Forgetting{
			Guild: e.Guild,
			User:  e.User,
			Why:   memory.WhyOptOut,
			At:    e.At,
		})
	}
}

func (b *forgettingRun) dropSettings() {
	if !b.of.coversSettings() {
		return
	}
	end := millis(b.of.end.Time())
	if b.of.end == endless {
		end = 1<<63 - 1
	}
	b.run(`DELETE FROM setting WHERE at < ?7 AND (?8 OR key NOT IN (?9, ?10, ?11)) AND ((channel = ?5 OR ?5 = 0)
		OR channel IN (SELECT value FROM json_each(?1))) AND `+ofGuild, end, b.of.Channel == 0 || b.of.end == endless,
		memory.SettingAnswers, memory.SettingRetention, memory.SettingBots)
}

// deleteChannel unplaces a channel and its threads, and begins to forget them.
func (t *transaction) deleteChannel(e memory.ChannelDeleted) {
	t.channel(e.Guild, e.Channel)
	t.exec(`UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND (id = ?2 OR parent = ?2 AND kind IN (?3, ?4))`,
		e.Guild, e.Channel, memory.PublicThread, memory.PrivateThread)
	t.forgetOnce(memory.Forgetting{
		Guild:   e.Guild,
		Channel: e.Channel,
		Why:     memory.WhyDeleted,
		At:      e.At,
	})
}

// coversSettings reports whether a rule covers all of a channel or a guild, and so its settings.
func (o rule) coversSettings() bool { return o.User == 0 && (o.whole || o.end == endless) }
