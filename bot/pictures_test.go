package bot

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/browsertest"
	"hark/internal/discordtest"
	"hark/internal/golden"
)

const (
	pictures     = "../docs/pictures" // docs/screens.md and the README show them
	pictureWidth = 760                // CSS pixels
	maxPicture   = 80 << 10           // bytes
)

// picture is a part of what members see, drawn as Discord draws it, in testdata/pictures.css.
type picture struct {
	name string
	html strings.Builder
}

// picture adds a picture of messages in a channel to the page. used is who used which command for them, such as
// "Ana /hark settings"; "" if nobody did.
func (s *screens) picture(name, alt, used string, messages ...discordtest.Message) {
	p := &picture{name: name}
	fmt.Fprintf(&p.html, `<article id=%s><header>%s</header>`, name, html.EscapeString(s.names[messages[0].ChannelID]))
	day := ""
	for _, m := range messages {
		at, err := time.Parse(time.RFC3339, m.Timestamp)
		if err != nil {
			s.Fatal(err)
		}
		if on := at.Format("2 January 2006"); on != day && len(messages) > 1 {
			fmt.Fprintf(&p.html, `<div class=day><span>%s</span></div>`, on)
			day = on
		}
		s.drawHTML(&p.html, m, used, at)
	}
	p.html.WriteString(`</article>`)
	s.pictures = append(s.pictures, p)
	fmt.Fprintf(&s.page, "\n<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"pictures/%s-dark.png\">\n"+
		"<img src=\"pictures/%s.png\" width=\"%d\" alt=\"%s\">\n</picture>\n", name, name, pictureWidth, html.EscapeString(alt))
}

func (s *screens) drawHTML(w *strings.Builder, m discordtest.Message, used string, at time.Time) {
	name := s.names[m.Author.ID][1:]
	alone := m.Flags&discordtest.Ephemeral != 0
	if alone {
		w.WriteString(`<section class=alone>`)
	} else {
		w.WriteString(`<section>`)
	}
	if r := m.Referenced; r != nil {
		first, _, _ := strings.Cut(r.Content, "\n")
		fmt.Fprintf(w, `<div class=reply>%s<b>%s</b><span>%s</span></div>`, s.avatar(r.Author),
			html.EscapeString(s.names[r.Author.ID]), s.inline(first))
	} else if used != "" {
		who, what, _ := strings.Cut(used, " ")
		fmt.Fprintf(w, `<div class=reply><i class="%s"></i><b>%s</b><span>used <em>%s</em></span></div>`, who, who, html.EscapeString(what))
	}
	fmt.Fprintf(w, `%s<h1>%s`, s.avatar(m.Author), html.EscapeString(name))
	if m.Author.ID == s.discord.Bot.ID {
		w.WriteString(` <small>APP</small>`)
	}
	fmt.Fprintf(w, ` <time>%s</time></h1>%s`, s.since(at), s.blocks(m.Content))
	for _, raw := range m.Components {
		var row discord.Component
		if err := json.Unmarshal(raw, &row); err != nil {
			s.Fatal(err)
		}
		w.WriteString(`<div class=row>`)
		for _, c := range row.Components {
			if c.Type == discord.ComponentButton {
				fmt.Fprintf(w, `<button class=style%d>%s</button>`, c.Style, html.EscapeString(c.Label))
			} else {
				fmt.Fprintf(w, `<div class=menu>%s</div>`, html.EscapeString(c.Placeholder))
			}
		}
		w.WriteString(`</div>`)
	}
	if alone {
		w.WriteString(`<footer>Only you can see this · <a>Dismiss message</a></footer>`)
	}
	w.WriteString(`</section>`)
}

// avatar is a circle in the person's colour.
func (s *screens) avatar(of discordtest.User) string {
	return fmt.Sprintf(`<i class="%s"></i>`, html.EscapeString(s.names[of.ID][1:]))
}

// since is the time of a message, as it stands beside its author.
func (s *screens) since(at time.Time) string {
	if now := s.discord.Now(); at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("02/01/2006 15:04")
}

// lineMark is what a line begins with: how far it is indented, and what it is.
var lineMark = regexp.MustCompile(`^( *)(-#|-|#{1,3}) (.*)`)

var tags = map[string]string{"-#": "h6", "-": "li", "#": "h2", "##": "h3", "###": "h4"}

