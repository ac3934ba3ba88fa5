package markdown

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"hark/bot/locale"
	"hark/memory"
)

func TestBlocksThatDiscordDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"tildes", "See:\n~~~sh\nls ~~~ x\n~~~\nDone.", "See:\n```sh\nls ~~~ x\n```\nDone."},
		{"four backticks", "````go\nx := 1\n```` \nDone.", "```go\nx := 1\n```\nDone."},
		{"a fence within", "`````md\n# A\n```\nb\n```\n````\n`````", "```md\n# A\n'''\nb\n'''\n'''`\n```"},
		{"indented", "1. so\n   ~~~\n   x\n   ~~~", "1. so\n```\n   x\n```"},
		{"without an end", "~~~\nx", "```\nx"},
		{"a shorter end", "~~~~\nx\n~~~\n~~~~~", "```\nx\n~~~\n```"},
		{"struck out", "~~~no~~~\n~~no~~", "~~~no~~~\n~~no~~"},
		{"within code", "```md\n~~~\n| a | b |\n|---|---|\n| c | d |\n```",
			"```md\n~~~\n| a | b |\n|---|---|\n| c | d |\n```"},
		{"table", "So:\n\n| Berth | Fault | Since |\n|:---|---:|---|\n" +
			"| four | stops \\| hums | May |\n| `five` | | June [1] |\n\nEnd",
			"So:\n\n- Berth: **four** · Fault: stops | hums · Since: May\n- Berth: `five` · Since: June [1]\n\nEnd"},
		{"without bars at the ends", "a | b\n--|--\nc | d\nend", "- a: **c** · b: d\nend"},
		{"uneven rows", "| a | b |\n|---|---|\n| c |\n| d | e | f |", "- a: **c**\n- a: **d** · b: e · f"},
		{"a head alone", "| a | b |\n|---|---|", "a · b"},
		{"bars without a table", "a | b\nc | d", "a | b\nc | d"},
		{"a rule", "a\n---\nb | c", "a\n---\nb | c"},
		{"other cells below", "a | b\n---\nc", "a | b\n---\nc"},
		{"quoted", "> | a | b |\n> |---|---|", "> | a | b |\n> |---|---|"},
	} {
		if got := shownFences(discordBlocks(tt.text)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLongCodeBetweenOtherFencesIsAFile(t *testing.T) {
	t.Parallel()
	page := "# Title\n```sh\nls\n```\n" + strings.Repeat("line\n", 116)
	for _, tt := range []struct{ text, name, data string }{
		{"See:\n````markdown\n" + page + "````", "text.md", page},
		{"See:\n~~~sh\n" + strings.Repeat("ls\n", 60) + "~~~", "script.sh", strings.Repeat("ls\n", 60)},
		{"See:\n````markdown\n# Title\n```sh\nls\n```\n````", "text.md", "# Title\n```sh\nls\n```\n"},
	} {
		contents, files, err := Answer(locale.Locale{}, tt.text, "", nil, true)
		if err != nil || len(files) != 1 || files[0].Name != tt.name || string(files[0].Data) != tt.data ||
			len(contents) != 1 || strings.Contains(contents[0], fence) {
			t.Errorf("%.40q: %q with %v, %v", tt.text, contents, files, err)
		}
		contents, _, err = Answer(locale.Locale{}, tt.text, "", nil, false)
		for _, c := range append(contents, Draft(tt.text)...) {
			if err != nil || strings.Count(c, fence) != 2 || strings.Contains(c, innerFence) || strings.Contains(c, "~~~") {
				t.Errorf("%.40q without files: %q, %v", tt.text, c, err)
			}
		}
	}
}

func TestALongTableHasItsHeadInEachMessage(t *testing.T) {
	t.Parallel()
	table := "| Berth | What is wrong with its winch |\n|---|---|\n"
	for i := range 30 {
		table += fmt.Sprintf("| %d | %s |\n", i, strings.Repeat("stops in the rain ", 7))
	}
	contents, files, err := Answer(locale.Locale{}, table, "", nil, true)
	if err != nil || len(contents) < 2 || len(files) > 0 {
		t.Fatalf("%d messages, %d files, %v", len(contents), len(files), err)
	}
	for _, c := range contents {
		for _, line := range strings.Split(strings.TrimSpace(c), "\n") {
			if !strings.HasPrefix(line, "- Berth: **") || !strings.Contains(line, "What is wrong with its winch: stops") {
				t.Errorf("a line %q", line)
			}
		}
	}
}

// Nothing that was written is lost, and what has no such blocks stays as it is.
func TestBlocksLoseNothing(t *testing.T) {
	t.Parallel()
	fragment := rapid.OneOf(rapid.StringMatching("[a-z |]{0,9}"), rapid.SampledFrom([]string{
		"```", "````", "~~~", "~~~~sh\n", "\n", "\n\n", "| a | b |\n", "|---|---|\n", "|-|\n", "\\|", "> ", "- ", "`",
		innerFence,
	}))
	rapid.Check(t, func(t *rapid.T) {
		text := memory.Clean(strings.Join(rapid.SliceOfN(fragment, 0, 20).Draw(t, "fragments"), ""))
		got := shownFences(discordBlocks(text))
		text = strings.ReplaceAll(text, innerFence, "")
		if strings.Contains(got, innerFence) {
			t.Fatalf("%q became %q", text, got)
		}
		counts := map[rune]int{}
		for _, r := range got {
			counts[r]++
		}
		for _, r := range text {
			if counts[r]--; unicode.IsLetter(r) && counts[r] < 0 {
				t.Fatalf("%q is lost: %q became %q", r, text, got)
			}
		}
		if !strings.Contains(text, "````") && !strings.Contains(text, "~~~") && !strings.Contains(text, "|") &&
			got != text {
			t.Fatalf("%q became %q", text, got)
		}
		Draft(text)
		if _, _, err := Answer(locale.Locale{}, text, "", nil, true); err != nil {
			t.Fatal(err)
		}
	})
}
