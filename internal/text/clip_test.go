package text

import (
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦"
	tests := []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"ab cd", 3, "ab…"},
		{"ééé", 2, "éé…"},
		{family + "abc", 3, family + "ab…"},
		{family + family + family, 2, family + "…"}, // each takes seven of the eight code points
		{"a" + strings.Repeat("\u0301", 100000), 3, "…"},
		{"ab" + strings.Repeat("\u0301", 100000), 3, "a…"},
	}
	for _, tt := range tests {
		if got := Clip(tt.s, tt.n); got != tt.want {
			t.Errorf("Clip(%.20q, %d) = %.40q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
