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

// peopleIn returns the people of guilds, with the facts that readers of scope may know.
func (e *Engine) peopleIn(ctx context.Context, guilds []memory.GuildID, scope memory.Scope) (people, error) {
	known := people{readable: setOf(scope.Channels), aliases: map[string][]memory.UserID{}}
	for _, guild := range guilds {
		list, err := e.people.People(ctx, guild)
		if err != nil {
			return known, err
		}
		known.add(members{e.rosters.of(guild, list), list})
	}
	return known, nil
}

func (k *people) add(m members) {
	k.guilds = append(k.guilds, m)
	for _, i := range m.withFacts {
		p := k.withFacts(m.list[i])
		for _, alias := range p.Aliases() {
			for _, word := range nameWords(alias) {
				k.aliases[word] = appendNew(k.aliases[word], p.ID)
			}
		}
	}
}

// withFacts returns p with its readable facts only.
func (k people) withFacts(p memory.Person) memory.Person {
	p.Facts = slices.DeleteFunc(slices.Clone(p.Facts), func(f memory.Fact) bool {
		return f.Channel != 0 && !k.readable[f.Channel]
	})
	return p
}

func (k people) person(id memory.UserID) (p memory.Person, known bool) {
	for _, m := range slices.Backward(k.guilds) {
		if i, ok := m.at[id]; ok {
			return k.withFacts(m.list[i]), true
		}
	}
	return p, false
}

// called returns people with that word in their names, at most maxKnown of a guild.
func (k people) called(word string) []memory.UserID {
	if ids := k.aliases[word]; len(ids) == 0 && len(k.guilds) == 1 {
		return k.guilds[0].named[word]
	}
	ids := slices.Clone(k.aliases[word])
	for _, m := range k.guilds {
		ids = appendNew(ids, m.named[word]...)
	}
	slices.Sort(ids)
	return ids
}

// words yields the words of all names.
func (k people) words() iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range k.aliases {
			if !yield(word) {
				return
			}
		}
		for _, m := range k.guilds {
			for word := range m.named {
				if !yield(word) {
					return
				}
			}
		}
	}
}

func newRoster(list []memory.Person) *roster {
	r := &roster{at: make(map[memory.UserID]int, len(list)), named: map[string][]memory.UserID{}}
	for i, p := range list {
		r.at[p.ID] = i
		for _, name := range []string{p.Username, p.Name, p.Nick} {
			for _, word := range nameWords(name) {
				if ids := r.named[word]; len(ids) < maxKnown && !slices.Contains(ids, p.ID) {
					r.named[word] = append(ids, p.ID)
				}
			}
		}
		if len(p.Facts) > 0 {
			r.withFacts = append(r.withFacts, i)
		}
	}
	return r
}

// namesOf returns all of p's names.
func namesOf(p memory.Person) []string { return append(p.Aliases(), p.Username, p.Name, p.Nick) }

// nameWords returns the words of a name that may refer to its owner.
func nameWords(name string) []string {
	return slices.DeleteFunc(text.Words(name), func(w string) bool {
		return len(w) <= 1 || text.IsStopWord(w) || strings.Trim(w, "0123456789") == ""
	})
}

const (
	maxNamesakes = 3   // people that a single word may name
	maxKnown     = 100 // people indexed for a word
)

// mentioned matches Discord's user mentions.
var mentioned = regexp.MustCompile(`<@!?(\d{1,20})>`)

// namedIn returns the people named in s. A word of more than maxNamesakes names nobody, unless the next word
// decides.
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
			named = appendNew(named, k.within(w)...)
		}
	}
	return named
}

// within returns the people with a name in s in scripts without spaces.
func (k people) within(s string) (named []memory.UserID) {
	for name := range k.words() {
		if r, size := utf8.DecodeRuneInString(name); text.IsUnspaced(r) && size < len(name) && strings.Contains(s, name) {
			if ids := k.called(name); len(ids) <= maxNamesakes {
				named = appendNew(named, ids...)
			}
		}
	}
	slices.Sort(named)
	return named
}

// appendNew appends the elements of more that aren't in ids.
func appendNew(ids []memory.UserID, more ...memory.UserID) []memory.UserID {
	for _, id := range more {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// leastMisspelt is the least length of a word that may misspell a name, in letters; longMisspelt is that of a
// word in lower case. Shorter words are one letter away from too many others.
const leastMisspelt, longMisspelt = 3, 5

// maxTried is the most words of a question compared with all names.
const maxTried = 16

// misspelt returns the people whose names s has with one letter wrong, missing, added or swapped with the
// next. Only words that hardly anybody uses count, and short ones only if capitalised. A name with another
// first letter must be long and the only match.
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
		tried++
		if tried > maxTried {
			break
		}
		var like, less []memory.UserID
		for name := range k.words() {
			if !mayBeOneOff(words[0], name) || !oneOff(word, []rune(name)) {
				continue
			}
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

// mayBeOneOff quickly excludes nearly all words that oneOff excludes: those that differ in more than two letters
// between their common beginning and end.
func mayBeOneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	begin := 0
	end := len(b)
	for begin < len(a) && a[begin] == b[begin] {
		begin++
	}
	for end > begin+len(b)-len(a) && a[end-1-len(b)+len(a)] == b[end-1] {
		end--
	}
	differs := b[begin:end]
	return len(differs) <= 2 || len(differs) <= 2*utf8.UTFMax && strings.ContainsFunc(differs, func(r rune) bool {
		return r >= utf8.RuneSelf
	})
}

// oneOff reports whether two words differ by one letter or by two swapped neighbours.
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

// terms returns the terms of the names of ids.
func (k people) terms(ids []memory.UserID) []string {
	var terms []string
	for _, id := range ids {
		p, _ := k.person(id)
		for _, name := range namesOf(p) {
			terms = append(terms, text.QueryTerms(name)...) // splits "JohnDoe"
		}
	}
	return terms
}

// participants returns Result.People.
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
		participants[i] = Participant{
			Person:   person,
			Presence: presence[id],
			Main:     i < main,
		}
	}
	return participants, nil
}

// Introduce returns only the people whom q mentions or names, even misspelt by a letter, without a search.
func (e *Engine) Introduce(ctx context.Context, q Query) ([]Participant, error) {
	q = untilAsked(q)
	q.Asker = 0
	known, err := e.peopleIn(ctx, q.Guilds, q.Scope)
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

// untilAsked returns q with its scope ending at Now.
func untilAsked(q Query) Query {
	if !q.Now.IsZero() && (q.Scope.Until.IsZero() || q.Now.Before(q.Scope.Until)) {
		q.Scope.Until = q.Now
	}
	return q
}
