package sqlstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"hark/memory"
)

// Forgetting begins in one transaction: everything that is made of the messages goes, and they themselves are doomed.
// From that commit on they are in nothing that is read (the view said), and the order that stays on record keeps
// them from coming back. What is left, their rows and their full text, is taken out in steps (carry.go).

// forget begins a forgetting and gives it an id.
func (t *transaction) forget(f memory.Forgetting) (id int64, err error) {
	o := orderOf(f)
	// What is done and covers no more than this needn't stay on record.
	if err := t.exec(`DELETE FROM forgetting WHERE guild = ? AND channel = ? AND user = ? AND why = ? AND before <= ? AND whole <= ? AND done = 1
		AND id < (SELECT max(id) FROM forgetting)`, // whose number mustn't be given out again
		int64(o.guild), int64(o.channel), int64(o.user), string(o.why), int64(o.end), o.whole); err != nil {
		return 0, err
	}
	err = t.row(`INSERT INTO forgetting (guild, channel, user, before, why, at, whole, done, receipt)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, '{}') RETURNING id`,
		int64(o.guild), int64(o.channel), int64(o.user), int64(o.end), string(o.why), millis(f.At), o.whole).Scan(&id)
	if err != nil {
		return 0, err
	}
	return id, t.begin(id, o)
}

// forgetOnce begins a forgetting unless one that covers as much for the same reason is on record.
func (t *transaction) forgetOnce(f memory.Forgetting) error {
	d, err := t.decisions()
	if err != nil {
		return err
	}
	o := orderOf(f)
	for _, k := range d.ledger {
		if k.guild == o.guild && k.channel == o.channel && k.user == o.user && k.why == o.why &&
			k.end >= o.end && (k.whole || !o.whole) {
			return nil
		}
	}
	_, err = t.forget(f)
	return err
}

// beginning is a forgetting that is being begun.
type beginning struct {
	*transaction
	id       int64
	of       order
	channels string // the ids of those that it is about, as JSON; of all that are known unless it names some
	memory.Receipt
}

