// Package locale says in the language of whoever reads it what is written in the code in English.
// The catalogs are LANGUAGE/SUBJECT.toml. Begin with Of and Locale.Text.
package locale

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"hark/memory"
)

// Locale says what is written in the code in somebody's language. The zero locale says it as it is written.
type Locale struct{ *Catalog }

// Catalog is what is said in one language, by what is written in the code.
type Catalog struct {
	tag      language.Tag
	Texts    map[string]string
	Plurals  map[string]pluralText // by the form for many
	Commands map[string]string     // names of commands and options
}

// pluralText has what is said of one and of several. Languages without that difference have Other only.
type pluralText struct {
	One   string `toml:"one"`
	Other string `toml:"other"`
}

// Catalogs are all there are, by language as builder.Languages names them. What isn't in one is said in
// English. They are read when they are first asked for: that takes longer than most commands at the terminal.
var Catalogs = sync.OnceValue(func() map[string]*Catalog { return mustReadCatalogs(Files) })

//go:embed */*.toml
var Files embed.FS

// mustReadCatalogs reads the files of each language: LANGUAGE/SUBJECT.toml, with a table [texts] of
// what is said, by what is written in the code; one [plurals] of what is said of a number, by what is written
// for many; and one [commands] of the names of commands and options.
func mustReadCatalogs(files fs.FS) map[string]*Catalog {
	all := map[string]*Catalog{}
	names, err := fs.Glob(files, "*/*.toml")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if err := readCatalog(files, name, all); err != nil {
			panic(fmt.Errorf("%s: %w", name, err))
		}
	}
	return all
}

func readCatalog(files fs.FS, name string, all map[string]*Catalog) error {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	var read struct {
		Texts    map[string]string     `toml:"texts"`
		Plurals  map[string]pluralText `toml:"plurals"`
		Commands map[string]string     `toml:"commands"`
	}
	if err := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields().Decode(&read); err != nil {
		return err
	}
	of := path.Base(path.Dir(name))
	c := all[of]
	if c == nil {
		c = &Catalog{language.Make(of), map[string]string{}, map[string]pluralText{}, map[string]string{}}
		all[of] = c
	}
	return errors.Join(mergeEntries(c.Texts, read.Texts), mergeEntries(c.Plurals, read.Plurals), mergeEntries(c.Commands, read.Commands))
}

// adopt takes entries in that aren't there yet, or says which is.
func mergeEntries[T comparable](into, from map[string]T) error {
	for key, value := range from {
		if old, there := into[key]; there && old != value {
			return fmt.Errorf("%q has another translation already", key)
		}
		into[key] = value
	}
	return nil
}

// Of is the locale of a language as Discord names it, such as "de" or "es-419".
func Of(discord string) Locale {
	if c := Catalogs()[discord]; c != nil {
		return Locale{c}
	}
	base, _, _ := strings.Cut(discord, "-")
	if base == "zh" { // what is said in one script isn't read by everybody who writes the other
		return Locale{}
	}
	return Locale{Catalogs()[base]}
}

// Named is the locale of a language as the builder names it, with the same freedom in how that is written.
func Named(language string) Locale {
	language = strings.ReplaceAll(language, "_", "-")
	if strings.EqualFold(language, "zh-Hant") {
		language = "zh-TW"
	}
	for of, c := range Catalogs() {
		if strings.EqualFold(of, language) {
			return Locale{c}
		}
	}
	return Locale{}
}

// Translated is what is written in the code as the locale has it.
func (l Locale) Translated(written string) string {
	if l.Catalog != nil && l.Texts[written] != "" {
		return l.Texts[written]
	}
	return written
}

// Text is what is said, as fmt.Sprintf has it. What people wrote is an argument and never part of the format.
func (l Locale) Text(format string, args ...any) string {
	return fmt.Sprintf(l.Translated(format), args...)
}

// Phrase is a text that is said later, in whatever language it is then: it is written here in English. As an
// error it is why something isn't done, in words for whoever wants it.
type Phrase string

func (p Phrase) Error() string    { return string(p) }
func (p Phrase) Sentence() string { return string(p) }

// Phrase is what is said, as text has it.
func (l Locale) Phrase(p Phrase, args ...any) string { return l.Text(string(p), args...) }

// Sentence is that of an error which has one for people.
func (l Locale) Sentence(told interface{ Sentence() string }) string {
	return l.Translated(told.Sentence())
}

// Complaint is what is wrong with what somebody gave. An error of another kind is told as it is.
func (l Locale) Complaint(err error) string {
	if c, is := errors.AsType[memory.Complaint](err); is {
		return l.Text(c.Format, c.Args...)
	}
	return err.Error()
}

// List are things one after another.
func (l Locale) List(things []string) string { return strings.Join(things, l.Text(", ")) }

// Count is what is said of n things. Both forms have the number as their first argument, which is a text: %s.
func (l Locale) Count(n int, one, other string, args ...any) string {
	tag := language.English
	if l.Catalog != nil {
		if translated, there := l.Plurals[other]; there {
			tag, one, other = l.tag, translated.One, translated.Other
		}
	}
	form := other
	if one != "" && plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0) == plural.One {
		form = one
	}
	return fmt.Sprintf(form, append([]any{l.Number(n)}, args...)...)
}

// Number is n with its digits grouped as the language has them.
func (l Locale) Number(n int) string {
	tag := language.English
	if l.Catalog != nil {
		tag = l.tag
	}
	return message.NewPrinter(tag).Sprint(number.Decimal(n))
}
