package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hark/internal/text"
)

const (
	MaxLoreName    = 100  // characters of a name or an alias
	MaxLoreText    = 2000 // characters of the text
	MaxLoreAliases = 20   // given by hand
	MaxLoreSources = 20
)

// Lore is something that a guild told Hark to remember, under a name.
//
// It may be told only where Channel and the channels of all its sources may be read. It is forgotten like a
// message that By wrote in Channel at At, and goes when a source goes or its text changes.
type Lore struct {
	ID      int64 // unique; the id of the interaction or message that told it
	Guild   GuildID
	Name    string
	Text    string
	Own     []string     // other names, given by hand
	By      UserID       // who said it; 0 for the operator
	Channel ChannelID    // where it was told; 0: for the whole guild
	At      time.Time    // when it was told or last changed, to the millisecond
	Sources []MessageRef // its source messages, by channel and id
	// Scheduled says that this is an event in Discord's calendar of the guild. It goes with the event.
	Scheduled bool
}

// LoreTold adds lore, or changes the lore with its id. The last version by At holds, and of several with one At the
// first applied. It is refused unless Lore.Checked accepts it. Nothing is kept from somebody who has opted out or that
// a Forgetting covers. If a source is gone, so is the lore, for good.
type LoreTold struct{ Lore Lore }

// Place implements Event.
func (e LoreTold) Place() (GuildID, ChannelID) { return e.Lore.Guild, 0 }

func (LoreTold) decides() {}

// Checked returns e ready to store, as Lore.Checked.
func (e LoreTold) Checked() (Event, error) {
	checked, err := e.Lore.Checked()
	if err != nil {
		return nil, fmt.Errorf("keep lore: %w", err)
	}
	return LoreTold{checked}, nil
}

// LoreGone removes lore for good, with the answers that used it.
type LoreGone struct {
	Guild GuildID
	ID    int64
}

// Place implements Event.
func (e LoreGone) Place() (GuildID, ChannelID) { return e.Guild, 0 }

func (LoreGone) decides() {}

// Checked returns l ready to store: its texts clean and trimmed, each alias and source once. The error tells
// the user why it is invalid.
func (l Lore) Checked() (Lore, error) {
	l.Name = strings.Join(strings.Fields(Clean(l.Name)), " ")
	l.Text = strings.TrimSpace(Clean(l.Text))
	var own []string
	for _, alias := range l.Own {
		alias = strings.Join(strings.Fields(Clean(alias)), " ")
		if alias != "" && !strings.EqualFold(alias, l.Name) && !slices.ContainsFunc(own, func(o string) bool {
			return strings.EqualFold(o, alias)
		}) {
			own = append(own, alias)
		}
	}
	l.Own = own
	l.Sources = slices.Clone(l.Sources)
	slices.SortFunc(l.Sources, func(a, b MessageRef) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Message, b.Message))
	})
	l.Sources = slices.Compact(l.Sources)
	return l, l.check()
}

func (l Lore) check() error {
	switch {
	case len(text.Words(l.Name)) == 0:
		return Complain("lore needs a name with at least one letter or digit")
	case l.Text == "":
		return Complain("lore needs a text: what is to be remembered?")
	case utf8.RuneCountInString(l.Text) > MaxLoreText:
		return Complain("the text is longer than %d characters", MaxLoreText)
	case len(l.Own) > MaxLoreAliases:
		return Complain("lore can have %d aliases", MaxLoreAliases)
	case len(l.Sources) > MaxLoreSources:
		return Complain("lore can have %d sources", MaxLoreSources)
	case l.ID == 0 || l.At.IsZero():
		return errors.New("lore needs an id and a time")
	case l.Guild == DirectGuild && l.Channel == 0:
		return errors.New("lore of direct messages needs a channel, for it is nobody else's")
	}
	for _, name := range append([]string{l.Name}, l.Own...) {
		if utf8.RuneCountInString(name) > MaxLoreName {
			return Complain("%.20q… is longer than %d characters", name, MaxLoreName)
		}
	}
	return nil
}

// Aliases returns names made from a name's words: the first word last ("x project"), the same with an
// article, the words hyphenated, the words joined, and the initials in capitals. Use them only if
// unambiguous. A name of one word has none.
func Aliases(name string) []string {
	words := text.Words(name)
	if len(words) > 1 && IsDeterminer(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 {
		return nil
	}
	turned := strings.Join(slices.Concat(words[1:], words[:1]), " ")
	all := []string{turned, "the " + turned, strings.Join(words, "-"), strings.Join(words, "")}
	return append(all, initials(words))
}

func initials(words []string) string {
	var b strings.Builder
	for _, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

// IsDeterminer reports whether a word from text.Words is an article or a possessive, as in "my migration
// plan".
func IsDeterminer(word string) bool {
	switch word {
	case "a", "an", "the", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its", "their":
		return true
	}
	return false
}

// LoreCalled returns the lore with that name or id, or, if there is none, with that alias, given or derived.
// Capitals and surrounding spaces are ignored.
func LoreCalled(lore []Lore, name string) []Lore {
	is := func(other string) bool { return strings.EqualFold(other, strings.TrimSpace(name)) }
	for _, matches := range []func(Lore) bool{
		func(l Lore) bool { return is(l.Name) || is(strconv.FormatInt(l.ID, 10)) },
		func(l Lore) bool { return slices.ContainsFunc(append(Aliases(l.Name), l.Own...), is) },
	} {
		var found []Lore
		for _, l := range lore {
			if matches(l) {
				found = append(found, l)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