// begin hides what falls under an order that is on record, and all that is made of it.
func (t *transaction) begin(id int64, o order) error {
	b := &beginning{transaction: t, id: id, of: o}
	for _, step := range []func() error{
		t.flush, b.find, b.invalidate, t.flush, b.doom, b.bury, b.uncount, b.tearSegments, b.dropNotes, b.dropNames, b.dropPeople, b.dropSettings, b.dropStructure,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	t.changed.Text, t.changed.structure = true, true
	body, err := json.Marshal(b.Receipt)
	if err != nil {
		return err
	}
	// read again, the order with them
	t.store.ingest.channels, t.store.ingest.segments, t.store.ingest.decisions = nil, nil, nil
	return t.exec("UPDATE forgetting SET begun = 1, receipt = ? WHERE id = ?", string(body), id)
}

// find looks up which channels it is about.
func (b *beginning) find() error {
	ids, err := column[memory.ChannelID](b.ctx, b, "SELECT id FROM channel WHERE "+concerned,
		int64(b.of.guild), int64(b.of.channel))
	b.channels = jsonOf(ids)
	return err
}

// concerned is the condition for channels that an order is about, of which the arguments are guild and channel.
var concerned = fmt.Sprintf("(guild = ?1 OR ?1 = %d) AND ((id = ?2 OR ?2 = 0) OR parent = ?2 AND kind IN (%d, %d))", memory.Everywhere, memory.PublicThread, memory.PrivateThread)

// covered is the condition for messages m in channels c, of which the arguments are channels, end and, where
// it counts, user.
const covered = `c.id IN (SELECT value FROM json_each(?1)) AND m.id < ?2`

func (b *beginning) args(more ...any) []any {
	return append([]any{b.channels, int64(b.of.end), int64(b.of.user)}, more...)
}

// invalidate takes away what was made of what falls under the order. It comes before the messages are doomed,
// which it asks for their authors. Of a person, a channel or a guild that is forgotten as a whole Discord is
// to show nothing more.
func (b *beginning) invalidate() error {
	hide := hideRepeats
	if b.of.whole || b.of.end == endless {
		hide = hideAll
	}
	before := b.lost
	err := b.transaction.invalidate(b.of.selects(b.channels), cause{hide: hide})
	b.Answers, b.Facts, b.Lore = b.lost.Answers-before.Answers, b.lost.Facts-before.Facts, b.lost.Lore-before.Lore
	b.Summaries, b.Records = b.lost.Summaries-before.Summaries, b.lost.Records-before.Records
	return err
}

// doom puts the messages on the list of those that are to be taken out.
func (b *beginning) doom() error {
	which := "?3 = 0 AND m.channel = c.no" // the index tells all
	if b.of.user != 0 {                    // a channel's rows are one range of the table, which is read in order
		which = fmt.Sprintf("m.author = ?3 AND m.row >= c.no << %[1]d AND m.row < (c.no + 1) << %[1]d", SequenceBits)
	}
	n, err := b.Exec(`INSERT INTO doomed (row, forgetting) SELECT m.row, ?4 FROM channel c
		CROSS JOIN said m ON `+which+" WHERE "+covered, b.args(b.id)...)
	b.Messages = n
	return err
}

// bury has the messages be known as deleted where the order doesn't tell: not from an id alone, if it is
// about somebody.
func (b *beginning) bury() error {
	if b.of.user == 0 {
		return nil
	}
	return b.exec(`INSERT INTO tombstone SELECT c.id, m.id `+doomedHere+" ON CONFLICT DO NOTHING", b.id)
}

// doomedHere are the messages m in channels c that this forgetting, the last argument, dooms.
const doomedHere = `FROM doomed d CROSS JOIN message m ON m.row = d.row CROSS JOIN channel c ON c.no = m.channel WHERE d.forgetting = ?`

// uncount takes the messages off what is counted of channels and people. Nobody's last message changes: what is left
// is newer than what goes.
func (b *beginning) uncount() error {
	counted := doomedHere + " AND m.kind IN (" + recalledKinds + ")"
	if err := b.execAll([]any{b.id},
		`UPDATE presence SET messages = messages - gone.n FROM (SELECT m.channel, m.author, count(*) AS n `+
			counted+` GROUP BY 1, 2) gone
			WHERE presence.channel = gone.channel AND presence.author = gone.author`,
		`UPDATE channel SET messages = messages - gone.n FROM (SELECT m.channel, count(*) AS n `+counted+
			` GROUP BY 1) gone WHERE channel.no = gone.channel`,
	); err != nil {
		return err
	}
	return b.exec("DELETE FROM presence WHERE messages <= 0")
}

// tearSegments takes the messages out of their segments, whose vectors go.
func (b *beginning) tearSegments() error {
	torn, err := column[int64](b.ctx, b,
		`UPDATE segment SET size = size - gone.n, version = version + 1, pending = 1, next = (SELECT count(*) FROM meta WHERE key = 'next')
		FROM (SELECT m.segment, count(*) AS n `+doomedHere+
			` AND m.segment <> 0 GROUP BY 1) gone WHERE segment.id = gone.segment RETURNING id`, b.id)
	if err != nil || len(torn) == 0 {
		return err
	}
	b.Segments, b.changed.Gone, b.changed.pending = len(torn), append(b.changed.Gone, torn...), true
	ids := jsonOf(torn)
	for _, table := range []string{inUse.table, beside.table} {
		n, err := b.Exec("DELETE FROM "+table+" WHERE segment IN (SELECT value FROM json_each(?))", ids)
		if err != nil {
			return err
		}
		b.Vectors = max(b.Vectors, n)
	}
	return b.exec("DELETE FROM segment WHERE size <= 0 AND id IN (SELECT value FROM json_each(?))", ids)
}

// dropNotes deletes what is kept beside the messages: of everybody's also of those that aren't there yet.
func (b *beginning) dropNotes() error {
	which, args := "(channel, id) IN (SELECT c.id, m.id "+doomedHere+")", []any{b.id}
	if b.of.user == 0 {
		which, args = "channel IN (SELECT value FROM json_each(?1)) AND id < ?2", b.args()[:2]
	}
	for _, table := range []string{"called", "star", "rewritten", "question"} {
		if err := b.exec("DELETE FROM "+table+" WHERE "+which, args...); err != nil {
			return err
		}
	}
	early, err := b.Exec("DELETE FROM early_edit WHERE "+which, args...)
	b.Messages += early
	return err
}

// dropNames deletes the names of channels that were deleted, or of threads that somebody made, and the
// prompts that may show them.
func (b *beginning) dropNames() error {
	which := ""
	switch {
	case b.of.user != 0:
		which = "owner = ?3 AND id < ?2"
	case b.of.why == memory.WhyDeleted:
		which = "true"
	default:
		return nil
	}
	names, err := column[string](b.ctx, b, `SELECT name FROM channel WHERE name <> '' AND id IN (SELECT value
		FROM json_each(?1)) AND `+which, b.args()...)
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		// What marks up text is written otherwise in a prompt, and what is long is cut.
		words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if _, err := b.dropPromptsWhere("((guild = ?1 OR ?1 = ?2) OR guild = ?3) AND instr(body, ?4) > 0",
			int64(b.of.guild), int64(memory.Everywhere),
			int64(memory.LocalGuild), append(words, "")[0]); err != nil {
			return err
		}
	}
	return b.exec("UPDATE channel SET name = '' WHERE id IN (SELECT value FROM json_each(?1)) AND "+which, b.args()...)
}

