package console

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// complete returns a line with the word before the cursor completed. If several words fit, tell gets them.
func (t *Talk) complete(ctx context.Context, line string, at int,
	tell func(words []string)) (string, int, bool) {
	before := line[:at]
	if !strings.HasPrefix(before, "/") {
		return line, at, false
	}
	begin := strings.LastIndexAny(before, " \t") + 1
	var fit []string
	for _, w := range t.offered(ctx, strings.Fields(before[:begin]), before[begin:]) {
		if strings.HasPrefix(strings.ToLower(w), strings.ToLower(before[begin:])) && !slices.Contains(fit, w) {
			fit = append(fit, w)
		}
	}
	if len(fit) == 0 {
		return line, at, false
	}
	word := fit[0]
	for _, w := range fit[1:] {
		for !strings.HasPrefix(w, word) {
			word = word[:len(word)-1]
		}
	}
	word = strings.ToValidUTF8(word, "")
	switch {
	case len(fit) == 1:
		word += " "
	case len(word) <= len(before[begin:]):
		tell(fit)
		return line, at, true
	}
	return before[:begin] + word + line[at:], begin + len(word), true
}

func (t *Talk) offered(ctx context.Context, before []string, word string) (words []string) {
	all := t.commands()
	if len(before) == 0 {
		for _, c := range all {
			words = append(words, c.Name())
		}
		return words
	}
	for _, c := range all {
		if c.Name() != strings.ToLower(before[0]) {
			continue
		}
		at, _, err := c.Find(before[1:])
		if err != nil {
			return nil
		}
		if strings.HasPrefix(word, "-") {
			at.Flags().VisitAll(func(f *pflag.Flag) { words = append(words, "--"+f.Name) })
			return words
		}
		for _, sub := range at.Commands() {
			if !sub.Hidden {
				words = append(words, sub.Name())
			}
		}
		switch at.CommandPath() {
		case "/as":
			words = append(words, t.names(ctx)...)
		case "/lore show", "/lore edit", "/lore remove":
			words = append(words, t.loreNames(ctx)...)
		case "/help":
			for _, c := range all {
				words = append(words, strings.TrimPrefix(c.Name(), "/"))
			}
		}
	}
	return words
}

func (t *Talk) names(ctx context.Context) (names []string) {
	people, err := t.App.Store.People(ctx, t.Place.Guild)
	if err != nil {
		return nil
	}
	for _, p := range people {
		if n := p.DisplayName(); p.ID != HarkID && n != "" && !strings.ContainsAny(n, " \t") {
			names = append(names, n)
		}
	}
	return names
}

// loreNames returns the names of lore, quoted if they have several words.
func (t *Talk) loreNames(ctx context.Context) (names []string) {
	lore, err := t.App.Store.Lore(ctx, t.Place.Guild)
	if err != nil {
		return nil
	}
	for _, l := range lore {
		name := l.Name
		if strings.ContainsAny(name, " \t\"") {
			name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
		}
		names = append(names, name)
	}
	return names
}
