package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// languages are those that Discord can be used in. https://discord.com/developers/docs/reference#locales
var languages = strings.Fields("ar bg cs da de el en-GB en-US es-419 es-ES fi fr he hi hr hu id it ja ko lt nl no pl pt-BR ro ru sv-SE th tr uk vi zh-CN zh-TW")

// longestCommand is how many characters all names, descriptions and values of a command may have, in the longest language each.
const longestCommand = 8000

var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// localized is a command, or a part of one, with its names and descriptions in other languages.
type localized struct {
	Type          int               `json:"type"`
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	NameIn        map[string]string `json:"name_localizations"`
	DescriptionIn map[string]string `json:"description_localizations"`
	Value         any               `json:"value"`
	Options       []localized       `json:"options"`
	Choices       []localized       `json:"choices"`
}

// checkLocalizations holds a command's names in other languages to what Discord takes.
func checkLocalizations(raw json.RawMessage) error {
	var c localized
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	free := c.Type != 0 && c.Type != slashCommand
	if err := c.check(free); err != nil {
		return err
	}
	if n := c.length(); n > longestCommand {
		return fmt.Errorf("command %q has %d characters in all, and %d are allowed", c.Name, n, longestCommand)
	}
	return nil
}

// check holds one part, and those in it, to its bounds. Names are free that aren't typed.
func (c localized) check(free bool) error {
	for language, name := range c.NameIn {
		if !free && (!commandName.MatchString(name) || name != strings.ToLower(name)) {
			return fmt.Errorf("name %q of %q in %s can't be typed", name, c.Name, language)
		}
	}
	errs := []error{checkTexts(c.Name, c.NameIn, longestName), checkTexts(c.Name, c.DescriptionIn, longestDescription)}
	for _, choice := range c.Choices {
		errs = append(errs, checkTexts(choice.Name, choice.NameIn, longestChoice))
	}
	errs = append(errs, distinct(c.Options))
	for _, o := range c.Options {
		errs = append(errs, o.check(false))
	}
	return errors.Join(errs...)
}

// checkTexts holds what stands for a text in other languages to 1 to most characters, in languages that there are.
func checkTexts(of string, texts map[string]string, most int) error {
	for language, text := range texts {
		if !fits(text, most) || !slices.Contains(languages, language) {
			return fmt.Errorf("%q of %q in %q: 1 to %d characters are allowed, in Discord's languages", text, of, language, most)
		}
	}
	return nil
}

// distinctNames is why commands can't be told apart by name in some language, if they can't.
func distinctNames(raws []json.RawMessage) error {
	kinds := map[int][]localized{}
	for _, raw := range raws {
		var c localized
		if err := json.Unmarshal(raw, &c); err != nil {
			return fmt.Errorf("read the command: %w", err)
		}
		kind := max(c.Type, slashCommand)
		kinds[kind] = append(kinds[kind], c)
	}
	for _, same := range kinds {
		if err := distinct(same); err != nil {
			return fmt.Errorf("commands: %w", err)
		}
	}
	return nil
}

func distinct(all []localized) error {
	for _, language := range languages {
		seen := map[string]bool{}
		for _, c := range all {
			name := c.in(language)
			if seen[name] {
				return fmt.Errorf("two have the name %q in %s", name, language)
			}
			seen[name] = true
		}
	}
	return nil
}

// in is the name in a language.
func (c localized) in(language string) string {
	if name, there := c.NameIn[language]; there {
		return name
	}
	return c.Name
}

// length is how many characters count.
func (c localized) length() int {
	n := longest(c.Name, c.NameIn) + longest(c.Description, c.DescriptionIn)
	if value, is := c.Value.(string); is {
		n += utf8.RuneCountInString(value)
	}
	for _, inner := range slices.Concat(c.Options, c.Choices) {
		n += inner.length()
	}
	return n
}

func longest(own string, others map[string]string) int {
	n := utf8.RuneCountInString(own)
	for _, other := range others {
		n = max(n, utf8.RuneCountInString(other))
	}
	return n
}

// withoutLocalizations is what Discord answers unless it is asked for all languages.
func withoutLocalizations(of any) any {
	switch of := of.(type) {
	case map[string]any:
		less := map[string]any{}
		for key, value := range of {
			if key != "name_localizations" && key != "description_localizations" {
				less[key] = withoutLocalizations(value)
			}
		}
		return less
	case []any:
		less := make([]any, len(of))
		for i, value := range of {
			less[i] = withoutLocalizations(value)
		}
		return less
	}
	return of
}
