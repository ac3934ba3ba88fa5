package search

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// people are those known in the guilds asked about, as whoever may read the scope knows them.
type people struct {
	*roster
	readable map[memory.ChannelID]bool
	aliases  names // those that were told in readable channels
}

// roster are the people of guilds, with the names that all know.
type roster struct {
	guilds memory.People
	names  names
	told   []memory.Person // those of whom something was told for a channel
}

// names are whom each word of names calls, by id.
type names struct {
	of map[string][]memory.UserID
	// unspaced are the words in scripts without spaces between words.
	unspaced []string
}

// known are the people of guilds, with those of their facts that whoever may read scope may know.
func (e *Engine) known(ctx context.Context, guilds []memory.GuildID, scope memory.Scope) (people, error) {
	lists := make(memory.People, len(guilds))
	for i, guild := range guilds {
		var err error
		if lists[i], err = e.people.People(ctx, guild); err != nil {
			return people{}, err
		}
	}
	known := people{e.roster(lists), setOf(scope.Channels), newNames()}
	for _, p := range known.told {
		for _, name := range as(p, known.readable).Aliases() {
			known.aliases.add(p.ID, name)
		}
	}
	return known, nil
}

// manyPeople is from how many on the roster of a guild is held, and of heldRosters at most.
const manyPeople, heldRosters = 1000, 8

// roster are the people of lists. That of a guild is held until the store tells of others.
func (e *Engine) roster(lists memory.People) *roster {
	hold := len(lists) == 1 && len(lists[0]) >= manyPeople
	if hold {
		e.mu.Lock()
		defer e.mu.Unlock()
		if r := e.rosters[lists[0][0].Guild]; r != nil && len(r.guilds[0]) == len(lists[0]) && &r.guilds[0][0] == &lists[0][0] {
			return r
		}
	}
	r := &roster{guilds: lists, names: newNames()}
	for _, list := range lists {
		for _, p := range list {
			for _, name := range namesOf(as(p, nil)) {
				r.names.add(p.ID, name)
			}
			if slices.ContainsFunc(p.Facts, func(f memory.Fact) bool { return f.Channel != 0 }) {
				r.told = append(r.told, p)
			}
		}
	}
	if hold {
		if len(e.rosters) >= heldRosters {
			clear(e.rosters)
		}
		e.rosters[lists[0][0].Guild] = r
	}
	return r
}

// as is p with those of their facts that may be told in channels.
func as(p memory.Person, channels map[memory.ChannelID]bool) memory.Person {
	p.Facts = slices.DeleteFunc(slices.Clone(p.Facts), func(f memory.Fact) bool {
		return f.Channel != 0 && !channels[f.Channel]
	})
	return p
}

// person is somebody, with their facts; false if nobody of that id is known.
func (k people) person(id memory.UserID) (memory.Person, bool) {
	p, known := k.guilds.Of(id)
	return as(p, k.readable), known
}

// called are those whom a word of a name calls, by id.
func (k people) called(word string) []memory.UserID {
	ids := k.names.of[word]
	if more := k.aliases.of[word]; len(more) > 0 {
		ids = slices.Sorted(slices.Values(slices.Concat(ids, more)))
		return slices.Compact(ids)
	}
	return ids
}

func newNames() names { return names{of: map[string][]memory.UserID{}} }

// add takes in a name that somebody goes by.
func (n *names) add(id memory.UserID, name string) {
	for _, word := range nameWords(name) {
		ids, known := n.of[word]
		if r, size := utf8.DecodeRuneInString(word); !known && text.IsUnspaced(r) && size < len(word) {
			n.unspaced = append(n.unspaced, word)
		}
		if len(ids) < maxKnown && !slices.Contains(ids, id) {
			n.of[word] = append(ids, id)
		}
	}
}

// namesOf are all names that p goes by.
func namesOf(p memory.Person) []string { return append(p.Aliases(), p.Username, p.Name, p.Nick) }

// nameWords are the words that somebody of that name may be called by.
func nameWords(name string) []string {
	return slices.DeleteFunc(text.Words(name), func(w string) bool {
		return len(w) < 2 || text.IsStopWord(w) || strings.Trim(w, "0123456789") == ""
	})
}

// maxNamesakes is how many people a word may call by name.
const maxNamesakes = 3

// maxKnown bounds the people who are remembered for a word: of more it isn't asked who they are.
const maxKnown = 100

// mentioned is how Discord writes the mention of somebody.
var mentioned = regexp.MustCompile(`<@!?(\d{1,20})>`)

// namedIn are the people whom s calls by name. A word that more than a few go by names nobody, unless the
// next word of the name says whom.
func (k people) namedIn(s string) []memory.UserID {
	var named []memory.UserID
	for _, m := range mentioned.FindAllStringSubmatch(s, -1) {
		id, _ := strconv.ParseInt(m[1], 10, 64)
		if p, ok := k.person(memory.UserID(id)); ok && !p.Bot {
			named = appendNew(named, p.ID)
		}
	}
	words := text.Words(s)
	for i, w := range words {
		ids := k.called(w)
		if len(ids) > maxNamesakes && i+1 < len(words) {
			next := k.called(words[i+1])
			ids = slices.DeleteFunc(slices.Clone(ids), func(id memory.UserID) bool {
				return !slices.Contains(next, id)
			})
		}
		if len(ids) <= maxNamesakes {
			named = appendNew(named, ids...)
		}
		if r, _ := utf8.DecodeRuneInString(w); text.IsUnspaced(r) {
			for _, name := range slices.Concat(k.names.unspaced, k.aliases.unspaced) { // may be a part of it
				if ids := k.called(name); len(ids) <= maxNamesakes && strings.Contains(w, name) {
					named = appendNew(named, ids...)
				}
			}
		}
	}
	return named
}

