package bot

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"hark/internal/answer"
	"hark/memory"
)

const (
	// citationWidth is the most units a rendered citation takes: three digits of number, three ids of 19.
	citationWidth = len(`[\[999\]](<https://discord.com/channels/`) + 3*19 + 2 + len(`>)`)
	// footerSources is how many sources the footer names.
	footerSources = 5
)

var citation = regexp.MustCompile(`\[([0-9]{1,3})\]`)

// linkSources turns the citations of a piece into jump links. Inside code they stay what they are, and so do
// those that cite nothing Discord has a link to.
func linkSources(p piece, sources []answer.Source) string {
	if len(sources) == 0 {
		return p.String()
	}
	links := make(map[string]string, len(sources))
	for _, s := range sources {
		if url := jumpURL(s.Guild, s.Channel, s.Message); url != "" && !s.Unplaced {
			links[fmt.Sprint(s.Number)] = url
		}
	}
	var b strings.Builder
	b.WriteString(p.open)
	for i, part := range strings.Split(p.body, fence) {
		if i > 0 {
			b.WriteString(fence)
		}
		if inCode := (i%2 == 1) != (p.open != ""); inCode {
			b.WriteString(part)
		} else {
			linkProse(&b, part, links)
		}
	}
	b.WriteString(p.shut)
	return b.String()
}

// linkProse writes text, which is outside of code blocks.
func linkProse(b *strings.Builder, text string, links map[string]string) {
	at := 0
	for _, m := range citation.FindAllStringSubmatchIndex(text, -1) {
		url := links[text[m[2]:m[3]]]
		line := text[strings.LastIndexByte(text[:m[0]], '\n')+1 : m[0]]
		inCode := strings.Count(line, "`")%2 == 1
		if url == "" || inCode || strings.HasPrefix(text[m[1]:], "(") {
			continue
		}
		b.WriteString(text[at:m[0]])
		fmt.Fprintf(b, `[\[%s\]](<%s>)`, text[m[2]:m[3]], url)
		at = m[1]
	}
	b.WriteString(text[at:])
}

// jumpURL is the address of a message in Discord; "" if it has none.
func jumpURL(guild memory.GuildID, channel memory.ChannelID, message memory.MessageID) string {
	if guild == memory.LocalGuild || channel == 0 || message == 0 {
		return ""
	}
	place := guild.String()
	if guild == memory.DirectGuild {
		place = "@me"
	}
	return fmt.Sprintf("https://discord.com/channels/%s/%d/%d", place, channel, message)
}

// footer is the line that lists the sources of an answer; "" if there are none.
func footer(sources []answer.Source, now time.Time) string {
	if len(sources) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("-# Sources: ")
	for i, s := range sources {
		if i == footerSources {
			fmt.Fprintf(&b, " · and %d more", len(sources)-i)
			break
		}
		if i > 0 {
			b.WriteString(" · ")
		}
		fmt.Fprintf(&b, "[%d] %s", s.Number, plain(s.Author, 32))
		if s.Place != "" {
			b.WriteString(", #" + plain(s.Place, 32))
		}
		b.WriteString(", " + day(s.Time, now))
	}
	return b.String()
}

func day(t, now time.Time) string {
	t = t.UTC()
	if t.Year() == now.UTC().Year() {
		return t.Format("2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// plain makes s one line of at most most graphemes that Discord shows as it is: no markup, no mention, no
// link, nothing that turns the direction of what follows.
func plain(s string, most int) string {
	var b strings.Builder
	for _, r := range clip(strings.Join(strings.Fields(memory.Clean(s)), " "), most) {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Bidi_Control):
		case strings.ContainsRune("\\*_~|`<>[]()@:", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip cuts s after most graphemes, or sooner where these are monstrous, and says so with an ellipsis.
func clip(s string, most int) string {
	rest, state, width := s, -1, 0
	for n := 0; len(rest) > 0; n++ {
		var cluster string
		before := len(s) - len(rest)
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		width += units(cluster)
		if n == most || width > 4*most {
			return strings.TrimSpace(s[:before]) + "…"
		}
	}
	return s
}
