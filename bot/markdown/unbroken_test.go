package markdown

import (
	"strings"
	"testing"
)

func TestCompletePartial(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"It is Fri":                       "It is Fri",
		"**It is** Fri":                   "**It is** Fri",
		"**It is":                         "**It is**",
		"**It is*":                        "**It is**",
		"**It is *so* ":                   "**It is *so***",
		"**It runs `go te":                "**It runs `go te`**",
		"It is Friday [":                  "It is Friday",
		"It is Friday [1":                 "It is Friday",
		"It is Friday [1]":                "It is Friday [1]",
		"Ask <@12345":                     "Ask",
		"Ask <":                           "Ask",
		"Ask <@12345>":                    "Ask <@12345>",
		"a list:\n* ":                     "a list:",
		"so:\n`":                          "so:",
		"so:\n``":                         "so:",
		"so:\n```":                        "so:",
		"so:\n```go":                      "so:",
		"so:\n```go\nx := a[1":            "so:\n```go\nx := a[1",
		"so:\n```go\nx := 1\n`":           "so:\n```go\nx := 1",
		"so:\n```go\nx := 1\n``":          "so:\n```go\nx := 1",
		"so:\n```go\nx := 1\n```":         "so:\n```go\nx := 1\n```",
		"so:\n```go\nx := 1\n```\n**and ": "so:\n```go\nx := 1\n```\n**and**",
		"**a star\n\nis one, 2 * 3":       "**a star\n\nis one, 2 * 3",
		"a ~~few ||secrets":               "a ~~few ||secrets||~~",
		"snake_case and 2 ** 3 is":        "snake_case and 2 ** 3 is",
		"**":                              "",
		"so ** ~~":                        "so",
	} {
		if got := CompletePartial(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Wherever a text is broken off, nothing is added but marks, and what is made whole stays as it is.
func TestWhatIsWholeStays(t *testing.T) {
	t.Parallel()
	const text = "**It is** ~~Fri~~day [12], <@123>:\n```go\nx := a[1]\n```\nand *that* is `all`, __so__ it ends."
	for at := range len(text) + 1 {
		got := CompletePartial(text[:at])
		if kept := strings.TrimRight(got, "*~`_"); !strings.HasPrefix(text, kept) &&
			!strings.HasPrefix(text, got) || at-len(got) > len("\n```go\n") {
			t.Errorf("%q becomes %q", text[:at], got)
		}
		if again := CompletePartial(got); again != got {
			t.Errorf("%q, made whole, becomes %q", got, again)
		}
	}
	if CompletePartial(text) != text {
		t.Errorf("it becomes %q", CompletePartial(text))
	}
}
