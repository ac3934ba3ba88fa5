package search

import (
	"context"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// people are those known in the guilds asked about.
type people struct {
	byID  map[memory.UserID]memory.Person
	names map[string][]memory.UserID // by each word of the names they go by
}

// known are the people of guilds, with those of their facts that whoever may read scope may know.
func (e *Engine) known(ctx context.Context, guilds []memory.GuildID, scope memory.Scope) (people, error) {
	known := people{byID: map[memory.UserID]memory.Person{}, names: map[string][]memory.UserID{}}
	readable := make(map[memory.ChannelID]bool, len(scope.Channels))
	for _, c := range scope.Channels {
		readable[c] = true
	}
	for _, guild := range guilds {
		list, err := e.people.People(ctx, guild)
		if err != nil {
			return known, err
		}
		for _, p := range list {
			p.Facts = factsIn(readable, p.Facts)
			known.add(p)
		}
	}
	return known, nil
}

// factsIn are those of facts that were said in channels, or told to Hark.
func factsIn(channels map[memory.ChannelID]bool, facts []memory.Fact) []memory.Fact {
	var told []memory.Fact
	for _, f := range facts {
		if f.Message == 0 || channels[f.Channel] {
			told = append(told, f)
		}
	}
	return told
}

func (k people) add(p memory.Person) {
	k.byID[p.ID] = p
	for _, word := range nameWords(p) {
		ids := k.names[word]
		if len(ids) <= maxNamesakes && !slices.Contains(ids, p.ID) {
			k.names[word] = append(ids, p.ID)
		}
	}
}

// nameWords are the words that p may be called by.
func nameWords(p memory.Person) []string {
	var words []string
	for _, name := range append(p.Aliases(), p.Username, p.Name, p.Nick) {
		for _, w := range text.Words(name) {
			if len(w) > 1 && !text.IsStopWord(w) && strings.Trim(w, "0123456789") != "" {
				words = append(words, w)
			}
		}
	}
	return words
}

// maxNamesakes is how many people a word may call by name.
const maxNamesakes = 3

// namedIn are the people whom s calls by name. A word that more than a few go by names nobody.
func (k people) namedIn(s string) []memory.UserID {
	var named []memory.UserID
	for _, w := range text.Words(s) {
		ids := k.names[w]
		if len(ids) > maxNamesakes {
			continue
		}
		for _, id := range ids {
			if !slices.Contains(named, id) {
				named = append(named, id)
			}
		}
	}
	return named
}

// terms are the terms of the names of ids.
func (k people) terms(ids []memory.UserID) []string {
	var terms []string
	for _, id := range ids {
		p := k.byID[id]
		for _, name := range append(p.Aliases(), p.Username, p.Name, p.Nick) {
			terms = append(terms, text.QueryTerms(name)...) // of "JohnDoe", the parts too
		}
	}
	return terms
}

// participants are the people that the context should introduce: those asked about, the asker, then the
// authors of hits, best first.
func (e *Engine) participants(ctx context.Context, q Query, asked question, hits []Hit, known people) ([]Participant, error) {
	var ids []memory.UserID
	add := func(more ...memory.UserID) {
		for _, id := range more {
			if _, ok := known.byID[id]; ok && len(ids) < MaxPeople && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	add(q.Mentions...)
	add(asked.named...)
	add(q.Asker)
	main := len(ids)
	for _, hit := range hits {
		add(hit.Message.Author)
	}
	presence, err := e.people.Presence(ctx, q.Scope, ids)
	if err != nil {
		return nil, err
	}
	participants := make([]Participant, len(ids))
	for i, id := range ids {
		participants[i] = Participant{Person: known.byID[id], Presence: presence[id], Main: i < main}
	}
	return participants, nil
}
