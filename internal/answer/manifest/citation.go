package manifest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Citation matches [n], or [n, m] as some models write it.
var Citation = regexp.MustCompile(`\[(\d{1,3}(?:[ \t]*,[ \t]*\d{1,3})*)\]`)

var shownTag = regexp.MustCompile(`‹@(&?\d{1,20})›`)

// Citations returns the Markdown that a model wrote, and the numbers it cites, in order. Known numbers stay, one to
// a bracket; invented ones vanish, with the space before them. Mention tags become Discord's again: they ping
// nobody in what Hark sends. Code stays as it is.
func Citations(text string, known func(int) bool) (kept string, cited []int) {
	kept = outsideCode(text, func(prose string) string {
		return replaceCitations(shownTag.ReplaceAllString(prose, "<@$1>"), func(n int) bool {
			if known(n) && !slices.Contains(cited, n) {
				cited = append(cited, n)
			}
			return known(n)
		})
	})
	slices.Sort(cited)
	return strings.TrimSpace(kept), cited
}

// Uncited returns a text without citations, and with Discord's own mention tags.
func Uncited(s string) string {
	return replaceCitations(shownTag.ReplaceAllString(s, "<@$1>"), func(int) bool { return false })
}

// replaceCitations rewrites the citations in prose: [n] for each known number, nothing for others. A bracket after
// a letter is an index, and one before a parenthesis a link.
func replaceCitations(prose string, known func(int) bool) string {
	var b strings.Builder
	at := 0
	for _, m := range Citation.FindAllStringSubmatchIndex(prose, -1) {
		if strings.HasPrefix(prose[m[1]:], "(") {
			continue
		}
		var kept strings.Builder
		for _, digits := range strings.Split(prose[m[2]:m[3]], ",") {
			if n, _ := strconv.Atoi(strings.TrimSpace(digits)); known(n) {
				kept.WriteString("[" + strconv.Itoa(n) + "]")
			}
		}
		before := prose[at:m[0]]
		if kept.Len() == 0 {
			if before != "" && isNameByte(before[len(before)-1]) {
				continue
			}
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		b.WriteString(kept.String())
		at = m[1]
	}
	b.WriteString(prose[at:])
	return b.String()
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// outsideCode applies f to the parts of Markdown text that aren't code.
func outsideCode(text string, f func(string) string) string {
	var b strings.Builder
	at, from := 0, 0
	for {
		open := strings.IndexByte(text[from:], '`')
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
		b.WriteString(f(text[at:open]))
		b.WriteString(text[open:end])
		at, from = end, end
	}
	b.WriteString(f(text[at:]))
	return b.String()
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
