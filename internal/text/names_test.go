package text

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	says(t, []saying{
		{"parseHTTPRequest", "parsehttprequest pars http request"},
		{"snake_case_name", "snakecasenam snake case name"},
		{"kebab-case", "kebabcas kebab case"},
		{"std::vector joints::", "stdvector std vector joint"},
		{"foo.bar()", "foobar foo bar"},
		{"#1234", "1234"},
		{"user2FA", "user2fa user 2fa"},
		{"HTTP2Port sha256Sum v2Beta 5Km", "http2port http2 port sha256sum sha256 sum v2beta v2 beta 5km"},
		{"std::myVector", "stdmyvector std myvector vector"},
		{"parseURLs DMs PCs", "parseurl pars url dm pc"},
		{"McDonald's iPhone", "mcdonald mc donald iphon phone"},
		{"LoCoMo eBay LaTeX sPoNgEbOb dQw4w9WgXcQ", "locom ebay latex spongebob dqw4w9wgxcq"},
		{"LOUD Plain words", "loud plain word"},
		{"ДваСлова ДвАрА", "дваслов два слов двар"},
		{"e-mail", "email mail"},
		{"go1.26.0-rc1", "go1.26.0rc1 1.26.0 go1 26 0 rc1"},
		{"1.2.3. Then", "1.2.3 1 2 3"},
		{"1.2x3.4", "1.2x3.4 1.2 3.4 1 2x3 4"},
		{"10-12 2023-05-08", "10 12 2023 05 08"},
		{"a_very-long.chain::of_words_of_no_name", "long chain word name"},
		{"trailing- and _leading joints. -", "trail lead joint"},
		{"日本-go go-日本 go_é", "日 本 日本 go go 日 本 日本 goe go"},
		{"end.", "end"},
		{"www.example.com", "examplecom exampl"},
	}, func(s string) []string {
		return slices.DeleteFunc(Terms(s), func(t string) bool { return len(t) == 1 && t > "9" })
	})
}

// What a question calls a thing and what a message calls it meet.
func TestNamesMeet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, message string }{
		{"http request", "parseHTTPRequest fails"}, {"parsehttprequest", "parseHTTPRequest fails"},
		{"user-name", "user_name"}, {"userName", "user_name"}, {"thumbs_up", ":thumbsup:"}, {"thumbs up",
			":thumbs_up:"},
		{"1.2.3", "we run v1.2.3"}, {"v1.2.3", "since 1.2.3"}, {"issue 1234", "see #1234"},
		{"github.com", "https://github.com/golang/go"}, {"rocket", "to the moon 🚀🚀🚀"}, {"🚀", "🚀"}, {"👍", "👍🏽"},
		{"germany", "going to 🇩🇪"}, {"who has a heart", "❤️"}, {"e-mail", "an email"}, {"Straße", "STRASSE"},
	} {
		terms := Terms(c.message)
		if !slices.ContainsFunc(QueryTerms(c.question), func(q string) bool { return slices.Contains(terms, q) }) {
			t.Errorf("%q has %q, and %q has %q", c.question, QueryTerms(c.question), c.message, terms)
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	says(t, []saying{
		{"https://github.com/golang/go/issues/123?tab=x#frag", "githubcom github golang go issu 123 tab x frag"},
		{"see HTTPS://www.Example.org/, ok", "see exampleorg exampl ok"},
		{"https://a.b.co.uk", "bcouk b"},
		{"http://x.test/caf%C3%A9%20au%zzlait%ff?q=a+b%2Fc", "xtest x cafe au zzlait q b c"},
		{"https://x.test/?utm_source=s&utm_medium=m&fbclid=f&igsh=i&id=7", "xtest x id 7"},
		{"https://x.test/?hm=0123456789abcdef0123456789abcdef0123&e=1", "xtest x e 1"},
		{"https://me:secret@host.test/p", "hosttest host p"},
		{"http://localhost:8080/x http://10.0.0.1:99", "localhost 8080 x 10.0.0.1 10 0 0 1 99"},
		{"<https://youtu.be/dQw4w9WgXcQ>", "youtub youtu dqw4w9wgxcq"},
		{"[text](https://x.test/a) or (http://y.test)", "text xtest x ytest y"},
		{"xhttp://a.b a://b ://", "xhttp ab b b"},
		{"https://x.test/" + strings.Repeat("z", 500), "xtest x " + strings.Repeat("z", maxTerm)},
	}, Terms)
}

func TestEmoji(t *testing.T) {
	t.Parallel()
	says(t, []saying{
		{"🚀🚀🚀 🎉", "🚀 rocket 🎉 parti popper"},
		{"👍🏽 👍", "👍 thumb"},
		{"🇩🇪🇺🇸", "🇩🇪 flag germani 🇺🇸 flag unit state"},
		{"🇩 🇽🇿 🇩x", "x"},
		{"👩\u200d💻", "👩 woman 💻 person comput"},
		{"3️⃣ ⭐ ⏰ 🀄 ⌚", "3 ⭐ star ⏰ alarm clock 🀄 mahjong tile red dragon ⌚ watch"},
		{"→ █ ☺", "☺ smile"},
	}, Terms)
	if got := strings.Join(Words("fooBar a_b 🚀 http://x.y"), " "); got != "foobar a b http x y" {
		t.Errorf("words are %q", got)
	}
}

func TestFlagsHaveTheNamesThatCLDRGives(t *testing.T) {
	t.Parallel()
	for code, name := range flags {
		region, err := language.ParseRegion(code)
		if err != nil {
			t.Errorf("%q is no region: %v", code, err)
			continue
		}
		if want := strings.Join(Words(strings.ReplaceAll(display.English.Regions().Name(region), "U.S.",
			"US")), " "); name != want {
			t.Errorf("the flag %q has the name %q, and CLDR has %q", code, name, want)
		}
	}
}
