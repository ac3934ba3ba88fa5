package markdown

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"hark/bot/locale"
	"hark/internal/answer"
	"hark/internal/pattern"
	"hark/memory"
)

const (
	// citationWidth is the longest rendered citation, in units: a number of 3 digits, three ids of 19.
	citationWidth = len(`[\[999\]](<https://discord.com/channels/`) + 3*19 + 2 + len(`>)`)
	// footerSources bounds the sources in the footer.
	footerSources = 5
	// PlaceLength is the most characters of a place that are shown, which may be a channel and a thread in it.
	PlaceLength = 60
)

// LinksTo returns the links of sources that have one in Discord.
func LinksTo(sources []answer.Source) linker {
	links := make(map[string]string, len(sources))
	for _, s := range sources {
		if url := JumpURL(s.Guild, s.JumpTo().Channel, s.JumpTo().Message); url != "" && !s.Unplaced {
			n := strconv.Itoa(s.Number)
			links[n] = fmt.Sprintf(`[\[%s\]](<%s>)`, n, url)
		}
	}
	return func(number string) string { return links[number] }
}

// JumpURL returns a message's address in Discord; "" if it has none.
func JumpURL(guild memory.GuildID, channel memory.ChannelID, message memory.MessageID) string {
	if guild == memory.LocalGuild || channel == 0 || message == 0 {
		return ""
	}
	place := guild.String()
	if guild == memory.DirectGuild {
		place = "@me"
	}
	return fmt.Sprintf("https://discord.com/channels/%s/%d/%d", place, channel, message)
}

// Footer returns the line of an answer's sources; "" if there are none.
func Footer(l locale.Locale, sources []answer.Source, now time.Time) string {
	if len(sources) == 0 {
		return ""
	}
	var b strings.Builder
	for i, s := range sources {
		if i == footerSources {
			b.WriteString(" · " + l.Text("and %s more", l.Number(len(sources)-i)))
			break
		}
		if i > 0 {
			b.WriteString(" · ")
		}
		fmt.Fprintf(&b, "[%d] %s", s.Number, By(l, s))
		if s.Place != "" {
			b.WriteString(", #" + Plain(s.Place, PlaceLength))
		}
		b.WriteString(", " + day(l, s.Time, now))
	}
	return l.Text("-# Sources: %s", b.String())
}

// By names who wrote a source, or who forwarded it.
func By(l locale.Locale, s answer.Source) string {
	name := Plain(s.Author, 32)
	if s.Forwarded {
		return l.Text("forwarded by %s", name)
	}
	return name
}

// day formats a date. The layouts are translated, without month names.
func day(l locale.Locale, t, now time.Time) string {
	t = t.UTC()
	if t.Year() == now.UTC().Year() {
		return t.Format(l.Text("2 Jan"))
	}
	return t.Format(l.Text("2 Jan 2006"))
}

// Plain returns s on one line of at most most graphemes, without effect in Discord: no markup, mention, link or change
// of direction.
func Plain(s string, most int) string { return escape(Clip(OneLine(s), most)) }

// OneLine returns s on one line, trimmed.
func OneLine(s string) string { return strings.Join(strings.Fields(memory.Clean(s)), " ") }

func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
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

// namedMark matches a mention, a time stamp, an emoji or a command, which Discord renders.
var namedMark = pattern.Of(
	`<(?:@[!&]?|#)\d{1,20}>|<t:-?\d{1,13}(?::[tTdDfFR])?>|<a?(:\w{2,32}:)\d{1,20}>|<(/[^:<>]{1,100}):\d{1,20}>`)

// markWidth is the width a mark counts, in graphemes.
const markWidth = 8

// AsSaid is Plain, except that it keeps mentions and time stamps, which Discord renders. Messages with it must allow no
// mentions.
func AsSaid(s string, most int) string {
	var b strings.Builder
	for s = OneLine(s); s != ""; {
		at := namedMark().FindStringSubmatchIndex(s)
		text := s
		if at != nil {
			text = s[:at[0]]
		}
		cut := Clip(text, most)
		b.WriteString(escape(cut))
		if at == nil || cut != text {
			break
		}
		most -= uniseg.GraphemeClusterCount(text) + markWidth
		if most < 0 {
			b.WriteString("…")
			break
		}
		switch {
		case at[2] >= 0:
			b.WriteString(escape(s[at[2]:at[3]])) // Hark may not use that emoji
		case at[4] >= 0:
			b.WriteString(escape(s[at[4]:at[5]]))
		default:
			b.WriteString(s[at[0]:at[1]])
		}
		s = s[at[1]:]
	}
	return b.String()
}

// Clip cuts s after most graphemes, or earlier if they are very long, and appends an ellipsis.
func Clip(s string, most int) string {
	rest := s
	state := -1
	width := 0
	for n := 0; len(rest) > 0; n++ {
		var cluster string
		before := len(s) - len(rest)
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		width += Units(cluster)
		if n == most || width > 4*most {
			return strings.TrimRightFunc(s[:before], unicode.IsSpace) + "…"
		}
	}
	return s
}
