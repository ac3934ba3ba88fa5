package sqlite

import (
	"maps"
	"testing"
	"time"

	"hark/memory"
)

// Where nothing is remembered, a deletion leaves no tombstone but deletes what exists. Elsewhere it wins
// over its message.
func TestDeletionsWhereNothingIsRememberedLeaveNothing(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	tombstones := func() (n int) {
		t.Helper()
		must(t, s.engine.read.QueryRow("SELECT count(*) FROM tombstone").Scan(&n))
		return n
	}
	unlogged := func(n int) memory.Deleted {
		d := deleted(general, n)
		d.Unlogged = true
		return d
	}
	apply(t, s, posted(general, 4, "stays"))
	zeroed(t, s)
	s.engine.writer.statements = nil
	apply(t, s, deleted(general, 7)) // the message may still arrive
	if n := len(s.engine.writer.statements); n > 7 || !s.engine.writer.zeroed {
		t.Errorf("it takes %d different statements, and text was removed: %t", n, !s.engine.writer.zeroed)
	}
	apply(t, s, posted(general, 1, "from when it was remembered"), edited(general, 2, "early"))
	apply(t, s, unlogged(5), unlogged(6))
	if n := tombstones(); n != 1 {
		t.Errorf("%d tombstones of what was never there", n)
	}
	apply(t, s, unlogged(1), unlogged(2), deleted(secret, 3))
	apply(t, s, posted(general, 1, "again"), posted(general, 2, "late"), posted(general, 7, "late"),
		posted(secret, 3, "late"), deleted(general, 4))
	for _, channel := range []memory.ChannelID{general, secret} {
		if log, err := s.Log(bg, channel, 0, id(9), 10); err != nil || len(log) > 0 {
			t.Errorf("of channel %d is there: %v, %v", channel, log, err)
		}
	}
	if n := tombstones(); n != 5 {
		t.Errorf("%d tombstones", n)
	}
}

// Nothing is kept of messages of somebody who has opted out or is forgotten, whatever events follow. It is
// cheap, and they don't come back.
func TestWhatIsDroppedLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	const out, forgotten, other memory.UserID = 61, 62, 63
	by := func(author memory.UserID, n int, content string) memory.Posted {
		p := posted(general, n, content)
		p.Message.Author = author
		return p
	}
	at := func(n int) time.Time { return id(n).Time() }
	apply(t, s, by(other, 1, "stays"), memory.Opted{Guild: guild, User: out, Out: true, At: at(2)})
	forget(t, s, memory.Forgetting{Guild: guild, User: forgotten, Why: memory.WhyMember, At: at(50)})
	zeroed(t, s)
	before := rowsIn(t, s)
	apply(t, s, by(out, 9, "canary"))
	s.engine.writer.statements = nil
	apply(t, s, by(out, 10, "canary"))
	if n := len(s.engine.writer.statements); n > 6 { // includes those of every transaction
		t.Errorf("a message that is dropped takes %d different statements", n)
	}
	tell := func(author memory.UserID, n int) {
		t.Helper()
		apply(t, s, by(author, n, "canary"), edited(general, n, "canary, edited"))
		apply(t, s, edited(general, n, "canary, edited"), memory.ExternalIDSeen{Channel: general, ID: id(n), ExternalID: "canary"},
			memory.Starred{Guild: guild, Channel: general, ID: id(n), On: true, At: at(n)})
		apply(t, s, deleted(general, n), by(author, n, "canary"))
	}
	tell(out, 11)
	tell(forgotten, 12)
	if after := rowsIn(t, s); !maps.Equal(after, before) {
		t.Errorf("left are %v, before there were %v", after, before)
	}
	if !s.engine.writer.zeroed {
		t.Error("dropping counts as text that was removed")
	}

	apply(t, s, memory.Opted{Guild: guild, User: out, Out: false, At: at(20)}) // also what was dropped stays out
	closed(t, s)
	s = open(t, dir)
	apply(t, s, by(out, 10, "canary"), by(out, 11, "canary"), by(forgotten, 12, "canary"), by(out, 21, "new"),
		by(forgotten, 51, "new"))
	log, err := s.Log(bg, general, 0, id(99), 10)
	if err != nil || len(log) != 3 || log[0].ID != id(1) || log[1].ID != id(21) || log[2].ID != id(51) {
		t.Errorf("there is %v, %v", log, err)
	}

	// An edit that came before its message was kept. It goes and leaves a tombstone.
	apply(t, s, memory.Opted{Guild: guild, User: out, Out: true, At: at(60)}, edited(general, 61, "canary"),
		by(out, 61, "canary"), edited(general, 61, "canary"))
	zeroed(t, s)
	wantNowhere(t, dir, "canary")
}

// Events about a dropped message leave no text and no star, also after a restart or a new decision. Only a
// message that may still arrive is waited for.
func TestWhatIsToldOfDroppedMessagesLeavesNoTextAfterARestart(t *testing.T) {
	t.Parallel()
	const out, forgotten memory.UserID = 61, 62
	at := func(n int) time.Time { return id(n).Time() }
	opted := func(is bool, n int) memory.Opted { return memory.Opted{Guild: guild, User: out, Out: is, At: at(n)} }
	for name, meanwhile := range map[string][]memory.Event{"the same": nil, "in again": {opted(false, 20)},
		"another out": {memory.Opted{Guild: guild, User: 63, Out: true, At: at(20)}}} {
		for _, restart := range []bool{false, true} {
			dir := emptyDir(t)
			s := open(t, dir)
			live := func(author memory.UserID, n int) memory.Posted {
				p := posted(general, n, "canary")
				p.Message.Author, p.Live = author, true
				return p
			}
			apply(t, s, opted(true, 2), memory.Forgetting{Guild: guild, User: forgotten,
				Why: memory.WhyMember, At: at(50)})
			apply(t, s, live(out, 11), live(forgotten, 12))
			apply(t, s, meanwhile...)
			before := rowsIn(t, s)
			if restart {
				closed(t, s)
				s = open(t, dir)
			}
			for _, n := range []int{11, 12} {
				apply(t, s, edited(general, n, "canary"), memory.Starred{Guild: guild, Channel: general,
					ID: id(n), On: true, At: at(n)})
			}
			if after := rowsIn(t, s); !maps.Equal(after, before) {
				t.Errorf("%s, restart %t: left are %v, before there were %v", name, restart, after, before)
			}
			zeroed(t, s)
			wantNowhere(t, dir, "canary")
			apply(t, s, memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: general, After: id(4),
				Until: id(6)}}, edited(general, 5, "in a gap"), edited(general, 70, "early"))
			apply(t, s, posted(general, 5, "old"), posted(general, 70, "old"))
			if log, err := s.Log(bg, general, 0, id(99), 10); err != nil || len(log) != 2 ||
				log[0].Content != "in a gap" || log[1].Content != "early" {
				t.Errorf("%s, restart %t: there is %v, %v", name, restart, log, err)
			}
		}
	}
}

func rowsIn(t *testing.T, s *Store) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for _, table := range []string{"message", "tombstone", "early_edit", "star", "external_id", "question",
		"taken", "rewritten", "pending_deletion", "segment"} {
		var n int
		must(t, s.engine.read.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		rows[table] = n
	}
	return rows
}
