package sqlstore

import (
	"cmp"
	"context"
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

// selection selects derived things. What is made from them is looked for in guilds.
type selection struct {
	guilds  []memory.GuildID // or memory.Everywhere
	queries []selecting
	kinds   []kind // nil: all
}

// selecting is a query for derived things with four columns: guild; derived; repeats: whether it repeats the source
// that led to it; itself: whether it was selected directly and not by a source.
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

// exceptCopies leaves out messages that copy others.
func (s selection) exceptCopies() selection {
	return s.only(anAnswer, aFact, aLore, aSummary, aCondensed, aRecord, aShown)
}

// before selects only what was made from versions before one. s is of madeFrom.
func (s selection) before(version int64) selection {
	for i := range s.queries {
		s.queries[i].query += " AND version < ?"
		s.queries[i].args = append(s.queries[i].args, version)
	}
	return s
}

// citing returns the guilds with what is made from something of a guild: the same, and the terminal's, where answers
// are made from any.
func citing(guild memory.GuildID) []memory.GuildID {
	if guild == memory.LocalGuild || guild == memory.Everywhere {
		return []memory.GuildID{guild}
	}
	return []memory.GuildID{guild, memory.LocalGuild}
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
		case aCopy:
			all.add(no, aMessage, g.place(), g.id)
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
