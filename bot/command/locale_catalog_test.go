package command

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/builder"
)

// TestCatalogs checks that the catalogs have exactly the source's texts.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	for _, of := range builder.Languages() {
		if of == "en" {
			continue
		}
		for _, fault := range compareCatalog(s, registered(), of, locale.Catalogs()[of]) {
			t.Error(fault)
		}
	}
	if names, err := fs.Glob(locale.Files, "*"); err != nil || len(names) != len(builder.Languages())-1 {
		t.Errorf("there are catalogs of %v", names)
	}
}

// compareCatalog returns what is wrong with a catalog.
func compareCatalog(s speech, commands []command, of string, c *locale.Catalog) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, of+": "+fmt.Sprintf(format, args...)) }
	if c == nil {
		return []string{of + ": there is no catalog"}
	}
	names, words := namesAndWords(commands)
	for text := range s.texts {
		words[text] = true
	}
	for _, text := range slices.Sorted(maps.Keys(words)) {
		translated, there := c.Texts[text]
		if !there || translated == "" {
			fault("%q is missing", text)
		} else if why := unlike(text, translated); why != "" {
			fault("%q is %q: %s", text, translated, why)
		}
		if most := s.bounds[text]; most > 0 && markdown.Units(translated) > most {
			fault("%q is %q, which is longer than %d characters", text, translated, most)
		}
	}
	for _, other := range slices.Sorted(maps.Keys(s.plurals)) {
		translated, there := c.Plurals[other]
		if !there || translated.Other == "" || translated.One == "" && inflects(of) {
			fault("%q is missing, or a form of it", other)
			continue
		}
		if why := unlike(other, translated.Other); why != "" {
			fault("%q is %q: %s", other, translated.Other, why)
		}
		if why := unlike(s.plurals[other], translated.One); why != "" && inflects(of) {
			fault("%q is %q: %s", s.plurals[other], translated.One, why)
		}
	}
	for name := range names {
		if c.Commands[name] == "" && name != "hark" {
			fault("the name %q is missing", name)
		}
	}
	for text := range c.Texts {
		if !words[text] {
			fault("nothing says %q", text)
		}
	}
	for other := range c.Plurals {
		if _, there := s.plurals[other]; !there {
			fault("nothing counts %q", other)
		}
	}
	for name := range c.Commands {
		if !names[name] {
			fault("nothing has the name %q", name)
		}
	}
	return faults
}

// inflects reports whether a language has a singular.
func inflects(of string) bool { return of != "ja" && of != "zh-TW" }

// kept matches what translations have unchanged: code and Discord's markup.
var kept = regexp.MustCompile("`[^`]*`|<[^>]*>|\\*\\*|^-# |^- |\n-# |\n- |\n> ")

// unlike returns what is wrong with a translation; "" if nothing is.
func unlike(text, translated string) string {
	marks := func(s string) string { return fmt.Sprint(slices.Sorted(slices.Values(kept.FindAllString(s, -1)))) }
	space := func(s string) string {
		return s[:len(s)-len(strings.TrimLeft(s, " \n"))] + "|" + s[len(strings.TrimRight(s, " \n")):]
	}
	withoutIndex := func(s string) string { return regexp.MustCompile(`%\[\d+\]`).ReplaceAllString(s, "%") }
	switch {
	case !sameVerbs(text, translated):
		return fmt.Sprintf("its verbs are %v and not %v", verbs(translated), verbs(text))
	case marks(withoutIndex(text)) != marks(withoutIndex(translated)):
		return fmt.Sprintf("it has %s and not %s", marks(translated), marks(text))
	case strings.Trim(space(text), " ") != strings.Trim(space(translated), " ") &&
		strings.Contains(space(text)+space(translated), "\n"):
		return "it begins or ends otherwise"
	case translated != strings.ToValidUTF8(translated, ""):
		return "it isn't text"
	}
	return ""
}

// namesAndWords returns the names of commands and options, and their descriptions and choices.
func namesAndWords(commands []command) (names, words map[string]bool) {
	names, words = map[string]bool{}, map[string]bool{}
	var walk func(option)
	walk = func(o option) {
		names[o.Name] = true
		for _, c := range append(o.Choices, optionChoice{Name: o.Description, Value: o.Name}) {
			if c.Name != c.Value && c.Name != "" {
				words[c.Name] = true
			}
		}
		for _, within := range o.Options {
			walk(within)
		}
	}
	for _, c := range commands {
		walk(c.option)
	}
	return names, words
}
