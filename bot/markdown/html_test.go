package markdown

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"hark/memory"
)

// reading knows Ana, and that messages have pages.
var reading = Reader{
	Tag: func(tag string) string {
		return map[string]string{"<@1>": "@Ana <b>", "<#2>": "#general"}[tag]
	},
	Message: func(_ memory.GuildID, channel memory.ChannelID, message memory.MessageID) string {
		if channel != 2 {
			return ""
		}
		return "/m?at=" + message.String() + "&x"
	},
}

func TestHTMLIsAsDiscordShowsIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain < & \"text\"\nof lines":  "plain &lt; &amp; &#34;text&#34;\nof lines",
		"**bold** *it* _it_ ***both***": "<strong>bold</strong> <em>it</em> <em>it</em> <strong><em>both</em></strong>",
		"__u__ ~~s~~ ||secret||":        `<u>u</u> <s>s</s> <span class="spoiler">secret</span>`,
		"**a *b* c**":                   "<strong>a <em>b</em> c</strong>",
		"**a *b** c*":                   "<strong>a *b</strong> c*",
		"2 * 3 * 4, snake_case_name":    "2 * 3 * 4, snake_case_name",
		`\*not\* it`:                    "*not* it",
		"`**code** <b>` ``a`b``":        "<code>**code** &lt;b&gt;</code> <code>a`b</code>",
		"a\n```go\nif a < b {\n```\nb":  "a\n<pre><code>if a &lt; b {\n</code></pre>b",
		"```one line```":                "<pre><code>one line</code></pre>",
		"``` open **a**":                "``` open **a**",
		"# Big\n## Less\n### Least\nx": `<div class="heading1">Big</div><div class="heading2">Less</div>` +
			`<div class="heading3">Least</div>x`,
		"-# small *print*":           `<div class="small">small <em>print</em></div>`,
		"# **big\nnot** bold":        `<div class="heading1">**big</div>not** bold`,
		"a\n- one\n  - two\n1. b":    "a\n" + `<div class="item">• one</div><div class="inner">• two</div><div class="item">1. b</div>`,
		"> said **so\n> and** so\nx": "<blockquote>said <strong>so\nand</strong> so</blockquote>x",
		"> one\n\n> two":             "<blockquote>one</blockquote>\n<blockquote>two</blockquote>",
		">>> all\n# of\nit":          `<blockquote>all` + "\n" + `<div class="heading1">of</div>it</blockquote>`,
		"> ```\n> a\n> b\n> ```\nc":  "<blockquote><pre><code>a\nb\n</code></pre></blockquote>c",
		"<@1> in <#2> <@3> <:x:9>": `<bdi class="name">@Ana &lt;b&gt;</bdi> in ` +
			`<bdi class="name">#general</bdi> &lt;@3&gt; &lt;:x:9&gt;`,
		"[click](https://evil.example/a_b_c)":                      "<u>click</u> (https://evil.example/a_b_c)",
		"see https://a.example/*x*?a=b&c=d":                        "see https://a.example/*x*?a=b&amp;c=d",
		"[click](javascript:alert)":                                "[click](javascript:alert)",
		`Friday [\[1\]](<https://discord.com/channels/1/2/3>).`:    `Friday <a href="/m?at=3&amp;x">[1]</a>.`,
		`**Friday [\[1\]](<https://discord.com/channels/1/5/3>)**`: "<strong>Friday [1]</strong>",
		"https://discord.com/channels/@me/2/4":                     `<a href="/m?at=4&amp;x">https://discord.com/channels/@me/2/4</a>`,
		"https://discord.com/channels/1/2/99999999999999999999":    "https://discord.com/channels/1/2/99999999999999999999",
		"[1] stays":                 "[1] stays",
		"||spoiler\n```\ncode```||": `<span class="spoiler">spoiler` + "\n<pre><code>code</code></pre></span>",
	} {
		if got := string(HTML(text, reading)); got != want {
			t.Errorf("%q\n is %s\nnot %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"# Big\n> said **so**\n- item": "Big said <strong>so</strong> - item",
		"a\n```go\nb\n```\nc":          "a <code>b </code> c",
		"> <@1>":                       `<bdi class="name">@Ana &lt;b&gt;</bdi>`,
	} {
		if got := string(HTMLLine(text, reading)); got != want {
			t.Errorf("%q on a line\n is %s\nnot %s", text, got, want)
		}
	}
	long := strings.Repeat("**a** ", longestHTML/6+1)
	if got := string(HTML(long, Reader{})); got != long {
		t.Error("what is too long isn't shown as it is")
	}
}

// htmlTag matches each tag that HTML may make. Anything else is text, and has neither "<" nor ">".
var htmlTag = regexp.MustCompile(`</?(?:em|strong|u|s|code|pre|blockquote|bdi|span|div|a)>` +
	`|<div class="(?:heading[123]|small|item|inner)">|<span class="spoiler">|<bdi class="name">` +
	`|<a href="/m\?at=[0-9-]+&amp;x">`)

var emptyMarks = regexp.MustCompile(`[\s\\*_~|` + "`" + `<>#•()\[\]-]|&`)

// FuzzHTML checks for any text that only known tags come out, closed in order, and that the text says no more and no
// less than before.
func FuzzHTML(f *testing.F) {
	for _, text := range []string{"", "**a `b` c**", "> a\n> ```go\n> b\n> ```\n", ">>> # a\n- **b\n```c", "||a\n\nb||",
		`<script>alert(1)</script>`, `[a](https://b.example/"onclick=x)`, `<@1> <a:b:3> <t:1:R>`, "# ***a\n-# b*** `",
		`[\[1\]](<https://discord.com/channels/1/2/3>)`, "\x00\xff\u202e", "`` ` ``", "```\n```", "> ```\nx\n```", "\\```a```",
		"- a\n  1. b\n***", `"><img src=x onerror=alert(1)>`, "**__~~||a||~~__**", "> **a\n> b\n# c**"} {
		f.Add(text)
	}
	f.Fuzz(checkHTML)
}

func checkHTML(t *testing.T, text string) {
	for _, oneLine := range []bool{false, true} {
		got := string(render(text, reading, oneLine))
		checkTags(t, text, got)
		if oneLine && strings.ContainsAny(got, "\n") {
			t.Errorf("%q: more than a line: %q", text, got)
		}
		if strings.Contains(text, fence) || citation().MatchString(text) || strings.Contains(text, "<@1>") ||
			strings.Contains(text, "<#2>") {
			continue // their languages, addresses and tags aren't shown
		}
		said := emptyMarks.ReplaceAllString(text, "")
		shown := emptyMarks.ReplaceAllString(html.UnescapeString(htmlTag.ReplaceAllString(got, "")), "")
		if said = strings.ToValidUTF8(said, ""); said != strings.ToValidUTF8(shown, "") {
			t.Errorf("%q says %q in HTML, not %q:\n%s", text, shown, said, got)
		}
	}
}

// checkTags fails the test unless HTML has only known tags, closed in order.
func checkTags(t *testing.T, text, got string) {
	t.Helper()
	var open []string
	for _, tag := range htmlTag.FindAllString(got, -1) {
		name := strings.TrimLeftFunc(tag, func(r rune) bool { return r == '<' || r == '/' })
		name = name[:strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLower(r) })]
		if !strings.HasPrefix(tag, "</") {
			open = append(open, name)
			continue
		}
		if len(open) == 0 || open[len(open)-1] != name {
			t.Fatalf("%q: </%s> within %v: %s", text, name, open, got)
		}
		open = open[:len(open)-1]
	}
	if len(open) > 0 {
		t.Fatalf("%q: %v stay open: %s", text, open, got)
	}
	if rest := htmlTag.ReplaceAllString(got, ""); strings.ContainsAny(rest, `<>"'`) {
		t.Fatalf("%q: %q is no text: %s", text, rest, got)
	}
	if slices.Contains([]rune(got), 0) && !strings.Contains(text, "\x00") {
		t.Fatalf("%q: a character is made up", text)
	}
}
