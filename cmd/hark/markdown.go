package main

import (
	"regexp"
	"strings"
)

// rendered shows a growing Markdown text as a terminal can: bold as bold, quotations with a bar, links by their text. It
// changes single words, so that an answer can be shown while it is being written, and what it doesn't know stays as it is.
type rendered struct {
	bold, plain string // escape codes; empty where the terminal is to have none
	strong      bool   // within **
	slanted     bool   // within a line that begins with *
	code        bool   // within a block of code
	spelled     bool   // within `
	begun       bool   // whether the line has a word already
}

var (
	escaped = regexp.MustCompile(`\\([\\*_~|<>\[\]@:` + "`" + `])`)
	target  = regexp.MustCompile(`\]\(<?([^()<>\s]+)>?\)`)
)

// discordLink begins links to Discord, of no use where Discord isn't.
const discordLink = "https://discord.com/channels/"

// newline tells that a line has ended.
func (r *rendered) newline() { r.begun, r.slanted = false, false }

// word is a word as it is shown; spaced says that a space or the end of the line follows it.
func (r *rendered) word(w string, spaced bool) string {
	first := !r.begun
	r.begun = true
	switch {
	case first && strings.HasPrefix(w, "```"):
		r.code = !r.code
		return w
	case r.code:
		return w
	case first && w == ">":
		r.begun = false // what is quoted begins behind it
		return "│"
	}
	if strings.Contains(w, "`") || r.spelled {
		if strings.Count(w, "`")%2 == 1 {
			r.spelled = !r.spelled
		}
		return w
	}
	if first && len(w) > 1 && w[0] == '*' && w[1] != '*' && w[1] != ' ' {
		r.slanted, w = true, w[1:]
	}
	if r.slanted && strings.HasSuffix(w, "*") && !strings.HasSuffix(w, "**") {
		r.slanted, w = false, strings.TrimSuffix(w, "*")
	}
	w = r.marks(w, spaced)
	w = target.ReplaceAllStringFunc(w, func(link string) string {
		if address := target.FindStringSubmatch(link)[1]; !strings.HasPrefix(address, discordLink) {
			return "] (" + address + ")"
		}
		return "]"
	})
	return escaped.ReplaceAllString(w, "$1")
}

// marks takes ** out of a word and makes bold what is between. Alone it is something else: 2 ** 3.
func (r *rendered) marks(w string, spaced bool) string {
	if w == "**" && spaced && !r.strong {
		return w
	}
	parts := strings.Split(w, "**")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 && strings.HasSuffix(parts[i-1], `\`) {
			b.WriteString("**")
		} else if i > 0 {
			if r.strong = !r.strong; r.strong {
				b.WriteString(r.bold)
			} else {
				b.WriteString(r.plain)
			}
		}
		b.WriteString(part)
	}
	return b.String()
}