// appendNew appends those of more that aren't in ids.
func appendNew(ids []memory.UserID, more ...memory.UserID) []memory.UserID {
	for _, id := range more {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// leastMisspelt is how many letters a word has at least that may be a misspelt name, and longMisspelt how
// many one has that isn't written as names are: shorter ones are a letter away from too many words.
const leastMisspelt, longMisspelt = 3, 5

// maxTried bounds the words of a question that are compared with all names.
const maxTried = 16

// misspelt are the people whose names s has with one letter wrong, missing, too many or swapped with the
// next. Only a word that hardly anybody has used is taken for that, and if it is short only where it is
// written as names are. A name with another first letter has to be long, and the only one.
func (k people) misspelt(s string, unheard []string) []memory.UserID {
	var named []memory.UserID
	tried := 0
	for _, written := range strings.Fields(s) {
		words := text.Words(written)
		heard := func(term string) bool { return !slices.Contains(unheard, term) }
		if len(words) == 0 || len(k.called(words[0])) > 0 || slices.ContainsFunc(text.QueryTerms(words[0]), heard) {
			continue
		}
		word := []rune(words[0])
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(written, "\"'(@*_"))
		if len(word) < leastMisspelt || len(word) < longMisspelt && !unicode.IsUpper(first) {
			continue
		}
		if tried++; tried > maxTried {
			break
		}
		var like, less []memory.UserID
		for name := range k.near(word) {
			ids := k.called(name)
			if len(ids) > maxNamesakes {
				continue
			}
			if first, _ := utf8.DecodeRuneInString(name); first == word[0] {
				like = appendNew(like, ids...)
			} else if len(word) >= longMisspelt {
				less = appendNew(less, ids...)
			}
		}
		if len(like) == 0 && len(less) == 1 {
			like = less
		}
		named = appendNew(named, like...)
	}
	slices.Sort(named)
	return named
}

// near are the words of names that differ from a word by one letter.
func (k people) near(word []rune) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, all := range []map[string][]memory.UserID{k.names.of, k.aliases.of} {
			for name := range all {
				n := utf8.RuneCountInString(name)
				if n >= len(word)-1 && n <= len(word)+1 && oneOff(word, []rune(name)) && !yield(name) {
					return
				}
			}
		}
	}
}

// oneOff reports whether two words differ by one letter, or by two neighbours that are swapped.
func oneOff(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(b) < leastMisspelt {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if i == len(a) {
		return len(b) > len(a)
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	return slices.Equal(a[i+1:], b[i+1:]) ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}

// terms are the terms of the names of ids.
func (k people) terms(ids []memory.UserID) []string {
	var terms []string
	for _, id := range ids {
		p, _ := k.person(id)
		for _, name := range namesOf(p) {
			terms = append(terms, text.QueryTerms(name)...) // of "JohnDoe", the parts too
		}
	}
	return terms
}

// participants are the people that the context should introduce: those asked about, the asker, then the
// authors of hits, best first.
func (e *Engine) participants(ctx context.Context, q Query, named []memory.UserID, hits []Hit,
	known people) ([]Participant, error) {
	var ids []memory.UserID
	add := func(more ...memory.UserID) {
		for _, id := range more {
			if _, ok := known.person(id); ok && len(ids) < MaxPeople && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	add(q.Mentions...)
	add(named...)
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
		person, _ := known.person(id)
		participants[i] = Participant{Person: person, Presence: presence[id], Main: i < main}
	}
	return participants, nil
}

// Introduce gives those whom q mentions and whom its text names, if only misspelt by a letter, as a result of
// Search for q would introduce them. Nothing else is searched for, and nobody else is among them.
func (e *Engine) Introduce(ctx context.Context, q Query) ([]Participant, error) {
	q = within(q)
	q.Asker = 0
	known, err := e.known(ctx, q.Guilds, q.Scope)
	if err != nil {
		return nil, fmt.Errorf("look people up: %w", err)
	}
	named := known.namedIn(q.Text)
	if len(named) == 0 {
		named = known.misspelt(q.Text, text.QueryTerms(q.Text))
	}
	people, err := e.participants(ctx, q, named, nil, known)
	if err != nil {
		return nil, fmt.Errorf("look people up: %w", err)
	}
	return people, nil
}

// LoreCalled are those of lore that a text calls by a name, an alias or their initials, the surest first. If
// there are none, it is those of whose name or alias the text is a part.
func LoreCalled(s string, lore []memory.Lore) []memory.Lore {
	taken, said := calledBy(lore), spokenIn(s)
	var found []calling
	for _, l := range lore {
		if c := said.calls(l, taken); c.Why != "" {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		for _, l := range lore {
			if slices.ContainsFunc(append([]string{l.Name}, l.Own...), func(name string) bool {
				return spokenIn(name).has(s) > 0
			}) {
				found = append(found, calling{LoreHit: LoreHit{Lore: l}})
			}
		}
	}
	slices.SortFunc(found, surestFirst)
	called := make([]memory.Lore, len(found))
	for i, c := range found {
		called[i] = c.Lore
	}
	return called
}
