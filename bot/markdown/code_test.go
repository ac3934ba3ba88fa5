package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/bot/locale"
	"hark/memory"
)

// differentLines is code of n lines.
func differentLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d := %d\n", i, i)
	}
	return b.String()
}

func TestPullCode(t *testing.T) {
	t.Parallel()
	code := differentLines(41)
	for _, tt := range []struct {
		name, text, want string
		files            []string
	}{
		{"short", "```go\n" + differentLines(40) + "```", "```go\n" + differentLines(40) + "```", nil},
		{"many lines", "See:\n```go\n" + code + "```\nDone.", "See:\n📎 `main.go` (41 lines)\nDone.",
			[]string{"main.go"}},
		{"many letters", "```\n" + strings.Repeat("a", 1501) + "\n```", "📎 `snippet.txt` (1 line)",
			[]string{"snippet.txt"}},
		{"in a line", "See ```\n" + code + "``` there", "See \n📎 `snippet.txt` (41 lines)\n there",
			[]string{"snippet.txt"}},
		{"two of a kind", "```py\n" + code + "```\n```Python\n" + code + "```",
			"📎 `snippet.py` (41 lines)\n📎 `snippet-2.py` (41 lines)", []string{"snippet.py", "snippet-2.py"}},
		{"two without an ending", strings.Repeat("```dockerfile\n"+code+"```\n", 2),
			"📎 `Dockerfile` (41 lines)\n📎 `Dockerfile-2` (41 lines)\n", []string{"Dockerfile", "Dockerfile-2"}},
		{"unknown language", "```../../x\n" + code + "```", "📎 `snippet.txt` (42 lines)", []string{"snippet.txt"}},
		{"cut short", "a\n```go\n" + code, "a\n📎 `main.go` (41 lines)", []string{"main.go"}},
		{"behind backslashes", "\\```go\n" + code + "\\```", "\\\n📎 `main.go` (42 lines)", []string{"main.go"}},
		{"behind a spoiler", "||```go\n" + code + "```||", "||```go\n" + code + "```||", nil},
		{"in a quotation", "> ```go\n" + code + "```", "> ```go\n" + code + "```", nil},
	} {
		got, files := extractCode(locale.Locale{}, tt.text, MaxFileBytes)
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		if got != tt.want || !slices.Equal(names, tt.files) {
			t.Errorf("%s: got %q with %q", tt.name, got, names)
		}
	}
	many, manyFiles := extractCode(locale.Locale{}, strings.Repeat("```go\n"+code+"```\n", 11), MaxFileBytes)
	if len(manyFiles) != maxFiles || !strings.HasSuffix(many, "x40 := 40\n```\n") {
		t.Errorf("of eleven blocks %d are files, and there remains %q", len(manyFiles), tail(many))
	}
	got, files := extractCode(locale.Locale{}, "```\n"+code+"```", len(code)-1)
	if len(files) != 0 || len(got) < len(code) {
		t.Error("a file that is too large")
	}
}

// Nothing of an answer is lost when its code becomes files.
func TestPullCodeLosesNothing(t *testing.T) {
	t.Parallel()
	// A word alone behind a fence would be its language, which goes into the file's name.
	sentence := rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, "\n", " ") + " " })
	fragment := rapid.OneOf(sentence, rapid.SampledFrom([]string{
		"```", "```lang\n", "\n", "||", "> ", "`", "text ", differentLines(50), strings.Repeat("a", 1600),
	}))
	rapid.Check(t, func(t *rapid.T) {
		text := memory.Clean(strings.Join(rapid.SliceOfN(fragment, 0, 20).Draw(t, "fragments"), ""))
		got, files := extractCode(locale.Locale{}, text, MaxFileBytes)
		whole := got
		for _, f := range files {
			line := fmt.Sprintf("📎 `%s` (%s)", f.Name, countedLines(locale.Locale{}, strings.Count(string(f.Data), "\n")))
			if strings.Count(got, line) != 1 {
				t.Fatalf("%q isn't there once in %q", line, got)
			}
			whole = strings.Replace(whole, line, string(f.Data), 1)
		}
		bare := func(s string) string { return strings.NewReplacer("\n", "", "`", "", "lang", "").Replace(s) }
		if bare(whole) != bare(text) {
			t.Fatalf("got %q with %d files\nof %q", got, len(files), text)
		}
		checkPieces(t, got, split(got, MessageLimit, nil), true)
		shown := preview(text)
		checkPieces(t, shown, split(shown, MessageLimit, nil), true)
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	want := "See:\n```go\n" + differentLines(12) + "…\n```"
	if got := preview("See:\n```go\n" + differentLines(100)); got != want {
		t.Errorf("while code is being written: %q", got)
	}
	if got := preview("See:\n```go\n" + differentLines(100) + "```\nDone."); got != want+"\nDone." {
		t.Errorf("after it: %q", got)
	}
	if got := preview("```\n" + strings.Repeat("a", 1600)); Units(got) > shownCode+20 ||
		!strings.HasSuffix(got, "a\n…\n```") {
		t.Errorf("of one long line: %q", got)
	}
	if got := preview("```go\nx\n```"); got != "```go\nx\n```" {
		t.Errorf("of short code: %q", got)
	}
}
