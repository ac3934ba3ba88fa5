package manifest

import (
	"strings"

	"hark/internal/pattern"
)

// Models end answers with definitions of their citations: "[1]: https://example.org", "[^1]: Jane, on Monday". Their
// addresses go, because Hark links each number to its source itself. Words stay.

const (
	webAddress  = `<?(?i:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>]+>?`
	anyAddress  = `<?(?:(?i:[a-z][a-z0-9+.-]{1,20}://|mailto:|www\.)|/{1,2}|[\w-]+(?:\.[\w-]+)+/)[^\s<>]+>?`
	title       = `(?:[ \t]*(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?`
	lineStart   = `^[ \t>]*(?:[-*+•][ \t]+|[0-9]{1,2}[.)][ \t]+)?`
	lineEnd     = `[ \t]*(?:\n|\z)`
	defined     = `\\?[\[［【]\^?[ \t]*` + word + `[#＃]?` + digits + `[ \t]*\\?[\]］】]`
	definedAs   = `[ \t]*[:：][ \t]*(?:\n[ \t]*)?` + anyAddress
	besideMark  = `[ \t]*[-–—=→]?[ \t]*` + webAddress
	linkedTitle = `[ \t]*[-–—]?[ \t]*\[[^\[\]\n]*\pL[^\[\]\n]*\]`
)

var (
	// addressOnly is a definition that has nothing but an address.
	addressOnly = pattern.Of(`(?m)` + lineStart + defined + `(?:` + definedAs + `|` + besideMark + `)` + title + lineEnd)
	// definition is one that has words, too.
	definition = pattern.Of(`(?m)` + lineStart + defined + `[ \t]*[:：][^\n]*`)
	linkOnly   = pattern.Of(`(?m)` + lineStart + defined + linkedTitle + inBrackets + `[ \t]*$`)
	// inDefinition is an address in a definition, with what leads to it.
	inDefinition = pattern.Of(`\[([^\[\]\n]*\pL[^\[\]\n]*)\]` + inBrackets +
		`|[ \t]*[,;–—(-]*[ \t]*<?(?:[a-z]{2,10}://|www\.)[^\s<>()]+[>)]?`)
	// heading is a heading over definitions at a text's end.
	heading = pattern.Of(`(?i)(?:^|\n)[ \t#*_]*(?:` + sourceWords + `|references?|référen\w*|footnotes?|links?)` +
		`[ \t]*[:：]?[ \t*_]*\s*$`)
)

// withoutDefinitions returns prose without the addresses of definitions, and whether whole ones are gone. begins
// reports whether prose begins a line.
func withoutDefinitions(prose string, begins bool) (left string, gone bool) {
	start := 0
	if !begins {
		start = strings.IndexByte(prose, '\n') + 1
		if start == 0 {
			return prose, false
		}
	}
	unlinked := func(line string) string { return inDefinition().ReplaceAllString(line, "$1") }
	left = addressOnly().ReplaceAllString(prose[start:], "")
	gone = len(left) < len(prose)-start
	left = definition().ReplaceAllStringFunc(left, unlinked)
	left = linkOnly().ReplaceAllStringFunc(left, unlinked)
	return prose[:start] + left, gone
}
