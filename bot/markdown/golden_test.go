package markdown

import (
	"os"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/golden"
)

func TestGoldenAnswer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := []answer.Source{{Number: 1, Guild: 7, Channel: 8, Message: 9},
		{Number: 2, Guild: 7, Channel: 8, Message: 10}}
	golden.File(t, "testdata/answer.golden",
		strings.Join(Messages(string(text), "-# Sources: [1] Jane · [2] Ben", LinksTo(sources)), "\n=====\n")+"\n")
}
