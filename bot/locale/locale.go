// Package locale translates the English sentences in the code for whoever reads them. The catalogs are
// LANGUAGE/SUBJECT.toml. Begin with Of and Locale.Text.
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

// Locale translates into one language. The zero Locale leaves everything in English.
type Locale struct{ *Catalog }

// Catalog holds one language's translations by the English text.
type Catalog struct {
	tag      language.Tag
	Texts    map[string]string
	Plurals  map[string]pluralText // by the English plural
	Commands map[string]string     // names of commands and options
}

// pluralText is the singular and the plural. Languages with one form only have Other.
type pluralText struct {
	One   string `toml:"one"`
	Other string `toml:"other"`
}

// Catalogs are all catalogs by language, named as in builder.Languages. What a catalog lacks is said in
// English. They are read on first use, because that takes longer than most terminal commands.
var Catalogs = sync.OnceValue(func() map[string]*Catalog { return mustReadCatalogs(Files) })

//go:embed */*.toml
var Files embed.FS

// mustReadCatalogs reads LANGUAGE/SUBJECT.toml: tables [texts] by English text, [plurals] by English plural,
// and [commands] by the names of commands and options.
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
	return errors.Join(mergeEntries(c.Texts, read.Texts), mergeEntries(c.Plurals, read.Plurals),
		mergeEntries(c.Commands, read.Commands))
}

// mergeEntries adds entries. It fails if one exists with another value.
func mergeEntries[T comparable](into, from map[string]T) error {
	for key, value := range from {
		if old, there := into[key]; there && old != value {
			return fmt.Errorf("%q has another translation already", key)
		}
		into[key] = value
	}
	return nil
}

// Of returns the locale of a Discord language code, such as "de" or "es-419".
func Of(discord string) Locale {
	if c := Catalogs()[discord]; c != nil {
		return Locale{c}
	}
	base, _, _ := strings.Cut(discord, "-")
	if base == "zh" { // not everybody who reads one script reads the other
		return Locale{}
	}
	return Locale{Catalogs()[base]}
}

// Named returns the locale of a language as the builder names it, just as lenient about spelling.
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

// Translated translates a text.
func (l Locale) Translated(written string) string {
	if l.Catalog != nil && l.Texts[written] != "" {
		return l.Texts[written]
	}
	return written
}

// Text translates and formats. Members' text is always an argument, never the format.
func (l Locale) Text(format string, args ...any) string {
	return fmt.Sprintf(l.Translated(format), args...)
}

// MessageKey is an English text to be translated later. As an error it says, for members, why something isn't
// done.
type MessageKey string

func (k MessageKey) Error() string    { return string(k) }
func (k MessageKey) Sentence() string { return string(k) }

// Keyed translates and formats a message key.
func (l Locale) Keyed(k MessageKey, args ...any) string { return l.Text(string(k), args...) }

// Sentence translates an error's sentence for members.
func (l Locale) Sentence(told interface{ Sentence() string }) string {
	return l.Translated(told.Sentence())
}

// ErrorText translates what is wrong with somebody's input. Other errors stay as they are.
func (l Locale) ErrorText(err error) string {
	if c, is := errors.AsType[memory.ValidationError](err); is {
		return l.Text(c.Format, c.Args...)
	}
	return err.Error()
}

// List joins things.
func (l Locale) List(things []string) string { return strings.Join(things, l.Text(", ")) }

// Count formats a text about n things. Both forms take the number first, as %s.
func (l Locale) Count(n int, one, other string, args ...any) string {
	tag := language.English
	if l.Catalog != nil {
		if translated, there := l.Plurals[other]; there {
			tag = l.tag
			one = translated.One
			other = translated.Other
		}
	}
	form := other
	if one != "" && plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0) == plural.One {
		form = one
	}
	return fmt.Sprintf(form, append([]any{l.Number(n)}, args...)...)
}

// Number formats n with the language's digit groups.
func (l Locale) Number(n int) string {
	tag := language.English
	if l.Catalog != nil {
		tag = l.tag
	}
	return message.NewPrinter(tag).Sprint(number.Decimal(n))
}
