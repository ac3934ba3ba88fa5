package manifest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hark/internal/pattern"
)

// Citation matches [n], or [n, m] as some models write it.
var Citation = regexp.MustCompile(`\[(\d{1,3}(?:[ \t]*,[ \t]*\d{1,3})*)\]`)

var (
	// shownTag is a mention as a prompt has it, and namedTag a role, a channel or a time with its name or date.
	shownTag = regexp.MustCompile(`‹@(&?\d{1,20})›`)
	namedTag = regexp.MustCompile(`(<@&\d{1,20}>) \(@[^()\n]{1,100}\)|(<#\d{1,20}>) \(#[^()\n]{1,100}\)|` +
		`(<t:-?\d{1,15}(?::[tTdDfFR])?>) \(\d{4,}-\d\d-\d\d[ \d:]*\)`)
)

// discordTags returns prose with Discord's own tags, which Discord shows by name.
func discordTags(prose string) string {
	return namedTag.ReplaceAllString(shownTag.ReplaceAllString(prose, "<@$1>"), "$1$2$3")
}

// Citations returns the Markdown that a model wrote, and the numbers it cites, in order. Known numbers stay, one to
// a bracket, in whatever notation they were written; invented ones vanish, with the space before them, if they can be
// nothing else. Mention tags become Discord's again: they ping nobody in what Hark sends. Code stays as it is.
func Citations(text string, of Numbers) (kept string, cited []int) {
	kept = outsideCode(text, func(prose string, begins bool) string {
		prose, gone := withoutDefinitions(discordTags(prose), begins)
		if gone {
			prose = heading().ReplaceAllString(prose, "")
		}
		return replaceCitations(normalized(prose, of), func(n int) bool {
			if of.Known(n) && !slices.Contains(cited, n) {
				cited = append(cited, n)
			}
			return of.Known(n)
		})
	})
	slices.Sort(cited)
	return strings.TrimSpace(kept), cited
}

// Uncited returns a text without citations, and with Discord's own mention tags. Known numbers are removed in any
// notation, others where they can be nothing else.
func Uncited(s string, of Numbers) string {
	s = normalized(discordTags(s), of)
	return replaceCitations(s, func(int) bool { return false })
}

// replaceCitations rewrites the citations in prose: [n] for each known number, nothing for others. A bracket after
// a letter is an index, and one before a parenthesis a link, if their numbers are unknown.
func replaceCitations(prose string, known func(int) bool) string {
	var b strings.Builder
	at := 0
	for _, m := range Citation.FindAllStringSubmatchIndex(prose, -1) {
		var kept strings.Builder
		for _, digits := range strings.Split(prose[m[2]:m[3]], ",") {
			n, _ := strconv.Atoi(strings.TrimSpace(digits))
			if known(n) {
				kept.WriteString(bracketed(n))
			}
		}
		before := prose[at:m[0]]
		end := m[1]
		if kept.Len() == 0 {
			if strings.HasPrefix(prose[end:], "(") {
				continue
			}
			for strings.HasSuffix(before, "[") && strings.HasPrefix(prose[end:], "]") { // [[7]]
				before = strings.TrimSuffix(before, "[")
				end++
			}
			if before != "" && isNameByte(before[len(before)-1]) {
				continue
			}
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		b.WriteString(kept.String())
		at = end
	}
	b.WriteString(prose[at:])
	return b.String()
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// outsideCode applies f to the parts of Markdown text that aren't code. begins reports whether a part begins a line.
func outsideCode(text string, f func(prose string, begins bool) string) string {
	var b strings.Builder
	for _, p := range parts(text) {
		shown := text[p.start:p.end]
		if !p.code {
			shown = f(shown, p.start == 0 || text[p.start-1] == '\n')
		}
		b.WriteString(shown)
	}
	return b.String()
}

// part is code or prose.
type part struct {
	start, end int
	code       bool
}

// parts divides Markdown text into code and prose.
func parts(text string) (all []part) {
	at := 0
	from := 0
	for {
		open := strings.IndexByte(text[from:], '`')
		if tildes := tildeFence().FindStringSubmatchIndex(text[from:]); tildes != nil && (open < 0 || tildes[2] < open) {
			start := from + tildes[2]
			end := tildesEnd(text, start, from+tildes[3])
			all = append(all, part{start: at, end: start}, part{
				start: start,
				end:   end,
				code:  true,
			})
			at = end
			from = end
			continue
		}
		if open < 0 {
			break
		}
		open += from
		width := tickRun(text[open:])
		end := codeEnd(text, open, width)
		if end < 0 { // backticks without a partner are text
			from = open + width
			continue
		}
		all = append(all, part{start: at, end: open}, part{
			start: open,
			end:   end,
			code:  true,
		})
		at = end
		from = end
	}
	return append(all, part{start: at, end: len(text)})
}

// tildeFence matches a line of tildes that opens a block of code, perhaps with its language.
var tildeFence = pattern.Of(`(?m)^[ \t]{0,8}(~{3,})[ \t]*[A-Za-z0-9_+\-.#]{0,20}[ \t]*$`)

// tildesEnd is where the code ends that the tildes from start to end open: after a line of as many, or with the text.
func tildesEnd(text string, start, end int) int {
	for at := end; ; {
		line := strings.IndexByte(text[at:], '\n')
		if line < 0 {
			return len(text)
		}
		at += line + 1
		closing, _, _ := strings.Cut(text[at:], "\n")
		tildes := strings.TrimSpace(closing)
		if len(tildes) >= end-start && strings.Trim(tildes, "~") == "" {
			return at + len(closing)
		}
	}
}

// codeEnd is where the code that width backticks at open begin ends: after as many again, in the same paragraph.
// Three or more open a block, which may have empty lines and which the text's end closes; fewer may have no
// partner: -1.
func codeEnd(text string, open, width int) int {
	block := width >= 3
	for i := open + width; i < len(text); i++ {
		if !block && strings.HasPrefix(text[i:], "\n\n") {
			return -1
		}
		if text[i] != '`' {
			continue
		}
		run := tickRun(text[i:])
		if run == width || block && run > width {
			return i + run
		}
		i += run - 1
	}
	if block {
		return len(text)
	}
	return -1
}

func tickRun(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
