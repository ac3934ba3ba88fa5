package builder

import "testing"

func TestDigits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]int{0: 1, 9: 1, 10: 2, -1: 2, -12: 3} {
		if got := digits(n); got != want {
			t.Errorf("digits(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestVowelsThatShowNothingAreHidden(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{0x17B4, 0x17B5, 0x180B, 0x200B} {
		if !isHidden(r) {
			t.Errorf("%U shows", r)
		}
	}
}
