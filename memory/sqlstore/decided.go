package sqlstore

import (
	"context"
	"fmt"

	"hark/memory"
)

// What people decided stands in the tables as it holds now: each row is written by the transaction that decides it,
// sealed and forgotten as its table is. decided reads each such row as the event that makes it so again. Replay applies
// these events to another memory (replay.go).

// decidedKind is one kind of decision.
type decidedKind struct {
	what  string // plural, for errors
	query string // ?1 is the guild; memory.Everywhere: all
	read  func(v *Vault, scan Scanner) (memory.Event, error)
	// there, if set, asks whether a memory has what an event is about. One that isn't there is passed over, unless
	// staysOut.
	there    func(ctx context.Context, q Querier, e memory.Event) (bool, error)
	staysOut bool                          // the event also keeps out what comes later
	count    func(r *Replayed, events int) // of those that had an effect; nil: they aren't counted
}

// decidedAs returns a kind of decision whose rows are events of type E.
func decidedAs[E memory.Event](what, query string, read func(v *Vault, scan Scanner, to *E) error) decidedKind {
	return decidedKind{what: what, query: query, read: func(v *Vault, scan Scanner) (memory.Event, error) {
		var e E
		err := read(v, scan, &e)
		return e, err
	}}
}

// ifThere returns k for events that are passed over unless there says that a memory has what they are about.
func (k decidedKind) ifThere(there func(ctx context.Context, q Querier, e memory.Event) (bool, error)) decidedKind {
	k.there = there
	return k
}

func (k decidedKind) counted(count func(r *Replayed, events int)) decidedKind {
	k.count = count
	return k
}

// inTheGuild is the condition for rows of the guild that a query is about.
var inTheGuild = fmt.Sprintf("(guild = ?1 OR ?1 = %d)", memory.Everywhere)