// dropPeople deletes what is known of those of whom everything is forgotten.
func (b *beginning) dropPeople() error {
	if b.of.channel != 0 || !b.of.whole {
		return nil
	}
	if err := b.exec("DELETE FROM learn WHERE (guild = ?1 OR ?1 = ?2) AND (user = ?3 OR ?3 = 0)",
		int64(b.of.guild), int64(memory.Everywhere), int64(b.of.user)); err != nil {
		return err
	}
	if err := b.dropSpending(); err != nil {
		return err
	}
	// Where Hark stays, its own roles tell still what it may read.
	n, err := b.Exec(`DELETE FROM person WHERE (guild = ?1 OR ?1 = ?2) AND (id = ?3 OR ?3 = 0)
		AND NOT (?3 = 0 AND ?4 <> ?5 AND EXISTS (SELECT 1 FROM guild g WHERE g.id = person.guild AND g.self = person.id AND g.gone = 0))`,
		int64(b.of.guild), int64(memory.Everywhere), int64(b.of.user), string(b.of.why), string(memory.WhyLeft))
	b.People = n
	return err
}

// dropStructure deletes what guilds are made of of which everything is forgotten and that Hark isn't in:
// where it is, it needs to know still who may read what, and what was chosen. Their messages need the
// channels' numbers until they are taken out.
func (b *beginning) dropStructure() error {
	if b.of.channel != 0 || b.of.user != 0 || !b.of.whole {
		return nil
	}
	if b.of.why == memory.WhyLeft {
		if err := b.exec("UPDATE guild SET gone = max(gone, 1) WHERE (id = ?1 OR ?1 = ?2)", int64(b.of.guild),
			int64(memory.Everywhere)); err != nil {
			return err
		}
	}
	if err := b.transaction.invalidate(selection{`SELECT no AS derived, 0 AS repeats, 1 AS itself FROM derived
		WHERE kind IN (?3, ?4) AND (guild = ?1 OR ?1 = ?2) AND ` + absent,
		[]any{int64(b.of.guild), int64(memory.Everywhere), int(aSummary), int(aCondensed)}}, cause{}); err != nil {
		return err
	}
	if err := b.execAll([]any{int64(b.of.guild), int64(memory.Everywhere)},
		"DELETE FROM role WHERE (guild = ?1 OR ?1 = ?2) AND "+absent,
		"DELETE FROM summary WHERE channel IN (SELECT id FROM channel WHERE (guild = ?1 OR ?1 = ?2) AND "+absent+")",
		`UPDATE channel SET parent = 0, kind = CASE WHEN kind >= `+fmt.Sprint(int(memory.DirectChannel))+
			` THEN kind ELSE 0 END, name = '', owner = 0, age_limited = 0, unplaced = 1, shut = 0,
			overwrites = 'null', choice = 0, chosen = 0, heard = 0, learned = 0, summarised = 0 WHERE (guild = ?1 OR ?1 = ?2) AND `+absent,
		"DELETE FROM gap WHERE (guild = ?1 OR ?1 = ?2) AND "+absent,
		"DELETE FROM role_limit WHERE (guild = ?1 OR ?1 = ?2) AND "+absent,
		fmt.Sprintf(`UPDATE guild SET name = '', owner = 0, self = 0, choice = 0, chosen = 0, asked = 0,
			since = 0, gone = 0 WHERE (id = ?1 OR ?1 = ?2) AND (gone <> 0 OR id = %d)`, memory.LocalGuild),
	); err != nil {
		return err
	}
	b.store.ingest.guildNos = nil
	b.changed.Space = true // numbers may be given out again, so that nothing loaded may stay
	return b.dropUnused(b.of.guild)
}

// dropUnused deletes the channels and guilds of which nothing is known any more.
func (t *transaction) dropUnused(guild memory.GuildID) error {
	return t.execAll([]any{int64(guild), int64(memory.Everywhere)},
		"DELETE FROM channel WHERE (guild = ?1 OR ?1 = ?2)"+
			unused, "DELETE FROM guild WHERE (id = ?1 OR ?1 = ?2)"+empty)
}

// absent is the condition for what belongs to guilds that Hark isn't in.
var absent = fmt.Sprintf("guild IN (SELECT id FROM guild WHERE gone <> 0 OR id = %d)", memory.LocalGuild)

// Conditions for channels and guilds of which nothing is known any more.
var (
	unused = fmt.Sprintf(` AND unplaced <> 0 AND name = '' AND choice = 0 AND heard = 0
		AND NOT EXISTS (SELECT 1 FROM message WHERE row >= no << %[1]d AND row < (no + 1) << %[1]d) AND NOT EXISTS (SELECT 1 FROM record WHERE record.channel = channel.id)`, SequenceBits)
	empty = ` AND name = '' AND choice = 0 AND asked = 0 AND NOT EXISTS (SELECT 1 FROM channel WHERE channel.guild = guild.id)
		AND NOT EXISTS (SELECT 1 FROM person WHERE person.guild = guild.id)`
)
