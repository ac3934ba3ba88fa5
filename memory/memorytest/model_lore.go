package memorytest

import (
	"slices"

	"hark/memory"
)

// fact is the fact of an id, or that it is gone for good.
type fact struct {
	user memory.UserID
	gone bool
	memory.Fact
}

// tellFact keeps a fact, unless it or its source is gone, or its person has opted out.
func (m *model) tellFact(e memory.FactTold) {
	key := inGuild{e.Guild, e.Fact.ID}
	old := m.facts[key]
	switch {
	case old != nil && old.gone, m.isOut(e.Guild, e.User):
	case e.Fact.Message != 0 && m.isGone(place{e.Fact.Channel, e.Fact.Message}):
		m.takeFact(key)
	default:
		m.facts[key] = &fact{user: e.User, Fact: e.Fact}
		m.dropPrompts(func(a answer, _ memory.Prompt) bool {
			return slices.ContainsFunc(a.from, func(s memory.Source) bool { return isFact(s, key) })
		})
	}
}

// takeFact deletes a fact and the answers that used it.
func (m *model) takeFact(key inGuild) {
	m.facts[key] = &fact{gone: true}
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return isFact(s, key) }), place{})
}

// lore is the lore of an id, or that it is gone for good.
type lore struct {
	gone bool
	memory.Lore
}

// loreAsMessage is the message by which rules cover l.
func loreAsMessage(l memory.Lore) *memory.Message {
	return &memory.Message{ID: memory.FirstMessageID(l.At), Guild: l.Guild, Channel: l.Channel, Author: l.By}
}

// tellLore keeps lore, unless it or a source is gone, a newer version exists, or its teller is forgotten.
func (m *model) tellLore(l memory.Lore) {
	l, _ = l.Checked()
	key := inGuild{l.Guild, l.ID}
	old := m.lore[key]
	switch {
	case m.isOut(l.Guild, l.By), old != nil && (old.gone || !l.At.After(old.At)), m.isForgotten(*loreAsMessage(l)):
		return
	case slices.ContainsFunc(l.Sources, func(s memory.MessageRef) bool { return m.isGone(place{s.Channel, s.Message}) }):
		m.takeLore(key)
		return
	case old != nil:
		m.dropMadeFromLore(l.ID)
	}
	m.guild(l.Guild)
	m.lore[key] = &lore{Lore: l}
}

// takeLore deletes lore and the answers that used it.
func (m *model) takeLore(key inGuild) {
	m.lore[key] = &lore{gone: true}
	m.dropMadeFromLore(key.id)
}

func (m *model) dropMadeFromLore(id int64) {
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return s.Kind == memory.SourceLore && s.ID == id }), place{})
}

// loreAt returns the lore with an id in any guild, or nil.
func (m *model) loreAt(id int64) (found *lore) {
	for key, l := range m.lore {
		if key.id == id && !l.gone {
			found = l
		}
	}
	return found
}

func (m *model) loreOf(guild memory.GuildID) []memory.Lore {
	var all []memory.Lore
	for key, l := range m.lore {
		if key.guild == guild && !l.gone {
			all = append(all, l.Lore)
		}
	}
	return sorted(all, func(l memory.Lore) int64 { return l.ID })
}
