package search

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
	"weak"

	"hark/internal/text"
	"hark/memory"
)

// people are those known in the guilds asked about.
type people struct {
	guilds   []members
	readable map[memory.ChannelID]bool
	aliases  map[string][]memory.UserID // by each word of those that may be known
}

// members are the people of a guild.
type members struct {
	*roster
	list []memory.Person
}

// known are the people of guilds, with those of their facts that whoever may read scope may know.
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

// withFacts is p with those facts that may be known.
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

// called are those whom a word calls by name, or some of them if they are very many.
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

// words are those of all names.
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

// roster tells who in a guild goes by which name.
type roster struct {
	made      weak.Pointer[memory.Person] // the first of the list that it was made of
	at        map[memory.UserID]int       // the places there
	named     map[string][]memory.UserID  // by each word of the names that all may know
	withFacts []int                       // the places of those of whom there are facts
}

// rosters has a roster for as long as somebody holds the list that it was made of: when the store drops a list that has
// changed, the names go, too.
type rosters struct {
	sync.Mutex
	by map[memory.GuildID]*roster
}

// of is the roster of a guild whose people are list.
func (h *rosters) of(guild memory.GuildID, list []memory.Person) *roster {
	if len(list) == 0 {
		return new(roster)
	}
	h.Lock()
	defer h.Unlock()
	if r := h.by[guild]; r != nil && r.made == weak.Make(&list[0]) {
		return r
	}
	r := newRoster(list)
	h.by[guild] = r
	runtime.AddCleanup(&list[0], func(guild memory.GuildID) {
		h.Lock()
		defer h.Unlock()
		if h.by[guild] == r {
			delete(h.by, guild)
		}
	}, guild)
	return r
}

func newRoster(list []memory.Person) *roster {
	r := &roster{made: weak.Make(&list[0]), at: make(map[memory.UserID]int, len(list)),
		named: map[string][]memory.UserID{}}
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

// namesOf are all names that p goes by.
func namesOf(p memory.Person) []string { return append(p.Aliases(), p.Username, p.Name, p.Nick) }

// nameWords are the words of a name that somebody may be called by.
func nameWords(name string) []string {
	return slices.DeleteFunc(text.Words(name), func(w string) bool {
		return len(w) <= 1 || text.IsStopWord(w) || strings.Trim(w, "0123456789") == ""
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
			named = appendNew(named, k.within(w)...)
		}
	}
	return named
}

// within are those whose names, in a script without spaces between words, are a part of s.
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

// mayBeOneOff is false at once for nearly all words that differ by more than oneOff allows: by more than two letters
// between what they begin and end alike with.
func mayBeOneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	begin, end := 0, len(b)
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

// LoreCalled are those of lore that a text calls by a name, an alias or their initials, the surest first. If
// there are none, it is those of whose name or alias the text is a part.
func LoreCalled(s string, lore []memory.Lore) []memory.Lore {
	taken, said := countNames(lore), askedWordsOf(s)
	var found []loreMatch
	for _, l := range lore {
		if c := said.calls(l, taken); c.Why != "" {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		for _, l := range lore {
			if slices.ContainsFunc(append([]string{l.Name}, l.Own...), func(name string) bool {
				return askedWordsOf(name).has(s) > 0
			}) {
				found = append(found, loreMatch{LoreHit: LoreHit{Lore: l}})
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