// decided are all kinds of decisions, in the order in which they are replayed: what keeps something out comes before
// what it keeps out. Facts, and lore that a memory doesn't have, aren't among them: like messages, they were added later.
var decided = []decidedKind{
	decidedAs("forgettings", fmt.Sprintf(`SELECT `+forgettingColumns+` FROM forgetting
		WHERE guild IN (?1, %[1]d) OR ?1 = %[1]d ORDER BY id`, memory.Everywhere), readRule),
	decidedAs("opt-outs", "SELECT guild, user, out, at FROM opted WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Opted) error {
			return scan(&e.Guild, &e.User, &e.Out, asTime{&e.At})
		}).counted(func(r *Replayed, n int) { r.OptOuts += n }),
	decidedAs("consents to learning", "SELECT guild, user, allow, at FROM learn WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Learn) error {
			return scan(&e.Guild, &e.User, &e.On, asTime{&e.At})
		}),
	decidedAs("tokens", "SELECT guild, user, hash, at FROM connection WHERE "+inTheGuild, readConnected),
	decidedAs("uses of tokens", "SELECT guild, user, hash, uses, used FROM connection WHERE uses > 0 AND "+inTheGuild,
		readUse),
	decidedAs("channels", "SELECT no, guild, id, parent, kind, name, tags, owner FROM channel WHERE chosen <> 0 AND "+inTheGuild,
		readChannel),
	decidedAs("servers", fmt.Sprintf("SELECT id, name FROM guild WHERE chosen <> 0 AND (id = ?1 OR ?1 = %d)",
		memory.Everywhere), readGuildName),
	decidedAs("choices for servers", fmt.Sprintf(`SELECT id, 0 AS channel, choice, chosen, chooser FROM guild
		WHERE chosen <> 0 AND (id = ?1 OR ?1 = %d)`, memory.Everywhere), readChoice).counted(countChoices),
	decidedAs("choices for channels", "SELECT guild, id, choice, chosen, chooser FROM channel WHERE chosen <> 0 AND "+
		inTheGuild, readChoice).counted(countChoices),
	decidedAs("deleted facts", "SELECT guild, id FROM fact WHERE text IS NULL AND "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.FactGone) error { return scan(&e.Guild, &e.Fact) }).
		counted(func(r *Replayed, n int) { r.Facts += n }),
	decidedAs("deleted lore", "SELECT guild, id FROM lore WHERE text IS NULL AND "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.LoreGone) error { return scan(&e.Guild, &e.ID) }).counted(countLore),
	decidedAs("lore", selectLore(fmt.Sprintf("(l.guild = ?1 OR ?1 = %d)", memory.Everywhere)), readLore).
		ifThere(isLoreThere).counted(countLore),
	deletions(),
	decidedAs("answers written anew", `SELECT c.guild, c.id, m.id, m.channel, m.edited, m.content, coalesce(w.edited, -1)
		FROM rewritten w CROSS JOIN channel c CROSS JOIN message m
		WHERE c.guild = w.guild AND c.id = w.channel AND m.guild = c.guild AND m.channel = c.no AND m.id = w.id
		AND `+ofTheChannel, readRewrote),
	decidedAs("edits", `SELECT c.guild, c.id, m.id, m.edited, m.channel, m.content FROM channel c
		CROSS JOIN said m WHERE m.guild = c.guild AND m.channel = c.no AND m.edited <> 0 AND `+ofTheChannel, readEdit).
		ifThere(isMessageThere).counted(func(r *Replayed, n int) { r.Edited += n }),
	decidedAs("stars", "SELECT guild, channel, id, starred, at FROM star WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Starred) error {
			return scan(&e.Guild, &e.Channel, &e.ID, &e.On, asTime{&e.At})
		}),
	decidedAs("messages that went with others", `SELECT d.guild, d.channel, d.id, k.id IS NOT NULL FROM tombstone d
		LEFT JOIN taken k ON k.guild = d.guild AND k.channel = d.channel AND k.id = d.id
		WHERE (k.id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM channel p WHERE p.guild = d.guild AND p.id = d.channel))
		AND `+ofTombstones,
		func(_ *Vault, scan Scanner, e *gone) error { return scan(&e.Guild, &e.Channel, &e.ID, &e.Taken) }),
	decidedAs("withdrawn answers", "SELECT guild, channel, message, first, unasked FROM withdrawn WHERE "+inTheGuild+
		" ORDER BY no",
		func(_ *Vault, scan Scanner, e *withdrew) error {
			return scan(&e.Guild, &e.Channel, &e.Message, &e.First, &e.Unasked)
		}),
	decidedAs("answers that Discord shows", selectLeft, readLeft),
	decidedAs("settings", "SELECT guild, channel, key, value, at, chooser FROM setting WHERE "+inTheGuild, readSetting),
	decidedAs("limits", "SELECT guild, role, messages, tokens, at, chooser FROM role_limit WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.LimitChosen) error {
			return scan(&e.Guild, &e.Role, &e.Messages, &e.Tokens, asTime{&e.At}, &e.By)
		}),
	decidedAs("spent tokens", "SELECT guild, user, question, tokens FROM spent WHERE "+inTheGuild,
		func(_ *Vault, scan Scanner, e *memory.Spent) error {
			return scan(&e.Guild, &e.User, &e.Question, &e.Tokens)
		}),
}

// ofTheChannel is inTheGuild for rows that are joined with their channel c, and ofTombstones for those of tombstone d.
var (
	ofTheChannel = fmt.Sprintf("(c.guild = ?1 OR ?1 = %d)", memory.Everywhere)
	ofTombstones = fmt.Sprintf("(d.guild = ?1 OR ?1 = %d)", memory.Everywhere)
)

func countChoices(r *Replayed, n int) { r.Choices += n }

func countLore(r *Replayed, n int) { r.Lore += n }

