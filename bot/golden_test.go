package bot

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/internal/answer"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenAnswer shows what becomes of an answer with all that an answer can have.
func TestGoldenAnswer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := []answer.Source{{Number: 1, Guild: 7, Channel: 8, Message: 9}, {Number: 2, Guild: 7, Channel: 8, Message: 10}}
	got := strings.Join(layout(string(text), "-# Sources: [1] Jane · [2] Ben", linksTo(sources)), "\n=====\n") + "\n"
	if *update {
		if err := os.WriteFile("testdata/answer.golden", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/answer.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
