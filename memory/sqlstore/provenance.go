package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"hark/memory"
)

// Hark derives things from messages: answers with their traces and prompts, lore, summaries, condensed sessions,
// facts, and records of calls. A message that copies another, such as a forward, counts as derived from it. The
// table derived lists them, source what each was made from, and named the people in it. A derived thing goes with
// any of its sources: invalidate finds everything that a selection leads to, also through other derived things, and
// deletes each as its kind requires. No other code walks from sources to derived things.

// kind is the kind of a derived thing or a source.
type kind int64

// The kinds are written to the file.
const (
	aMessage kind = iota
	anAnswer
	aFact
	aLore
	aSummary
	aCondensed
	aRecord
	aShown // what is left of a deleted answer that Discord still shows
	aCopy  // a message that copies another: see copy.go
)

var sourceKinds = map[memory.SourceKind]kind{
	memory.SourceMessage: aMessage, memory.SourceFact: aFact, memory.SourceLore: aLore, memory.SourceSummary: aSummary,
}

// derived is a derived thing without its content.
type derived struct {
	kind    kind
	guild   memory.GuildID
	channel memory.ChannelID // who may read it may read the thing; 0: the whole guild
	id      int64            // unique in the guild for facts and lore, else in the channel
	// at, if not 0: rules cover the thing like a message of author's in channel with this id.
	author memory.UserID
	at     memory.MessageID
}

func (d derived) place() int64 {
	if d.kind == aFact || d.kind == aLore {
		return int64(d.guild)
	}
	return int64(d.channel)
}

// sourcePlace is its place as a source.
func (d derived) sourcePlace() int64 {
	if d.kind == aLore {
		return 0
	}
	return d.place()
}

// derive records a thing's sources and the people it names, in place of an earlier version's.
func (t *transaction) derive(d derived, from []memory.Source, named []memory.UserID) {
	defer t.in(d.guild)()
	t.underive(d)
	no := value[int64](t, `INSERT INTO derived (kind, place, id, guild, channel, author, at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING no`, d.kind, d.place(), d.id, d.guild, d.channel, d.author, d.at)
	for _, s := range from {
		place := int64(s.Channel)
		if s.Kind == memory.SourceFact {
			place = int64(d.guild)
		}
		t.exec("INSERT INTO source (derived, kind, place, id, version, repeats) VALUES (?, ?, ?, ?, ?, ?)"+orRepeats,
			no, sourceKinds[s.Kind], place, s.ID, s.Version, s.Repeats)
	}
	for _, user := range named {
		t.exec("INSERT INTO named (user, derived) VALUES (?, ?) ON CONFLICT DO NOTHING", user, no)
	}
}

// orRepeats ends a statement that adds sources, which may exist.
const orRepeats = ` ON CONFLICT (kind, place, id, derived)
	DO UPDATE SET repeats = max(source.repeats, excluded.repeats)`

func (t *transaction) underive(d derived) {
	if no := value[int64](t, "DELETE FROM derived WHERE kind = ? AND place = ? AND id = ? RETURNING no",
		d.kind, d.place(), d.id); no != 0 {
		t.execAll([]any{no}, "DELETE FROM source WHERE derived = ?", "DELETE FROM named WHERE derived = ?")
	}
}

// sourcesColumn is an expression for the source messages of derived thing d, by channel and id, as the JSON
// of memory.SummarySource and of memory.MessageRef; NULL if there are none.
const sourcesColumn = `(SELECT nullif(json_group_array(json_object('Channel', o.place, 'Message', o.id,
	'Edited', o.version) ORDER BY o.place, o.id), '[]') FROM source o WHERE o.derived = d.no)`

// selection is a query for derived things with three columns: derived; repeats: whether it repeats the source
// that led to it; itself: whether it was selected directly and not by a source.
type selection struct {
	query string
	args  []any
}

func madeFrom(k kind, place, id any) selection {
	return selection{"SELECT derived, repeats, 0 AS itself FROM source WHERE kind = ? AND place = ? AND id = ?",
		[]any{k, place, id}}
}

func (s selection) only(kinds ...kind) selection {
	s.query = "SELECT * FROM (" + s.query +
		") AS all_kinds WHERE (SELECT kind FROM derived WHERE no = derived) IN (SELECT value FROM json_each(?))"
	s.args = append(s.args, jsonOf(kinds))
	return s
}

func (s selection) except(k kind) selection {
	s.query = "SELECT * FROM (" + s.query +
		") AS all_kinds WHERE (SELECT kind FROM derived WHERE no = derived) <> ?"
	s.args = append(s.args, k)
	return s
}

// hiding is which of the deleted answers Discord must stop showing.
type hiding int

const (
	hideNone    hiding = iota
	hideRepeats        // those that repeat what was deleted
	hideAll
)

type invalid struct {
	derived
	no     int64
	hide   hiding // if not hideNone, Discord must stop showing it
	itself bool   // selected directly, not by a source
}

