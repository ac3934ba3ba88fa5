package markdown

import (
	"strings"
	"testing"
)

// shows is text as it is shown, in one message.
func shows(t *testing.T, text string) string {
	t.Helper()
	got := split(text, MessageLimit, nil)
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	return got[0].String()
}

func TestLinksGoWhereTheySay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"[docs](https://go.dev/doc)", "[docs](https://go.dev/doc) (go.dev)"},
		{"[docs](<https://go.dev/doc>)", "[docs](<https://go.dev/doc>) (go.dev)"},
		{"[1](https://evil.com/1)", "1 (<https://evil.com/1>)"},
		{"[ ① ](https://evil.com/1)", " ①  (<https://evil.com/1>)"},
		{"[chapter 1](https://go.dev/doc)", "[chapter 1](https://go.dev/doc) (go.dev)"},
		{"[go.dev](https://go.dev/doc)", ""},
		{"[go.dev](https://www.go.dev)", ""},
		{"[https://go.dev/a/b.html](https://go.dev/a/b.html)", ""},
		{"[the docs of go.dev](https://pkg.go.dev)", "[the docs of go.dev](https://pkg.go.dev) (pkg.go.dev)"},
		{"[google.com](https://evil.com/google.com)", "google.com (<https://evil.com/google.com>)"},
		{"[google.com](https://google.com.evil.com)", "google.com (<https://google.com.evil.com>)"},
		{"[https://google.com](https://google.com@evil.com/)", "https://google.com (<https://google.com@evil.com/>)"},
		{"[**goo**gle.com](<https://evil.com>)", "**goo**gle.com (<https://evil.com>)"},
		{"[goo\u200bgle.com](https://evil.com)", "goo\u200bgle.com (<https://evil.com>)"},
		{"[gооgle。com](https://evil.com)", "gооgle。com (<https://evil.com>)"},
		{"[a](https://%zz)", "a (<https://%zz>)"},
		{"[http://x](https://evil.com)", "http://x (<https://evil.com>)"},
		{"[see go.dev or evil.org](https://go.dev)", "see go.dev or evil.org (<https://go.dev>)"},
		{"[a [b] google.com](https://evil.com)", "[a [b] google.com] (https://evil.com)"},
		{"[google.com](https://evil.com \"title\")", "[google.com] (https://evil.com \"title\")"},
		{"[google.com]( <https://evil.com>)", "[google.com] ( <https://evil.com>)"},
		{"[" + strings.Repeat("g", 101) + ".com](https://evil.com)", "[" + strings.Repeat("g", 101) +
			".com] (https://evil.com)"},
		{"[x](https://evil.com/(a))", "[x] (https://evil.com/(a))"},
		{`\[google.com](https://evil.com)`, `\[google.com] (https://evil.com)`},
		{"`[google.com](https://evil.com)`", ""},
		{"```\n[google.com](https://evil.com)\n```", ""},
		{"\\`[google.com](https://evil.com)`", "\\`google.com (<https://evil.com>)`"},
		{"`a\\`[google.com](https://evil.com)`", "`a\\`google.com (<https://evil.com>)`"},
		{"> ```\nx\n[google.com](https://evil.com)\n```", "> ```\nx\ngoogle.com (<https://evil.com>)\n```"},
		{"- `a\n\n[google.com](https://evil.com)`", "- `a\n\ngoogle.com (<https://evil.com>)`"},
		{"- `a\n[google.com](https://evil.com)`", "- `a\ngoogle.com (<https://evil.com>)`"},
	} {
		want := tt.want
		if want == "" {
			want = tt.text
		}
		if got := shows(t, tt.text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", tt.text, got, want)
		}
	}
}

func TestInvitationsAreAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"join discord.gg/abc now", "join <https://discord.gg/abc> now"},
		{"https://discord.gg/abc.", "<https://discord.gg/abc>."},
		{"HTTPS://PTB.Discord.com/invite/abc", "<HTTPS://PTB.Discord.com/invite/abc>"},
		{"discordapp.com/invite/a-b", "<https://discordapp.com/invite/a-b>"},
		{"discord.gift/abc", "<https://discord.gift/abc>"},
		{"<https://discord.gg/abc>", "<https://discord.gg/abc>"},
		{"[join](https://discord.gg/abc)", "[join](<https://discord.gg/abc>) (discord.gg)"},
		{"`discord.gg/abc`", "`discord.gg/abc`"},
		{"**discord.gg/abc**", "**<https://discord.gg/abc>**"},
		{"https://discord.com/channels/1/2", "https://discord.com/channels/1/2"},
		{"notdiscord.gg/abc", "notdiscord.gg/abc"},
	} {
		if got := shows(t, tt.text); got != tt.want {
			t.Errorf("%q:\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}
