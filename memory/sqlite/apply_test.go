package sqlite

import (
	"testing"

	"hark/memory"
)

// A deletion where nothing is remembered leaves nothing, but takes what is there, and elsewhere it wins over its message.
func TestDeletionsWhereNothingIsRememberedLeaveNothing(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	tombstones := func() (n int) {
		t.Helper()
		if err := s.read.QueryRow("SELECT count(*) FROM tombstone").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	unlogged := func(n int) memory.Deleted {
		d := deleted(general, n)
		d.Unlogged = true
		return d
	}
	apply(t, s, posted(general, 1, "from when it was remembered"), edited(general, 2, "early"))
	apply(t, s, unlogged(5), unlogged(6))
	if n := tombstones(); n != 0 {
		t.Errorf("%d tombstones of what was never there", n)
	}
	apply(t, s, unlogged(1), unlogged(2), deleted(secret, 3))
	apply(t, s, posted(general, 1, "again"), posted(general, 2, "late"), posted(secret, 3, "late"))
	for _, channel := range []memory.ChannelID{general, secret} {
		if log, err := s.Log(bg, channel, 0, id(9), 10); err != nil || len(log) > 0 {
			t.Errorf("of channel %d is there: %v, %v", channel, log, err)
		}
	}
	if n := tombstones(); n != 3 {
		t.Errorf("%d tombstones", n)
	}
}
