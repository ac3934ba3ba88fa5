package tools

import (
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/tokens/tokenstest"
)

func TestFittedWithoutRoomForALine(t *testing.T) {
	t.Parallel()
	b, err := builder.New(builder.Options{}, tokenstest.For(""))
	if err != nil {
		t.Fatal(err)
	}
	turn := &Turn{Builder: b}
	if got := turn.truncated(strings.Repeat("x", 100), 2); got != strings.TrimSpace(cutShort) {
		t.Errorf("cut to %q", got)
	}
}