// blocks is the HTML of a message's lines.
func (s *screens) blocks(content string) string {
	var b strings.Builder
	quoting := false
	for line := range strings.SplitSeq(steady(content), "\n") {
		text, quoted := strings.CutPrefix(line, "> ")
		switch {
		case quoted && !quoting:
			b.WriteString(`<blockquote>`)
		case quoting && !quoted:
			b.WriteString(`</blockquote>`)
		}
		quoting = quoted
		tag, indent := "p", 0
		if m := lineMark.FindStringSubmatch(text); m != nil {
			tag, indent, text = tags[m[2]], len(m[1])/2, m[3]
		}
		fmt.Fprintf(&b, `<%s style="margin-left: %dpx">%s</%s>`, tag, 16*indent, s.inline(text), tag)
	}
	if quoting {
		b.WriteString(`</blockquote>`)
	}
	return b.String()
}

var inlineMark = regexp.MustCompile(`\\[^a-zA-Z0-9\s]|` + "`[^`]+`" + `|\*\*(.+?)\*\*|\*(.+?)\*|__(.+?)__|_(.+?)_\b|~~(.+?)~~|` +
	`\[((?:\\.|[^\[\]\\])*)\]\(<?https?://[^)>]*>?\)|<[@#/t][^>\s][^>]*>`)

// inline is the HTML of one line.
func (s *screens) inline(text string) string {
	var b strings.Builder
	for text != "" {
		m := inlineMark.FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		b.WriteString(html.EscapeString(text[:m[0]]))
		mark, inner := text[m[0]:m[1]], ""
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				inner = s.inline(text[m[i]:m[i+1]])
			}
		}
		switch shown := html.EscapeString(s.read(mark)); {
		case mark[0] == '\\':
			b.WriteString(html.EscapeString(mark[1:]))
		case mark[0] == '`':
			fmt.Fprintf(&b, `<code>%s</code>`, html.EscapeString(strings.Trim(mark, "`")))
		case mark[0] == '[':
			fmt.Fprintf(&b, `<a>%s</a>`, inner)
		case strings.HasPrefix(mark, "<t"):
			fmt.Fprintf(&b, `<time>%s</time>`, shown)
		case mark[0] == '<':
			fmt.Fprintf(&b, `<mark>%s</mark>`, shown)
		case strings.HasPrefix(mark, "**"):
			fmt.Fprintf(&b, `<strong>%s</strong>`, inner)
		case strings.HasPrefix(mark, "__"):
			fmt.Fprintf(&b, `<u>%s</u>`, inner)
		case mark[0] == '~':
			fmt.Fprintf(&b, `<s>%s</s>`, inner)
		default:
			fmt.Fprintf(&b, `<em>%s</em>`, inner)
		}
		text = text[m[1]:]
	}
	return b.String() + html.EscapeString(text)
}

// photograph shows the pictures to a browser, which must find nothing wrong. With -update it writes them; their
// pixels aren't compared, since they depend on the machine's fonts.
func (s *screens) photograph(t *testing.T) {
	css, err := os.ReadFile("testdata/pictures.css")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, "<!doctype html><html lang=en><meta charset=utf-8><title>Pictures</title><style>%s</style>", css)
	for _, p := range s.pictures {
		page.WriteString(p.html.String())
	}
	for suffix, dark := range map[string]bool{"": false, "-dark": true} {
		b := browsertest.Open(t, browsertest.Options{Width: pictureWidth, Height: 1000, Scale: 2, Dark: dark})
		b.Visit("data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte(page.String())))
		var outside []string
		b.Eval(`[...document.querySelectorAll("article *")].filter(e => {
			const r = e.getBoundingClientRect(), f = e.closest("article").getBoundingClientRect();
			return r.left < f.left || r.right > f.right || r.top < f.top || r.bottom > f.bottom;
		}).map(e => e.outerHTML)`, &outside)
		for _, e := range outside {
			t.Errorf("outside its picture: %.300s", e)
		}
		for _, p := range s.pictures {
			path := filepath.Join(pictures, p.name+suffix+".png")
			if golden.Updating() {
				if err := os.WriteFile(path, fewColours(t, b.Element("#"+p.name)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if info, err := os.Stat(path); err != nil || info.Size() > maxPicture {
				t.Errorf("%s must be there and have at most %d bytes: %v", path, maxPicture, err)
			}
		}
	}
}

// fewColours returns a PNG with only its commonest colours, which makes it smaller.
func fewColours(t *testing.T, data []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.Color]int{}
	area := full.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[full.At(x, y)]++
		}
	}
	common := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	few := image.NewPaletted(area, common[:min(len(common), 40)])
	nearest := map[color.Color]uint8{}
	for c := range count {
		nearest[c] = uint8(few.Palette.Index(c))
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			few.SetColorIndex(x, y, nearest[full.At(x, y)])
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, few); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
