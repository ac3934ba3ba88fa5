package sqlstore

import (
	"slices"

	"hark/memory"
)

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
	case aCopy:
		t.emptyCopy(g.channel, memory.MessageID(g.id))
	default:
		t.deletedCounts.Records++
		t.exec("DELETE FROM record WHERE guild = ? AND no = ?", g.guild, g.id)
	}
}

// invalidate deletes what s selects and everything derived from it. Of answers that Discord still shows it
// keeps the sources, to find them once they must be hidden. It returns how many things it deleted.
func (t *transaction) invalidate(s selection, why cause) int {
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
	return len(all)
}

// deleteParts deletes messages of an answer and returns those that were there. If withdrawn, Discord must stop
// showing them.
func (t *transaction) deleteParts(trace memory.Trace, parts []memory.MessageID,
	withdrawn bool) (there []memory.MessageID) {
	answer := derived{
		guild:   trace.Guild,
		channel: trace.Channel,
		id:      int64(trace.Answer),
	}
	for _, id := range parts {
		if t.isGone(trace.Guild, trace.Channel, id) {
			continue
		}
		if withdrawn {
			t.withdraw(answer, id, false)
		}
		t.delete(trace.Guild, trace.Channel, id, hideNone)
		t.exec("INSERT INTO taken (guild, channel, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			t.guildAt(trace.Guild, trace.Channel), trace.Channel, id)
		there = append(there, id)
	}
	return there
}

// deleteAnswer deletes an answer's messages, trace and prompt.
func (t *transaction) deleteAnswer(g invalid, deleted memory.MessageRef) {
	trace, _ := t.traceOf(g.guild, g.channel, memory.MessageID(g.id))
	t.dropTrace(g.guild, g.channel, trace.Answer)
	if g.hide != hideNone && deleted == (memory.MessageRef{Channel: trace.Channel, Message: trace.Question}) {
		t.withdraw(g.derived, trace.Answer, true)
	}
	left := t.deleteParts(trace, append([]memory.MessageID{trace.Answer}, trace.Parts...), g.hide != hideNone)
	if g.hide == hideNone {
		t.leaveShown(g, trace.Question, left)
	}
}

// delete removes a message, present or yet to come, with everything derived from it. guild is used if the channel is
// unknown.
func (t *transaction) delete(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID, hide hiding) {
	t.changed.Text = true
	guild = t.guildAt(guild, channel)
	t.addTombstone(guild, channel, id)
	for _, table := range messageTables {
		t.exec("DELETE FROM "+table+" WHERE guild = ? AND channel = ? AND id = ?", guild, channel, id)
	}
	t.rekeyTrace(guild, channel, id)
	t.unshow(guild, channel, id)
	t.invalidate(madeFrom(guild, aMessage, channel, id),
		cause{hide, memory.MessageRef{Channel: channel, Message: id}})
	c := t.knownChannel(channel)
	if c == nil {
		return
	}
	c.highest = max(c.highest, id)
	if old := t.stored(c, id); old.row != 0 && !old.pendingDeletion {
		t.remove(c, old)
	}
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

// emptyCopy takes a copy's text.
func (t *transaction) emptyCopy(channel memory.ChannelID, id memory.MessageID) {
	c := t.knownChannel(channel)
	if c == nil {
		return
	}
	old := t.stored(c, id)
	if old.row == 0 || old.pendingDeletion {
		return
	}
	now := old
	now.Message = old.WithoutCopy()
	t.write(c, old, now)
}

// deleteLore keeps only the id, so no later version comes back. Lore that a rule covers itself loses its id
// too: the rule keeps out older lore, and newer lore may use the id.
func (t *transaction) deleteLore(g invalid) {
	t.changed.people[g.guild] = true
	t.changed.Text = true
	if g.itself {
		t.exec("DELETE FROM lore WHERE guild = ? AND id = ?", g.guild, g.id)
	} else {
		t.put(loreTable, g.guild, g.id, 0, 0, 0, "", "", nil, false)
	}
}

// deleteFact keeps only the id, so the fact doesn't come back.
func (t *transaction) deleteFact(guild memory.GuildID, id int64) {
	t.changed.people[guild] = true
	t.changed.Text = true
	t.put(factTable, guild, id, 0, 0, 0, 0, 0, nil)
}

// deleteKnowledge deletes a fact or lore, except its id, and the answers that used it.
func (t *transaction) deleteKnowledge(k kind, guild memory.GuildID, id int64) {
	d := derived{
		kind:  k,
		guild: guild,
		id:    id,
	}
	t.invalidate(madeFrom(guild, k, d.sourcePlace(), id), cause{hide: hideRepeats})
	t.underive(d)
	t.deleteDerived(invalid{derived: d}, memory.MessageRef{})
}

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

var loreTable = table{"lore", 2, "guild, id, by, channel, at, name, own, text, scheduled"}

var factTable = table{"fact", 2, "guild, id, user, alias, by, channel, message, text"}

func (t *transaction) areSame(guild memory.GuildID, sources []memory.Source) bool {
	return !slices.ContainsFunc(sources, func(s memory.Source) bool { return t.stateOf(guild, s) != sourceSame })
}
