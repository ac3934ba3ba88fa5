package bot

import (
	"fmt"
	"strings"

	"hark/internal/answer"
	"hark/memory"
	"hark/search"
)

// showRecalled is what /context shows: what was recalled, best first, as much as a message holds. Names of
// people and channels and times are left to the reader's Discord, which knows them best.
func showRecalled(l locale, q answer.Question, r answer.Recalled) string {
	var b strings.Builder
	b.WriteString(l.text("What I'd remember for “%s”:", asSaid(q.Text, 100)))
	if len(r.Result.Hits) == 0 {
		b.WriteString("\n" + l.text("Nothing that you may read here."))
	}
	note := ""
	if r.Result.TextOnly {
		note = "\n" + l.text("-# Found by words only: I can't search by meaning right now.")
	}
	for i, h := range r.Result.Hits {
		line := showHit(l, h)
		rest := "\n" + l.text("-# and %s more", l.number(len(r.Result.Hits)-i))
		if units(b.String())+units(line)+units(rest)+units(note) > messageLimit {
			b.WriteString(rest)
			break
		}
		b.WriteString(line)
	}
	b.WriteString(note)
	return b.String()
}

func showHit(l locale, h search.Hit) string {
	m := h.Message
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %.2f · <@%d>", mark(h.Relevance), h.Relevance, m.Author)
	if url := jumpURL(m.Guild, m.Channel, m.ID); url != "" {
		if m.Guild != memory.DirectGuild {
			fmt.Fprintf(&b, " · <#%d>", m.Channel)
		}
		fmt.Fprintf(&b, " · <t:%d:f> · %s", m.Time().Unix(), jump(l, url))
	} else {
		b.WriteString(" · " + m.Time().Format(l.text("2 Jan 2006")))
	}
	fmt.Fprintf(&b, "\n> %s", asSaid(m.Text(), quoteLength))
	if len(h.Why) > 0 {
		b.WriteString(reasons(l, h.Why))
	}
	return b.String()
}

// jump is a link to a message.
func jump(l locale, url string) string { return l.text("[jump](<%s>)", url) }

// mark says at a glance how relevant a hit is; the limits are the builder's.
func mark(relevance float64) string {
	switch {
	case relevance > 0.8:
		return "🔥"
	case relevance > 0.6:
		return "📝"
	}
	return "💡"
}
