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
// facts, and records of calls. The table derived lists them, source what each was made from, and named the
// people in it. A derived thing goes with any of its sources: invalidate finds everything that a selection leads
// to, also through other derived things, and deletes each as its kind requires. No other code walks from sources
// to derived things.

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
	t.underive(d)
	no := value[int64](t, `INSERT INTO derived (guild, kind, place, id, channel, author, at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING no`, d.guild, d.kind, d.place(), d.id, d.channel, d.author, d.at)
	for _, s := range from {
		place := int64(s.Channel)
		if s.Kind == memory.SourceFact {
			place = int64(d.guild)
		}
		var repeats int64
		if s.Repeats {
			repeats = 1
		}
		t.addSource(d.guild, no, storedSource{int64(sourceKinds[s.Kind]), place, s.ID, s.Version, repeats})
	}
	for _, user := range named {
		t.addName(d.guild, no, user)
	}
}

// addSource adds a source, which may exist, to a guild's derived thing of a number.
func (t *transaction) addSource(guild memory.GuildID, no int64, s storedSource) {
	added := t.exec(`INSERT INTO source (guild, derived, kind, place, id, version, repeats) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, guild, no, s[0], s[1], s[2], s[3], s[4])
	if added == 0 && s[4] != 0 {
		t.exec("UPDATE source SET repeats = 1 WHERE guild = ? AND derived = ? AND kind = ? AND place = ? AND id = ?", guild,
			no, s[0], s[1], s[2])
	}
}

// addName adds a person to those whom a derived thing names.
func (t *transaction) addName(guild memory.GuildID, no int64, user memory.UserID) {
	t.exec("INSERT INTO named (guild, user, derived) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", guild, user, no)
}

func (t *transaction) underive(d derived) {
	no := value[int64](t, "DELETE FROM derived WHERE guild = ? AND kind = ? AND place = ? AND id = ? RETURNING no",
		d.guild, d.kind, d.place(), d.id)
	if no != 0 {
		t.execAll([]any{d.guild, no}, "DELETE FROM source WHERE guild = ? AND derived = ?",
			"DELETE FROM named WHERE guild = ? AND derived = ?")
	}
}

// sourcesColumn is an expression for the source messages of derived thing d, by channel and id, as the JSON
// of memory.SummarySource and of memory.MessageRef; NULL if there are none.
const sourcesColumn = `(SELECT nullif(json_group_array(json_object('Channel', o.place, 'Message', o.id,
	'Edited', o.version) ORDER BY o.place, o.id), '[]') FROM source o WHERE o.guild = d.guild AND o.derived = d.no)`

// selection selects derived things. What is made from them is looked for in guilds.
type selection struct {
	guilds  []memory.GuildID // or memory.Everywhere
	queries []selecting
	kinds   []kind // nil: all
}

// selecting is a query for derived things with four columns: guild; derived; repeats: whether it repeats the source that
// led to it; itself: whether it was selected directly and not by a source.
type selecting struct {
	query string
	args  []any
}

// selects returns what a query selects in a guild. What is made from that is in the same guild, or at the terminal.
func selects(guild memory.GuildID, query string, args ...any) selection {
	return selection{guilds: citing(guild), queries: []selecting{{query, args}}}
}

// madeFrom selects what is made from something of a guild.
func madeFrom(guild memory.GuildID, k kind, place, id any) selection {
	s := selection{guilds: citing(guild)}
	for _, in := range s.guilds {
		s.queries = append(s.queries, selecting{`SELECT guild, derived, repeats, 0 AS itself FROM source
			WHERE guild = ? AND kind = ? AND place = ? AND id = ?`, []any{in, k, place, id}})
	}
	return s
}

func (s selection) only(kinds ...kind) selection {
	s.kinds = kinds
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

// closing collects what a selection leads to.
type closing struct {
	guilds []memory.GuildID
	all    map[int64]invalid // by number
	news   []int64           // whose consequences aren't looked for yet
}

// closure returns what s selects and everything derived from it, by number.
func (s selection) closure(ctx context.Context, q Querier, how hiding) ([]invalid, error) {
	c := closing{guilds: s.guilds, all: map[int64]invalid{}}
	for _, some := range s.queries {
		err := c.begin(ctx, q, some, s.kinds, how)
		if err != nil {
			return nil, err
		}
	}
	for len(c.news) > 0 {
		err := c.follow(ctx, q)
		if err != nil {
			return nil, err
		}
	}
	byNo := func(a, b invalid) int { return cmp.Compare(a.no, b.no) }
	return slices.SortedFunc(maps.Values(c.all), byNo), nil
}

// add adds a thing that was found by a source to be hidden in a way.
func (c *closing) add(g invalid, repeats bool, hide hiding) {
	g.hide = hide
	if hide == hideRepeats && !repeats {
		g.hide = hideNone
	}
	old, known := c.all[g.no]
	if !known || g.hide > old.hide {
		c.news = append(c.news, g.no)
	}
	g.hide = max(g.hide, old.hide)
	g.itself = g.itself || old.itself
	c.all[g.no] = g
}

// begin adds what a query selects, of some kinds.
func (c *closing) begin(ctx context.Context, q Querier, some selecting, kinds []kind, hide hiding) error {
	read := func(scan Scanner) error {
		var g invalid
		var repeats bool
		err := scan(&g.no, &repeats, &g.itself, &g.kind, &g.guild, &g.channel, &g.id)
		if err == nil && (kinds == nil || slices.Contains(kinds, g.kind)) {
			c.add(g, repeats, hide)
		}
		return err
	}
	return Each(ctx, q, read, "SELECT s.derived, s.repeats, s.itself, d.kind, d.guild, d.channel, d.id FROM ("+
		some.query+") AS s CROSS JOIN derived d WHERE d.guild = s.guild AND d.no = s.derived", some.args...)
}

// follow adds what was made from the news.
func (c *closing) follow(ctx context.Context, q Querier) error {
	from, err := c.sourcesOfNews(ctx, q)
	if err != nil || len(from.keys) == 0 {
		return err
	}
	list, err := jsonText(from.keys)
	if err != nil {
		return err
	}
	read := func(scan Scanner) error {
		var key int
		var g invalid
		var repeats bool
		err := scan(&key, &g.no, &repeats, &g.kind, &g.guild, &g.channel, &g.id)
		if err == nil {
			c.add(g, repeats, c.all[from.nos[key]].hide)
		}
		return err
	}
	const query = triples + `SELECT j.n, s.derived, s.repeats, d.kind, d.guild, d.channel, d.id
		FROM j CROSS JOIN source s CROSS JOIN derived d WHERE (s.guild = ?2 OR ?2 = -1) AND s.kind = j.a AND s.place = j.b
		AND s.id = j.c AND d.guild = s.guild AND d.no = s.derived`
	for _, guild := range c.guilds {
		err := Each(ctx, q, read, query, list, guild)
		if err != nil {
			return err
		}
	}
	return nil
}

// asSources are derived things as the sources of others. An answer is each of its messages.
type asSources struct {
	keys [][3]int64 // kind, place and id
	nos  []int64    // of the thing, for each key
}

func (a *asSources) add(no int64, of kind, place, id int64) {
	a.keys = append(a.keys, [3]int64{int64(of), place, id})
	a.nos = append(a.nos, no)
}

// sourcesOfNews returns what the news are as sources. It leaves out summaries, because what is made from one has its
// sources as well.
func (c *closing) sourcesOfNews(ctx context.Context, q Querier) (all asSources, err error) {
	answers := map[memory.GuildID][]int64{}
	shown := map[memory.GuildID][]int64{}
	for _, no := range c.news {
		g := c.all[no]
		switch g.kind {
		case anAnswer:
			all.add(no, aMessage, g.place(), g.id)
			answers[g.guild] = append(answers[g.guild], no)
		case aShown:
			shown[g.guild] = append(shown[g.guild], no)
		case aFact, aLore:
			all.add(no, g.kind, g.sourcePlace(), g.id)
		}
	}
	c.news = nil
	for guild, nos := range answers {
		err := c.addParts(ctx, q, guild, nos, &all)
		if err != nil {
			return all, err
		}
	}
	for guild, nos := range shown {
		err := addShown(ctx, q, guild, nos, &all)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// addParts adds the further messages of answers of a guild.
func (c *closing) addParts(ctx context.Context, q Querier, guild memory.GuildID, nos []int64, to *asSources) error {
	keys := make([][2]int64, len(nos))
	for i, no := range nos {
		keys[i] = [2]int64{c.all[no].place(), c.all[no].id}
	}
	list, err := jsonText(keys)
	if err != nil {
		return err
	}
	read := func(scan Scanner) error {
		var key int
		var channel, id int64
		err := scan(&key, &channel, &id)
		to.add(nos[key], aMessage, channel, id)
		return err
	}
	return Each(ctx, q, read, triples+`SELECT j.n, j.a, p.value FROM j CROSS JOIN trace t CROSS JOIN json_each(t.parts) p
		WHERE t.guild = ?2 AND t.channel = j.a AND t.answer = j.b`, list, guild)
}

// addShown adds the messages of deleted answers of a guild that Discord still shows.
func addShown(ctx context.Context, q Querier, guild memory.GuildID, nos []int64, to *asSources) error {
	read := func(scan Scanner) error {
		var no, channel, id int64
		err := scan(&no, &channel, &id)
		to.add(no, aMessage, channel, id)
		return err
	}
	return Each(ctx, q, read, `SELECT derived, channel, id FROM shown
		WHERE guild = ? AND derived IN (SELECT value FROM json_each(?))`, guild, jsonOf(nos))
}

type cause struct {
	hide    hiding
	deleted memory.MessageRef // if not zero, answers to it count as unasked
}

// citing returns the guilds with what is made from something of a guild: the same, and the terminal's, where answers are
// made from any.
func citing(guild memory.GuildID) []memory.GuildID {
	if guild == memory.LocalGuild || guild == memory.Everywhere {
		return []memory.GuildID{guild}
	}
	return []memory.GuildID{guild, memory.LocalGuild}
}

// invalidate deletes what s selects and everything derived from it. Of answers that Discord still shows it
// keeps the sources, to find them once they must be hidden.
func (t *transaction) invalidate(s selection, why cause) {
	all, err := s.closure(t.ctx, t, why.hide)
	ensure(err)
	all = slices.DeleteFunc(all, func(g invalid) bool {
		return g.kind == aShown && g.hide == hideNone
	})
	for _, g := range all { // all first, so that deleting one doesn't select another again
		if g.kind == anAnswer && g.hide == hideNone {
			t.exec("UPDATE derived SET kind = ? WHERE guild = ? AND no = ?", aShown, g.guild, g.no)
		} else {
			t.underive(g.derived)
		}
	}
	for _, g := range all {
		t.changed.Text = true
		t.deleteDerived(g, why.deleted)
	}
}

// deleteKnowledge deletes a fact or lore, except its id, and the answers that used it.
func (t *transaction) deleteKnowledge(k kind, guild memory.GuildID, id int64) {
	d := derived{kind: k, guild: guild, id: id}
	t.invalidate(madeFrom(guild, k, d.sourcePlace(), id), cause{hide: hideRepeats})
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
			WHERE guild = ? AND channel = ? AND id = ?`, g.guild, g.channel, g.id)
	case aCondensed:
		t.deletedCounts.Summaries++
		t.exec("DELETE FROM condensed WHERE guild = ? AND channel = ?", g.guild, g.channel)
	default:
		t.deletedCounts.Records++
		t.exec("DELETE FROM record WHERE guild = ? AND no = ?", g.guild, g.id)
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
	if !ok {
		return t.messageState(guild, s)
	}
	switch {
	case s.Kind == memory.SourceSummary:
		guild = t.guildAt(guild, s.Channel)
	case s.Kind == memory.SourceLore && guild == memory.LocalGuild: // its id is unique over all guilds
		guild = memory.Everywhere
	}
	if value[bool](t, query, guild, s.ID, s.Version, s.Channel) {
		return sourceSame
	}
	return sourceGone
}

