package markdown

import (
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"hark/bot/locale"
	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

func TestLinkSources(t *testing.T) {
	t.Parallel()
	sources := []answer.Source{
		{Number: 1, Guild: 7, Channel: 8, Message: 9},
		{Number: 2, Guild: memory.DirectGuild, Channel: 5, Message: 6},
		{Number: 3, Guild: memory.LocalGuild, Channel: 5, Message: 6},
	}
	for _, tt := range []struct{ text, want string }{
		{"Friday [1].", `Friday [\[1\]](<https://discord.com/channels/7/8/9>).`},
		{"[1][2]", `[\[1\]](<https://discord.com/channels/7/8/9>)[\[2\]](<https://discord.com/channels/@me/5/6>)`},
		{"local [3], unknown [4]", "local [3], unknown [4]"},
		{"`a[1]` b[1]", "`a[1]` b[\\[1\\]](<https://discord.com/channels/7/8/9>)"},
		{"``a`[1]`` b[1]", "``a`[1]`` b[\\[1\\]](<https://discord.com/channels/7/8/9>)"},
		{"```\na[1]\n```[1]", "```\na[1]\n```[\\[1\\]](<https://discord.com/channels/7/8/9>)"},
		{"[1](https://elsewhere)", "1 (<https://elsewhere>)"},
		{"one `odd\n\nnext [1]", "one `odd\n\nnext [\\[1\\]](<https://discord.com/channels/7/8/9>)"},
	} {
		got := split(tt.text, MessageLimit, LinksTo(sources))
		if len(got) != 1 || got[0].String() != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// Only citations that become links have room for one.
func TestCitationsTakeWhatTheyAreShownWith(t *testing.T) {
	t.Parallel()
	sources := LinksTo([]answer.Source{{Number: 1, Guild: 7, Channel: 8, Message: 9}})
	for _, tt := range []struct {
		text string
		link linker
		want int // messages
	}{
		{strings.Repeat("a[1] ", 42), sources, 1},                  // of 47 units each, as linked
		{strings.Repeat("a[2] ", 399), sources, 1},                 // which cite nothing
		{"`" + strings.Repeat("a[1] ", 399) + "`", sources, 1},     // code
		{"```" + strings.Repeat("a[1] ", 398) + "```", sources, 1}, // code
		{strings.Repeat("a[1] ", 50), sources, 2},                  //
		{strings.Repeat("a[1] ", 45), nil, 3},                      // while it isn't known what they link to
		{"```" + strings.Repeat("a[1] ", 398) + "```", nil, 1},     // but never in code
	} {
		if got := split(tt.text, MessageLimit, tt.link); len(got) != tt.want {
			t.Errorf("%.12q… makes %d messages, want %d", tt.text, len(got), tt.want)
		}
	}
}

func TestFooter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	july := time.Date(2026, 7, 24, 23, 0, 0, 0, time.UTC)
	if got := Footer(locale.Locale{}, nil, now); got != "" {
		t.Errorf("without sources: %q", got)
	}
	got := Footer(locale.Locale{}, []answer.Source{
		{Number: 1, Author: "Jane", Place: "general", Time: july},
		{Number: 2, Author: "**Eve** <@&1>\n-# [x](http://e.org)", Time: july.AddDate(-1, 0, 0)},
		{Number: 3, Author: "\u202eevil" + strings.Repeat("n", 100), Place: "a_b", Time: july},
	}, now)
	want := `-# Sources: [1] Jane, #general, 24 Jul · ` +
		`[2] \*\*Eve\*\* \<\@&1\> -# \[x\]\(http\://e.or…, 24 Jul 2025 · ` +
		`[3] evil` + strings.Repeat("n", 27) + `…, #a\_b, 24 Jul`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Footer(locale.Locale{}, make([]answer.Source, 8), now); !strings.HasSuffix(got, " · and 3 more") ||
		strings.Contains(got, "\n") {
		t.Errorf("with eight sources: %s", got)
	}
}

func TestFooterFitsOrGoesIntoAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	if got := Messages("text", "-# tail", nil); len(got) != 1 || got[0] != "text\n-# tail" {
		t.Errorf("a short text: %q", got)
	}
	if got := Messages(strings.Repeat("a", 1995), "-# tail", nil); len(got) != 2 || got[1] != "-# tail" {
		t.Errorf("a full message: %d messages", len(got))
	}
	if got := Messages("```\nopen", "-# tail", nil); len(got) != 1 || got[0] != "```\nopen\n```\n-# tail" {
		t.Errorf("an open code block: %q", got)
	}
	if got := Messages(strings.Repeat(" ", 5000), "", nil); len(got) != 0 {
		t.Errorf("blank messages, which Discord refuses: %d", len(got))
	}
	worst := make([]answer.Source, 9)
	for i := range worst {
		worst[i] = answer.Source{Number: 999, Author: strings.Repeat("*", 99), Place: strings.Repeat("👨‍👩‍👧‍👦", 99)}
	}
	for _, language := range builder.Languages() {
		l := locale.Named(language)
		if n := Units(Footer(l, worst, time.Now())); n > MessageLimit {
			t.Errorf("a footer of %d units", n)
		}
	}
}

func TestMentionsStayWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"<@12345>", "<#67>", "<@&8>", "<@!9>", "word", " ",
			"*", "<", "é", "<t:17:R>", "\n"})).Draw(t, "pieces")
		most := rapid.IntRange(0, 60).Draw(t, "most")
		got := AsSaid(strings.Join(pieces, ""), most)
		marks := namedMark().FindAllString(got, -1)
		if len(marks) > most/markWidth+1 ||
			uniseg.GraphemeClusterCount(namedMark().ReplaceAllString(strings.ReplaceAll(got, "\\", ""), "")) > most+1 {
			t.Errorf("%q is longer than %d", got, most)
		}
		if rest := namedMark().ReplaceAllString(got, ""); strings.Contains(strings.ReplaceAll(rest, "\\<", ""), "<") {
			t.Errorf("%q has a torn mark", got)
		}
	})
}