// deletions are the messages that were deleted themselves. They stay out also where they aren't yet.
func deletions() decidedKind {
	k := decidedAs("deleted messages", `SELECT c.guild, d.channel, d.id FROM tombstone d CROSS JOIN channel c
		WHERE c.guild = d.guild AND c.id = d.channel AND `+ofTheChannel+` AND NOT EXISTS (SELECT 1 FROM taken k
			WHERE k.guild = d.guild AND k.channel = d.channel AND k.id = d.id)`, readDeleted)
	k.there = isMessageThere
	k.staysOut = true
	k.count = func(r *Replayed, n int) { r.Deleted += n }
	return k
}

func readRule(_ *Vault, scan Scanner, f *memory.Forgetting) error {
	var o rule
	err := o.scan(scan)
	*f = o.Forgetting
	f.ID = 0 // each store gives its own
	return err
}

func readConnected(_ *Vault, scan Scanner, e *memory.Connected) error {
	return scan(&e.Guild, &e.User, asHash{&e.Hash}, asTime{&e.At})
}

func readUse(_ *Vault, scan Scanner, e *memory.ConnectionUsed) error {
	return scan(&e.Guild, &e.User, asHash{&e.Hash}, &e.Uses, asTime{&e.At})
}

// readChannel reads a channel as an old file tells of it: nothing that Discord told counts less.
func readChannel(v *Vault, scan Scanner, e *memory.ChannelSeen) error {
	c := &e.Channel
	c.Unplaced = true
	var no int64
	return scan(&no, &c.Guild, &c.ID, &c.Parent, &c.Kind, v.channelName(c, &no), v.channelTags(c, &no),
		&c.Owner)
}

func readGuildName(v *Vault, scan Scanner, e *memory.GuildNamed) error {
	return scan(&e.Guild, v.opened(&e.Name, func() Place { return placeOfGuildName(e.Guild) }))
}

func readChoice(_ *Vault, scan Scanner, e *memory.Chose) error {
	return scan(&e.Guild, &e.Channel, &e.Choice, asTime{&e.At}, &e.By)
}

func readLore(v *Vault, scan Scanner, e *memory.LoreTold) error { return v.scanLore(scan, &e.Lore) }

func isLoreThere(ctx context.Context, q Querier, e memory.Event) (there bool, err error) {
	l := e.(memory.LoreTold).Lore
	const query = "SELECT EXISTS (SELECT 1 FROM lore WHERE guild = ? AND id = ? AND text IS NOT NULL)"
	err = RowOf(ctx, q, query, l.Guild, l.ID).Scan(&there)
	return there, err
}

func readDeleted(_ *Vault, scan Scanner, e *memory.Deleted) error {
	e.IDs = make([]memory.MessageID, 1)
	return scan(&e.Guild, &e.Channel, &e.IDs[0])
}

func readEdit(v *Vault, scan Scanner, e *memory.Edited) error {
	var no int64
	content := v.opened(&e.Content, func() Place { return at("message", "content", no, e.ID) })
	return scan(&e.Guild, &e.Channel, &e.ID, asTime{&e.At}, &no, content)
}

// isMessageThere reports whether a message that was deleted or edited is there, and isn't being forgotten.
func isMessageThere(ctx context.Context, q Querier, e memory.Event) (there bool, err error) {
	guild, channel := e.Place()
	var id memory.MessageID
	switch e := e.(type) {
	case memory.Deleted:
		id = e.IDs[0]
	case memory.Edited:
		id = e.ID
	}
	const query = `SELECT EXISTS (SELECT 1 FROM channel c CROSS JOIN said m WHERE c.guild = ?1 AND c.id = ?2
		AND m.guild = c.guild AND m.channel = c.no AND m.id = ?3)`
	err = RowOf(ctx, q, query, guild, channel, id).Scan(&there)
	return there, err
}

func readSetting(v *Vault, scan Scanner, e *memory.SettingChosen) error {
	value := v.opened(&e.Value, func() Place { return placeOfSetting(e.Guild, e.Channel, e.Key) })
	return scan(&e.Guild, &e.Channel, &e.Key, value, asTime{&e.At}, &e.By)
}