// madeFromThese selects what was made from derived things, by their numbers. It doesn't follow summaries, because what
// is made from one has its sources as well.
var madeFromThese = fmt.Sprintf(`SELECT d.no AS source, s.derived, s.repeats, 0 AS itself
		FROM json_each(?1) j CROSS JOIN derived d ON d.no = j.value
		CROSS JOIN source s ON s.kind = iif(d.kind IN (%[1]d, %[5]d), 0, d.kind) AND s.place = iif(d.kind = %[3]d, 0, d.place)
			AND s.id = d.id WHERE d.kind IN (%[1]d, %[2]d, %[3]d, %[5]d)
	UNION ALL SELECT d.no, s.derived, s.repeats, 0 FROM json_each(?1) j CROSS JOIN derived d ON d.no = j.value
		CROSS JOIN trace t ON t.channel = d.place AND t.answer = d.id CROSS JOIN json_each(t.parts) p
		CROSS JOIN source s ON s.kind = 0 AND s.place = d.place AND s.id = p.value WHERE d.kind = %[1]d
	UNION ALL SELECT d.no, s.derived, s.repeats, 0 FROM json_each(?1) j CROSS JOIN derived d ON d.no = j.value
		CROSS JOIN shown p ON p.derived = d.no
		CROSS JOIN source s ON s.kind = 0 AND s.place = p.channel AND s.id = p.id WHERE d.kind = %[4]d`,
	anAnswer, aFact, aLore, aShown, aCopy)

// closure returns what s selects and everything derived from it, by number.
func (s selection) closure(ctx context.Context, q Querier, how hiding) ([]invalid, error) {
	all := map[int64]invalid{}
	s.query = "SELECT 0 AS source, * FROM (" + s.query + ") AS selected"
	for next := s; ; {
		var news []int64
		err := Each(ctx, q, func(scan Scanner) error {
			var source int64
			var repeats bool
			var g invalid
			err := scan(&source, &g.no, &repeats, &g.itself, &g.kind, &g.guild, &g.channel, &g.id)
			g.hide = how
			if source != 0 {
				g.hide = all[source].hide
			}
			if g.hide == hideRepeats && !repeats {
				g.hide = hideNone
			}
			old, known := all[g.no]
			if !known || g.hide > old.hide {
				news = append(news, g.no)
			}
			g.hide = max(g.hide, old.hide)
			g.itself = g.itself || old.itself
			all[g.no] = g
			return err
		}, "SELECT s.source, s.derived, s.repeats, s.itself, d.kind, d.guild, d.channel, d.id FROM ("+next.query+
			") AS s CROSS JOIN derived d ON d.no = s.derived", next.args...)
		if err != nil || len(news) == 0 {
			return slices.SortedFunc(maps.Values(all), func(a, b invalid) int { return cmp.Compare(a.no, b.no) }), err
		}
		next = selection{madeFromThese, []any{jsonOf(news)}}
	}
}

type cause struct {
	hide    hiding
	deleted memory.MessageRef // if not zero, answers to it count as unasked
}

// inAnyThatCites is in for statements about what was made from something in the transaction's guild: that is in this
// guild, or it is the terminal's, where answers are made from any.
func (t *transaction) inAnyThatCites() (back func()) {
	if t.isTerminalKnown() {
		return t.in(memory.Everywhere)
	}
	return t.in(t.guild)
}

func (t *transaction) isTerminalKnown() bool {
	_, known := t.store.ingest.guildNos[memory.LocalGuild]
	return known || t.store.knows(memory.LocalGuild)
}

// invalidate deletes what s selects and everything derived from it. Of answers that Discord still shows it
// keeps the sources, to find them once they must be hidden.
func (t *transaction) invalidate(s selection, why cause) {
	defer t.inAnyThatCites()()
	all, err := s.closure(t.ctx, t, why.hide)
	ensure(err)
	all = slices.DeleteFunc(all, func(g invalid) bool {
		return g.kind == aShown && g.hide == hideNone
	})
	for _, g := range all { // all first, so that deleting one doesn't select another again
		t.enter(g.guild)
		if g.kind == anAnswer && g.hide == hideNone {
			t.exec("UPDATE derived SET kind = ? WHERE no = ?", aShown, g.no)
		} else {
			t.underive(g.derived)
		}
	}
	for _, g := range all {
		t.changed.Text = true
		t.enter(g.guild)
		t.deleteDerived(g, why.deleted)
	}
}

// deleteKnowledge deletes a fact or lore, except its id, and the answers that used it.
func (t *transaction) deleteKnowledge(k kind, guild memory.GuildID, id int64) {
	d := derived{kind: k, guild: guild, id: id}
	t.invalidate(madeFrom(k, d.sourcePlace(), id), cause{hide: hideRepeats})
	t.underive(d)
	t.deleteDerived(invalid{derived: d}, memory.MessageRef{})
}

