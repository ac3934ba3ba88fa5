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
	return decidedKind{
		what:  what,
		query: query,
		read: func(v *Vault, scan Scanner) (memory.Event, error) {
			var e E
			err := read(v, scan, &e)
			return e, err
		},
	}
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

// Replayed counts what a replay changed.
type Replayed struct {
	Deleted int // messages
	Edited  int // messages
	Facts   int // taken away
	Lore    int // deleted or changed
	OptOuts int // opt-outs and opt-ins
	Choices int // about remembering

	Unknown error // why not all decisions could be read; nil: all were
}
