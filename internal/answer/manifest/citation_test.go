package manifest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// three are the tests' sources.
var three = Numbers{Known: func(n int) bool { return 1 <= n && n <= 3 }}

func TestCitations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string
		kept       []int
	}{
		{"So [1].", "So [1].", []int{1}},
		{"So[2][3].", "So[2][3].", []int{2, 3}},
		{"So [7].", "So.", nil},
		{"So  [7] it is", "So it is", nil},
		{"So\n[7] it is", "So\n it is", nil},
		{"[7]", "", nil},
		{"So [1, 2].", "So [1][2].", []int{1, 2}},
		{"So [1,9 , 3].", "So [1][3].", []int{1, 3}},
		{"So [8, 9].", "So.", nil},
		{"So [1] [8] [2].", "So [1] [2].", []int{1, 2}},
		{"So [0] [00].", "So.", nil},
		{"So [1000].", "So [1000].", nil},
		{"So [1a] [x] [].", "So [1a] [x] [].", nil},
		{"It's arr[7], arr[0] and m_2[9].", "It's arr[7], arr[0] and m_2[9].", nil},
		{"見た[7]。", "見た。", nil},
		{"See [1](http://x) and [7](http://x).", "See [1] and.", []int{1}},
		{"`x [7]` [7]", "`x [7]`", nil},
		{"``x ` [7]`` [7] [1]", "``x ` [7]`` [1]", []int{1}},
		{"```go\na [7]\n\n``\n``` so [7] [2]", "```go\na [7]\n\n``\n``` so [2]", []int{2}},
		{"````\n``` [7]\n```` [7]", "````\n``` [7]\n````", nil},
		{"```\na [7]", "```\na [7]", nil},
		{"A ` alone [7] [1].", "A ` alone [1].", []int{1}},
		{"A ` alone [7]\n\nand ` [8] another.", "A ` alone\n\nand ` another.", nil},
		{"`` [7] ` [8]", "`` `", nil},
		{"~~~sh\na [7]\n\n~~\n~~~~\nso [7] [2]", "~~~sh\na [7]\n\n~~\n~~~~\nso [2]", []int{2}},
		{"  ~~~\na [7]", "~~~\na [7]", nil},
		{"~~~no~~~ [7]\n~~~ so [8]", "~~~no~~~\n~~~ so", nil},
		{"In <#12> (#dev) with ‹@&34› (@crew), <t:56:F> (2026-12-12 21:00) [1].", "In <#12> with <@&34>, <t:56:F> [1].",
			[]int{1}},
		{"In <#12> (the old one), `<#12> (#dev)`.", "In <#12> (the old one), `<#12> (#dev)`.", nil},
	}
	for _, tt := range tests {
		if got, kept := Citations(tt.text, three); got != tt.want || !slices.Equal(kept, tt.kept) {
			t.Errorf("%q became %q citing %v, want %q citing %v", tt.text, got, kept, tt.want, tt.kept)
		}
	}
}

func TestCitationsChangeNothingElse(t *testing.T) {
	t.Parallel()
	letters := []string{"[1]", "[9]", "[2, 8]", " ", "`", "```", "\n", "\n\n", "(", "word", "é", "[", "]"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(letters)).Draw(t, "text"), "")
		got, _ := Citations(text, three)
		if again, _ := Citations(got, three); len(again) > len(got) {
			t.Fatalf("%q became %q, then %q", text, got, again)
		}
		bare := strings.NewReplacer("1", "", "9", "", "2, 8", "", "2", "", "[", "", "]", "", " ", "", "\n", "")
		if bare.Replace(got) != bare.Replace(text) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