func (t *transaction) deleteDerived(g invalid, deleted memory.MessageRef) {
	switch g.kind {
	case anAnswer:
		t.deletedCounts.Answers++
		t.deleteAnswer(g, deleted)
	case aShown:
		t.withdrawShown(g, deleted)
	case aFact:
		t.deletedCounts.Facts++
		t.deleteFact(g.guild, g.id)
	case aLore:
		t.deletedCounts.Lore++
		t.deleteLore(g)
	case aSummary:
		t.deletedCounts.Summaries++
		t.exec(`UPDATE summary SET made = 0, model = '', kind = '', topics = '', text = NULL
			WHERE channel = ? AND id = ?`, g.channel, g.id)
	case aCondensed:
		t.deletedCounts.Summaries++
		t.exec("DELETE FROM condensed WHERE channel = ?", g.channel)
	case aCopy:
		t.emptyCopy(g.channel, memory.MessageID(g.id))
	default:
		t.deletedCounts.Records++
		t.exec("DELETE FROM record WHERE no = ?", g.id)
	}
}

// sourceState is how a source differs from when it was read.
type sourceState int

const (
	sourceSame      sourceState = iota
	sourcePending               // a message that hasn't arrived, or an answer of Hark's that has grown
	sourceRewritten             // an answer of Hark's that was rewritten
	sourceGone                  // deleted or edited
)

// stateOf returns a source's state. In an unknown channel, which may have been forgotten with its guild, it
// is gone.
func (t *transaction) stateOf(guild memory.GuildID, s memory.Source) sourceState {
	query, ok := stateQueries[s.Kind]
	switch {
	case !ok:
		return t.messageState(guild, s)
	case s.Kind == memory.SourceSummary:
		defer t.inGuildOf(s.Channel)()
	case s.Kind == memory.SourceLore: // its id is unique over all guilds
		defer t.in(memory.Everywhere)()
	default:
		defer t.in(guild)()
	}
	if value[bool](t, query, s.ID, s.Version, s.Channel, guild) {
		return sourceSame
	}
	return sourceGone
}

// stateQueries ask whether a source is unchanged, by its id, version, channel and guild.
var stateQueries = map[memory.SourceKind]string{
	memory.SourceFact: "SELECT NOT EXISTS (SELECT 1 FROM fact WHERE guild = ?4 AND id = ?1 AND text IS NULL)",
	memory.SourceLore: "SELECT EXISTS (SELECT 1 FROM lore WHERE id = ?1 AND (at = ?2 OR ?2 = 0) AND text IS NOT NULL)",
	memory.SourceSummary: `SELECT EXISTS (SELECT 1 FROM summary
		WHERE id = ?1 AND made = ?2 AND channel = ?3 AND text IS NOT NULL)`,
}

func (t *transaction) messageState(guild memory.GuildID, s memory.Source) sourceState {
	id := memory.MessageID(s.ID)
	if t.isGone(guild, s.Channel, id) {
		return sourceGone
	}
	if t.isRewritten(s) {
		return sourceRewritten
	}
	c := t.knownChannel(s.Channel)
	if c == nil {
		return sourceGone
	}
	switch now := t.stored(c, id); {
	case now.row == 0:
		return sourcePending
	case !now.pendingDeletion && !t.decisions().forgotten(c.location, id, now.Author) &&
		now.AsSource(false).Version == s.Version:
		return sourceSame
	case now.Kind == memory.FromHark:
		return sourcePending
	}
	return sourceGone
}

func (t *transaction) areSame(guild memory.GuildID, sources []memory.Source) bool {
	return !slices.ContainsFunc(sources, func(s memory.Source) bool { return t.stateOf(guild, s) != sourceSame })
}

// selects selects what is derived from messages that a rule covers, what it covers like a message, and what
// names somebody who is forgotten as a whole. A question at the command line may be about people of any guild.
func (o rule) selects(channels string, more ...any) selection {
	return selection{fmt.Sprintf(`SELECT s.derived, s.repeats, 0 AS itself FROM source s
			WHERE s.kind = 0 AND s.place IN (SELECT value FROM json_each(?1)) AND s.id < ?2
			AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id = s.id
				WHERE c.id = s.place AND m.author = ?3))
		UNION ALL SELECT no, 1, 1 FROM derived WHERE at <> 0 AND at < ?2 AND (author = ?3 OR ?3 = 0) AND %[4]s
			AND ((channel = ?5 OR ?5 = 0) OR channel IN (SELECT value FROM json_each(?1)))
		UNION ALL SELECT n.derived, 0, 0 FROM named n CROSS JOIN derived d ON d.no = n.derived WHERE ?6 AND n.user = ?3
			AND (%[5]s OR d.guild = %[1]d AND d.kind <> %[2]d) AND (d.kind <> %[3]d OR d.at < ?2)
		UNION ALL SELECT n.derived, 0, 0 FROM named n CROSS JOIN derived d ON d.no = n.derived WHERE ?6 AND ?3 = 0
			AND iif(d.kind = %[2]d, %[5]s, d.guild = %[1]d AND n.user IN (SELECT id FROM person WHERE %[4]s))`,
		memory.LocalGuild, aFact, aRecord, ofGuild, ofDerived), o.args(channels, more...)}
}
