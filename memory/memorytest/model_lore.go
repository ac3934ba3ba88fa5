package memorytest

import (
	"slices"

	"hark/memory"
)

// loreKey is which lore.
type loreKey struct {
	guild memory.GuildID
	id    int64
}

// lore is what was told under an id, or that it is gone for good.
type lore struct {
	gone bool
	memory.Lore
}

// asMessage is l as the message that it is forgotten like.
func asMessage(l memory.Lore) *memory.Message {
	return &memory.Message{ID: memory.FirstMessageID(l.At), Guild: l.Guild, Channel: l.Channel, Author: l.By}
}

// tellLore keeps lore, unless it is gone, or a source, or there is a newer version, or whoever told it is forgotten.
func (m *model) tellLore(l memory.Lore) {
	key := loreKey{l.Guild, l.ID}
	old := m.lore[key]
	switch {
	case m.opted[member{l.Guild, l.By}].Out, old != nil && (old.gone || !l.At.After(old.At)), m.isForgotten(*asMessage(l)):
		return
	case slices.ContainsFunc(l.Sources, func(s memory.Spot) bool { return m.isGone(place{s.Channel, s.Message}) }):
		m.takeLore(key)
		return
	case old != nil:
		m.dropMadeFromLore(l.ID)
	}
	m.guild(l.Guild)
	m.lore[key] = &lore{Lore: l}
}

// takeLore takes lore away, with the answers that used it.
func (m *model) takeLore(key loreKey) {
	m.lore[key] = &lore{gone: true}
	m.dropMadeFromLore(key.id)
}

func (m *model) dropMadeFromLore(id int64) {
	m.invalidate(madeFrom(1, func(s memory.Source) bool { return s.Kind == memory.SourceLore && s.ID == id }), place{})
}

// hasLore reports whether lore with that id is there, in any guild.
func (m *model) hasLore(id int64) bool {
	for key, l := range m.lore {
		if key.id == id && !l.gone {
			return true
		}
	}
	return false
}

// loreAt is when lore that is there was told as it is now.
func (m *model) loreAt(id int64) (at memory.MessageID) {
	for key, l := range m.lore {
		if key.id == id && !l.gone {
			at = memory.FirstMessageID(l.At)
		}
	}
	return at
}

// loreOf is the lore of a guild, by id.
func (m *model) loreOf(guild memory.GuildID) []memory.Lore {
	var all []memory.Lore
	for key, l := range m.lore {
		if key.guild == guild && !l.gone {
			all = append(all, l.Lore)
		}
	}
	slices.SortFunc(all, func(a, b memory.Lore) int { return compare(a.ID, b.ID) })
	return plainLore(all)
}

// plainLore takes off what two stores may differ in.
func plainLore(all []memory.Lore) []memory.Lore {
	all = slices.Clone(all)
	for i := range all {
		l := &all[i]
		l.At = l.At.UTC()
		if len(l.Own) == 0 {
			l.Own = nil
		}
		if len(l.Sources) == 0 {
			l.Sources = nil
		}
	}
	return all
}
