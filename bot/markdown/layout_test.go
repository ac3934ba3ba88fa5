package markdown

import (
	"strings"
	"testing"

	"hark/bot/locale"
)

// A model that ignores its limit doesn't fill the channel.
func TestEndlessAnswersAreFiveMessagesAndAFile(t *testing.T) {
	t.Parallel()
	text := strings.TrimSpace(strings.Repeat("word ", 100_000))
	for _, asFiles := range []bool{true, false} {
		contents, files, err := Answer(locale.Locale{}, text, "-# Sources: [1] Jane", nil, asFiles)
		if err != nil || len(contents) < maxMessages-1 || len(contents) > maxMessages ||
			(len(files) == 1) != asFiles || !strings.HasSuffix(contents[len(contents)-1], "-# Sources: [1] Jane") {
			t.Fatalf("%d messages, %d files, %v", len(contents), len(files), err)
		}
		for _, c := range contents {
			if Units(c) > MessageLimit {
				t.Errorf("a message of %d", Units(c))
			}
		}
		if asFiles && string(files[0].Data) != text {
			t.Error("the file isn't the whole answer")
		}
	}
	five, files, err := Answer(locale.Locale{}, strings.Repeat(strings.Repeat("a", 1200)+"\n", 5), "", nil, true)
	if err != nil || len(five) > 5 || len(files) > 0 {
		t.Errorf("five messages are %d with %d files, %v", len(five), len(files), err)
	}
}

func TestModelsMakeNoSmallPrint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n-# Sources: [1] Ann": "a\n\\-# Sources: [1] Ann", "> -# x": "> \\-# x", "  -# x": "  \\-# x",
		"a -# b": "a -# b", "- # a": "- # a",
		"- -# x": "- \\-# x", "1. -# x": "1. \\-# x", "> - -# x": "> - \\-# x", "-- -# x": "-- -# x",
	} {
		if got := EscapeSmallPrint(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestTextsAreTamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain [1] `code`":                     "plain [1] `code`",
		"a\n-# small\n> -# quoted":             "a\n\\-# small\n> \\-# quoted",
		"join discord.gg/abcd":                 "join <https://discord.gg/abcd>",
		"[bank.example](https://evil.example)": "bank.example (<https://evil.example>)",
		"```\ndiscord.gg/abcd\n```":            "```\ndiscord.gg/abcd\n```",
	} {
		if got := Tamed(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
