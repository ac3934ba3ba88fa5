package bot

import (
	"context"
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

// locale says what is written in the code in somebody's language. The zero locale says it as it is written.
type locale struct{ *catalog }

// catalog is what is said in one language, by what is written in the code.
type catalog struct {
	tag      language.Tag
	texts    map[string]string
	plurals  map[string]pluralText // by the form for many
	commands map[string]string     // names of commands and options
}

// pluralText has what is said of one and of several. Languages without that difference have Other only.
type pluralText struct {
	One   string `toml:"one"`
	Other string `toml:"other"`
}

// catalogs are all there are, by language as builder.Languages names them. What isn't in one is said in
// English. They are read when they are first asked for: that takes longer than most commands at the terminal.
var catalogs = sync.OnceValue(func() map[string]*catalog { return mustReadCatalogs(localeFiles) })

//go:embed locales/*/*.toml
var localeFiles embed.FS

// mustReadCatalogs reads the files of each language: locales/LANGUAGE/SUBJECT.toml, with a table [texts] of
// what is said, by what is written in the code; one [plurals] of what is said of a number, by what is written
// for many; and one [commands] of the names of commands and options.
func mustReadCatalogs(files fs.FS) map[string]*catalog {
	all := map[string]*catalog{}
	names, err := fs.Glob(files, "locales/*/*.toml")
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

func readCatalog(files fs.FS, name string, all map[string]*catalog) error {
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
		c = &catalog{language.Make(of), map[string]string{}, map[string]pluralText{}, map[string]string{}}
		all[of] = c
	}
	return errors.Join(adopt(c.texts, read.Texts), adopt(c.plurals, read.Plurals), adopt(c.commands, read.Commands))
}

// adopt takes entries in that aren't there yet, or says which is.
func adopt[T comparable](into, from map[string]T) error {
	for key, value := range from {
		if old, there := into[key]; there && old != value {
			return fmt.Errorf("%q has another translation already", key)
		}
		into[key] = value
	}
	return nil
}

// localeOf is the locale of a language as Discord names it, such as "de" or "es-419".
func localeOf(discord string) locale {
	if c := catalogs()[discord]; c != nil {
		return locale{c}
	}
	base, _, _ := strings.Cut(discord, "-")
	if base == "zh" { // what is said in one script isn't read by everybody who writes the other
		return locale{}
	}
	return locale{catalogs()[base]}
}

// localeIn is the locale of what is said in a channel for all to read: in the language that was set there, or
// else the one that is configured.
func (b *Bot) localeIn(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) locale {
	g, err := b.admit.guild(ctx, guild)
	if err != nil {
		g = &memory.Guild{ID: guild}
	}
	return localeNamed(b.cfg.Choices.In(g, channel).Language)
}

// localeNamed is the locale of a language as the builder names it, with the same freedom in how that is written.
func localeNamed(language string) locale {
	language = strings.ReplaceAll(language, "_", "-")
	if strings.EqualFold(language, "zh-Hant") {
		language = "zh-TW"
	}
	for of, c := range catalogs() {
		if strings.EqualFold(of, language) {
			return locale{c}
		}
	}
	return locale{}
}

// translated is what is written in the code as the locale has it.
func (l locale) translated(written string) string {
	if l.catalog != nil && l.texts[written] != "" {
		return l.texts[written]
	}
	return written
}

// text is what is said, as fmt.Sprintf has it. What people wrote is an argument and never part of the format.
func (l locale) text(format string, args ...any) string {
	return fmt.Sprintf(l.translated(format), args...)
}

// phrase is a text that is said later, in whatever language it is then: it is written here in English. As an
// error it is why something isn't done, in words for whoever wants it.
type phrase string

func (p phrase) Error() string    { return string(p) }
func (p phrase) Sentence() string { return string(p) }

// phrase is what is said, as text has it.
func (l locale) phrase(p phrase, args ...any) string { return l.text(string(p), args...) }

// sentence is that of an error which has one for people.
func (l locale) sentence(told interface{ Sentence() string }) string {
	return l.translated(told.Sentence())
}

// complaint is what is wrong with what somebody gave, on one line. An error of another kind is told as it is.
func (l locale) complaint(err error) string {
	words := err.Error()
	if c, is := errors.AsType[memory.Complaint](err); is {
		words = l.text(c.Format, c.Args...)
	}
	return plain(words, 300)
}

// list are things one after another.
func (l locale) list(things []string) string { return strings.Join(things, l.text(", ")) }

// count is what is said of n things. Both forms have the number as their first argument, which is a text: %s.
func (l locale) count(n int, one, other string, args ...any) string {
	tag := language.English
	if l.catalog != nil {
		if translated, there := l.plurals[other]; there {
			tag, one, other = l.tag, translated.One, translated.Other
		}
	}
	form := other
	if one != "" && plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0) == plural.One {
		form = one
	}
	return fmt.Sprintf(form, append([]any{l.number(n)}, args...)...)
}

// number is n with its digits grouped as the language has them.
func (l locale) number(n int) string {
	tag := language.English
	if l.catalog != nil {
		tag = l.tag
	}
	return message.NewPrinter(tag).Sprint(number.Decimal(n))
}
