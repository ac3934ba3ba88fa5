package config

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is said to somebody who knows other forms of files than TOML ends with one of these.
const (
	seeExample = "config.example.toml shows the form"
	shortest   = `[discord], and below it token = "…"; ` + seeExample
)

// notTOML says which other form of file data is, as a whole; "" if none.
func notTOML(data []byte) string {
	isUTF16 := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
	switch {
	case isUTF16 || bytes.IndexByte(data, 0) >= 0:
		return "the file isn't in UTF-8, but most likely in UTF-16: save it in UTF-8"
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return "this is JSON, and Hark reads TOML: write " + shortest
	}
	return ""
}

// slip is the line in which the decoder stopped.
type slip struct {
	section string // in which the line is
	line    string
	at      rune   // where the decoder stopped
	says    string // what the decoder says
}

// newSlip returns the line of data with that number, from 1, and what the decoder says of a column of it.
func newSlip(data []byte, line, column int, says string) slip {
	s := slip{says: says, at: utf8.RuneError}
	for i, text := range strings.SplitAfter(string(data), "\n") {
		if i+1 == line {
			s.line = strings.TrimRight(text, "\r\n")
			break
		}
		if header := sectionHeader.FindStringSubmatch(text); header != nil {
			s.section = header[1]
		}
	}
	if column-1 < len(s.line) {
		s.at, _ = utf8.DecodeRuneInString(s.line[column-1:])
	}
	return s
}

var (
	sectionHeader = regexp.MustCompile(`^\s*\[{1,2}\s*([\w.-]+)\s*\]`)
	keyAndValue   = regexp.MustCompile(`^\s*([\w.-]+)\s*=\s*(.*?)\s*$`)
	colonPair     = regexp.MustCompile(`^\s*([\w.-]+)\s*:(?:\s+(\S.*))?\s*$`)
	yamlLine      = regexp.MustCompile(`^(---\s*$|\s*- )`)
	variableLine  = regexp.MustCompile(`^\s*(?:export\s+|set\s+|\$env:)?"?(HARK_[A-Z0-9_]+)"?\s*[:=]`)
	fence         = regexp.MustCompile("^\\s*(```|~~~)")
	spacePair     = regexp.MustCompile(`^\s*([\w.-]+)\s+["'\w]\S*\s*$`)
	openSection   = regexp.MustCompile(`^\s*(\[{1,2})\s*([\w.-]+)\s*$`)
	otherComment  = regexp.MustCompile(`^\s*(//|;|/\*|--)`)
)

// explain says what is wrong for people who don't know TOML. It shows no value, which may be secret.
func (s slip) explain() string {
	if strings.Contains(s.says, "invalid UTF-8") {
		return "from here on the file isn't in UTF-8: save it in UTF-8"
	}
	pair := keyAndValue.FindStringSubmatch(s.line)
	quotes := straight("")
	if pair != nil && !strings.HasPrefix(pair[2], "{") && !strings.HasPrefix(pair[2], "[") {
		quotes = straight(pair[1])
	}
	switch {
	case fence.MatchString(s.line):
		return "this line is of the page that the settings were copied from: delete it"
	case strings.Contains(s.says, "invalid escape"):
		return "a backslash in \"…\" begins a special character: write single quotes, " + strings.ReplaceAll(quotes, `"`, "'")
	case isCurly(s.at):
		return curly(s.at, quotes)
	case isInvisible(s.at):
		return fmt.Sprintf("here is a character that can't be seen, U+%04X: delete it", s.at)
	case strings.Contains(s.says, "cannot have new lines"):
		if last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(s.line)); isCurly(last) {
			return curly(last, quotes)
		}
		return "the text doesn't end in this line: close its quotes, " + quotes
	}
	if variable := variableLine.FindStringSubmatch(s.line); variable != nil {
		return inFile(variable[1])
	}
	if pair != nil {
		return s.value(pair[1], pair[2])
	}
	return s.form()
}

// value says what is wrong with the value of a key.
func (s slip) value(key, value string) string {
	switch {
	case value == "" || strings.HasPrefix(value, "#"):
		return fmt.Sprintf("%s has no value: write %s, or put # before it", key, straight(key))
	case strings.HasPrefix(value, "="):
		return "a key and its value are joined by a single ="
	case strings.HasSuffix(s.says, "U+002C ','") && strings.HasSuffix(value, ","):
		return "a line doesn't end with a comma: delete it"
	case strings.ContainsAny(value[:1], `"'[{`):
		return s.decoders()
	}
	f, known := settingOf(within(s.section, key))
	if known && !f.isText() {
		return f.key + " wants " + f.wantsInFile()
	}
	if choices := f.choices(); known && len(choices) > 0 {
		if slices.Contains(choices, value) { // so it is no secret
			return fmt.Sprintf("text needs quotes: write %s = %q", key, value)
		}
		return f.key + " wants " + anyOf(choices) + ", in quotes"
	}
	return "text needs quotes: write " + straight(key)
}

