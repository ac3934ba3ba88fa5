package terminal

import (
	"io"
	"strings"
	"testing"
)

// Where there is only one name, an empty answer means it.
func TestNameTakesTheOnlyOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		typed string
		usual string
		want  string
	}{
		{names: []string{"qwen3"}, typed: "\n", want: "qwen3"},
		{names: []string{"qwen3"}, typed: "\n", usual: "before", want: "before"},
		{names: []string{"qwen3"}, typed: "other\n", want: "other"},
		{names: []string{"qwen3", "bge-m3"}, typed: "\n2\n", want: "bge-m3"},
	} {
		asker := NewAsker(strings.NewReader(c.typed), io.Discard)
		got, err := asker.Name(t.Context(), "Model", c.names, c.usual)
		if err != nil || got != c.want {
			t.Errorf("%q among %v, usually %q: %q, %v", c.typed, c.names, c.usual, got, err)
		}
	}
}
