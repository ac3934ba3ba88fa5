package answer

import (
	"strings"

	"hark/internal/text"
	"hark/memory"
)

func tag(id memory.UserID) string { return "<@" + id.String() + ">" }

func oneLine(s string, n int) string {
	return text.Cut(strings.Join(strings.Fields(s), " "), n)
}
