package locale

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLocales(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"de/a.toml": {Data: []byte(
			"[texts]\n\"%s of %d\" = \"%[2]d, davon %[1]s\"\n[plurals]\n\"%s messages in %s\" = { one = \"%s Nachricht in %s\", other = \"%s Nachrichten in %s\" }")},
		"ja/a.toml": {Data: []byte("[plurals]\n\"%s messages in %s\" = { other = \"%[2]sに%[1]s件\" }")},
		"fr/a.toml": {Data: []byte(
			"[plurals]\n\"%s messages in %s\" = { one = \"%s message dans %s\", other = \"%s messages dans %s\" }")},
	}
	all := mustReadCatalogs(files)
	for language, want := range map[string][4]string{
		"en": {"1 message in x", "0 messages in x", "1,500 messages in x", "a of 5"},
		"de": {"1 Nachricht in x", "0 Nachrichten in x", "1.500 Nachrichten in x", "5, davon a"},
		"fr": {"1 message dans x", "0 message dans x", "1\u00a0500 messages dans x", "a of 5"},
		"ja": {"xに1件", "xに0件", "xに1,500件", "a of 5"},
	} {
		l := Locale{all[language]}
		messages := func(n int) string { return l.Count(n, "%s message in %s", "%s messages in %s", "x") }
		if got := [4]string{messages(1), messages(0), messages(1500), l.Text("%s of %d", "a", 5)}; got != want {
			t.Errorf("%s: %q", language, got)
		}
	}
}

func TestBadCatalogs(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]fstest.MapFS{
		"unknown table": {"de/a.toml": {Data: []byte("[text]\n\"a\" = \"b\"")}},
		"another translation": {
			"de/a.toml": {Data: []byte("[texts]\n\"a\" = \"b\"")},
			"de/b.toml": {Data: []byte("[texts]\n\"a\" = \"c\"")},
		},
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(r.(error).Error(), "de/") {
					t.Errorf("%s: %v", name, r)
				}
			}()
			mustReadCatalogs(files)
		}()
	}
}

func TestLocaleOfALanguage(t *testing.T) {
	t.Parallel()
	for discord, want := range map[string]string{"de": "de", "es-ES": "es", "es-419": "es", "zh-TW": "zh-TW",
		"zh-CN": "", "en-GB": "", "pl": "", "": ""} {
		if l := Of(discord); l.Catalog != Catalogs()[want] {
			t.Errorf("%q: %v", discord, l.Catalog)
		}
	}
}