// settingOf returns the setting of a key, or one with the same name in another section; ok is false if there is none.
func settingOf(key string) (found field, ok bool) {
	for _, section := range sectionsOf(new(Default())) {
		for _, f := range section.fields {
			if f.key == key {
				return f, true
			}
			if !ok && last(f.key) == last(key) {
				found = f
				ok = true
			}
		}
	}
	return found, ok
}

// wantsInFile is wants for somebody who wrote something else without quotes.
func (f field) wantsInFile() string {
	switch f.to.(type) {
	case *int, **int:
		return "a whole number, in digits only"
	case **float64:
		return "a number such as 0.7, with a point"
	case *Duration:
		return f.wants() + ", in quotes"
	}
	return f.wants()
}

// form says what is wrong with a line that isn't a key and its value.
func (s slip) form() string {
	pair := colonPair.FindStringSubmatch(s.line)
	open := openSection.FindStringSubmatch(s.line)
	spaced := spacePair.FindStringSubmatch(s.line)
	switch {
	case open != nil:
		return "the section's name isn't closed: write " + open[1] + open[2] + strings.Repeat("]", len(open[1]))
	case spaced != nil && strings.HasPrefix(s.says, "expected '='"):
		return "a key and its value are joined by =: write " + straight(spaced[1])
	case yamlLine.MatchString(s.line):
		return "this is YAML, and Hark reads TOML: write " + shortest
	case pair != nil && pair[2] != "":
		return "a key and its value are joined by =, not by a colon: write " + straight(pair[1])
	case pair != nil && isSectionName(pair[1]):
		return "this is YAML, and Hark reads TOML: write [" + pair[1] + "]; " + seeExample
	case pair != nil:
		return "this is YAML, and Hark reads TOML: write " + shortest
	case otherComment.MatchString(s.line):
		return "a comment begins with #"
	case strings.HasPrefix(s.says, "expected newline") && sectionHeader.MatchString(s.line):
		return "a section's keys stand in the lines below it"
	}
	return s.decoders()
}

func isSectionName(name string) bool {
	return slices.ContainsFunc(sectionsOf(new(Default())), func(s section) bool { return s.name == name })
}

// decoders returns what the decoder says. It names bytes, which are parts of characters.
func (s slip) decoders() string {
	if s.at == utf8.RuneError || s.at < utf8.RuneSelf {
		return s.says
	}
	return namedCharacter.ReplaceAllLiteralString(s.says, fmt.Sprintf("U+%04X '%[1]c'", s.at))
}

var namedCharacter = regexp.MustCompile(`U\+[0-9A-F]+ '.+'`)

// tableTwice returns the section that the decoder found a second time; "" if it says something else.
func tableTwice(says string) string {
	said, twice := strings.CutSuffix(says, " already exists")
	name, isTable := strings.CutPrefix(said, "table ")
	if !twice || !isTable {
		return ""
	}
	return name
}

// inFile says how the setting of a variable is written in a file.
func inFile(variable string) string {
	for _, f := range variables(new(Default())) {
		if f.env() != variable {
			continue
		}
		how := straight(last(f.key))
		if sectionOf(f.key) != "" {
			how = "[" + sectionOf(f.key) + "], and below it " + how
		}
		return variable + " is for the environment, or for .env: here, write " + how
	}
	return variable + " is for the environment, and Hark knows no variable of that name"
}

// straight shows how a key is set to a text.
func straight(key string) string {
	if key == "" {
		return `"…"`
	}
	return key + ` = "…"`
}

func curly(quote rune, straight string) string {
	return fmt.Sprintf("%c isn't a quote in TOML: write straight ones, %s", quote, straight)
}

// isCurly reports whether r is a quote that word processors and keyboards make of " and '.
func isCurly(r rune) bool {
	return strings.ContainsRune("“”„‟‘’‚‛«»‹›″′`´＂＇「」『』", r)
}

// isInvisible reports whether r looks like a space or like nothing, and isn't one that TOML knows.
func isInvisible(r rune) bool {
	return r != ' ' && (unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Cf, r))
}
