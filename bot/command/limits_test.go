package command

import (
	"fmt"
	"testing"

	"hark/bot/locale"
	"hark/bot/reply"
	"hark/internal/golden"
	"hark/memory"
)

func TestNumbersAreGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 50000: "50,000", 1234567: "1,234,567"} {
		if got := (locale.Locale{}).Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for _, n := range []int{1, 2, 1200} {
		golden.Seen(t, reply.LimitReached(locale.Locale{}, &reply.Hit{Of: "member_messages", Limit: n}))
	}
	golden.Seen(t, fmt.Sprint(limitText(locale.Locale{}, memory.Limit{Messages: 5})))
}
