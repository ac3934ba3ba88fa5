package discordtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestLocalizations(t *testing.T) {
	t.Parallel()
	option := func(name, localized string) string {
		return fmt.Sprintf(`{"type":3,"name":%q,"description":"d","name_localizations":%s}`, name, localized)
	}
	for command, want := range map[string]string{
		`{"name":"a","description":"d","name_localizations":{"de":"für","ja":"チャンネル","zh-TW":"頻道"},"description_localizations":{"es-419":"x"}}`:                  "",
		`{"name":"a","description":"d","name_localizations":{"es":"b"}}`:                                                                                         "no language",
		`{"name":"a","description":"d","name_localizations":{"de":"zwei Worte"}}`:                                                                                "can't be typed",
		`{"name":"a","description":"d","name_localizations":{"de":"Groß"}}`:                                                                                      "can't be typed",
		`{"name":"a","description":"d","name_localizations":{"de":""}}`:                                                                                          "can't be typed",
		`{"name":"a","description":"d","name_localizations":{"de":"` + strings.Repeat("x", 33) + `"}}`:                                                           "can't be typed",
		`{"name":"a","description":"d","description_localizations":{"de":"` + strings.Repeat("x", 101) + `"}}`:                                                   "101 characters",
		`{"name":"a","description":"d","description_localizations":{"xx":"x"}}`:                                                                                  "description",
		`{"name":"Why?","type":3,"name_localizations":{"de":"Warum denn?"}}`:                                                                                     "",
		`{"name":"Why?","type":3,"name_localizations":{"de":""}}`:                                                                                                "empty",
		`{"name":"a","description":"d","options":[` + option("b", `{"de":"x"}`) + `,` + option("c", `{"de":"x"}`) + `]}`:                                         `"x" in de`,
		`{"name":"a","description":"d","options":[` + option("b", `{"de":"c"}`) + `,` + option("c", `{}`) + `]}`:                                                 `"c" in de`,
		`{"name":"a","description":"d","options":[` + option("b", `{"de":"c"}`) + `,` + option("c", `{"de":"b"}`) + `]}`:                                         "",
		`{"name":"a","description":"d","options":[{"type":3,"name":"b","description":"d","choices":[{"name":"x","value":"x","name_localizations":{"de":""}}]}]}`: "choice",
		`{"name":"a","description":"d","options":[` + strings.TrimSuffix(strings.Repeat(`{"type":3,"name":"bNNN","description":"`+strings.Repeat("d", 99)+`","description_localizations":{"de":"`+strings.Repeat("e", 100)+`"}},`, 80), ",") + `]}`: "in all",
	} {
		for n := 0; strings.Contains(command, "NNN"); n++ {
			command = strings.Replace(command, "NNN", fmt.Sprint(n), 1)
		}
		if err := checkLocalizations([]byte(command)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.150s: %v", command, err)
		}
	}
}
