package memorytest

import (
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// member is somebody of a guild.
type member struct {
	guild memory.GuildID
	user  memory.UserID
}

type factKey struct {
	guild memory.GuildID
	id    int64
}

// fact is what was told under an id, or that it is gone for good.
type fact struct {
	user memory.UserID
	gone bool
	memory.Fact
}

func (m *model) applyPerson(e memory.Event) {
	switch e := e.(type) {
	case memory.PersonSeen:
		said := memory.Message{ID: e.Said, Guild: e.Person.Guild, Author: e.Person.ID}
		if !m.opted[member{e.Person.Guild, e.Person.ID}].Out && (e.Said == 0 || !m.isForgotten(said)) {
			m.seePerson(e.Person)
		}
	case memory.PersonLeft:
		if p, ok := m.people[e.Guild][e.User]; ok {
			p.Nick, p.Roles, p.RolesKnown = "", nil, false
			m.people[e.Guild][e.User] = p
		}
	case memory.FactTold:
		m.tell(e)
	case memory.FactGone:
		m.takeFact(factKey{e.Guild, e.Fact})
	case memory.Learn:
		key := member{e.Guild, e.User}
		if e.On && m.opted[key].Out {
			return
		}
		if was, ok := m.learn[key]; !ok || e.At.After(was.At) {
			m.learn[key] = e
		}
	case memory.Opted:
		key := member{e.Guild, e.User}
		if was, ok := m.opted[key]; !ok || e.At.After(was.At) {
			maps.DeleteFunc(m.dropped, func(_ place, by member) bool { return by == key })
			if m.opted[key] = e; e.Out || was.Out {
				m.begin(memory.Forgetting{Guild: e.Guild, User: e.User, Why: memory.WhyOptOut, At: e.At})
			}
			for at, of := range m.spent {
				if e.Out && at.guild == e.Guild && of.User == e.User {
					m.disown(at)
				}
			}
		}
	}
}

func (m *model) seePerson(p memory.Person) {
	m.guild(p.Guild)
	if m.people[p.Guild] == nil {
		m.people[p.Guild] = map[memory.UserID]memory.Person{}
	}
	known := m.people[p.Guild][p.ID]
	keep := func(now *string, was string) {
		if *now == "" {
			*now = was
		}
	}
	keep(&p.Username, known.Username)
	keep(&p.Name, known.Name)
	if !p.RolesKnown {
		keep(&p.Nick, known.Nick)
	}
	if !p.RolesKnown {
		p.Roles, p.RolesKnown = known.Roles, known.RolesKnown
	}
	m.people[p.Guild][p.ID] = p
}

// tell keeps a fact, unless it is gone, or its source, or its person has opted out.
func (m *model) tell(e memory.FactTold) {
	key := factKey{e.Guild, e.Fact.ID}
	old := m.facts[key]
	source := place{e.Fact.Channel, e.Fact.Message}
	switch {
	case old != nil && old.gone, m.opted[member{e.Guild, e.User}].Out:
	case source.id != 0 && m.isGone(source):
		m.takeFact(key)
	default:
		m.facts[key] = &fact{user: e.User, Fact: e.Fact}
		m.dropPrompts(func(a answer, _ memory.Prompt) bool {
			return slices.ContainsFunc(a.from, func(s memory.Source) bool { return isFact(s, key) })
		})
	}
}

// isGone reports whether a message was deleted, or would be forgotten if it came.
func (m *model) isGone(at place) bool { return m.isAway(at) || m.isForgotten(m.known(at)) }

// learnsSince is since when facts may be learned in a guild, or from what a user says there.
func (m *model) learnsSince(guild memory.GuildID, user memory.UserID) time.Time {
	if l := m.learn[member{guild, user}]; l.On {
		return l.At
	}
	return time.Time{}
}

// everybody are the persons of a guild that were seen, or that something is known of.
func (m *model) everybody(guild memory.GuildID) []memory.Person {
	known := map[memory.UserID]memory.Person{}
	for id, p := range m.people[guild] {
		p.Facts, p.Learn = nil, m.learnsSince(guild, id)
		known[id] = p
	}
	for key, f := range m.facts {
		if key.guild != guild || f.gone {
			continue
		}
		p := known[f.user]
		p.ID, p.Guild = f.user, guild
		p.Facts = append(p.Facts, f.Fact)
		known[f.user] = p
	}
	var all []memory.Person
	for _, p := range known {
		slices.SortFunc(p.Facts, func(a, b memory.Fact) int { return compare(a.ID, b.ID) })
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b memory.Person) int { return compare(a.ID, b.ID) })
	return all
}