// stateQueries ask whether a source is unchanged, by its guild, id, version and channel.
var stateQueries = map[memory.SourceKind]string{
	memory.SourceFact: "SELECT NOT EXISTS (SELECT 1 FROM fact WHERE guild = ?1 AND id = ?2 AND text IS NULL)",
	memory.SourceLore: `SELECT EXISTS (SELECT 1 FROM lore WHERE (guild = ?1 OR ?1 = -1) AND id = ?2
		AND (at = ?3 OR ?3 = 0) AND text IS NOT NULL)`,
	memory.SourceSummary: `SELECT EXISTS (SELECT 1 FROM summary
		WHERE guild = ?1 AND id = ?2 AND made = ?3 AND channel = ?4 AND text IS NOT NULL)`,
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
		millis(now.Edited) == s.Version:
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
func (o rule) selects(channels string) selection {
	args := o.args(channels)
	return selection{guilds: citing(o.Guild), queries: []selecting{{selectedByRule, args}, {selectedAtTerminal, args}}}
}

// What a rule selects: in its guild, and at the terminal.
var (
	selectedByRule = fmt.Sprintf(`SELECT s.guild, s.derived, s.repeats, 0 AS itself FROM source s
			WHERE (s.guild = ?4 OR ?4 = -1) AND s.kind = 0 AND s.place IN (SELECT value FROM json_each(?1)) AND s.id < ?2
			AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m WHERE c.guild = s.guild AND c.id = s.place
				AND m.guild = s.guild AND m.channel = c.no AND m.id = s.id AND m.author = ?3))
		UNION ALL SELECT guild, no, 1, 1 FROM derived
			WHERE (guild = ?4 OR ?4 = -1) AND at <> 0 AND at < ?2 AND (author = ?3 OR ?3 = 0)
			AND ((channel = ?5 OR ?5 = 0) OR channel IN (SELECT value FROM json_each(?1)))
		UNION ALL SELECT n.guild, n.derived, 0, 0 FROM named n CROSS JOIN derived d
			WHERE ?6 AND n.user = ?3 AND (n.guild = ?4 OR ?4 = -1) AND d.guild = n.guild AND d.no = n.derived
			AND (d.kind <> %[2]d OR d.at < ?2)
		UNION ALL SELECT guild, no, 0, 0 FROM derived
			WHERE ?6 AND ?3 = 0 AND kind = %[1]d AND (guild = ?4 OR ?4 = -1)`, aFact, aRecord)
	selectedAtTerminal = fmt.Sprintf(`SELECT s.guild, s.derived, s.repeats, 0 AS itself FROM source s
			WHERE s.guild = %[3]d AND s.kind = 0 AND s.place IN (SELECT value FROM json_each(?1)) AND s.id < ?2
			AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m WHERE (c.guild = ?4 OR ?4 = -1)
				AND c.id = s.place AND m.guild = c.guild AND m.channel = c.no AND m.id = s.id AND m.author = ?3))
		UNION ALL SELECT n.guild, n.derived, 0, 0 FROM named n CROSS JOIN derived d
			WHERE ?6 AND n.user = ?3 AND n.guild = %[3]d AND d.guild = n.guild AND d.no = n.derived AND d.kind <> %[1]d
			AND (d.kind <> %[2]d OR d.at < ?2)
		UNION ALL SELECT n.guild, n.derived, 0, 0 FROM named n CROSS JOIN derived d
			WHERE ?6 AND ?3 = 0 AND n.user IN (SELECT id FROM person WHERE (guild = ?4 OR ?4 = -1))
			AND n.guild = %[3]d AND d.guild = n.guild AND d.no = n.derived AND d.kind <> %[1]d`,
		aFact, aRecord, memory.LocalGuild)
)
