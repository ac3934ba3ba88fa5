package sqlstore

import (
	"fmt"

	"hark/memory"
)

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

type cause struct {
	hide    hiding
	deleted memory.MessageRef // if not zero, answers to it count as unasked
}

// sourceState is how a source differs from when it was read.
type sourceState int

const (
	sourceSame      sourceState = iota
	sourcePending               // a message that hasn't arrived, or an answer of Hark's that has grown
	sourceRewritten             // an answer of Hark's that was rewritten
	sourceGone                  // deleted or edited
)

// stateQueries ask whether a source is unchanged, by its guild, id, version and channel.
var stateQueries = map[memory.SourceKind]string{
	memory.SourceFact: "SELECT NOT EXISTS (SELECT 1 FROM fact WHERE guild = ?1 AND id = ?2 AND text IS NULL)",
	memory.SourceLore: `SELECT EXISTS (SELECT 1 FROM lore WHERE (guild = ?1 OR ?1 = -1) AND id = ?2
		AND (at = ?3 OR ?3 = 0) AND text IS NOT NULL)`,
	memory.SourceSummary: `SELECT EXISTS (SELECT 1 FROM summary
		WHERE guild = ?1 AND id = ?2 AND made = ?3 AND channel = ?4 AND text IS NOT NULL)`,
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
