package builder

import "testing"

func TestVowelsThatShowNothingAreHidden(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{0x17B4, 0x17B5, 0x180B, 0x200B} {
		if !isHidden(r) {
			t.Errorf("%U shows", r)
		}
	}
}
